"""Pages that lack what their site's contract promises, kept so that ``scrapy parse-file --manifest`` replays them.

``<crawl folder>/drift/manifest.jsonl`` has a row for each body beside it: what a manifest needs, ``lacks`` (what was
looked for in vain) and ``cut`` (whether the body was too long to be kept whole).
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.exports.private import private_folder, private_opener
from fetchworker.telemetry.redaction import MASK, MIN_SECRET, hide_registered

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fetchworker.contracts import Page

MANIFEST = "manifest.jsonl"
#: bodies of a crawl, and of one lack of one operation
KEPT_MAX = 20
KEPT_ALIKE = 3
#: bytes of a body
BODY_MAX = 2 * 1024 * 1024
_EMAIL = re.compile(r"[\w.+%-]{1,64}(?:@|\\u0040|&#64;|%40)[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_SECRET_HEADERS = frozenset({"set-cookie", "authorization", "proxy-authorization"})


class DriftRecords:
    """The kept pages of one crawl. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._alike: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def keep(self, page: Page, *, site: str, operation: str, lacks: str, secrets: Iterable[str] = ()) -> str | None:
        """Write a page down, without secrets and e-mail addresses.

        Args:
            page: as the parser had it.
            site: whose page it is.
            operation: whose parser it was.
            lacks: what it looked for.
            secrets: the session's own values.

        Returns:
            The body's path relative to the crawl's folder; None when there are enough.

        Raises:
            OSError: the disk refuses.
        """
        with self._lock:
            number = self._alike.total() + 1
            if number > KEPT_MAX or self._alike[operation, lacks] >= KEPT_ALIKE:
                return None
            self._alike[operation, lacks] += 1
            private_folder(self.folder.parent)
            private_folder(self.folder)
            name = f"{operation}-{number}.body"
            with open(self.folder / name, "wb", opener=private_opener) as body:  # Path.open has no opener
                body.write(presentable(page.body, secrets))
            row = {"file": name, "site": site, "operation": operation, **_told(page), "lacks": lacks}
            with open(self.folder / MANIFEST, "ab", opener=private_opener) as manifest:  # as above
                manifest.write(orjson.dumps(row) + b"\n")
            return f"{self.folder.name}/{name}"


def presentable(body: bytes, secrets: Iterable[str] = ()) -> bytes:
    """The beginning of a body as it may be kept: a parser still reads it (pure but for the registered secrets)."""
    text = body[:BODY_MAX].decode("latin-1")
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= MIN_SECRET:
            text = text.replace(secret.encode().decode("latin-1"), MASK)
    return _EMAIL.sub(MASK, hide_registered(text)).encode("latin-1")


def _told(page: Page) -> dict[str, Any]:
    headers = {name: list(values) for name, values in page.headers.items() if name not in _SECRET_HEADERS}
    return {"status": page.status, "url": page.url, "headers": headers, "cut": len(page.body) > BODY_MAX}
