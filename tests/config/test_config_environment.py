from __future__ import annotations

import json
import re
import traceback
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from fetchworker.config import Environment, command_line, load_environment
from fetchworker.config.environment import KEYS
from fetchworker.errors import ConfigError

CANARY = "kanarienvogel-4711"


def refused(environ, overrides=None, **kwargs) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_environment(environ, overrides, **kwargs)
    text = "".join(traceback.format_exception(caught.value))
    assert CANARY not in text
    assert CANARY not in repr(caught.value.context)
    return caught.value


def test_defaults_need_no_variable(tmp_path):
    env = load_environment({}, project=tmp_path)
    assert env.proxies is None
    assert env.redis_url is None
    assert env.redis_keep_running is True
    assert env.state_dir == tmp_path / ".fetchworker"
    assert env.sites_file == tmp_path / "sites.yaml"
    assert env.host_map == {}
    assert env.session_ttl == 86_400
    assert (env.log_format, env.log_level) == ("auto", None)
    assert env.notes() == ()


def test_an_environment_made_by_hand_reads_no_variable(monkeypatch):
    monkeypatch.setenv("FETCHWORKER_SESSION_TTL", "5")
    assert Environment().session_ttl == 86_400


def test_the_process_environment_is_the_default(monkeypatch):
    monkeypatch.setenv("FETCHWORKER_SESSION_TTL", "5")
    assert load_environment().session_ttl == 5


def test_every_variable_is_read(tmp_path):
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    (tmp_path / "s.yaml").write_text("sites: {}")
    env = load_environment(
        {
            "FETCHWORKER_PROXIES": "http://ana:geheim@proxy.test:8000",
            "FETCHWORKER_REDIS_URL": "redis://:geheim@127.0.0.1:6379/2",
            "FETCHWORKER_REDIS_KEEP_RUNNING": "no",
            "FETCHWORKER_STATE_DIR": "state",
            "FETCHWORKER_SITES_FILE": "s.yaml",
            "FETCHWORKER_CRAWL_ID": "nightly-7",
            "FETCHWORKER_TRACE_ID": "abc.def_1",
            "FETCHWORKER_HOST_MAP": '{"WWW.Example.com:443": "127.0.0.1:8443", "a.test": "[::1]:80"}',
            "FETCHWORKER_CA_FILE": "ca.pem",
            "FETCHWORKER_SESSION_TTL": "1.5",
            "FETCHWORKER_PROXY_COOLDOWN": "0",
            "FETCHWORKER_CLIENTS_MAX": "20",
            "FETCHWORKER_LOG_FORMAT": "JSON",
            "FETCHWORKER_LOG_LEVEL": "debug",
            "HOME": "/nowhere",
        },
        project=tmp_path,
    )
    assert env.proxies
    assert env.proxies.get_secret_value() == "http://ana:geheim@proxy.test:8000"
    assert env.redis_keep_running is False
    assert env.state_dir == tmp_path / "state"
    assert env.sites_file == tmp_path / "s.yaml"
    assert env.ca_file == tmp_path / "ca.pem"
    assert (env.crawl_id, env.trace_id) == ("nightly-7", "abc.def_1")
    assert env.host_map == {"www.example.com:443": "127.0.0.1:8443", "a.test": "[::1]:80"}
    assert (env.proxy_cooldown, env.clients_max) == (0, 20)
    assert (env.session_ttl, env.log_format, env.log_level) == (1.5, "json", "DEBUG")
    assert "geheim" not in repr(env)
    assert "geheim" not in str(env)


def test_an_empty_variable_counts_as_unset():
    env = load_environment({"FETCHWORKER_PROXIES": "", "FETCHWORKER_LOG_FORMAT": "  ", "REDIS_URL": ""})
    assert env.proxies is None
    assert env.log_format == "auto"


