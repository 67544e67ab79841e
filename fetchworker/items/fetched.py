"""What a crawl tells beside the sites' data: pages of a paged operation, and responses as they came."""

from __future__ import annotations

from typing import Any, Literal

from fetchworker.items.base import Count, Item


class Page(Item):
    """One per page of a paged operation, after its items: the cursor is never lost.

    ``total_min`` and ``total_max`` bound the total where the site gives a range.
    """

    kind: Literal["page"] = "page"
    next_cursor: str | None = None
    total: Count | None = None
    total_min: Count | None = None
    total_max: Count | None = None
    exhausted: bool | None = None


class FetchResult(Item):
    """A response as it came; ``body`` when it is text, ``body_base64`` when it is not."""

    kind: Literal["fetch_result"] = "fetch_result"
    status: int
    headers: list[tuple[str, str]] = []
    body: str | None = None
    body_base64: str | None = None
    content_type: str | None = None
    elapsed_ms: float | None = None
    bytes_down: Count | None = None
    bytes_up: Count | None = None
    proxy: dict[str, str | None] | None = None
    """Provider and exit country, never an address or a password."""
    session_id: str | None = None
    attempts: Count | None = None


class Document(Item):
    """A file and what the invoices and receipts in it say; ``error`` tells why it says nothing.

    Each of ``documents`` has ``kind``, ``kind_confidence``, ``fields``, ``line_items`` and ``engine``; a field has
    ``value``, ``confidence``, ``page``, ``box`` and ``lines``.
    """

    kind: Literal["document"] = "document"
    id: str | None = None
    """The SHA-256 of the file."""
    bytes: Count | None = None
    pages_read: Count | None = None
    pages_total: Count | None = None
    documents: list[dict[str, Any]] = []
    error: dict[str, Any] | None = None
    read_as: Literal["auto", "invoice", "receipt"] = "auto"
    body_base64: str | None = None
    """The file, until it is read."""
