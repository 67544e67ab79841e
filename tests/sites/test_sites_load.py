from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from fetchworker.errors import ConfigError
from fetchworker.sites import SiteConfig, load_sites
from fetchworker.sites.model import Backoff
from fetchworker.sites.pooling import Pool

ROOT = Path(__file__).parents[2]


@pytest.fixture
def write(tmp_path):
    def write(content: str | bytes) -> Path:
        path = tmp_path / "sites.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_sites(path)
    return str(caught.value).replace(f"{path}, ", "").replace(f"{path}: ", "")


def test_the_shipped_file_is_right():
    sites = load_sites(ROOT / "sites.yaml")
    assert {"instagram", "fetch"} <= set(sites)
    assert sites.warnings == ()
    instagram, fetch = sites["instagram"], sites["fetch"]
    assert (instagram.proxy, instagram.concurrency, instagram.delay, instagram.robots) == (
        "preferred",
        4,
        0.5,
        "ignore",
    )
    assert (fetch.proxy, fetch.robots) == ("preferred", "obey")


def test_the_shipped_defaults_are_those_of_the_code():
    written = yaml.safe_load((ROOT / "sites.yaml").read_text())["defaults"]
    assert SiteConfig.model_validate(written) == SiteConfig()


def test_an_entry_without_keys_has_the_defaults_of_the_code(write):
    sites = load_sites(write("sites:\n  one:\n  two: {}\n"))
    assert sites["one"] == sites["two"] == SiteConfig()
    assert len(sites) == 2
    assert repr(sites) == "Sites(one, two)"


def test_defaults_stand_under_every_entry_section_by_section(write):
    sites = load_sites(
        write(
            """
            defaults: {delay: 1, backoff: {first: 3, max: 30}}
            sites:
              one: {delay: 2, backoff: {max: 40}}
              two: {}
            """
        )
    )
    assert (sites["one"].delay, sites["two"].delay) == (2, 1)
    assert sites["one"].backoff == Backoff(first=3, max=40)
    assert sites["two"].backoff == Backoff(first=3, max=30)


def test_every_key_can_be_written(write):
    sites = load_sites(
        write(
            """
            sites:
              shop:
                proxy: required
                profile: safari260
                concurrency: 2
                delay: 0.25
                per_minute: 30
                pace: identity
                pace_scope: shared
                timeout: 12
                max_bytes: 1_000_000
                retries: 0
                backoff: {first: 1, factor: 3, max: 9, retry_after_max: 20}
                robots: ignore
                warmup: true
                on_block: keep
                render: on_evidence
                session_ttl: 600
                pool: {min_idle: 1, max_idle: 2, max_total: 3}
                accept_language: "de-DE,de;q=0.9, en;q=0.8"
                allowed_hosts: [shop.test, cdn.shop.test]
                proxy_tiers: [datacenter, residential]
                tier_requests: 100
                tier_cooldown: 60
                budget: {bytes_per_day: 2 GiB, on_exceeded: down_tier, tiers: {residential: 1 GiB}}
            """
        )
    )
    shop = sites["shop"]
    assert set(shop.model_fields_set) == set(SiteConfig.model_fields)
    assert shop.max_bytes == 1_000_000
    assert shop.allowed_hosts == ("shop.test", "cdn.shop.test")


