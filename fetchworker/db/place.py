"""Where the database is: its URL, read and checked without any library."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from fetchworker.errors import ConfigError, how_to_install

_SQLITE = "sqlite:///"
_EXAMPLES = "Write sqlite:///path or postgresql://user:password@host:5432/database"
_ENCODE = "percent-encode / ? # @ in a user name or password"
_NEEDED = {"sqlite": ("sqlalchemy", "alembic", "aiosqlite"), "postgresql": ("sqlalchemy", "alembic", "psycopg")}


@dataclass(frozen=True, slots=True)
class Place:
    """A database to open. ``label`` is the URL without credentials and options, for logs and errors."""

    kind: Literal["sqlite", "postgresql"]
    url: SecretStr
    label: str
    path: Path | None = None
    """The file of an SQLite database."""


def default_url(state_dir: Path) -> SecretStr:
    """The database that is used when none is named: a file in the state folder."""
    return SecretStr(f"{_SQLITE}{state_dir / 'fetchworker.db'}")


def place_of(url: SecretStr) -> Place:
    """Read a database's URL.

    Raises:
        ConfigError: it is no URL of a database that is known, or its driver is not installed; holds no credentials.
    """
    text = url.get_secret_value()
    found = _sqlite(text) if text.startswith("sqlite:") else _postgresql(text)
    missing = [name for name in _NEEDED[found.kind] if find_spec(name) is None]
    if missing:
        raise ConfigError(f"to store items, {', '.join(missing)} must be installed: {how_to_install('store')}")
    return found


def _sqlite(text: str) -> Place:
    path = text.removeprefix(_SQLITE)
    if path == text or not path or "?" in path or path.startswith(":memory:"):
        raise ConfigError(f"FETCHWORKER_DATABASE_URL: an SQLite URL is sqlite:/// and the path of a file. {_EXAMPLES}")
    return Place("sqlite", SecretStr(text), text, Path(path))


def _postgresql(text: str) -> Place:
    try:
        parts = urlsplit(text)
        wrong = "#" in text or "@" in parts.path or parts.scheme not in ("postgresql", "postgres")
    except ValueError:
        wrong = True
    if wrong:
        raise ConfigError(f"FETCHWORKER_DATABASE_URL: it cannot be read; {_ENCODE}. {_EXAMPLES}")
    return Place("postgresql", SecretStr(text), f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}")
