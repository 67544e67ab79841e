"""What `scrapy newsite` does not do, and that it then has done nothing at all."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading

import pytest

from fetchworker.errors import ArgumentError, ConfigError
from fetchworker.scaffold import new_site, plan, write
from fetchworker.scaffold.insertion import with_entry, with_index_link, with_readme_row
from fetchworker.scaffold.writing import ASIDE
from fetchworker.sites import yamlfile
from fetchworker.spiders.base import SiteSpider

SITES = (
    "# head\nsites:\n  one:\n    delay: 1  # why\n    # more of one\n\n  # the last\n  fetch:\n    delay: 0\n# tail\n"
)


def checked(name="shop", domain=None, operation="profile"):
    return new_site(name, domain=domain, operation=operation, taken={"ebay", "reading"}, methods=dir(SiteSpider))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Shop", "small letters"), ("1shop", "small letters"), ("s", "2 to 30"), ("s" * 31, "2 to 30"),
        ("my-shop", "small letters"), ("../shop", "small letters"), ("shöp", "small letters"), ("", "small letters"),
        ("shop\n", "small letters"), ("class", "keyword"), ("match", "keyword"), ("json", "Python module"),
        ("redis", "Python module"), ("scrapy", "Python module"), ("fetchworker", "another meaning"),
        ("any", "another meaning"), ("on", "another meaning"), ("null", "another meaning"), ("ebay", "a spider"),
        ("reading", "a module"),
    ],
)  # fmt: skip
def test_names_that_cannot_be(name, told):
    with pytest.raises(ArgumentError, match=told):
        checked(name)


@pytest.mark.parametrize(
    "operation", ["Profile", "", "def", "list", "start", "request", "parse", "name", "text", "a b"]
)
def test_operations_that_cannot_be(operation):
    with pytest.raises(ArgumentError, match="--operation"):
        checked(operation=operation)


@pytest.mark.parametrize(
    "domain", ["", "shop", "https://shop.example", "shop.example/", "shop.example:80", "1.2.3.4", "-a.example",
               "shöp.example", f"{'a' * 60}.{'b' * 60}.example", "a..example", 'x".example'],
)  # fmt: skip
def test_domains_that_cannot_be(domain):
    with pytest.raises(ArgumentError, match="--domain"):
        checked(domain=domain)


def test_a_domain_is_made_of_the_name_or_taken_as_told():
    assert checked("tea_shop").domain == "tea-shop.example"
    site = checked(domain="WWW.Shop.example")
    assert (site.domain, site.host) == ("www.shop.example", "shop.example")


# ── lines more in files ──────────────────────────────────────────────────────────────────────────────────────────────


def added(tmp_path, text, name="shop", entry="# new\nshop:\n  delay: 2\n"):
    path = tmp_path / "sites.yaml"
    path.write_bytes(text.encode())
    return with_entry(yamlfile.read(path), text, name, entry)


def test_an_entry_comes_behind_the_last_one(tmp_path):
    assert added(tmp_path, SITES) == SITES.replace("# tail", "\n  # new\n  shop:\n    delay: 2\n# tail")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("sites:\n  a: {}", "sites:\n  a: {}\n\n  # new\n  shop:\n    delay: 2\n"),
        ("sites:\n  a:\n", "sites:\n  a:\n\n  # new\n  shop:\n    delay: 2\n"),
        ("sites:\n a:\n  x: [1,\n   2]\n  # of a\n # of none\ndefaults: {}\n",
         "sites:\n a:\n  x: [1,\n   2]\n  # of a\n\n # new\n shop:\n   delay: 2\n # of none\ndefaults: {}\n"),
        ("sites:\r\n  a: {}\r\n", "sites:\r\n  a: {}\r\n\r\n  # new\r\n  shop:\r\n    delay: 2\r\n"),
        ("sites:\n  a:\n    t: |\n      one\n      two\n\ndefaults: {}\n",
         "sites:\n  a:\n    t: |\n      one\n      two\n\n  # new\n  shop:\n    delay: 2\n\ndefaults: {}\n"),
    ],
)  # fmt: skip
def test_files_written_in_other_ways(tmp_path, text, made):
    assert added(tmp_path, text) == made


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sites:\n  shop: {}\n", "line 2: sites.shop is there already"), ("sites: {a: {}}\n", "lines of their own"),
        ("{}\n", "lines of their own"), ("- a\n", "lines of their own"),
    ],
)  # fmt: skip
def test_files_that_cannot_take_an_entry(tmp_path, text, told):
    with pytest.raises(ConfigError, match=told):
        added(tmp_path, text)


def test_pages_without_a_list_of_sites_stay_as_they_are():
    assert with_index_link("# A\n", "shop") == "# A\n"
    assert with_readme_row("# A\n", "shop") == "# A\n"


# ── all or nothing ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def tree(tmp_path):
    """Just enough of a project."""
    for folder in ("fetchworker/spiders", "tests", "docs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "sites.yaml").write_text(SITES)
    (tmp_path / "docs/index.md").write_text("- [fetch](sites/fetch.md)\n")
    (tmp_path / "README.md").write_text("[fetch](docs/sites/fetch.md)\n")
    return tmp_path


def everything(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")}  # fmt: skip


def planned(tree):
    return plan(checked(), tree, tree / "sites.yaml")


def test_a_plan_is_written_and_leaves_nothing_beside(tree):
    (tree / "sites.yaml").chmod(0o640)
    write(planned(tree))
    assert (tree / "docs/sites/shop.md").is_file()
    assert (tree / "sites.yaml").stat().st_mode & 0o777 == 0o640
    assert [path for path in tree.rglob("*") if ASIDE in path.name] == []


def test_a_link_stays_a_link(tree):
    (tree / "sites.yaml").rename(tree / "real.yaml")
    (tree / "sites.yaml").symlink_to("real.yaml")
    write(planned(tree))
    assert (tree / "sites.yaml").is_symlink()
    assert "shop:" in (tree / "real.yaml").read_text()


@pytest.mark.parametrize("path", ["fetchworker/spiders/shop", "tests/shop", "docs/sites/shop.md"])
def test_what_is_there_is_not_written_over(tree, path):
    (tree / path).mkdir(parents=True)
    with pytest.raises(ConfigError, match=f"{path} is there already"):
        planned(tree)


def test_what_fails_halfway_is_taken_back(tree):
    (tree / "docs/sites").write_text("a file where a folder should be")
    before = everything(tree)
    with pytest.raises(ConfigError, match="nothing was written"):
        write(planned(tree))
    assert everything(tree) == before


@pytest.mark.parametrize("gone", ["sites.yaml", "README.md"])
def test_what_fails_at_the_end_is_taken_back(tree, gone):
    made = planned(tree)
    target = tree / gone
    target.unlink()
    before = everything(tree)
    with pytest.raises(ConfigError, match="nothing was written"):
        write(made)
    assert everything(tree) == before


def test_something_that_appears_meanwhile_is_not_written_over(tree):
    made = planned(tree)
    (tree / "docs/sites/shop.md").mkdir(parents=True)
    before = everything(tree)
    with pytest.raises(ConfigError, match="nothing was written"):
        write(made)
    assert everything(tree) == before


@pytest.mark.parametrize("limit", [0, 700, 2000])
def test_a_full_disk(tree, limit):
    before = everything(tree)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tree)], capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)),
    )  # fmt: skip
    assert "nothing was written" in done.stdout, done.stderr
    assert everything(tree) == before


def test_a_tree_that_may_not_be_written(tree):
    (tree / "fetchworker/spiders").chmod(0o555)
    before = everything(tree)
    if os.geteuid() == 0:
        for path in [tree, *tree.rglob("*")]:
            os.chown(path, 65_534, 65_534)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tree), "65534"], capture_output=True, text=True, timeout=60, check=False
    )
    assert "Permission denied; nothing was written" in done.stdout, done.stderr
    assert everything(tree) == before


CHILD = """
import os, sys
from pathlib import Path
from fetchworker.errors import ConfigError
from fetchworker.scaffold import new_site, plan, write
tree = Path(sys.argv[1])
made = plan(new_site("shop", domain=None, operation="profile", taken=(), methods=()), tree, tree / "sites.yaml")
os.chdir(tree)
if len(sys.argv) > 2 and os.geteuid() == 0:
    os.setgid(int(sys.argv[2]))
    os.setuid(int(sys.argv[2]))
