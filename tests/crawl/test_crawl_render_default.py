"""What renders pages of sites that say nothing about it: a variable, or a setting, which have to agree."""

from __future__ import annotations

import pytest

from fetchworker.config.browsing import BrowserVariables, default_render
from fetchworker.errors import ConfigError
from tests.crawl.test_crawl_render import URL, browser, stats  # noqa: F401  # the fixture


@pytest.mark.parametrize(
    ("variable", "setting", "render"),
    [
        (None, None, "never"),
        ("always", None, "always"),
        (None, "on_evidence", "on_evidence"),
        (None, "Always", "always"),
        ("on_evidence", "on_evidence", "on_evidence"),
        ("never", "never", "never"),
        (None, "", "never"),
    ],
)
def test_the_default(variable, setting, render):
    assert default_render(BrowserVariables(render=variable), setting) == render


@pytest.mark.parametrize(("variable", "setting"), [("always", "never"), (None, "sometimes"), (None, True)])
def test_what_stops_the_start(variable, setting):
    with pytest.raises(ConfigError, match="FETCHWORKER_RENDER"):
        default_render(BrowserVariables(render=variable), setting)


@pytest.mark.browser
@pytest.mark.timeout(180)
@pytest.mark.slow
def test_a_crawl_renders_by_the_default_where_its_site_says_nothing(browser, project, lab, sites, fetch):  # noqa: F811
    project.env["FETCHWORKER_RENDER"] = "on_evidence"
    assert "<h1>mug is one" in fetch(f"{URL}/app/mug").item["body"]
    sites(render="never")
    done = fetch(f"{URL}/app/mug")
    assert '<div id="root"></div>' in done.item["body"]
    assert stats(done, "browser/pages") == 0


@pytest.mark.slow
def test_a_setting_that_contradicts_the_variable_stops_the_start(project, lab, sites):
    project.use(lab)
    project.env["FETCHWORKER_RENDER"] = "on_evidence"
    spider = project.folder / "spider.py"
    spider.write_text(
        "import scrapy\n\n\nclass Pages(scrapy.Spider):\n    name = 'pages'\n"
        "    custom_settings = {'FETCHWORKER_RENDER': 'always'}\n    start_urls = ['https://lab.example/html']\n"
    )
    done = project.scrapy("runspider", str(spider))
    assert done.returncode != 0
    assert "FETCHWORKER_RENDER: the Scrapy setting says always and the environment on_evidence" in done.stderr
