"""What every crawl imports is there without any extra."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: packages of extras by the names that they are imported by, where those differ
NAMES = {
    "pillow": "PIL",
    "python-multipart": "python_multipart",
    "pillow-heif": "pillow_heif",
    "sqlalchemy": "sqlalchemy",
}
WITHOUT = """
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import fetchworker
from fetchworker import settings

named = [*settings.DOWNLOAD_HANDLERS.values(), *settings.DOWNLOADER_MIDDLEWARES, *settings.SPIDER_MIDDLEWARES]
named += [*settings.ITEM_PIPELINES, *settings.EXTENSIONS, settings.SCHEDULER, settings.DOWNLOADER, *settings.ADDONS]
for name in filter(None, named):
    importlib.import_module(name.rpartition(".")[0])
for package in ("commands", "doctor", "spiders"):
    for found in pkgutil.walk_packages([f"{fetchworker.__path__[0]}/{package}"], f"fetchworker.{package}."):
        importlib.import_module(found.name)
"""


def extras() -> set[str]:
    """What the packages of all extras are imported by, without those that are needed anyway."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    plain = {name_of(one) for one in told["dependencies"]}
    given = [one for many in told["optional-dependencies"].values() for one in many if "[" not in one.partition(">")[0]]
    return {NAMES.get(name, name.replace("-", "_")) for one in given if (name := name_of(one)) not in plain}


def name_of(requirement: str) -> str:
    for sign in "<>=;[ ":
        requirement = requirement.partition(sign)[0]
    return requirement.lower()


def test_nothing_that_a_crawl_imports_needs_an_extra():
    absent = extras() - {"setuptools", "cryptography"}  # the latter is Scrapy's too
    assert {"h11", "playwright", "dbos", "fastapi", "onnxruntime"} <= absent
    code = f"ABSENT = {sorted(absent)!r}\n{WITHOUT}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, "")
