"""A session: one identity of a site, with all that belongs to it and to no other."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from uuid import uuid4

import orjson

from fetchworker.errors import SessionDamagedError, SessionError, SessionNewerError
from fetchworker.sessions.cookies import CookieJar
from fetchworker.sessions.keys import check_session_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FORMAT = 1
"""Version of :meth:`Session.to_json` and of the records in a store."""

MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Version → function that makes the next version's data of it."""

_TEXTS = ("id", "identity", "site", "profile")
_NUMBERS = ("created_at", "used_at")
_COUNTS = ("uses", "blocks")


class Saved(NamedTuple):
    """What a store was last told of the session: later saves send the difference. ``known``: it has said yes once."""

    known: bool = False
    uses: int = 0
    blocks: int = 0
    tokens: Mapping[str, str] = MappingProxyType({})

    def __repr__(self) -> str:
        """Without the tokens' values."""
        return f"<Saved {'' if self.known else 'un'}known, {self.uses} uses, {self.blocks} blocks>"


@dataclass(slots=True, eq=False, repr=False)
class Session:
    """Cookies, exit, impersonation profile and page tokens of one identity.

    ``id`` is the name it is stored under, ``""`` for one that is never stored. ``identity`` is drawn anew whenever an
    identity is minted: two sessions with the same ``id`` and another ``identity`` share nothing. ``identity``
    and ``profile`` stay as they are for the session's life, ``proxy_id`` (None: no exit yet) from when it is set; for
    other ones make a fresh session and :meth:`~fetchworker.sessions.SessionStore.rotate`. Times are POSIX seconds.

    ``saved`` belongs to the stores.
    """

    id: str
    identity: str
    site: str
    proxy_id: str | None
    profile: str
    created_at: float
    used_at: float
    stored: bool
    jar: CookieJar = field(default_factory=CookieJar)
    tokens: dict[str, str] = field(default_factory=dict)
    uses: int = 0
    blocks: int = 0
    saved: Saved = field(default_factory=Saved)

    @classmethod
    def fresh(
        cls,
        id: str,  # noqa: A002 - its name everywhere
        site: str,
        *,
        profile: str,
        proxy_id: str | None,
        now: float,
        stored: bool,
    ) -> Self:
        """A new identity without cookies. ``stored`` False: a stateless one, whose ``id`` may be empty.

        Raises:
            ArgumentError: ``id`` is no name for a stored session.
        """
        if stored or id:
            check_session_id(id)
        return cls(id, uuid4().hex, site, proxy_id, profile, now, now, stored)

    def secrets(self) -> list[str]:
        """Its own values, which a page may quote: tokens and cookies."""
        return [*self.tokens.values(), *(cookie.value for cookie in self.jar)]

    def to_json(self) -> bytes:
        """The session as one JSON document, secrets included.

        Raises:
            SessionError: a token is not text that JSON can hold.
        """
        return dumps(
            {
                "v": FORMAT,
                **{
                    name: getattr(self, name) for name in (*_TEXTS, *_NUMBERS, *_COUNTS, "proxy_id", "stored", "tokens")
                },
                "jar": self.jar.to_dict(),
                "saved": [*self.saved[:3], dict(self.saved.tokens)],
            }
        )

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """The session that :meth:`to_json` wrote, now or in an earlier version.

        Raises:
            SessionError: a newer version wrote it, or it is damaged.
        """
        try:
            found = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise SessionDamagedError("a stored session is damaged: no JSON") from error
        return cls.from_data(found)

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """The session of plain data (``to_json``'s document, decoded).

        Raises:
            SessionError: as :meth:`from_json`.
        """
        data = migrate(data)
        try:
            _check(data)
            known, uses, blocks, tokens = data["saved"]
            fields = {name: data[name] for name in (*_TEXTS, *_NUMBERS, *_COUNTS, "proxy_id", "stored", "tokens")}
            saved = Saved(bool(known), int(uses), int(blocks), dict(tokens))
            return cls(**fields, jar=CookieJar.from_dict(data["jar"]), saved=saved)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SessionDamagedError("a stored session is damaged: delete it to start afresh") from error

    def __repr__(self) -> str:
        """Without the values of cookies and tokens."""
        tokens = ", ".join(sorted(self.tokens)) or "none"
        return (
            f"<Session {self.id or '(stateless)'} of {self.site}: identity {self.identity[:8]}, {self.profile}, "
            f"proxy {self.proxy_id}, {len(self.jar)} cookies, tokens {tokens}, {self.uses} uses, {self.blocks} blocks>"
        )


def migrate(data: Any) -> dict[str, Any]:
    """``data`` in today's format.

    Raises:
        SessionError: a newer version wrote it, or it is no session.
    """
    version = data.get("v") if isinstance(data, dict) else None
    if not isinstance(version, int):
        raise SessionDamagedError("a stored session is damaged: it has no version")
    if version > FORMAT:
        raise newer(version)
    while version < FORMAT:
        if version not in MIGRATIONS:
            raise SessionDamagedError(
                f"a stored session has format {version}, which this version of fetchworker cannot read"
            )
        data, version = {**MIGRATIONS[version](data), "v": version + 1}, version + 1
    return dict(data)


def newer(version: int) -> SessionNewerError:
    """The error for what a newer fetchworker wrote."""
    return SessionNewerError(
        f"a stored session has format {version}, this version of fetchworker knows {FORMAT}: "
        "update the workers that are behind, or delete the session (scrapy sessions drop) to start afresh",
        format=version,
    )


def dumps(value: Any) -> bytes:
    """``value`` as JSON; SessionError when it holds what JSON cannot, without showing it."""
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise SessionError(f"a session holds what cannot be stored ({type(error).__name__})") from None


def _check(data: dict[str, Any]) -> None:
    good = (
        all(isinstance(data[name], str) for name in _TEXTS)
        and all(isinstance(data[name], int | float) for name in _NUMBERS)
        and all(isinstance(data[name], int) for name in _COUNTS)
        and (data["proxy_id"] is None or isinstance(data["proxy_id"], str))
        and isinstance(data["stored"], bool)
        and isinstance(data["tokens"], dict)
        and all(isinstance(value, str) for value in data["tokens"].values())
    )
    if not good:
        raise ValueError("a field of the wrong kind")