@pytest.mark.parametrize(
    ("name", "right"),
    [("FETCHWORKER_PROXYS", "FETCHWORKER_PROXIES"), ("FETCHWORKER_SESSION_TLL", "FETCHWORKER_SESSION_TTL")],
)
def test_a_misspelt_variable_is_refused_with_the_nearest_right_one(name, right):
    error = refused({name: CANARY})
    assert str(error) == f"{name}: unknown variable; did you mean {right}?"
    assert error.context["variables"] == [name]


def test_a_variable_that_resembles_none_is_refused_with_all_names():
    told = str(refused({"FETCHWORKER_COLOUR": CANARY}))
    assert "known are FETCHWORKER_" in told
    assert {f"FETCHWORKER_{name.upper()}" for name in Environment.model_fields} <= set(re.findall("[A-Z_]+", told))


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("REDIS_KEEP_RUNNING", "perhaps", "must be a valid boolean, not 'perhaps'"),
        ("SESSION_TTL", "0", "must be greater than 0, not '0'"),
        ("SESSION_TTL", "inf", "must be a finite number"),
        ("SESSION_TTL", "a day", "must be a valid number, not 'a day'"),
        ("PROXY_COOLDOWN", "3601", "must be less than or equal to 3600, not '3601'"),
        ("CLIENTS_MAX", "0", "must be greater than or equal to 1, not '0'"),
        ("LOG_FORMAT", "xml", "must be 'auto', 'json' or 'text', not 'xml'"),
        ("LOG_LEVEL", "loud", "not 'loud'"),
        ("CRAWL_ID", "../etc", "is too long or has other characters, not '../etc'"),
        ("CRAWL_ID", "..", "no dot first"),
        ("CRAWL_ID", ".", "no dot first"),
        ("CRAWL_ID", "a" * 65, "is too long or has other characters; write 1 to 64"),
        ("CRAWL_ID", "a\nb", "has other characters"),
        ("HOST_MAP", "{", "is not JSON"),
        ("HOST_MAP", "[1]", "must be a valid dictionary"),
        ("HOST_MAP", '{"a.test": 1}', "must be a valid string"),
        ("HOST_MAP", '{"a.test": "localhost:80"}', "the value of 'a.test' is not ip:port (a name is not looked up)"),
        ("HOST_MAP", '{"a.test": "127.0.0.1"}', "lacks a port"),
        ("HOST_MAP", '{"a.test": "127.0.0.1:0"}', "lacks a port"),
        ("HOST_MAP", '{"a.test:https": "127.0.0.1:80"}', "is not host or host:port"),
        ("HOST_MAP", '{"http:/a.test": "127.0.0.1:80"}', "'http:/a.test' is not host or host:port"),
        ("PROXIES_FILE", f"1.2.3.4:80:ana:{CANARY}", "a file of this name cannot be read"),
        ("PROXIES_FILE", f"http://ana:{CANARY}@h:1", "a file of this name cannot be read"),
        ("PROXIES", f"@http://ana:{CANARY}@h:1", "a file of this name cannot be read"),
        ("REDIS_URL", f"http://:{CANARY}@h", "must be a URL that begins with redis://"),
        ("REDIS_URL", CANARY, "must be a URL that begins with redis://"),
    ],
)
def test_a_wrong_value_is_told_in_one_line_with_the_variable_and_what_to_write(name, value, told):
    text = str(refused({f"FETCHWORKER_{name}": value}))
    assert text.startswith(f"FETCHWORKER_{name}: ")
    assert told in text
    assert "; write " in text
    assert f"such as FETCHWORKER_{name}=" in text
    assert "\n" not in text


def test_all_faults_are_told_at_once():
    error = refused({"FETCHWORKER_PROXYS": "x", "FETCHWORKER_HOST_MAP": "{", "FETCHWORKER_SESSION_TTL": "-1"})
    assert error.context["variables"] == ["FETCHWORKER_PROXYS", "FETCHWORKER_HOST_MAP", "FETCHWORKER_SESSION_TTL"]
    assert len(str(error).splitlines()) == 3


