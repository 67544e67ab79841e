"""The demo plays Linktree: a link page for each invented person, one behind a gate, one that was switched off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fetchworker.demo.model import Reply, RequestInfo
from fetchworker.demo.people import Person, World, make_world

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST = "linktr.ee"
#: an account that was switched off, and one with a question before its links
SWITCHED_OFF, GATED = "closed.kiln", "night.garden"
_HTML = ("content-type", "text/html; charset=utf-8")
_GATE: dict[str, Any] = {"activeOrder": [], "age": None, "passcode": None, "nft": None, "payment": None}


class Linktree:
    """The app.

    Args:
        world: who there is.
        seed: a world follows from it when none is given.
    """

    def __init__(self, world: World | None = None, *, seed: int = 0) -> None:
        self.world = world if world is not None else make_world(seed)

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        name = request.route.strip("/").lower()
        person = self.world.people.get(name)
        if person is not None:
            return _page(_props(name, _links(person), verified=person.verified, person=person), "/[profile]", name)
        if name == GATED:
            links = [_link(1, "Night sky", "https://sky.example/", gate={"activeOrder": ["age"], "age": 18})]
            return _page(_props(name, links, sensitive=True), "/[profile]", name)
        if name == SWITCHED_OFF:
            return _page(_props(name, [], active=False), "/[profile]", name)
        return _page({"statusCode": 404}, "/_error", name, 404)


def _links(person: Person) -> list[dict[str, Any]]:
    links = [
        _link(1, "About", None, kind="HEADER"),
        _link(2, f"{person.name}'s notes", f"https://notes.example/{person.username}"),
    ]
    if person.external_url:
        links.append(_link(3, "Home page", person.external_url))
    return links


def _link(
    number: int, title: str, url: str | None, *, kind: str = "CLASSIC", gate: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "id": str(number), "type": kind, "title": title, "position": number - 1, "url": url or "", "locked": None,
        "thumbnail": None, "context": {}, "rules": {"gate": {**_GATE, **(gate or {})}},
    }  # fmt: skip


def _props(
    name: str, links: list[dict[str, Any]], *, verified: bool = False, active: bool = True, sensitive: bool = False,
    person: Person | None = None,
) -> dict[str, Any]:  # fmt: skip
    social = [{"type": "INSTAGRAM", "url": f"https://instagram.com/{name}"}] if person else []
    account = {
        "id": int(person.pk) if person else 7001, "uuid": f"demo-{name}", "username": name, "tier": "free",
        "isActive": active,
        "contentWarning": None, "activeGates": [], "profileBadges": ["VERIFICATION_TICK"] if verified else None,
        "createdAt": 1700000000000, "updatedAt": 1790000000000, "owner": {"id": 1, "isEmailVerified": True},
        "links": [{**link, "id": int(link["id"])} for link in links], "socialLinks": social,
    }  # fmt: skip
    return {
        "account": account, "username": name, "pageTitle": person.name if person else name,
        "description": person.biography if person else None, "profilePictureUrl": None, "isProfileVerified": verified,
        "links": links, "socialLinks": social, "contentGating": "none", "hasSensitiveContent": sensitive,
        "hasConsentedToView": False,
    }  # fmt: skip


def _page(props: Mapping[str, Any], page: str, name: str, status: int = 200) -> Reply:
    data = json.dumps({"props": {"pageProps": props}, "page": page, "query": {"profile": name}}).replace("<", "\\u003c")
    body = (
        f'<!DOCTYPE html><html><body><script id="__NEXT_DATA__" type="application/json">{data}</script></body></html>'
    )
    return Reply(status, (_HTML,), body.encode())
