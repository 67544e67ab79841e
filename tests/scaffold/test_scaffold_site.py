"""`scrapy newsite` for real: in a copy of the project, whose tools then judge what it wrote."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
import yaml

from fetchworker.demo.lab import text
from fetchworker.demo.model import Reply
from fetchworker.demo.server import UpstreamServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
NAMES = ("shop", "aa", "z" * 29 + "9", "base_camp")
SHIPPED = "tests/sites/test_sites_load.py::test_the_shipped_file_is_right"


def test_the_files_are_told_and_nothing_else_is_touched(grown):
    files = grown.files()
    changed = {name for name, content in grown.before.items() if files[name] != content}
    assert changed == {"sites.yaml", "README.md", "docs/index.md"}
    new = files.keys() - grown.before.keys()
    assert {name for name in new if "/shop" in name} == {
        "fetchworker/spiders/shop/__init__.py", "fetchworker/spiders/shop/contract.py",
        "fetchworker/spiders/shop/params.py", "fetchworker/spiders/shop/parse.py", "fetchworker/spiders/shop/spider.py",
        "tests/shop/page.html", "tests/shop/test_shop.py", "docs/sites/shop.md",
    }  # fmt: skip
    assert len(new) == 8 * len(NAMES)
    assert all(name in grown.told["shop"] for name in new if "/shop" in name)
    assert "scrapy parse-file shop tests/shop/page.html" in grown.told["shop"]


def test_sites_yaml_keeps_its_comments_and_its_order(grown):
    before, after = grown.before["sites.yaml"].decode(), grown.files()["sites.yaml"].decode()
    assert after.startswith(before)
    old, new = yaml.safe_load(before)["sites"], yaml.safe_load(after)["sites"]
    assert list(new) == [*old, *NAMES]
    assert {name: new[name] for name in old} == old
    assert (new["aa"]["allowed_hosts"], new["aa"]["robots"]) == (["aa.example"], "obey")


def test_ruff_and_the_layers_have_nothing_to_say(grown):
    for tool in (("ruff", "check", "."), ("ruff", "format", "--check", ".")):
        done = grown.python("-m", *tool)
        assert done.returncode == 0, done.stdout
    done = grown.python("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
    assert done.returncode == 0, done.stdout


def test_mypy_has_nothing_to_say(grown):
    done = grown.python("-m", "mypy", *(f"fetchworker/spiders/{name}" for name in NAMES))
    assert done.returncode == 0, done.stdout
    assert "no issues found" in done.stdout


def test_its_own_tests_pass_and_so_do_those_of_all_sites_and_pages(grown):
    folders = [f"tests/{name}" for name in NAMES]
    done = grown.python("-m", "pytest", "-q", "-p", "no:cacheprovider", *folders, "tests/docs", SHIPPED)
    assert done.returncode == 0, done.stdout
    assert f"{12 * len(NAMES)} passed" in grown.python("-m", "pytest", "-q", *folders).stdout


@pytest.mark.parametrize("name", NAMES)
def test_the_page_that_comes_with_it_gives_an_item(grown, name):
    done = grown.scrapy("parse-file", name, f"tests/{name}/page.html")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["error"]) == ("ok", None)
    assert [(item["site"], item["username"]) for item in answer["items"]] == [(name, "some_name")]


@pytest.fixture
def server(grown):
    """The stub page as the site, over TLS."""
    page = (grown.folder / "tests/aa/page.html").read_bytes()

    def app(request):
        if request.route == "/some_name":
            return Reply(200, (("content-type", "text/html; charset=utf-8"),), page)
        return text("not found\n", 404)

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    site = UpstreamServer(app, hosts=("www.aa.example",))
    asyncio.run_coroutine_threadsafe(site.start(), loop).result(30)
    yield site
    asyncio.run_coroutine_threadsafe(site.close(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_a_crawl_of_it_gives_its_item(grown, server, monkeypatch):
    monkeypatch.setattr(grown, "env", {
        "FETCHWORKER_CA_FILE": server.ca_pem_path, "FETCHWORKER_HOST_MAP": json.dumps(server.host_map()),
    })  # fmt: skip
    out = grown.folder / "items.jsonl"
    done = grown.scrapy("crawl", "aa", "-a", "url=https://www.aa.example/some_name", "-O", str(out))
    assert done.returncode == 0, done.stderr
    (item,) = map(json.loads, out.read_bytes().splitlines())
    assert (item["site"], item["operation"], item["username"], item["followers"]) == ("aa", "x", "some_name", 1204)
    assert [request.path for request in server.log.requests] == ["/robots.txt", "/some_name"]


def test_sites_and_usage_know_it(grown):
    done = grown.scrapy("sites", *NAMES)
    assert done.returncode == 0, done.stderr
    assert "  list_all: A page: who it is about.  (chosen by user)" in done.stdout


def test_the_same_name_again_is_refused(grown):
    before = grown.files()
    done = grown.scrapy("newsite", "shop")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is a spider or a module of this name" in done.stderr
    assert grown.files() == before