@pytest.mark.parametrize("name", ["SITES_FILE", "CRAWL_ID", "HOST_MAP", "LOG_FORMAT"])
def test_credentials_in_the_wrong_variable_are_not_shown(name):
    refused({f"FETCHWORKER_{name}": f"http://ana:{CANARY}@proxy.test:1"})
    refused({f"FETCHWORKER_{name}": json.dumps({"a.test": f"ana:{CANARY}@1.2.3.4:1"})})


def test_every_variable_is_in_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    assert [name for name in Environment.model_fields if f"| `FETCHWORKER_{name.upper()}` |" not in text] == []


# ── Redis under two names ────────────────────────────────────────────────────────────────────────────────────────────


def test_redis_has_two_names():
    env = load_environment({"REDIS_URL": "redis://h:1"})
    assert env.redis_url
    assert env.redis_url.get_secret_value() == "redis://h:1"
    same = load_environment({"REDIS_URL": "redis://h:1", "FETCHWORKER_REDIS_URL": "redis://h:1"})
    assert same.redis_url == env.redis_url


def test_the_two_names_must_not_contradict():
    error = refused({"REDIS_URL": f"redis://:{CANARY}@h", "FETCHWORKER_REDIS_URL": "redis://other"})
    assert "FETCHWORKER_REDIS_URL: differs from REDIS_URL" in str(error)


def test_a_fault_names_the_variable_that_was_written():
    assert str(refused({"REDIS_URL": "h:1"})).startswith("REDIS_URL: must be a URL")


@pytest.mark.parametrize(
    "url",
    [
        "redis://h",
        "rediss://h",
        "unix:///s",
        "redis+sentinel://a,b:1/main/0",
        "rediss+sentinel://a/main",
        "sentinel://a/main",
        "redis+cluster://a:1,b:2",
        "rediss+cluster://a",
        "cluster://a",
    ],
)
def test_redis_comes_in_several_kinds(url):
    found = load_environment({"REDIS_URL": url}).redis_url
    assert found
    assert found.get_secret_value() == url


@pytest.mark.parametrize("scheme", ["redis+other", "rediss+unix", "valkey", "redissentinel", "unix+cluster"])
def test_other_kinds_of_redis_are_refused_with_those_that_there_are(scheme):
    told = str(refused({"REDIS_URL": f"{scheme}://ana:{CANARY}@h/main"}))
    assert all(form in told for form in ("redis://", "rediss://", "unix://", "redis+sentinel://", "redis+cluster://"))
    assert CANARY not in told


def test_the_passwords_of_redis_are_told_to_the_log():
    env = load_environment({"REDIS_URL": "redis+sentinel://ana:p%40ss@h,i:2/main/0?sentinel_password=zwei"})
    assert env.secrets() == {"p%40ss", "p@ss", "zwei"}
    assert Environment().secrets() == frozenset()


def test_every_key_is_known_as_a_secret():
    assert {"evomi_password", "decodo_password", "meta_access_token", "evomi_api_key"} <= KEYS
    given = {f"FETCHWORKER_{field.upper()}": f"{CANARY}-{field}" for field in KEYS}
    assert load_environment(given).secrets() == set(given.values())


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_line_wins():
    env = load_environment(
        {"FETCHWORKER_SESSION_TTL": "5", "FETCHWORKER_REDIS_URL": "redis://one"},
        {"FETCHWORKER_SESSION_TTL": 7, "REDIS_URL": "redis://two", "FETCHWORKER_HOST_MAP": {"a.test": "127.0.0.1:1"}},
    )
    assert env.session_ttl == 7
    assert env.redis_url
    assert env.redis_url.get_secret_value() == "redis://two"
    assert env.host_map == {"a.test": "127.0.0.1:1"}


