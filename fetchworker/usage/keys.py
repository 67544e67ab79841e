"""The Redis keys of usage, and the fields in them.

All have the tag ``{<site>:usage}``, so that a site's are in one slot of a cluster; a user of Redis who may touch
``{<site>:*`` may touch them. Days are of UTC; all expire.

========================================= =============================================================================
``{<site>:usage}:<yyyy-mm-dd>``           hash: ``<provider>|<tier>|<operation>|<session>|<outcome>|<what>`` → number,
                                          where ``<what>`` is ``up`` or ``down`` (bytes) or ``n`` (transfers); parts are
                                          percent-encoded
``{<site>:usage}:<yyyy-mm-dd>:spent``     hash: tier (percent-encoded) → bytes up and down, which budgets are held
                                          against
``{<site>:usage}:batch:<worker>``         string: number of the last batch that this worker has added
========================================= =============================================================================
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from fetchworker.usage.ledger import Key

_PARTS = 6
UP, DOWN, TRANSFERS = "up", "down", "n"


def day_key(site: str, day: str) -> str:
    """The hash of a day."""
    return f"{_tag(site)}:{day}"


def spent_key(site: str, day: str) -> str:
    """The hash of a day's bytes by tier."""
    return f"{_tag(site)}:{day}:spent"


def batch_key(site: str, worker: str) -> str:
    """The number of a worker's last batch."""
    return f"{_tag(site)}:batch:{plain(worker)}"


def plain(part: str) -> str:
    """A part of a key or field in which nothing is taken for a separator."""
    return quote(part, safe="()")


def field_parts(key: Key) -> tuple[str, str, str]:
    """The field of a key as a script takes it: what is before the session, the session, what is after it."""
    return f"{plain(key.provider)}|{plain(key.tier)}|{plain(key.operation)}|", plain(key.session), plain(key.outcome)


def read_field(site: str, field: bytes) -> tuple[Key, str] | None:
    """Key and kind of number of a field; None if it is none of ours (another version's)."""
    try:
        parts = field.decode().split("|")
    except UnicodeDecodeError:
        return None
    if len(parts) != _PARTS or parts[-1] not in (UP, DOWN, TRANSFERS):
        return None
    provider, tier, operation, session, outcome = (unquote(part) for part in parts[:-1])
    return Key(provider, tier, site, operation, session, outcome), parts[-1]


def _tag(site: str) -> str:
    return f"{{{plain(site)}:usage}}"