def test_an_entry_cannot_be_changed():
    with pytest.raises(ValidationError):
        SiteConfig().delay = 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("concurency: 4", "sites.a.concurency: unknown key; did you mean concurrency?"),
        ("colour: red", "sites.a.colour: unknown key; known: proxy, profile, concurrency"),
        ("backoff: {frist: 1}", "sites.a.backoff.frist: unknown key; did you mean first?"),
        ("backoff: {min: 1}", "sites.a.backoff.min: unknown key; known: first, factor, max, retry_after_max"),
        (
            "proxy: prefered",
            "sites.a.proxy: must be 'required', 'preferred' or 'none', not 'prefered'; did you mean preferred?",
        ),
        ("proxy: always", "not 'always'; write required (no proxy, no request)"),
        ("proxy:", "sites.a.proxy: must be 'required', 'preferred' or 'none', not None; write required"),
        ("robots: no", "not False; YAML reads yes, no, on and off as true and false: put a word in quotes"),
        ("concurrency: '4'", "sites.a.concurrency: must be a valid integer, not '4'; write how many requests"),
        ("concurrency: true", "sites.a.concurrency: must be a valid integer, not True"),
        ("concurrency: 4.5", "sites.a.concurrency: must be a valid integer, not 4.5"),
        ("concurrency: 0", "must be greater than or equal to 1, not 0"),
        ("delay: -1", "must be greater than or equal to 0, not -1; write seconds between"),
        ("delay: .nan", "must be a finite number, not nan"),
        ("timeout: 30000", "must be less than or equal to 600, not 30000; write seconds for one try"),
        ("max_bytes: 8MB", "must be a valid integer, not '8MB'; write bytes"),
        ("retries: -1", "must be greater than or equal to 0"),
        ("warmup: 1", "must be a valid boolean, not 1"),
        (
            "backoff: 3",
            "sites.a.backoff: must be a valid dictionary or instance of Backoff, not 3; write a mapping of first",
        ),
        ("backoff: {first: 70}", "sites.a.backoff: first (70) is greater than max (60); raise max or lower first"),
        ("backoff: {factor: 0.5}", "must be greater than or equal to 1"),
        ("session_ttl: 0", "must be greater than 0"),
        ("profile: ../x", "sites.a.profile: is no name, not '../x'; write the name of an impersonation profile"),
        ('accept_language: "en\\r\\nX-Evil: 1"', "sites.a.accept_language: is no Accept-Language value"),
        ("allowed_hosts: []", "sites.a.allowed_hosts: must have an entry, not []"),
        ("allowed_hosts: shop.test", "sites.a.allowed_hosts: must be a list, not 'shop.test'"),
        ("allowed_hosts: [https://shop.test]", "'https://shop.test' is no host name in lower case"),
        ("allowed_hosts: [3]", "sites.a.allowed_hosts.0: must be a valid string, not 3"),
    ],
)
def test_a_fault_is_told_with_its_line_its_key_and_what_to_write(write, text, told):
    message = refused(write(f"# head\nsites:\n  a:\n    {text}\n"))
    assert message.startswith("line 4: sites.a.")
    assert told in message
    assert "\n" not in message


def test_all_faults_are_told_at_once_in_the_order_of_the_file(write):
    sites = "sites:\n  b:\n    proxy: maybe\n  a:\n    timeout: 0\n    tiemout: 3\n  C: {}\n  d: 7\n"
    message = refused(write("defaults:\n  delay: soon\n" + sites))
    heads = [line.split(": ")[:2] for line in message.splitlines()]
    assert heads == [
        ["line 2", "defaults.delay"],
        ["line 5", "sites.b.proxy"],
        ["line 7", "sites.a.timeout"],
        ["line 8", "sites.a.tiemout"],
        ["line 9", "sites.C"],
        ["line 10", "sites.d"],
    ]


def test_a_fault_of_the_defaults_is_told_once(write):
    message = refused(
        write("defaults: {delay: soon, backoff: {first: 99}}\nsites: {a: {}, b: {delay: 1}, c: {delay: x}}\n")
    )
    assert message.count("delay") == 2  # defaults and c
    assert message.count("first (99)") == 1


def test_an_entry_that_contradicts_the_defaults_is_told_at_the_entry(write):
    message = refused(write("defaults: {backoff: {first: 20}}\nsites:\n  a:\n    backoff: {max: 10}\n"))
    assert message == "line 4: sites.a.backoff: first (20) is greater than max (10); raise max or lower first"


def test_no_retries_with_a_backoff_is_fine(write):
    assert load_sites(write("sites: {a: {retries: 0, backoff: {first: 1}}}")).warnings == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{proxy: none, on_block: rotate}", "sites.a: on_block rotate with proxy none"),
        ("{timeout: 60, session_ttl: 5}", "sites.a: session_ttl is shorter than timeout"),
    ],
)
def test_what_is_odd_is_warned_of(write, text, told):
    sites = load_sites(write(f"sites:\n  a: {text}\n"))
    (warning,) = sites.warnings
    assert told in warning
    assert ", line 2: " in warning


def test_rotating_by_default_without_a_proxy_is_not_odd(write):
    assert load_sites(write("sites: {a: {proxy: none}}")).warnings == ()


def test_every_key_is_in_the_documentation():
    text = (ROOT / "docs" / "configuration.md").read_text()
    sections = {"backoff": Backoff, "pool": Pool}
    keys = [*(SiteConfig.model_fields.keys() - sections)]
    keys += [f"{section}.{name}" for section, model in sections.items() for name in model.model_fields]
    assert [key for key in keys if f"| `{key}` |" not in text] == []


