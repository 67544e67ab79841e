"""Names of sessions and the Redis keys they live under.

``fw:session:{<site>}:<id>``
    Hash, one per stored session, expires after the store's TTL unless saved again. The braces put all sessions of a
    site into one slot of a Redis Cluster. Its fields:

    =================================== ===============================================================================
    ``v``                               version of this layout
    ``identity`` ``proxy`` ``profile``  the identity; never change while it lives (``proxy`` empty: no proxy)
    ``created_at`` ``used_at``          POSIX seconds
    ``uses`` ``blocks``                 counters
    ``c:["<domain>","<path>","<name>"]`` a cookie: ``<stamp> <JSON row>``; ``<stamp>`` and a blank alone: deleted
    ``t:<name>``                        a token: ``<stamp> <JSON string>``; likewise
    =================================== ===============================================================================

    ``<stamp>`` is the microsecond of the write; the higher one stays.
"""

from __future__ import annotations

import re

from fetchworker.errors import ArgumentError

PREFIX = "fw:session"

_NAME = re.compile(r"[A-Za-z0-9._:@-]{1,128}\Z")


def check_session_id(name: str) -> str:
    """``name``, if a stored session may be called so.

    Raises:
        ArgumentError: it may not.
    """
    return _checked(name, "session id")


def is_session_id(name: str) -> bool:
    """Whether a stored session may be called so."""
    return _NAME.match(name) is not None


def session_key(site: str, session_id: str) -> str:
    """The key of a session's hash.

    Raises:
        ArgumentError: the site or the id has characters that names may not have.
    """
    return f"{_site_prefix(site)}{check_session_id(session_id)}"


def session_pattern(site: str) -> str:
    """The SCAN pattern that finds the sessions of a site."""
    return f"{_site_prefix(site)}*"


def session_id_of(site: str, key: str) -> str:
    """The id in a key of this site."""
    return key.removeprefix(_site_prefix(site))


def _site_prefix(site: str) -> str:
    return f"{PREFIX}:{{{_checked(site, 'site')}}}:"


def _checked(name: str, what: str) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        told = f"{what} {name!r}: 1 to 128 of the characters A-Z a-z 0-9 . _ : @ - are allowed"
        raise ArgumentError(told, fields=[what.replace(" ", "_")])
    return name
