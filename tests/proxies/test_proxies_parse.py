"""Every form in which proxies may be given, and the errors for what is none."""

from __future__ import annotations

import json
import traceback
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies import Proxy, load_proxies, parse_proxies

SOURCE = "FETCHWORKER_PROXIES"
HOUSE = "http://ada:pw@gate.example:8080"


def urls(value: object) -> list[str]:
    return [proxy.url.get_secret_value() for proxy in parse_proxies(value, source=SOURCE)]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://ada:pw@gate.example:8080", HOUSE),
        ("HTTP://ada:pw@Gate.Example:8080/", HOUSE),
        ("ada:pw@gate.example:8080", HOUSE),
        ("gate.example:8080:ada:pw", HOUSE),
        ("ada:pw:gate.example:8080", HOUSE),
        ("http://gate.example:8080:ada:pw", HOUSE),
        ("http://ada:pw:gate.example:8080", HOUSE),
        ("gate.example:8080", "http://gate.example:8080"),
        ("proxy:3128", "http://proxy:3128"),
        ("https://gate.example:443", "https://gate.example:443"),
        ("socks5://gate.example:1080", "socks5h://gate.example:1080"),
        ("socks5h://ada@gate.example:1080", "socks5h://ada@gate.example:1080"),
        ("[2001:db8::7]:8080", "http://[2001:db8::7]:8080"),
        ("http://ada:pw@[2001:db8::7]:8080/", "http://ada:pw@[2001:db8::7]:8080"),
        ("[2001:db8::7]:8080:ada:pw", "http://ada:pw@[2001:db8::7]:8080"),
        ("ada:pw:[2001:db8::7]:8080", "http://ada:pw@[2001:db8::7]:8080"),
        ("http://ada:p%40s%3As%25@gate.example:80", "http://ada:p%40s%3As%25@gate.example:80"),
        ("http://ada:p@s:s@gate.example:80", "http://ada:p%40s%3As@gate.example:80"),
        ("http://ada:100%@gate.example:80", "http://ada:100%25@gate.example:80"),
        # between colons a password is taken as it is
        ("gate.example:80:ada:p%40s", "http://ada:p%2540s@gate.example:80"),
        ("gate.example:80:ada:p:s", "http://ada:p%3As@gate.example:80"),
        ("gate.example:80:ada:p@s", "http://ada:p%40s@gate.example:80"),
        ("ada:p:s:gate.example:80", "http://ada:p%3As@gate.example:80"),
        ("ada:p@s:gate.example:80", "http://ada:p%40s@gate.example:80"),
        # which end is the host: the one that looks like a host
        ("proxy:3128:ada:pw", "http://ada:pw@proxy:3128"),
        ("gate.example:8080:ada:1234", "http://ada:1234@gate.example:8080"),
        ("ada:1234:192.0.2.7:8080", "http://ada:1234@192.0.2.7:8080"),
        ("ada.b:1234@gate.example:8080", "http://ada.b:1234@gate.example:8080"),
        ("http://ada.b:1234@proxy:8080", "http://ada.b:1234@proxy:8080"),
    ],
)
def test_one_text_entry(text, url):
    assert urls(text) == [url]
    assert urls([text]) == [url]


@pytest.mark.parametrize(
    "text",
    [
        "http://a.example:1,http://b.example:2",
        "http://a.example:1 http://b.example:2",
        "\n  a.example:1 # the first\n# c.example:3\n\tb.example:2\n",
        "a.example:1, b.example:2,",
        '["http://a.example:1", {"host": "b.example", "port": 2}]',
        ' {"proxies": ["a.example:1", "b.example:2"]} ',
        '{"http": "http://a.example:1", "https": "http://b.example:2"}',
    ],
)
def test_several_in_one_text(text):
    assert urls(text) == ["http://a.example:1", "http://b.example:2"]


