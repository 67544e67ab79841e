"""Links lead somewhere, and code on a page is code."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def anchors(document) -> set[str]:
    """The anchors that a forge gives to headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in document.headings()}


def test_relative_links_lead_to_files_and_headings(page, pages):
    broken = []
    for link in page.links():
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        path = (page.path.parent / target).resolve() if target else page.path
        other = pages.get(path.relative_to(ROOT).as_posix())
        if not path.exists() or (anchor and (other is None or anchor not in anchors(other))):
            broken.append(link)
    assert broken == []


def test_every_page_is_reached_from_the_readme_and_the_index(pages):
    everything = {name for name in pages if name.startswith("docs/")}
    for start in ("README.md", "docs/index.md"):
        folder = pages[start].path.parent
        reached = {(folder / link.partition("#")[0]).resolve() for link in pages[start].links()}
        missing = {name for name in everything if (ROOT / name) not in reached} - {"docs/index.md"}
        assert missing == set(), start


def test_python_on_a_page_is_valid_and_imports_what_exists(page):
    missing = []
    for block in page.blocks("python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module)
                missing += [f"{node.module}.{name.name}" for name in node.names if not hasattr(module, name.name)]
    assert missing == []


def test_the_whole_site_of_the_guide_parses_a_page(pages):
    from fetchworker.contracts import Page

    (code,) = [block for block in pages["docs/new-site.md"].blocks("python") if "SiteSpider" in block]
    module: dict = {"__name__": "shop"}
    exec(compile(code, "new-site.md", "exec"), module)
    spider = module["ShopSpider"]()
    call = spider.make_resolver().arguments({"url": "https://shop.example/tea-and-kites"}).call
    body = b'{"shop": {"id": 7, "slug": "tea-and-kites", "title": "Tea & Kites"}}'
    (item,) = spider.operations["shop"].parse(Page(None, None, {}, body), call).items
    assert (item.id, item.username, item.name) == ("7", "tea-and-kites", "Tea & Kites")
    assert [fetch.strategy for fetch in spider.operations["shop"].fetches(spider, call)] == ["page", "api"]
