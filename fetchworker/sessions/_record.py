"""Sessions as the flat records that stores keep (fields: see ``keys``), and the one rule by which a save changes them.

``save.lua`` and ``rotate.lua`` do in Redis what :func:`apply` and :func:`replace` do here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from fetchworker.errors import SessionDamagedError
from fetchworker.sessions.cookies import FORMAT as JAR_FORMAT
from fetchworker.sessions.model import FORMAT, Saved, Session, dumps, newer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.sessions.cookies import JarChanges

Record = dict[bytes, bytes]

DELETED = b""  #: payload of an entry that is no more
DROP = b"drop"  #: payload of an entry to forget, if it still bears the stamp
SAVED, FENCED = 1, 0  #: answers of a save; a negative one is the newer format that it met


class Entry(NamedTuple):
    """A cookie or a token that changed."""

    field: bytes
    stamp: int
    payload: bytes


class Head(NamedTuple):
    """The part of a record that is no cookie and no token; of the counters, what to add."""

    identity: str
    proxy: str
    profile: str
    created_at: float
    used_at: float
    uses: int
    blocks: int

    def fields(self) -> Record:
        """As fields of a new record."""
        return {b"v": b"%d" % FORMAT, **{name.encode(): str(value).encode() for name, value in self._asdict().items()}}


class Changes(NamedTuple):
    """What a save writes. ``jar`` and ``tokens`` (as the store had them) are for giving it back."""

    known: bool
    head: Head
    entries: list[Entry]
    jar: JarChanges
    tokens: Mapping[str, str]


def take(session: Session, now: float) -> Changes:
    """What changed since the last save; the session counts as saved until :func:`give_back`."""
    saved = session.saved
    head = Head(
        session.identity,
        session.proxy_id or "",
        session.profile,
        session.created_at,
        session.used_at,
        session.uses - saved.uses,
        session.blocks - saved.blocks,
    )
    tokens = _token_entries(session, now)
    jar = session.jar.take_changes()
    session.saved = Saved(saved.known, session.uses, session.blocks, dict(session.tokens))
    return Changes(saved.known, head, _cookie_entries(jar) + tokens, jar, saved.tokens)


def take_all(session: Session, now: float) -> Changes:
    """All of the session, for a store that has nothing of it."""
    session.saved = Saved()
    session.jar.unsave()
    return take(session, now)


def confirm(session: Session) -> None:
    """The store has written what was taken."""
    session.saved = session.saved._replace(known=True)


def give_back(session: Session, changes: Changes) -> None:
    """The store has not written it: it is taken again by the next save."""
    session.jar.give_back(changes.jar)
    uses, blocks = session.saved.uses - changes.head.uses, session.saved.blocks - changes.head.blocks
    session.saved = session.saved._replace(uses=uses, blocks=blocks, tokens=changes.tokens)


def _cookie_entries(jar: JarChanges) -> list[Entry]:
    return [
        *(Entry(_cookie_field(cookie.key), cookie.stamp, dumps(list(cookie))) for cookie in jar.cookies),
        *(Entry(_cookie_field(key), stamp, DELETED) for key, stamp in jar.deleted),
        *(Entry(_cookie_field(key), stamp, DROP) for key, stamp in jar.dropped),
    ]


def _cookie_field(key: tuple[str, str, str]) -> bytes:
    return b"c:" + dumps(list(key))


def _token_entries(session: Session, now: float) -> list[Entry]:
    had, have = session.saved.tokens, session.tokens
    changed = {name: dumps(value) for name, value in have.items() if had.get(name) != value}
    changed |= {name: DELETED for name in had if name not in have}
    if not changed:
        return []
    stamp = session.jar.next_stamp(now)
    return [Entry(b"t:" + name.encode("utf-8", "replace"), stamp, payload) for name, payload in changed.items()]


def apply(record: Record, changes: Changes) -> int:
    """Save into ``record`` (empty: there is none)."""
    head = changes.head
    if not record:
        if changes.known:
            return FENCED
        record |= head.fields() | {b"uses": b"0", b"blocks": b"0"}
    elif int(record[b"v"]) > FORMAT:
        return -int(record[b"v"])
    elif not _is_same(record, head):
        return FENCED
    record |= {b"v": b"%d" % FORMAT, b"proxy": head.proxy.encode()}
    record[b"used_at"] = max(record[b"used_at"], str(head.used_at).encode(), key=float)
    record[b"uses"] = b"%d" % (int(record[b"uses"]) + head.uses)
    record[b"blocks"] = b"%d" % (int(record[b"blocks"]) + head.blocks)
    for entry in changes.entries:
        _apply_entry(record, entry)
    return SAVED


def _is_same(record: Record, head: Head) -> bool:
    """Whether the holder's identity is the stored one; an identity without an exit may be given one, once."""
    told = (head.identity.encode(), head.profile.encode())
    return told == (record[b"identity"], record[b"profile"]) and record[b"proxy"] in (b"", head.proxy.encode())


