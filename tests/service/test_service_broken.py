"""A spider that cannot be loaded: its site is left out, and health says so."""

from __future__ import annotations

import logging

from scrapy.settings import Settings

from fetchworker.service.serving import _spiders

BROKEN = "import scrapy\n\nclass Tea(scrapy.Spider):\n    name = 'tea'\n\nraise RuntimeError('no kettle')\n"


def test_a_spider_that_raises_at_import_stops_no_others(tmp_path, monkeypatch, caplog):
    (tmp_path / "kitchen").mkdir()
    (tmp_path / "kitchen" / "__init__.py").touch()
    (tmp_path / "kitchen" / "tea.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path)
    settings = Settings()
    settings.setmodule("fetchworker.settings", priority="project")
    settings.set("SPIDER_MODULES", ["fetchworker.spiders.fetch", "kitchen"])
    with caplog.at_level(logging.ERROR):
        found, broken = _spiders(settings, ["tea", "fetch"])
    assert [*found] == ["fetch"]
    assert broken == {"tea": "its spider cannot be loaded: RuntimeError: no kettle"}
    assert "site tea is left out" in caplog.text