@pytest.mark.parametrize(
    "value",
    [
        {"scheme": "http", "host": "gate.example", "port": 8080, "username": "ada", "password": "pw"},
        {"host": "gate.example", "port": "8080", "user": "ada", "pass": "pw", "country": None},
        {"server": "http://gate.example:8080", "username": "ada", "password": "pw"},
        {"url": HOUSE},
        {"http": HOUSE, "https": HOUSE},
        {"all": HOUSE},
        {"http://": HOUSE, "https://": HOUSE},
        [HOUSE, "gate.example:8080:ada:pw", {"url": HOUSE}],
        (HOUSE,),
        f"{HOUSE} {HOUSE}",
    ],
)
def test_mappings_and_doubles(value):
    assert urls(value) == [HOUSE]


def test_mapping_tells_more_of_a_proxy():
    entry = {"url": HOUSE, "provider": "evomi", "country": "DE", "tier": "residential", "tags": ["slow", "cheap"]}
    (proxy,) = parse_proxies([entry], source=SOURCE)
    assert (proxy.provider, proxy.country, proxy.tier) == ("evomi", "DE", "residential")
    assert proxy.tags == {"slow", "cheap"}
    (proxy,) = parse_proxies({**entry, "tags": "slow, cheap"}, source=SOURCE)
    assert proxy.tags == {"slow", "cheap"}


def test_proxies_pass_through():
    proxy = Proxy("http", "gate.example", 8080)
    assert parse_proxies([proxy, HOUSE], source=SOURCE)[0] is proxy
    assert parse_proxies(proxy, source=SOURCE) == [proxy]


@pytest.mark.parametrize("nothing", [None, "", " \n", [], {}, ()])
def test_no_value_is_no_proxy(nothing):
    assert parse_proxies(nothing, source=SOURCE) == []


@pytest.mark.parametrize("empty", ["[]", " , ", "# none\n", "{}", '{"proxies": []}'])
def test_a_value_without_a_proxy_is_an_error(empty):
    with pytest.raises(ProxyConfigError, match=f"{SOURCE} holds no proxy"):
        parse_proxies(empty, source=SOURCE)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("http://ada:Zq9@host", "entry 1 (http://***@host): port missing; write http://user:password@host:port"),
        (["a.example:1", "b.example:2", "http://ada:Zq9@host"], "entry 3 (http://***@host): port missing; write"),
        ("gate.example", "entry 1 (***): port missing"),
        ("a.example:1 ada:Zq9@gate.example", "entry 2 (***@gate.example): port missing"),
        ("http://ada:Zq9@gate.example:80a", "entry 1 (http://***): the port is not a number from 1 to 65535"),
        ("gate.example:0", "the port is not a number from 1 to 65535"),
        ("gate.example:65536", "the port is not a number from 1 to 65535"),
        ("gate.example:-1", "the port is not a number"),
        ("gate.example:٨٠", "the port is not a number"),
        ("http://ada:Zq9@:80", "entry 1 (http://***): no host and port can be told"),
        ("http://ada:Zq9@gate.example:80/path", "no host and port can be told"),
        ("2001:db8::7:8080", "an IPv6 address stands in brackets; write http"),
        ("2001:db8:0:0:0:0:0:7:8080", "an IPv6 address stands in brackets"),
        ("sock5://ada:Zq9@gate.example:80", "(***@gate.example:80): the scheme is not known; write one of http, https"),
        ("socks4://gate.example:80", "the scheme is not known"),
        ("proxy:80:ada:8080", "it can be read in two ways"),
        ("a.example:80:b.example:8080", "it can be read in two ways"),
        ("192.0.2.7:80@ada:1234", "it can be read in two ways"),
        ("http://ada:%ff@gate.example:80", "the password holds a control character or is not Unicode text"),
        ("http://ada:a%00@gate.example:80", "the password holds a control character"),
        ("http://a%0d%0ab@gate.example:80", "the user name holds a control character"),
        ([None], "entry 1 (a NoneType): an entry is text or a mapping"),
        ([[HOUSE]], "entry 1 (a list): an entry is text or a mapping"),
        (["@/etc/proxies.txt"], "entry 1"),
        (7, f"{SOURCE} is int; give text, a list or a mapping"),
        ('["a.example:1"', f"{SOURCE} is not valid JSON (at line 1, column "),
        ({"host": "gate.example"}, "entry 1 (a mapping): port missing"),
        ({"port": 80}, "entry 1 (a mapping): host missing"),
        ({"host": "gate.example", "port": 80.5}, "the port is not a number"),
        ({"host": "gate.example", "port": 80, "password": 1234}, "the password is not text but int; put it in quotes"),
        ({"host": "gate.example", "port": 80, "pasword": "Zq9"}, "key 3 is not known; write any of scheme, host, port"),
        ({"host": "gate.example", "port": 80, "user": "a", "username": "b"}, "the username is given twice"),
        ({"url": HOUSE, "host": "gate.example"}, "url and host are both given"),
        (
            {"url": "http://ada:Zq9@gate.example:80", "password": "pw"},
            "(http://***@gate.example:80): credentials stand",
        ),
        ({"http": HOUSE, "https": None}, "each value is not text but NoneType"),
        ({"host": "gate.example", "port": 80, "tags": [1]}, "the tags are not a list of words"),
        ({"http": HOUSE, "no_proxy": "*"}, "key 1 is not known"),
    ],
)
def test_a_bad_entry_is_named_and_its_credentials_are_not(value, message):
    with pytest.raises(ProxyConfigError) as caught:
        parse_proxies(value, source=SOURCE)
    assert message in str(caught.value)
    assert str(caught.value).startswith(SOURCE)
    assert "Zq9" not in str(caught.value)


