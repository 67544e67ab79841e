"""Which Chromium is used: the one that is named, Playwright's own, or the system's."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from fetchworker.errors import ConfigError

#: the variable that names one
VARIABLE = "FETCHWORKER_BROWSER"
#: the lightest first
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: how to get one
HOW = "apt-get install chromium-headless-shell, or playwright install --with-deps chromium-headless-shell"

#: where Debian's packages have the programs that their scripts start; a script would stand between us and its child
_DEBIANS = Path("/usr/lib/chromium")

_PLAYWRIGHTS = (
    "chromium_headless_shell-*/chrome-*/headless_shell",
    "chromium_headless_shell-*/chrome-*/chrome-headless-shell",
    "chromium-*/chrome-*/chrome",
    "chromium-*/chrome-*/Chromium.app/Contents/MacOS/Chromium",
)


def find_program(named: str | None = None) -> str:
    """The path of a Chromium.

    Args:
        named: a path or a name on PATH that somebody has chosen.

    Raises:
        ConfigError: it is no program, or there is none at all; the message says how to get one.
    """
    if named:
        found = shutil.which(named)
        if found is None:
            raise ConfigError(f"{VARIABLE}: {named} is no program; write the path of a Chromium, or leave it out")
        return _itself(found)
    found = next(iter(playwrights()), None) or next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise ConfigError(f"there is no Chromium for pages that need a browser: {HOW}; {VARIABLE} may name one")
    return _itself(found)


def playwrights() -> list[str]:
    """Those that Playwright has fetched, the lightest and newest first."""
    folder = _folder()
    found = (sorted(folder.glob(pattern), key=_number, reverse=True) for pattern in _PLAYWRIGHTS)
    return [str(path) for paths in found for path in paths if os.access(path, os.X_OK)]


def _itself(program: str) -> str:
    """The program behind one of Debian's scripts."""
    real = _DEBIANS / Path(program).name
    with Path(program).open("rb") as opened:
        script = opened.read(2) == b"#!"
    return str(real) if script and os.access(real, os.X_OK) else program


def _number(path: Path) -> int:
    numbers = [part.rpartition("-")[2] for part in path.parts if part.startswith("chromium")]
    return max((int(number) for number in numbers if number.isdigit()), default=0)


def _folder() -> Path:
    """Where Playwright keeps browsers (https://playwright.dev/python/docs/browsers, seen 2026-11)."""
    told = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    if told and told != "0":
        return Path(told)
    caches = {"darwin": "Library/Caches", "win32": "AppData/Local"}
    return Path.home() / caches.get(sys.platform, ".cache") / "ms-playwright"