# ── the file itself ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "line 1: is empty"),
        ("# nothing\n", "line 1: is empty"),
        ("{}", "line 1: is empty"),
        ("- a\n- b\n", "line 1: must be a mapping with the keys defaults and sites"),
        ("defaults: {}\n", "line 1: sites: names no site; write one entry for each spider"),
        ("sites: [a]", "line 1: sites: must be a mapping of keys and values, not ['a']"),
        ("instagram: {}\n", "line 1: instagram: unknown key; a site stands under sites"),
        ("site: {a: {}}", "line 1: site: unknown key; did you mean sites?"),
        ("sites: {a: {}}\nversion: 1\n", "line 2: version: unknown key; known: defaults, sites"),
        ("sites:\n  a: {}\n  a: {}\n", "line 3: sites.a stands here for the second time, first in line 2"),
        (
            "sites:\n  a:\n    delay: 1\n    delay: 1\n",
            "line 4: sites.a.delay stands here for the second time, first in line 3",
        ),
        ("sites: {a: {1: 2}}", "line 1: a key must be text, not 1; put it in quotes"),
        ("sites: {a: {on: 2}}", "line 1: a key must be text, not True; put it in quotes"),
        ("sites: {a: {? [x] : 2}}", "line 1: a key must be text, not ['x']"),
        ("sites:\n  a: &x {delay: 1}\n", "line 2: anchors and aliases are not taken"),
        ("sites:\n  a: *x\n", "line 2: anchors and aliases are not taken"),
        ("sites: {a: {<<: {delay: 1}}}", "line 1: << alone means something else in YAML"),
        (
            "sites: !!python/object/apply:os.system [id]",
            "line 1: the tag tag:yaml.org,2002:python/object/apply:os.system",
        ),
        ("sites:\n\ta: 1\n", "line 2: while scanning for the next token"),
        ("sites: {a: {}", "line 1: while parsing a flow mapping"),
        ("sites: {}\n---\nsites: {}\n", "line 2: expected a single document"),
        ("sites: {a: {delay: 2026-99-99}}", "line 1: '2026-99-99' is neither a number nor a date"),
        ("[" * 5000, "line 1: sections stand too deep in each other"),
        ("sites: {a: " + "9" * 5000 + "}", "is neither a number nor a date"),
        (b"sites:\n  a: \x00\n", "line 2: holds the control character '\\x00'"),
        (b"\x89PNG\r\n\x1a\n\xff", "is not UTF-8 text (byte 0)"),
        ('"\\ud800": {}\nsites: {a: {}}', "line 1: \\ud800: unknown key"),
        (b"#" * (1024 * 1024 + 1), "is larger than 1048576 bytes"),
    ],
)
def test_a_file_that_is_not_plain_is_refused(write, content, told):
    message = refused(write(content))
    assert told in message
    message.encode()


def test_an_alias_bomb_is_refused_before_it_grows(write):
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join(f'*{before}' for _ in range(9))}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert "anchors and aliases are not taken" in refused(write(bomb))


def test_a_byte_order_mark_is_fine(write):
    assert list(load_sites(write(b"\xef\xbb\xbfsites: {a: {}}"))) == ["a"]


def test_a_missing_file_and_a_folder_are_config_errors(tmp_path):
    assert "cannot be read (No such file or directory)" in refused(tmp_path / "none.yaml")
    assert "cannot be read (Is a directory)" in refused(tmp_path)


keys = st.sampled_from(
    [*SiteConfig.model_fields, *Backoff.model_fields, "defaults", "sites", "instagram", "<<", "=", "on"]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.dates()
    | st.sampled_from(["none", "obey"])
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys | st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def _load(tmp_path_factory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(content)
    try:
        load_sites(path)
    except ConfigError as exc:
        assert str(path) in str(exc)  # noqa: PT017
        str(exc).encode()


@settings(suppress_health_check=[HealthCheck.too_slow])  # on a busy machine drawing trees takes its time
@given(st.dictionaries(st.sampled_from(["defaults", "sites"]) | keys, trees, max_size=3))
def test_any_tree_gives_sites_or_a_config_error(tmp_path_factory, tree):
    _load(tmp_path_factory, yaml.safe_dump(tree).encode("utf-8", "backslashreplace"))


@given(st.text(st.sampled_from("ab:{}[]&*!#-?|>'\"%@`,\n\t <=.~0129_x\\u"), max_size=60) | st.text(max_size=30))
def test_any_text_gives_sites_or_a_config_error(tmp_path_factory, text):
    _load(tmp_path_factory, text.encode("utf-8", "surrogatepass"))


@given(st.binary(max_size=60))
def test_any_bytes_give_sites_or_a_config_error(tmp_path_factory, raw):
    _load(tmp_path_factory, raw)
