"""The pages of the documentation, read as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])


@dataclass
class Document:
    """One page."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tokens(self):
        return MarkdownIt("commonmark").enable("table").parse(self.text)

    def links(self) -> list[str]:
        inline = [child for token in self.tokens for child in token.children or []]
        return [str(child.attrs["href"]) for child in inline if child.type == "link_open"]

    def headings(self) -> list[str]:
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        return [after.content for before, after in pairs if before.type == "heading_open"]

    def blocks(self, language: str) -> list[str]:
        return [token.content for token in self.tokens if token.type == "fence" and token.info.strip() == language]

    def commands(self) -> list[str]:
        """What console blocks tell to type."""
        lines = [line for block in self.blocks("console") for line in block.splitlines()]
        return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]

    def tables(self) -> list[list[list[str]]]:
        """The cells of each table, row by row, its head first."""
        found: list[list[list[str]]] = []
        for before, token in zip(self.tokens, self.tokens[1:], strict=False):
            if token.type == "thead_open":
                found.append([])
            elif token.type == "tr_open":
                found[-1].append([])
            elif before.type in ("th_open", "td_open"):
                found[-1][-1].append(token.content)
        return found

    def rows(self, *head: str) -> list[list[str]]:
        """The rows of the tables whose first heads are these."""
        return [row for rows in self.tables() if rows[0][: len(head)] == list(head) for row in rows[1:]]


@pytest.fixture(scope="session")
def pages() -> dict[str, Document]:
    return {path.relative_to(ROOT).as_posix(): Document(path) for path in PAGES}


@pytest.fixture(params=[path.relative_to(ROOT).as_posix() for path in PAGES])
def page(request, pages) -> Document:
    return pages[request.param]