# Secrets made of one canary and the characters at which a parser might cut them: a part of one is a leak too.
secrets = st.lists(
    st.sampled_from(["Zq9", *":@/,%#?&=[]{}\"' \t\\", "%40", "%zz", "80", "://", ".example"]), max_size=8
)
passwords = secrets.map(lambda parts: "Zq9" + "".join(parts) + "Zq9")
spoiled = st.sampled_from(
    [
        "http://ada:{}@gate.example",
        "http://ada:{}@gate.example:",
        "http://ada:{}@gate.example:80a",
        "http://ada:{}@gate.example:99999",
        "http://ada:{}@gate.example:80/path",
        "http://ada:{}@ gate.example:80",
        "http://{}@gate.example",
        "https://:{}@gate.example",
        "ftp://ada:{}@gate.example:80",
        "ada:{}@gate.example",
        "ada:{}@gate",
        "gate.example:80:ada.b:{}:gate.example:90",
        "gate.example:80a:ada:{}",
        "gate.example::ada:{}",
        "gate:80@ada:{}",
        "ada:{}:gate.example",
        "ada:{}:gate.example:80a",
        "http://gate.example:ada:{}",
    ]
)
# Without a host, what follows an @ of the password could not be told from one.
hostless = st.sampled_from(["http://ada:{}", "ada:{}", "socks4://{}", "{}", "{}:80a"])
cut_off = st.tuples(hostless, passwords.map(lambda password: password.replace("@", "")))


def everything_told(error: BaseException) -> str:
    """The text of an error, of its traceback, and of all that travels with it."""
    told = [*traceback.format_exception(error)]
    while error:
        told += [repr(error), repr(vars(error)), repr(error.args)]
        error = error.__cause__ or error.__context__
    return "".join(told)


@given(st.tuples(spoiled, passwords) | cut_off, st.sampled_from(["text", "list", "json", "mapping", "mixed"]))
def test_no_error_holds_a_part_of_a_password(slip, kind):
    form, password = slip
    entry = form.format(password)
    value = {
        "text": entry,
        "list": [entry],
        "json": json.dumps([entry]),
        "mapping": {"url": entry, "username": "ada", "password": password},
        "mixed": [HOUSE, {"host": entry, "port": 80, "password": password, "username": 7}],
    }[kind]
    try:
        proxies = parse_proxies(value, source=SOURCE)
        told = repr([(proxy, proxy.label, str(proxy.password)) for proxy in proxies])
    except ProxyConfigError as error:
        told = everything_told(error)
    assert "Zq9" not in told


@given(passwords)
def test_no_error_of_a_broken_document_holds_a_part_of_it(tmp_path_factory, password):
    folder = tmp_path_factory.getbasetemp()
    for name, text in (("a.json", f'["http://ada:{password}'), ("a.yaml", f"- 'http://ada:{password}\n- :\n\t{{")):
        (folder / name).write_text(text, encoding="utf-8")
        with pytest.raises(ProxyConfigError) as caught:
            load_proxies(folder / name)
        assert "Zq9" not in everything_told(caught.value)