def test_a_proxy_file_of_the_command_line_replaces_the_proxies_of_the_environment(tmp_path):
    (tmp_path / "p.txt").write_text("http://h:1")
    env = load_environment(
        {"FETCHWORKER_PROXIES": "http://g:1"}, {"FETCHWORKER_PROXIES_FILE": "p.txt"}, project=tmp_path
    )
    assert env.proxies is None
    assert env.proxies_file == tmp_path / "p.txt"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FETCHWORKER_PROXIES", f"http://ana:{CANARY}@h:1"),
        ("FETCHWORKER_PROXIES", [f"http://ana:{CANARY}@h:1"]),
        ("FETCHWORKER_REDIS_URL", f"redis://:{CANARY}@h"),
        ("REDIS_URL", f"redis://h?password={CANARY}"),
        ("REDIS_URL", f"redis://[:{CANARY}?#@h"),
        ("FETCHWORKER_DATABASE_URL", f"postgresql://ana:{CANARY}@h/db"),
        ("FETCHWORKER_MEDIA_STORE", f"s3://shelf?secret={CANARY}"),
        ("FETCHWORKER_MEDIA_STORE", f"s3://shelf?aws_access_key_id={CANARY}"),
        *((f"FETCHWORKER_{field.upper()}", CANARY) for field in sorted(KEYS)),
    ],
)
def test_a_secret_on_the_command_line_is_refused(name, value):
    text = str(refused({}, {name: value}))
    assert text.startswith(f"{name}: ")
    assert "must not be given with -s" in text
    assert "set it in the environment" in text


def test_what_is_no_secret_may_stand_on_the_command_line(tmp_path):
    (tmp_path / "p.txt").write_text("")
    given = {"FETCHWORKER_PROXIES": "@p.txt", "REDIS_URL": "redis://h:1"}
    assert load_environment({}, given, project=tmp_path).proxies_file == tmp_path / "p.txt"


def test_an_unknown_setting_of_ours_on_the_command_line_is_refused():
    assert "did you mean FETCHWORKER_CRAWL_ID?" in str(refused({}, {"FETCHWORKER_CRAWLID": "x"}))


def test_only_settings_given_with_s_count_as_command_line():
    settings = Settings({"FETCHWORKER_SESSION_TTL": 1, "REDIS_URL": "redis://project"}, priority="project")
    settings.set("FETCHWORKER_CRAWL_ID", "seven", "cmdline")
    settings.set("LOG_LEVEL", "INFO", "cmdline")
    assert command_line(settings) == {"FETCHWORKER_CRAWL_ID": "seven"}


def test_the_host_map_is_warned_of():
    (note,) = load_environment({"FETCHWORKER_HOST_MAP": '{"a.test": "127.0.0.1:1"}'}).notes()
    assert "FETCHWORKER_HOST_MAP is on" in note
    assert note.endswith("a.test")


names = st.sampled_from([f"FETCHWORKER_{field.upper()}" for field in Environment.model_fields] + ["REDIS_URL"])
values = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)


@given(st.dictionaries(names, values), st.dictionaries(names, values))
def test_whatever_the_variables_hold_the_answer_is_an_environment_or_a_config_error(environ, overrides):
    try:
        load_environment(environ, overrides)
    except ConfigError as exc:
        assert exc.context["variables"]  # noqa: PT017  # either outcome is right


@given(
    st.text("abcdefghij:/@?#[]%&=", min_size=3, max_size=12), st.sampled_from(["PROXYES", "REDIS_URL", "PROXIES_FILE"])
)
def test_no_secret_in_any_error(tail, name):
    value = f"redis//ana:{CANARY}{tail}@h"
    with pytest.raises(ConfigError) as caught:
        load_environment({f"FETCHWORKER_{name}": value}, {"REDIS_URL": f"redis://:{CANARY}{tail}@h"})
    assert CANARY not in str(caught.value)


def test_the_ad_librarys_token_is_a_secret():
    env = load_environment({"FETCHWORKER_META_ACCESS_TOKEN": CANARY})
    assert env.secret("meta_access_token") == CANARY
    assert CANARY in env.secrets()
    assert CANARY not in repr(env)
    assert "-s" in str(refused({}, {"FETCHWORKER_META_ACCESS_TOKEN": CANARY}))


def test_a_credential_that_is_asked_for_and_missing_is_named():
    with pytest.raises(ConfigError, match="FETCHWORKER_META_ACCESS_TOKEN is not set: put the access token"):
        Environment().secret("meta_access_token")
