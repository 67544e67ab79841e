"""URLs of databases: what is understood, and what is told of the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from fetchworker.config import Environment, load_environment
from fetchworker.db import default_url, place_of
from fetchworker.db import place as place_module
from fetchworker.db.engine import make_engine
from fetchworker.errors import ConfigError

CANARY = "kanarienvogel-4711"


def test_an_sqlite_url_is_a_path():
    found = place_of(SecretStr("sqlite:////var/lib/fetchworker/a b.db"))
    assert (found.kind, found.path) == ("sqlite", Path("/var/lib/fetchworker/a b.db"))
    assert found.label == "sqlite:////var/lib/fetchworker/a b.db"


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_a_label_has_no_credentials_and_no_options(scheme):
    found = place_of(SecretStr(f"{scheme}://ana:{CANARY}@db.test:5433/items?password={CANARY}&sslmode=require"))
    assert (found.kind, found.label) == ("postgresql", "postgresql://db.test:5433/items")
    assert CANARY not in repr(found)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///a.db?mode=ro",
        "mysql://db.test/x",
        f"postgresql://ana:{CANARY}@x@db.test/items#x",
        f"postgresql://ana:{CANARY}/@db.test/items",
        f"postgresql://ana:{CANARY}@[::1/items",
    ],
)
def test_what_is_no_url_of_ours_is_refused_without_secrets(url):
    with pytest.raises(ConfigError, match="FETCHWORKER_DATABASE_URL") as caught:
        place_of(SecretStr(url))
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("options", ["?sslmod=require", "?sslmode"])
def test_options_that_libpq_does_not_know_are_refused_without_secrets(options):
    with pytest.raises(ConfigError, match="FETCHWORKER_DATABASE_URL") as caught:
        make_engine(place_of(SecretStr(f"postgresql://ana:{CANARY}@db.test/items{options}")))
    assert CANARY not in str(caught.value)


def test_a_missing_driver_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setattr(place_module, "find_spec", lambda name: None if name == "alembic" else name)
    with pytest.raises(
        ConfigError, match=r"alembic must be installed: pip install -c constraints\.txt -e '\.\[store\]'"
    ):
        place_of(SecretStr("sqlite:///a.db"))


def test_the_database_of_no_name_is_a_file_of_the_state_folder(tmp_path):
    assert place_of(default_url(tmp_path)).path == tmp_path / "fetchworker.db"


class TestVariables:
    @pytest.mark.parametrize(
        ("given", "stores"),
        [
            ({}, False),
            ({"FETCHWORKER_STORE": "true"}, True),
            ({"FETCHWORKER_DATABASE_URL": "sqlite:///a.db"}, True),
            ({"FETCHWORKER_DATABASE_URL": "sqlite:///a.db", "FETCHWORKER_STORE": "no"}, False),
            ({"FETCHWORKER_STORE": "off"}, False),
        ],
    )
    def test_whether_items_are_stored(self, given, stores, tmp_path):
        assert load_environment(given, project=tmp_path).stores is stores

    @pytest.mark.parametrize(
        ("url", "path"),
        [("sqlite:///data/a.db", "{}/data/a.db"), ("sqlite:////abs/a.db", "/abs/a.db"), ("sqlite:///~/a.db", "~/a.db")],
    )
    def test_a_relative_file_is_relative_to_the_project(self, url, path, tmp_path):
        env = load_environment({"FETCHWORKER_DATABASE_URL": url}, project=tmp_path)
        assert place_of(env.database_url).path == Path(path.format(tmp_path)).expanduser()

    @pytest.mark.parametrize("url", [f"mysql://u:{CANARY}@db.test/x", "sqlite:///", f"postgresql+x://:{CANARY}@h"])
    def test_a_wrong_url_is_refused_with_an_example(self, url, tmp_path):
        with pytest.raises(ConfigError, match=r"FETCHWORKER_DATABASE_URL: must be a URL .*such as") as caught:
            load_environment({"FETCHWORKER_DATABASE_URL": url}, project=tmp_path)
        assert CANARY not in str(caught.value)

    def test_a_password_is_a_secret_and_not_for_the_command_line(self, tmp_path):
        url = f"postgresql://ana:{CANARY}@db.test/items"
        env = load_environment({"FETCHWORKER_DATABASE_URL": url}, project=tmp_path)
        assert CANARY in env.secrets()
        assert CANARY not in repr(env)
        with pytest.raises(ConfigError, match="command line"):
            load_environment({}, {"FETCHWORKER_DATABASE_URL": url}, project=tmp_path)
        over = load_environment({}, {"FETCHWORKER_DATABASE_URL": "postgresql://db.test/items"}, project=tmp_path)
        assert over.stores

    def test_the_limits_of_a_batch(self):
        env = Environment()
        assert (env.store_batch, env.store_delay, env.store_patience) == (200, 0.01, 60)


@pytest.mark.slow
def test_what_stores_nothing_loads_no_database_library():
    code = (
        "import sys\n"
        "from scrapy.cmdline import execute\n"
        "try: execute(['scrapy', 'list'])\n"
        "finally: print([name for name in ('sqlalchemy', 'alembic', 'aiosqlite', 'psycopg') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
