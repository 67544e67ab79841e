"""Spiders' names are read from their modules, which are imported when they are used."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader, get_spider_loader

from fetchworker import settings as project_settings

ROOT = Path(__file__).parents[2]
PLAIN = 'import scrapy\n\n\nclass {cls}(scrapy.Spider):\n    """One."""\n\n    name = "{name}"\n'
LISTS = """
import sys
from scrapy.cmdline import execute
try:
    execute(["scrapy", "list"])
except SystemExit as exc:
    assert not exc.code, exc.code
print(*sorted(name for name in sys.modules if name.startswith("fetchworker.") and ".commands" not in name), sep=" ")
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Writes a package of spiders and gives its loader."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(files: dict[str, str], **settings: object):
        for name, text in {"shelf/__init__.py": "", **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return loader(**settings)

    yield load
    for name in [name for name in sys.modules if name.partition(".")[0] == "shelf"]:
        del sys.modules[name]


def loader(**settings: object):
    ours = {"SPIDER_LOADER_CLASS": project_settings.SPIDER_LOADER_CLASS, "SPIDER_MODULES": ["shelf"]}
    return get_spider_loader(Settings({**ours, **settings}))


def test_the_list_of_spiders_imports_no_site():
    done = subprocess.run([sys.executable, "-c", LISTS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *names, modules = done.stdout.splitlines()
    assert {"instagram", "fetch"} <= set(names)
    assert modules.split() == ["fetchworker.settings", "fetchworker.spiders", "fetchworker.spiders.loader"]


def test_it_finds_what_scrapys_own_loader_finds():
    # get_project_settings would leave its mark on the environment of every later test
    ours = loader(SPIDER_MODULES=project_settings.SPIDER_MODULES)
    theirs = SpiderLoader(Settings({"SPIDER_MODULES": project_settings.SPIDER_MODULES}))
    assert ours.list() == theirs.list()
    assert [ours.load(name) for name in ours.list()] == [theirs.load(name) for name in theirs.list()]


def test_one_that_does_not_import_is_listed_and_told_when_it_is_used(load):
    broken = "import no_such_module\n" + PLAIN.format(cls="BrokenSpider", name="broken")
    found = load({"shelf/broken.py": broken, "shelf/site/__init__.py": "", "shelf/site/spider.py": plain("fine")})
    assert found.list() == ["broken", "fine"]
    assert found.load("fine").name == "fine"
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        found.load("broken")
    with pytest.raises(KeyError, match="Spider not found: another"):
        found.load("another")


def plain(name: str) -> str:
    return PLAIN.format(cls=f"{name.capitalize()}Spider", name=name)


@pytest.mark.parametrize(
    "source",
    [
        'import scrapy\nNAME = "tea"\n\n\nclass TeaSpider(scrapy.Spider):\n    name = NAME\n',
        'from scrapy import Spider as Base\n\n\nclass Tea(Base):\n    name = "tea"\n',
        'from scrapy import Spider\n\nif True:\n\n    class TeaSpider(Spider):\n        name = "tea"\n',
        'from scrapy import Spider\n\n\nclass TeaSpider(Spider):\n    name: str = "tea"\n',
        'from scrapy import Spider\n\n\nclass TeaSpider(Spider): name = "tea"\n',
        'from scrapy import Spider\n\n\nclass TeaSpider(\n    Spider,\n):\n\tname = other = "tea"\n',
    ],
    ids=["worked out", "base of another name", "under if", "annotated", "one line", "several lines"],
)
def test_a_name_is_found_however_it_is_given(load, source):
    found = load({"shelf/tea.py": source})
    assert found.list() == ["tea"]
    assert found.load("tea").name == "tea"


@pytest.mark.parametrize(
    "source",
    [
        'class Tea:\n    name = "tea"\n',
        'class Tea(Exception):\n    name = "tea"\n',
        "from scrapy import Spider\n\n\nclass TeaSpider(Spider):\n    pass\n",
        'from scrapy import Spider\n\n\ndef made():\n    class TeaSpider(Spider):\n        name = "tea"\n',
    ],
    ids=["no base", "no spider", "no name", "in a function"],
)
def test_what_is_no_spider_is_not_listed(load, source):
    assert load({"shelf/tea.py": source}).list() == []


def test_two_of_one_name_are_warned_of_and_the_later_one_is_loaded(load):
    with pytest.warns(UserWarning, match="several spiders with the same name"):
        found = load({"shelf/one.py": plain("tea"), "shelf/two.py": plain("tea") + "\n\n" + plain("milk")})
    assert sorted(found.list()) == ["milk", "tea"]
    assert found.load("tea").__module__ == "shelf.two"


@pytest.mark.parametrize(
    "source", ["class TeaSpider(Spider):\n    name = \n", 'class A(Spider):\n    name = "\\0"\0\n']
)
def test_a_module_that_cannot_be_read_is_told_at_once(load, source):
    with pytest.raises((SyntaxError, ValueError)):
        load({"shelf/tea.py": source})


def test_it_is_only_a_warning_where_the_settings_say_so(load):
    with pytest.warns(RuntimeWarning, match=r"(?s)SyntaxError.*Could not load spiders from module 'shelf'"):
        load({"shelf/tea.py": "class TeaSpider(Spider):\n    name = \n"}, SPIDER_LOADER_WARN_ONLY=True)


def test_a_package_that_is_not_there_is_told():
    with pytest.raises(ModuleNotFoundError, match="no_such_shelf"):
        loader(SPIDER_MODULES=["no_such_shelf"])


def test_an_address_finds_the_spiders_that_handle_it(load):
    found = load(
        {"shelf/tea.py": plain("tea") + '    allowed_domains = ["tea.example"]\n', "shelf/milk.py": plain("milk")}
    )
    assert found.find_by_request(Request("https://tea.example/")) == ["tea"]


def test_spiders_in_an_egg_are_found(tmp_path, load, monkeypatch):
    egg = tmp_path / "shelf.egg"
    with zipfile.ZipFile(egg, "w") as packed:
        packed.writestr("shelf/__init__.py", "")
        packed.writestr("shelf/site/__init__.py", "")
        packed.writestr("shelf/site/spider.py", plain("tea"))
    monkeypatch.syspath_prepend(str(egg))
    found = loader()
    assert (found.list(), found.load("tea").name) == (["tea"], "tea")
