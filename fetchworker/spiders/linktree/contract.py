"""What Linktree answers to, as data: one page for each name, no tokens, no other interface needed.

The page is a Next.js one; its data stand in ``script#__NEXT_DATA__`` under ``props.pageProps`` (bodies of 2021-22;
public readers of 2023 to 2026 use the same paths). They come twice: flattened (``username``, ``links`` with text ids,
``thumbnail`` and ``locked``; groups with ``childLinks``) and as ``account`` (``links`` with number ids, ``modifiers``
and ``rules.gate``).
"""

from __future__ import annotations

from urllib.parse import quote

from fetchworker.contracts import Fetch

HOME = "https://linktr.ee"
#: sherlock's data.json, 2026
USERNAME = r"[A-Za-z0-9_.]{2,30}"
#: first path segments that are pages of the company (2026), never names
RESERVED = (
    "login", "register", "admin", "discover", "marketplace", "blog", "pricing", "about", "help", "terms", "privacy",
    "products", "solutions", "learn", "creators", "business", "s", "api", "_next",
)  # fmt: skip
DATA_SCRIPT = "__NEXT_DATA__"
#: gates of ``rules.gate`` that stand before a link (2021-26); ``activeOrder`` says in which order they are asked.
#: The key ``sensitiveContent`` beside them names the domain alone
GATES = ("age", "passcode", "nft", "payment")
#: schemes of links that hold somebody's own mail address or telephone number: contact data are not kept
CONTACT = ("mailto:", "tel:", "sms:")
#: ``account.profileBadges`` of a verified account (2022)
VERIFIED_BADGE = "VERIFICATION_TICK"


def page_url(username: str) -> str:
    """Canonical address of a link page."""
    return f"{HOME}/{quote(username, safe='')}"


def page(username: str) -> Fetch:
    """The link page."""
    return Fetch("page", page_url(username))
