from __future__ import annotations

import json
import re
from typing import Any

import pytest

from fetchworker.demo import bench_app
from fetchworker.demo.bench import SMALLEST, page


@pytest.mark.parametrize("size", [SMALLEST, 1024, 100 * 1024])
@pytest.mark.parametrize("number", [0, 7, 123_456_789])
def test_pages_have_their_size_and_their_item(size: int, number: int) -> None:
    body = page(size, number)
    assert len(body) == size
    found = re.search(rb'<script type="application/json" id="item">(.*?)</script>', body)
    assert found is not None
    assert json.loads(found.group(1)) == {"id": number, "title": f"Article {number}", "likes": 7 * number}
    assert body.endswith(b"</p></body></html>")


def test_smaller_than_the_smallest() -> None:
    assert len(page(1, 1)) == SMALLEST


async def test_over_the_wire(serve: Any, browser: Any) -> None:
    server = await serve(bench_app)
    client = await browser()
    answer = await client.get(f"https://localhost:{server.port}/page/2048/5")
    assert len(answer.content) == 2048
    assert answer.headers["content-type"].startswith("text/html")
    for path in ("", "page/2048", "page/x/1", "page/1024/-1", "page/1/2/3"):
        assert (await client.get(f"https://localhost:{server.port}/{path}")).status_code == 404
