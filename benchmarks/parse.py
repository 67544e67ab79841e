"""What parsing takes: CPU per MB of page for each operation, beside reading the same bytes with lxml.

    python benchmarks/parse.py [--megabytes N] [MANIFEST]

The demo's pages are small, so they are filled up to a megabyte with the kind of scripts and markup that real pages
consist of, behind the data. A manifest (as for ``scrapy parse-file``) takes saved pages instead, those above 200 KB.
The goal: a page of 1 MB in 40 ms of CPU.
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from _pages import Work, all_work
from lxml import html
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.project import get_project_settings

from fetchworker.contracts import Call, Page
from fetchworker.errors import ContractError

GOAL = 40.0
FILLER = (
    b'<div class="x1n2 x78z"><span dir="auto">Lorem ipsum</span><a href="/a?b=1&amp;c=2" role="link">more</a></div>'
    b'<script type="application/json">{"require":[["Loader","handle",null,[{"rsrc":{"a1B":{"type":"js","src":"x"}}}]]]}'
    b"</script><script>window.__d=function(a,b){return a&&b?{c:[1,2,3],d:'e'}:null}</script>\n"
)
BIG = 200_000


def filled(body: bytes, size: int) -> bytes:
    """A JSON body gets spaces, which cost its reader nothing less."""
    missing = max(0, size - len(body))
    if body.lstrip()[:1] in (b"{", b"["):
        return body + b" " * missing
    return body + FILLER * (missing // len(FILLER))


def best(function, times: int = 5) -> float:
    """Milliseconds of CPU, the best of some."""
    found = []
    for _ in range(times):
        begun = time.process_time()
        function()
        found.append((time.process_time() - begun) * 1000)
    return min(found)


def told(name: str, parse, call: Call, page: Page) -> None:
    def once() -> None:
        with suppress(ContractError):
            parse(page, call)

    ours, lxml = best(once), best(lambda: html.fromstring(page.body)) if b"<" in page.body[:200] else None
    size = len(page.body) / 1e6
    ratio = f"{ours / lxml:6.2f} of lxml's tree" if lxml else ""
    print(
        f"{name:34}{size:6.2f} MB{ours:8.1f} ms{ours / size:8.1f} ms/MB{'' if ours / size <= GOAL else ' !':2} {ratio}"
    )


def saved(manifest: Path):
    loader = get_spider_loader(get_project_settings())
    for line in manifest.read_text().splitlines():
        row = json.loads(line)
        body = (manifest.parent / row["file"]).read_bytes()
        if row["site"] in loader.list() and row.get("operation") and len(body) >= BIG:
            operation = loader.load(row["site"]).operations[row["operation"]]
            page = Page(row.get("url"), row.get("status"), {}, body)
            call = Call(operation.name, operation.params.model_construct())
            yield f"{row['site']} {row['operation']}", operation.parse, call, page


def made(work: list[Work], size: int):
    for one in work:
        for page in one.pages[:1]:
            yield one.name, one.parse, one.call, replace(page, body=filled(page.body, size))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", nargs="?", type=Path)
    parser.add_argument("--megabytes", type=float, default=1.0)
    options = parser.parse_args()
    pages = saved(options.manifest) if options.manifest else made(all_work(), int(options.megabytes * 1e6))
    for name, parse, call, page in pages:
        told(name, parse, call, page)


if __name__ == "__main__":
    main()
