"""The keys that the queue really has, and what is said of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fetchworker.errors import ConfigError
from fetchworker.frontier import keys
from fetchworker.frontier.keys import check_cluster, namespace

DOCS = Path(__file__).resolve().parents[2] / "docs" / "queue.md"
SLOTS = {
    "spider": "shop",
    "root": r"\{shop:(start_urls|crawl:nightly)\}",
    "number": r"-?\d+",
    "priority": r"-?\d+",
    "n": r"\d+",
}


def described(text):
    """Patterns of the keys in the first column of a table."""
    names = re.findall(r"`+((?:<root>|<spider>|\{<spider>)[^`]*)`+", text)
    return {pattern(name) for name in names if name not in ("<root>", "<spider>")}


def pattern(name):
    return re.sub(r"<(\w+)>", lambda slot: SLOTS.get(slot[1], ".+"), re.sub(r"[{}]", r"\\\g<0>", name))


def first_column(text, mark):
    lines = [line for line in text.splitlines() if line.startswith(("|", "``"))]
    return "\n".join(line.split(mark)[1 if mark == "|" else 0] for line in lines)


@pytest.mark.parametrize("crawl", [None, "nightly"])
async def test_every_key_that_a_run_leaves_is_described_and_every_description_is_of_one(lone, crawl):
    queue = lone.of(crawl) if crawl else lone
    await lone.redis.rpush(lone.names.seeds, "seed")
    await queue.busy()
    found = {key for key in await lone.keys() if crawl or key != "{shop:namespaces}"}
    module = described(first_column(keys.__doc__, "  "))
    assert {key for key in found if not any(re.fullmatch(each, key) for each in module)} == set()
    unseen = {each for each in module if not any(re.fullmatch(each, key) for key in found)}
    assert unseen == (set() if crawl else {r"\{shop:namespaces\}"})


def test_the_page_describes_the_same_keys():
    page = DOCS.read_text().partition("## Keys")[2]
    assert {re.sub(r"-\?", "", each) for each in described(first_column(page, "|"))} == {
        re.sub(r"-\?", "", each) for each in described(first_column(keys.__doc__, "  "))
    }


def test_names_are_of_one_slot_and_private_ones_are_not_renamed():
    names = {keys.QUEUE_KEY: "%(spider)s:q", keys.SEEN_KEY: "", keys.SEEDS_KEY: "{x}:%(name)s"}
    shared, private = namespace("shop", names=names), namespace("shop", "c1", names=names)
    assert (shared.root, shared.queue, shared.seeds) == ("{x}", "shop:q", "{x}:shop")
    assert private.keys == [f"{{shop:crawl:c1}}{end}" for end in ("", ":requests", ":dupefilter", ":start_urls")]
    check_cluster(private)
    with pytest.raises(ConfigError, match=r"SCHEDULER_QUEUE_KEY: shop:q lies in another slot .* put \{x\} into it"):
        check_cluster(shared)
    with pytest.raises(ConfigError, match=r"SCHEDULER_QUEUE_KEY: '%\(site\)s' cannot be filled in"):
        namespace("shop", names={keys.QUEUE_KEY: "%(site)s"})
