"""`scrapy items`: what is in the database, for people and for programs; and `scrapy doctor` about it."""

from __future__ import annotations

import asyncio
import json

import pytest
from pydantic import SecretStr

from fetchworker.db import place_of
from fetchworker.db.observation import observe
from fetchworker.db.store import ItemStore
from fetchworker.items import Profile


@pytest.fixture
def filled(project):
    """A project whose database knows three people; of one of them there are two observations."""
    url = f"sqlite:///{project.folder}/items.db"
    project.env["FETCHWORKER_DATABASE_URL"] = url

    def seen(key, day, **values):
        item = Profile(
            item_id=f"{key}-{day}",
            id=key,
            site=values.pop("site", "instagram"),
            operation="profile",
            url=f"https://site.example/{key}",
            fetched_at=f"2026-01-0{day}T10:00:00Z",
            **values,
        )
        return observe(item, crawl_id="c")

    async def fill():
        store = await ItemStore.open(place_of(SecretStr(url)))
        people = [
            seen("ann", 1, followers=5, name="Ånn"),
            seen("bob", 2),
            seen("ann", 3),
            seen("cleo", 4, site="fetch"),
        ]
        await store.save(people)
        await store.close()

    asyncio.run(fill())
    return project


def test_people_read_a_line_a_thing_the_latest_first(filled):
    done = filled.scrapy("items")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "2026-01-04T10:00:00Z  fetch  profile  cleo  https://site.example/cleo",
        "2026-01-03T10:00:00Z  instagram  profile  ann  https://site.example/ann",
        "2026-01-02T10:00:00Z  instagram  profile  bob  https://site.example/bob",
    ]
    done = filled.scrapy("items", "--site", "instagram", "--kind", "profile", "--limit", "1")
    assert [line.split()[3] for line in done.stdout.splitlines()] == ["ann"]


def test_programs_read_items_and_their_history(filled):
    done = filled.scrapy("items", "--site", "instagram", "--json")
    ann, bob = map(json.loads, done.stdout.splitlines())
    assert (ann["followers"], ann["name"], ann["item_id"]) == (5, "Ånn", "ann-3")
    assert bob["followers"] is None
    done = filled.scrapy("items", "--site", "instagram", "--kind", "profile", "--id", "ann")
    assert [json.loads(line)["followers"] for line in done.stdout.splitlines()] == [None, 5]


@pytest.mark.parametrize("arguments", [("--id", "ann"), ("--limit", "0"), ("more",)])
def test_wrong_arguments_end_with_2(filled, arguments):
    done = filled.scrapy("items", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_no_database_is_told_and_none_is_made(project):
    done = project.scrapy("items")
    assert done.returncode == 1
    assert "does not exist yet" in done.stderr
    assert not (project.folder / "state" / "fetchworker.db").exists()


def test_the_doctor_looks_at_a_database_that_is_used(filled):
    checks = {check["check"]: check for check in map(json.loads, filled.scrapy("doctor", "--json").stdout.splitlines())}
    assert checks["database"]["ok"]
    assert "items.db" in checks["database"]["told"]
    filled.env["FETCHWORKER_DATABASE_URL"] = "postgresql://ana:geheim-4711@127.0.0.1:1/items"
    done = filled.scrapy("doctor", "--text")
    assert done.returncode == 1
    assert "FAIL database: postgresql://127.0.0.1:1/items: connection failed" in done.stdout
    assert "geheim" not in done.stdout + done.stderr