@given(st.text(max_size=60))
def test_any_text_gives_proxies_or_the_one_error(text):
    try:
        proxies = parse_proxies([text], source=SOURCE)
    except ProxyConfigError:
        return
    assert len(proxies) == 1


FILES = {
    "list.txt": "# ours\na.example:1   # first\n\nhttp://ada:p,w#1@b.example:2\n",
    "list": "a.example:1\nhttp://ada:p,w#1@b.example:2",
    "list.json": json.dumps(["a.example:1", {"url": "http://b.example:2", "username": "ada", "password": "p,w#1"}]),
    "list.yaml": yaml.safe_dump(
        {"proxies": ["a.example:1", {"host": "b.example", "port": 2, "username": "ada", "password": "p,w#1"}]}
    ),
    "list.yml": "- a.example:1\n- 'http://ada:p,w#1@b.example:2'\n",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("spell", ["@{}", "file:{}", "file://{}", " @{}\n"])
def test_files(tmp_path, name, spell):
    path = tmp_path / name
    path.write_text("\ufeff" + FILES[name], encoding="utf-8")  # as Windows editors write it
    expected = ["http://a.example:1", "http://ada:p%2Cw%231@b.example:2"]
    assert urls(spell.format(path)) == urls(path) == expected
    assert [proxy.url.get_secret_value() for proxy in load_proxies(path)] == expected


def test_file_in_the_home_or_working_directory(tmp_path, monkeypatch):
    (tmp_path / "proxies.txt").write_text("a.example:1\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert urls("@~/proxies.txt") == urls("@proxies.txt") == urls("file:proxies.txt") == ["http://a.example:1"]


def test_a_bad_line_of_a_file_is_named(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("a.example:1\n# two\nhttp://ada:Zq9@host\n", encoding="utf-8")
    with pytest.raises(ProxyConfigError) as caught:
        parse_proxies(f"@{path}", source=SOURCE)
    assert f"{SOURCE} ({path}) line 3 (http://***@host): port missing" in str(caught.value)
    assert "Zq9" not in everything_told(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no proxy"),
        (b"# all gone\n", "holds no proxy"),
        (b"http://ada:\xff@b.example:1", "is not UTF-8 text"),
    ],
)
def test_useless_files_are_errors_that_name_them(tmp_path, content, message):
    path = tmp_path / "list.txt"
    path.write_bytes(content)
    with pytest.raises(ProxyConfigError, match=message) as caught:
        parse_proxies(path, source=SOURCE)
    assert str(path) in str(caught.value)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(ProxyConfigError, match=r"cannot read .*gone\.txt: No such file"):
        parse_proxies(f"@{tmp_path}/gone.txt", source=SOURCE)
    with pytest.raises(ProxyConfigError, match=r"cannot read .*: Is a directory"):
        parse_proxies(f"@{tmp_path}", source=SOURCE)


def test_environment(tmp_path):
    (tmp_path / "list.txt").write_text(HOUSE, encoding="utf-8")
    assert load_proxies(env={}) == []
    assert len(load_proxies(env={SOURCE: HOUSE})) == 1
    assert len(load_proxies(env={SOURCE: f"@{tmp_path}/list.txt"})) == 1
    assert len(load_proxies("env:MINE", env={"MINE": f"{HOUSE} b.example:2"})) == 2
    with pytest.raises(ProxyConfigError, match="the environment variable MINE is not set"):
        load_proxies("env:MINE", env={"MINE": " "})
    with pytest.raises(ProxyConfigError, match=r"^MINE entry 1"):
        load_proxies("env:MINE", env={"MINE": "gate.example"})


def test_environment_of_the_process(monkeypatch):
    monkeypatch.setenv(SOURCE, HOUSE)
    assert len(load_proxies()) == 1
    assert load_proxies(Path("list.txt").name + ":1")[0].port == 1  # a list given as such, not a file
