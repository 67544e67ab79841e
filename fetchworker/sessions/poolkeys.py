"""Names in the pool of a site, and the Redis keys it lives under.

All keys have the tag ``{<site>}``, like the stored sessions of the site (``fw:session:{<site>}:…``): one slot of a
Redis Cluster. Times are microseconds of Redis's clock.

==================================== ==================================================================================
``fw:pool:{<site>}``                 hash: ``fence`` (the last token), ``terms`` (JSON, by which all workers use the
                                     pool), counters ``made``, ``dropped``, ``quarantined``, ``lapsed``,
                                     ``damaged``; ``turn:<jar>`` (the token of the last lease for which others
                                     waited), ``looked:<jar>`` (how far sessions were looked through for ones that
                                     are nowhere)
``fw:pool:{<site>}:workers``         zset, worker → until when it is heard of
``fw:pool:{<site>}:jars``            set of the jars
``fw:pool:{<site>}:leases``          zset, session → until when its lease counts
``fw:pool:{<site>}:idle:<jar>``      zset, session → order, the next one first
``fw:pool:{<site>}:rest:<jar>``      zset, session → when it may be used again
``fw:pool:{<site>}:away:<jar>``      zset, session → when it may be used again; it waits for its exit, and counts for
                                     no limit
``fw:pool:{<site>}:born:<jar>``      zset, session → when it was made
``fw:pool:{<site>}:s:<session>``     hash: ``jar``, ``born``, ``used``, ``score`` (0 to 1000), ``uses``, ``blocks``,
                                     ``last`` (the process that had it last); of a leased one ``token``,
                                     ``owner``, ``holder``, ``since``, ``lease``; of one that was in quarantine
                                     ``reason``, ``at``, ``until``
``fw:pool:{<site>}:o:<owner>``       string, expires: the session that the owner has or had
``fw:pool:{<site>}:line:<jar>``      zset, expires: owner → since when it waits for a session of the jar
``fw:pool:{<site>}:seen:<jar>``      zset, expires: owner → until when it is waited for, should it not ask again
``fw:pool:{<site>}:line``, ``:seen`` the same of those who wait as there are as many leases of the site as may be
``fw:pool:{<site>}:lock:<session>``  hash, expires: ``owner`` and ``token`` of who has a named session to itself, and
                                     its ``lease`` (milliseconds)
``…:lockline:<session>``             zset, expires: owner → since when it waits for the lock
``…:lockseen:<session>``             zset, expires: owner → until when it is waited for
==================================== ==================================================================================

No cookie, token of a page or address of a proxy is in any of them.
"""

from __future__ import annotations

import hashlib
import re
import secrets

from fetchworker.errors import ArgumentError
from fetchworker.sessions.keys import check_session_id

PREFIX = "fw:pool"
#: the jar of operations that name none
MAIN = "main"

_JAR = re.compile(r"[a-z0-9_]{1,24}\Z")
_IN = re.compile(r"_in_([a-z]{2})\Z")
_OURS = re.compile(r"pool\.([a-z0-9_]{1,24})\.[0-9a-f]{16}\Z")


def head_key(site: str) -> str:
    """The head of a site's pool: what all other keys begin with.

    Raises:
        ArgumentError: the site has characters that names may not have.
    """
    return f"{PREFIX}:{{{check_session_id(site)}}}"


def lock_key(site: str, session_id: str) -> str:
    """The lock of a named session."""
    return f"{head_key(site)}:lock:{check_session_id(session_id)}"


def lock_keys(site: str, session_id: str) -> list[str]:
    """In the order of ``lock.lua``'s KEYS."""
    head, lock = head_key(site), lock_key(site, session_id)
    return [lock, head, f"{head}:lockline:{session_id}", f"{head}:lockseen:{session_id}"]


def check_jar(jar: str) -> str:
    """``jar``, if a jar may be called so.

    Raises:
        ArgumentError: it may not.
    """
    if not isinstance(jar, str) or not is_jar(jar):
        raise ArgumentError(f"jar {jar!r}: 1 to 24 of the characters a-z 0-9 _ are allowed")
    return jar


def is_jar(jar: str) -> bool:
    """Whether a jar may be called so."""
    return _JAR.match(jar) is not None


def tier_jar(jar: str, tier: str | None) -> str:
    """The jar of those sessions whose exits are of a tier above the first; of the first one (None) it is ``jar``."""
    if tier is None:
        return jar
    name = f"{jar}_{tier.lower()}"
    return name if _JAR.match(name) else f"{jar[:11]}_{hashlib.blake2b(name.encode(), digest_size=6).hexdigest()}"


def country_jar(jar: str, country: str | None) -> str:
    """The jar of those sessions of ``jar`` whose exits are in a country (ISO code; None: anywhere)."""
    if country is None:
        return jar
    name = f"{jar}_in_{country.lower()}"
    if _JAR.match(name):
        return name
    return f"{jar[:5]}_{hashlib.blake2b(jar.encode(), digest_size=6).hexdigest()}_in_{country.lower()}"


def country_of(session_id: str) -> str | None:
    """The country of the jar that a pooled session is of; None for others."""
    found = _IN.search(jar_of(session_id) or "")
    return found[1].upper() if found else None


def new_id(jar: str) -> str:
    """A name for a pooled session, never used before."""
    return f"pool.{check_jar(jar)}.{secrets.token_hex(8)}"


def jar_of(session_id: str) -> str | None:
    """The jar of a pooled session; None for a session that somebody named."""
    found = _OURS.match(session_id)
    return found[1] if found else None