try:
    write(made)
except ConfigError as exc:
    print(exc)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_all_is_written(tree, number):
    seen = []
    before = signal.signal(number, lambda *_: seen.append((tree / "tests/shop/page.html").exists()))
    made = planned(tree)

    class Asking(dict):
        """Files that bring the signal while they are written."""

        def items(self):
            for name, text in super().items():
                signal.pthread_kill(threading.main_thread().ident, number)
                yield name, text

    try:
        write(type(made)(made.root, Asking(made.new), made.tops, made.changed))
    finally:
        signal.signal(number, before)
    assert seen == [True]


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["class"], "scrapy newsite: 'class' cannot be a site's name: it is a keyword of Python"),
        (["instagram"], "there is a spider or a module of this name"), (["paging"], "a module of this name"),
        (["crawl"], "tests/crawl is there already"), (["shop", "--domain", "x"], "--domain: 'x' is no host name"),
        (["shop", "--operation", "start"], "--operation: 'start' cannot be"), ([], "give the name of one site"),
        (["a_b", "c_d"], "give the name of one site"),
    ],
)  # fmt: skip
def test_the_command_says_why_and_ends_with_2(copy, arguments, told):
    before = copy.files()
    done = copy.scrapy("newsite", *arguments)
    assert done.returncode == 2, done.stderr
    assert told in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert copy.files() == before


@pytest.mark.slow
def test_broken_configuration_is_told(copy):
    (copy.folder / "sites.yaml").write_text("sites: [\n")
    done = copy.scrapy("newsite", "shop")
    assert done.returncode == 2
    assert "sites.yaml, line" in done.stderr


@pytest.mark.slow
def test_a_program_of_another_project_does_not_write_here(copy, tmp_path):
    """Python finds the copy's program first, the folder is another project's."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/scrapy.cfg").write_bytes((copy.folder / "scrapy.cfg").read_bytes())
    copy.env["PYTHONPATH"] = str(copy.folder)
    code = "import sys; sys.path.remove(''); from scrapy.cmdline import execute; execute(['scrapy', 'newsite', 'shop'])"
    copy.folder = tmp_path / "other"
    done = copy.python("-c", code)
    assert done.returncode == 2, done.stderr
    assert "run that project's own scrapy" in done.stderr
    assert list((tmp_path / "other").iterdir()) == [tmp_path / "other/scrapy.cfg"]
