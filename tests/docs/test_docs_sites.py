"""Each site's page tells what its users need: what comes, by which operations, refusals, pace, and what is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.project import get_project_settings

LOADER = get_spider_loader(get_project_settings())
FOLDER = Path(__file__).parents[2] / "docs" / "sites"
SITES = sorted(set(LOADER.list()) - {"document", "fetch"})


@pytest.mark.parametrize("site", SITES)
def test_the_five_parts(site):
    page = (FOLDER / f"{site}.md").read_text()
    assert re.search(r"```(?:json)?\s*\{", page), "an item"
    for operation in LOADER.load(site).operations:
        assert f"`{operation}`" in page
    assert re.search(r"^\| outcome +\| when", page, re.MULTILINE), "what refusals become"
    assert "sites.yaml" in page, "pace and ceiling"
    assert re.search(r"^## .*(?:missing|not known|not sure)", page, re.MULTILINE | re.IGNORECASE)
