"""`scrapy seed`: lines are checked as the spider will read them, good ones pushed in order, bad ones named."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING

import pytest
from scrapy import Spider
from scrapy.settings import Settings

from fetchworker.errors import ArgumentError, ConfigError
from fetchworker.frontier.seedform import LARGEST
from fetchworker.queueing.seeding import BATCH, Seeder, check_of, lines, with_tier
from tests import preloaded

if TYPE_CHECKING:
    from pathlib import Path

USERS = b"""\xef\xbb\xbf# people
{"user": "ann"}

  https://www.instagram.com/bob/\r
{"usr": "carl"}
[]
\xff\xfe
{"user": "dora", "priority": 5}
"""
GOOD = [b'{"user": "ann"}', b"https://www.instagram.com/bob/", b'{"user": "dora", "priority": 5}']
KEY = "instagram:start_urls"


@pytest.fixture
def users(project) -> Path:
    path = project.folder / "users.txt"
    path.write_bytes(USERS)
    return path


def named(done, name: str) -> list[str]:
    """The lines that stderr names."""
    assert "Traceback" not in done.stderr
    return [line.removeprefix(f"{name}:").partition(":")[0] for line in done.stderr.splitlines()]


def test_good_lines_are_pushed_in_order_and_bad_ones_are_named(project, users, queue):
    done = project.scrapy("seed", "instagram", str(users))
    assert (done.returncode, done.stdout) == (2, f"{KEY}: 3 pushed, 3 bad\n")
    assert named(done, str(users)) == ["5", "6", "7"]
    assert "does not know the argument 'usr' (did you mean 'user'?)\n" in done.stderr
    assert queue.lrange(KEY, 0, -1) == GOOD


def test_what_is_pushed_later_is_read_later_and_all_good_is_0(project, queue):
    queue.rpush(KEY, "first")
    done = project.scrapy("seed", "instagram", stdin='{"user": "ann"}\n{"user": "bob"}')
    assert (done.returncode, done.stderr) == (0, "")
    done = project.scrapy("seed", "instagram", "-", stdin='{"user": "carl"}\n{"user": 5, "limit": "x"}\n')
    assert (done.returncode, named(done, "stdin")) == (2, ["2"])
    assert queue.lrange(KEY, 0, -1) == [b"first", b'{"user": "ann"}', b'{"user": "bob"}', b'{"user": "carl"}']


@pytest.mark.parametrize(("option", "told"), [("--strict", "0 pushed, 3 bad"), ("--dry-run", "3 good, 3 bad")])
def test_nothing_is_pushed_when_all_or_nothing_is_asked_for(project, users, queue, option, told):
    done = project.scrapy("seed", "instagram", str(users), option)
    assert done.returncode == 2
    assert told in done.stdout
    assert named(done, str(users)) == ["5", "6", "7"]
    assert not queue.exists(KEY)


def test_strict_pushes_all_when_all_are_good(project, queue):
    seeds = [json.dumps({"user": f"u{number}"}) for number in range(2 * BATCH + 1)]
    done = project.scrapy("seed", "instagram", "--strict", stdin="\n".join(seeds))
    assert (done.returncode, done.stderr) == (0, "")
    assert queue.lrange(KEY, 0, -1) == [seed.encode() for seed in seeds]


def test_a_tier_goes_into_seeds_that_name_none(project, queue):
    seeds = '{"user": "ann"}\nhttps://www.instagram.com/bob/\n{"user":"carl","tier":"high"}\n'
    assert project.scrapy("seed", "instagram", "--tier", "low", stdin=seeds).returncode == 0
    found = [json.loads(seed) for seed in queue.lrange(KEY, 0, -1)]
    assert found == [
        {"tier": "low", "user": "ann"},
        {"url": "https://www.instagram.com/bob/", "tier": "low"},
        {"user": "carl", "tier": "high"},
    ]


def test_arguments_make_one_seed(project, queue):
    done = project.scrapy("seed", "instagram", "-a", "user=nasa", "-a", "operation=posts", "-a", "limit=5")
    assert done.returncode == 0, done.stderr
    assert json.loads(queue.lpop(KEY)) == {"user": "nasa", "operation": "posts", "limit": "5"}
    done = project.scrapy("seed", "instagram", "-a", "usr=nasa")
    assert (done.returncode, named(done, "-a")) == (2, ["1"])


def test_a_set_and_a_sorted_set_are_added_to_as_they_are(project, users, queue):
    queue.sadd(KEY, "old")
    project.scrapy("seed", "instagram", str(users))
    assert queue.smembers(KEY) == {b"old", *GOOD}
    queue.delete(KEY)
    queue.zadd(KEY, {"old": 1})
    project.scrapy("seed", "instagram", str(users), "--tier", "high")
    assert sorted(score for _, score in queue.zrange(KEY, 0, -1, withscores=True)) == [1, 1000, 1000, 1005]
    queue.delete(KEY)
    queue.set(KEY, "text")
    done = project.scrapy("seed", "instagram", str(users))
    assert (done.returncode, queue.get(KEY)) == (2, b"text")
    assert f"{KEY} is a string" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "scrapy seed SITE"),
        (("instagrm",), "did you mean 'instagram'"),
        (("instagrm", "no-such-file.txt"), "did you mean 'instagram'"),
        (("instagram", "no-such-file.txt"), "no-such-file.txt cannot be read"),
        (("instagram", "."), "cannot be read"),
        (("instagram", "-", "-a", "user=nasa"), "scrapy seed SITE"),
        (("instagram", "-a", "user"), "NAME=VALUE"),
        (("instagram", "--tiers", "low"), "unknown option --tiers"),
    ],
)
def test_what_cannot_be_is_told(project, arguments, told):
    done = project.scrapy("seed", *arguments, stdin="")
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


class TestLines:
    def test_one_that_is_too_long_is_named_and_the_next_is_read(self):
        source = io.BytesIO(b"a\n" + b"x" * (2 * LARGEST + 5) + b"\nb\n" + b"y" * LARGEST + b"\n# c\nd")
        found = [(number, line if line is None else line[:1]) for number, line in lines(source)]
        assert found == [(1, b"a"), (2, None), (3, b"b"), (4, b"y"), (6, b"d")]

    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            (b'{"a": 1e2, "a": 2}', b'{"tier": "low", "a": 1e2, "a": 2}'),
            (b"{ }", b'{"tier": "low"}'),
            (b"[1]", b"[1]"),
            (b'{"a"', b'{"a"'),
            (b"http://\xff", b"http://\xff"),
            (b'{"tier": "high"}', b'{"tier": "high"}'),
        ],
    )
    def test_a_tier_changes_nothing_else(self, raw, expected):
        assert with_tier(raw, "low") == expected

    def test_a_spiders_own_fault_is_the_lines_fault(self):
        def check(raw: bytes) -> int:
            raise KeyError(raw.decode())

        told = []
        seeder = Seeder(check, lambda *fault: told.append(fault))
        assert list(seeder.seeds(io.BytesIO(b"a\nb\n"))) == []
        assert (seeder.good, seeder.bad, told) == (0, 2, [(1, "KeyError: 'a'"), (2, "KeyError: 'b'")])


class TestOtherSpiders:
    def test_their_seeds_are_checked_as_the_scheduler_reads_them(self):
        class Other(Spider):
            name = "other"

        check = check_of(Other, Settings())
        assert check(b'{"url": "https://site.example/", "tier": "high", "priority": 3}') == 1003
        with pytest.raises(ArgumentError, match="methd"):
            check(b'{"url": "https://site.example/", "methd": "POST"}')

    def test_one_that_cannot_be_made_without_arguments_is_told(self):
        class Other(Spider):
            name = "other"

            def __init__(self, *, needed, **options):
                super().__init__(**options)

        with pytest.raises(ConfigError, match="needed"):
            check_of(Other, Settings())


def test_a_spider_of_scrapy_redis_names_its_key_itself(endpoint, queue, tmp_path):
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = theirs.settings\n")
    (tmp_path / "theirs").mkdir()
    settings = "SPIDER_MODULES = ['theirs.spiders']\nCOMMANDS_MODULE = 'fetchworker.commands'\n"
    (tmp_path / "theirs" / "settings.py").write_text(f"{settings}REDIS_URL = {endpoint.url.get_secret_value()!r}\n")
    spider = "from scrapy_redis.spiders import RedisSpider\nclass Mine(RedisSpider):\n"
    (tmp_path / "theirs" / "spiders.py").write_text(f"{spider}    name = 'mine'\n    redis_key = '%(name)s:todo'\n")
    ours = ("FETCHWORKER_", "REDIS_URL", "SCRAPY_")  # what looks for a project leaves its name in the environment
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}

    def run(*arguments: str):
        command = [sys.executable, "-m", "scrapy", *arguments]
        return preloaded.run(command, cwd=tmp_path, env=clean, timeout=50, stdin="https://site.example/\n123\n")

    done = run("seed", "mine")
    assert (done.returncode, done.stdout) == (2, "mine:todo: 1 pushed, 1 bad\n"), done.stderr
    assert queue.lrange("mine:todo", 0, -1) == [b"https://site.example/"]
    (told,) = json.loads(run("queue", "--json").stdout)["namespaces"]
    assert (told["site"], told["seeds_key"], told["seeds"]) == ("mine", "mine:todo", 1)
