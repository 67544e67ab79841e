"""From a link page to its item (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker import items
from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import LinkPage, PageLink, SocialLink
from fetchworker.spiders.linktree import contract
from fetchworker.spiders.reading.html import decoded, script_json
from fetchworker.spiders.reading.values import count, dig, flag, ident, instant, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: ``partial`` of a page whose links, all or some, open only after a question (age, code, payment)
GATED = "gated"
#: what the account tells beyond the model
_TOLD = ("uuid", "tier", "isActive", "profileBadges", "verticals", "linkPlatforms", "contentWarning", "activeGates",
         "timezone")  # fmt: skip


def profile(page: Page, call: Call[Any]) -> Parsed:
    """The page's links and who they belong to."""
    props = mapping(dig(script_json(decoded(page), contract.DATA_SCRIPT), "props", "pageProps"))
    account = mapping(props.get("account"))
    username = text(props.get("username")) or text(account.get("username"))
    if username is None:
        raise ContractError("__NEXT_DATA__ props.pageProps.account.username")
    asked = getattr(call.params, "user", None)
    if asked and username.lower() != asked:
        raise ContractError("__NEXT_DATA__ props.pageProps.username", f"the page is {username}'s")
    links = list(_links(props, account))
    gated = _closed(props, account) or any(entry.locked for entry in links)
    return Parsed([
        LinkPage.draft(
            id=ident(account.get("id")),
            username=username,
            title=text(props.get("pageTitle")) or text(account.get("pageTitle")),
            description=text(props.get("description")) or text(account.get("description")),
            avatar_url=_avatar(props, account),
            verified=_verified(props, account),
            sensitive=_sensitive(props, account),
            links=links,
            social_links=list(_social(props, account)),
            url=contract.page_url(username),
            partial=GATED if gated else None,
            extra=_extra(props, account),
        )
    ])  # fmt: skip


def _avatar(props: Mapping[str, Any], account: Mapping[str, Any]) -> str | None:
    told = (props.get("profilePictureUrl"), account.get("profilePictureUrl"), account.get("customAvatar"))
    return next((address for value in told if (address := link(value))), None)


def _verified(props: Mapping[str, Any], account: Mapping[str, Any]) -> bool | None:
    told = flag(props.get("isProfileVerified"))
    if told is None and "profileBadges" in account:
        return contract.VERIFIED_BADGE in sequence(account["profileBadges"])
    return told


def _sensitive(props: Mapping[str, Any], account: Mapping[str, Any]) -> bool | None:
    told = flag(props.get("hasSensitiveContent"))
    if told or text(account.get("contentWarning")) or text(props.get("contentGating")) not in (None, "none"):
        return True
    return False if told is False or "contentWarning" in account else None


def _closed(props: Mapping[str, Any], account: Mapping[str, Any]) -> bool:
    """Whether the page as a whole asks something before it shows its links."""
    unseen = flag(props.get("hasSensitiveContent")) and not flag(props.get("hasConsentedToView"))
    return bool(unseen or sequence(account.get("activeGates")))


def _links(props: Mapping[str, Any], account: Mapping[str, Any]) -> Iterator[PageLink]:
    """The links in the page's order, those of a group behind it."""
    own = {ident(dig(entry, "id")): mapping(entry) for entry in sequence(account.get("links"))}
    for entry in sequence(props.get("links")) or sequence(account.get("links")):
        raw = mapping(entry)
        number = ident(raw.get("id"))
        if not raw:
            continue
        yield _link(raw, own.get(number, {}), parent=ident(dig(raw, "parent", "id")))
        for child in sequence(raw.get("childLinks")):
            if isinstance(child, dict):
                yield _link(child, own.get(ident(child.get("id")), {}), parent=number)


def _link(raw: Mapping[str, Any], own: Mapping[str, Any], *, parent: str | None) -> PageLink:
    """A link; ``own`` is the account's record of it, which knows what the flattened one leaves out."""
    return PageLink.draft(
        id=ident(raw.get("id")),
        title=text(raw.get("title")) or text(own.get("title")),
        url=_address(raw.get("url")) or _address(own.get("url")),
        type=text(raw.get("type")) or text(own.get("type")),
        position=count(raw.get("position")),
        locked=_locked(raw, own),
        image_url=link(raw.get("thumbnail")) or link(dig(raw, "modifiers", "thumbnailUrl"))
        or link(dig(own, "modifiers", "thumbnailUrl")),
        parent=parent,
    )  # fmt: skip


def _locked(raw: Mapping[str, Any], own: Mapping[str, Any]) -> bool | None:
    """Whether a gate stands before the link; None when the page does not say."""
    gates = [mapping(dig(record, "rules", "gate")) for record in (raw, own)]
    if raw.get("locked") or any(_asks(gate) for gate in gates):
        return True
    return False if "locked" in raw or any(gates) else None


def _asks(gate: Mapping[str, Any]) -> bool:
    return bool(sequence(gate.get("activeOrder"))) or any(gate.get(name) for name in contract.GATES)


def _address(value: Any) -> str | None:
    """Where a link leads; None where it holds contact data."""
    told = text(value)
    return None if told is None or told.strip().lower().startswith(contract.CONTACT) else told


def _social(props: Mapping[str, Any], account: Mapping[str, Any]) -> Iterator[SocialLink]:
    for entry in sequence(props.get("socialLinks")) or sequence(account.get("socialLinks")):
        if text(dig(entry, "url")):
            yield SocialLink.draft(platform=text(dig(entry, "type")), url=_address(dig(entry, "url")))


def _extra(props: Mapping[str, Any], account: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: items.plain(account.get(name)) for name in _TOLD}
    told |= {
        "created_at": instant(account.get("createdAt")),
        "updated_at": instant(account.get("updatedAt")),
        "email_verified": flag(dig(account, "owner", "isEmailVerified")),
        "content_gating": text(props.get("contentGating")),
        "consented_to_view": flag(props.get("hasConsentedToView")),
    }
    shown = {name: value for name, value in told.items() if value not in (None, [], "")}
    return shown | items.contact(links=list(dict.fromkeys(_contact(props, account))))


def _contact(props: Mapping[str, Any], account: Mapping[str, Any]) -> Iterator[str]:
    """Links that hold somebody's own mail address or telephone number."""
    for source in (props, account):
        for entry in (*sequence(source.get("links")), *sequence(source.get("socialLinks"))):
            told = text(dig(entry, "url"))
            if told and told.strip().lower().startswith(contract.CONTACT):
                yield told.strip()