def _apply_entry(record: Record, entry: Entry) -> None:
    stored = record.get(entry.field)
    at = -1 if stored is None else int(stored.partition(b" ")[0])
    if entry.payload == DROP:
        if at == entry.stamp:
            del record[entry.field]
    elif entry.stamp >= at:
        record[entry.field] = b"%d %b" % (entry.stamp, entry.payload)


def replace(changes: Changes) -> Record:
    """The record of a session that was taken as a whole."""
    record = changes.head.fields()
    for entry in changes.entries:
        _apply_entry(record, entry)
    return record


def read(record: Mapping[bytes, bytes], site: str, session_id: str, now: float) -> Session:
    """The session in a record.

    Raises:
        SessionNewerError: a newer version wrote it.
        SessionDamagedError: it is none.
    """
    try:
        data = _plain(record)
    except (LookupError, ValueError, TypeError) as error:
        raise SessionDamagedError(f"session {session_id!r} of {site} is damaged: delete it to start afresh") from error
    if data["v"] > FORMAT:
        raise newer(data["v"])
    session = Session.from_data({**data, "site": site, "id": session_id, "stored": True})
    if data["v"] < FORMAT:
        session.jar.unsave()
        session.saved = session.saved._replace(tokens={})
    session.jar.purge(now)
    return session


def _plain(record: Mapping[bytes, bytes]) -> dict[str, Any]:
    rows, deleted, tokens, clock = [], [], {}, 0
    for field, value in record.items():
        if field[:2] not in (b"c:", b"t:"):
            continue
        stamp, _, payload = value.partition(b" ")
        clock = max(clock, int(stamp))
        if field[:2] == b"t:":
            if payload:
                tokens[field[2:].decode()] = orjson.loads(payload)
        elif payload:
            rows.append(payload)
        else:
            deleted.append([*orjson.loads(field[2:]), int(stamp)])
    deleted.sort(key=lambda row: row[3])  # the jar forgets the first ones first
    jar = {"v": JAR_FORMAT, "clock": clock, "saved": clock, "deleted": deleted}
    jar["cookies"] = orjson.loads(b"[" + b",".join(rows) + b"]")  # one call for all: most of what a load costs
    head = _plain_head(record)
    return {**head, "tokens": tokens, "jar": jar, "saved": [True, head["uses"], head["blocks"], tokens]}


def _plain_head(record: Mapping[bytes, bytes]) -> dict[str, Any]:
    return {
        "v": int(record[b"v"]),
        "identity": record[b"identity"].decode(),
        "proxy_id": record[b"proxy"].decode() or None,
        "profile": record[b"profile"].decode(),
        "created_at": float(record[b"created_at"]),
        "used_at": float(record[b"used_at"]),
        "uses": int(record[b"uses"]),
        "blocks": int(record[b"blocks"]),
    }
