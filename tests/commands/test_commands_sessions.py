"""`scrapy sessions`: what there is, without a secret; drop, warm, refresh."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from redis.asyncio import Redis

from fetchworker.sessions import RedisSessionStore, Session
from fetchworker.sessions.pool import PoolTerms
from fetchworker.sessions.poolredis import RedisPool

SECRET = "tell-nobody-4711"
URL = "https://www.tiktok.com/"


@pytest.fixture
def stored(redis_server, project):
    """A leased and a quarantined session of the pool, and a named one, all with secrets."""
    project.env["FETCHWORKER_REDIS_URL"] = redis_server.url

    async def fill():
        async with Redis.from_url(redis_server.url) as client:
            store, pool = RedisSessionStore(client, ttl=1000), RedisPool(client, "tiktok_shop", PoolTerms(blocks=9))
            first = (await pool.take("main", "caller-1")).lease
            second = (await pool.take("main", "caller-2")).lease
            await pool.quarantine(second, "challenge (captcha)")
            for name in (first.session_id, second.session_id, "ada"):
                session = Session.fresh(
                    name, "tiktok_shop", profile="chrome", proxy_id="p1", now=time.time(), stored=True
                )
                session.jar.set("ttwid", SECRET, url=URL, now=time.time())
                session.tokens["msToken"] = SECRET
                await store.save(session)
            return first.session_id, second.session_id

    return asyncio.run(fill())


@pytest.fixture
def run(project):
    def sessions(*arguments, code=0):
        done = project.scrapy("sessions", *arguments)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        assert SECRET not in done.stdout + done.stderr
        return done

    return sessions


def lines(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_list_tells_how_sessions_stand(stored, run):
    leased, quarantined = stored
    found = {one["id"]: one for one in lines(run("list", "tiktok_shop", "--json"))}
    assert set(found) == {leased, quarantined, "ada"}
    assert (found[leased]["state"], found[leased]["owner"], found[leased]["uses"]) == ("leased", "caller-1", 1)
    assert (found[quarantined]["state"], found[quarantined]["reason"]) == ("quarantined", "challenge (captcha)")
    assert found[quarantined]["until"] > time.time()
    assert found["ada"]["pooled"] is False
    text = run("list", "tiktok_shop").stdout
    assert "SESSION" in text
    assert "challenge (captcha)" in text


def test_list_of_nothing(redis_server, project, run):
    project.env["FETCHWORKER_REDIS_URL"] = redis_server.url
    assert run("list", "ebay", "linkedin").stdout == "no sessions of ebay, linkedin\n"


def test_show_names_cookies_and_tokens_and_not_their_values(stored, run):
    (ada,) = lines(run("show", "tiktok_shop", "ada", "--json"))
    assert ada["cookies"] == [{"domain": "www.tiktok.com", "name": "ttwid"}]
    assert (ada["tokens"], ada["profile"], ada["proxy"]) == (["msToken"], "chrome", "p1")
    assert "ttwid" in run("show", "tiktok_shop", stored[0]).stdout
    assert "has no session nobody" in run("show", "tiktok_shop", "nobody", code=2).stderr


def test_drop_takes_sessions_out_of_store_and_pool(stored, run, redis_server):
    leased, quarantined = stored
    assert run("drop", "tiktok_shop", leased, "ada").stdout == "tiktok_shop: 2 dropped\n"
    assert [one["id"] for one in lines(run("list", "tiktok_shop", "--json"))] == [quarantined]
    assert "add --yes" in run("drop", "tiktok_shop", "--all", code=2).stderr
    assert lines(run("drop", "tiktok_shop", "--all", "--yes", "--json"))[0]["dropped"] == [quarantined]
    assert not list(redis_server.client().scan_iter("*pool*:s:*"))
    assert run("drop", "tiktok_shop", "ada", code=2).stderr


def test_list_tells_who_has_a_named_session_to_himself(stored, run, redis_server):
    redis_server.client().hset("fw:pool:{tiktok_shop}:lock:ada", mapping={"owner": "caller-9", "token": 1})
    redis_server.client().pexpire("fw:pool:{tiktok_shop}:lock:ada", 50_000)
    (ada,) = [one for one in lines(run("list", "tiktok_shop", "--json")) if one["id"] == "ada"]
    assert (ada["state"], ada["owner"], ada["pooled"]) == ("exclusive", "caller-9", False)
    assert 0 < ada["until"] - time.time() <= 50


@pytest.mark.slow
def test_what_is_not_there_is_not_refreshed_and_what_is_not_warmed_is_only_made(redis_server, project, run):
    project.env["FETCHWORKER_REDIS_URL"] = redis_server.url
    path = project.folder / "sites.yaml"
    told = {name: {} for name in project.names} | {"fetch": {"proxy": "none", "pool": {"max_total": 3}}}
    path.write_text(json.dumps({"sites": told}))
    gone = "pool.main.deadbeefdeadbeef"
    told = run("refresh", "fetch", "nosuch", gone, code=2)
    assert "fetch has no session nosuch" in told.stderr
    assert f"fetch has no session {gone}" in told.stderr
    assert run("list", "fetch").stdout == "no sessions of fetch\n", "none was made for it"
    assert run("warm", "fetch", "2").stdout == "fetch: 2 made (the site has no warm-up page)\n"
    made = sorted(one["id"] for one in lines(run("list", "fetch", "--json")))
    (answer,) = lines(run("refresh", "fetch", *made, "--json"))
    assert (answer["warmed"], sorted(answer["unchanged"])) == ([], made)


def test_a_full_pool_is_told_and_a_record_that_nobody_can_read(redis_server, project, run):
    project.env["FETCHWORKER_REDIS_URL"] = redis_server.url
    told = {name: {} for name in project.names} | {"fetch": {"proxy": "none", "pool": {"max_total": 1}}}
    (project.folder / "sites.yaml").write_text(json.dumps({"sites": told}))
    full = run("warm", "fetch", "4", code=1)
    assert full.stdout == "fetch: 1 made (the site has no warm-up page), 3 not made\n"
    assert full.stderr == (
        "scrapy sessions: fetch: the pool has 1 of 1 sessions (main): raise sites.fetch.pool.max_total\n"
    ), "and nothing of the log"
    (key,) = redis_server.client().scan_iter("fw:session:{fetch}:*")
    redis_server.client().hset(key, "v", "xx")
    name = key.decode().rpartition(":")[2]
    assert run("refresh", "fetch", name).stdout == "fetch: 1 made anew (nobody could read the record)\n"


def test_what_cannot_be_read_is_listed_as_damaged_and_can_be_dropped(stored, run, redis_server):
    client = redis_server.client()
    for field in ("uses", "score", "until"):
        client.hset(f"fw:pool:{{tiktok_shop}}:s:{stored[1]}", field, "xx")
    found = {one["id"]: one["state"] for one in lines(run("list", "tiktok_shop", "--json"))}
    assert found == {stored[0]: "leased", stored[1]: "damaged", "ada": "named"}
    assert "damaged" in run("list", "tiktok_shop").stdout
    client.hset(f"fw:pool:{{tiktok_shop}}:s:{stored[0]}", "born", "")
    assert set(lines(run("drop", "tiktok_shop", "--all", "--yes", "--json"))[0]["dropped"]) == set(stored)
    assert not list(client.scan_iter("*pool*:s:*"))


def test_whatever_is_in_the_pool_is_shown_as_plain_text_and_all_of_it_can_be_dropped(stored, run, redis_server):
    client, head = redis_server.client(), "fw:pool:{tiktok_shop}"
    client.zadd(f"{head}:born:main", {b"\x1b[2Jgone\xff": 1, "junk": 2})
    client.hset(f"{head}:s:{stored[1]}", "reason", "\x1b[31mred\n")
    client.delete(f"{head}:jars")
    listed = run("list", "tiktok_shop").stdout
    assert "\x1b" not in listed
    assert r"\x1b[2Jgone\udcff" in listed
    assert len(lines(run("list", "tiktok_shop", "--json"))) == 5
    assert "\x1b" not in run("show", "tiktok_shop", stored[1]).stdout
    (answer,) = lines(run("drop", "tiktok_shop", "--all", "--yes", "--json"))
    assert sorted(answer["dropped"]) == sorted([*stored, "junk", r"\x1b[2Jgone\udcff"])
    assert not client.zcard(f"{head}:born:main")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "write scrapy sessions list SITE"),
        (("list",), "write scrapy sessions list SITE"),
        (("burn", "ebay"), "write scrapy sessions list SITE"),
        (("list", "ebai"), "did you mean 'ebay'?"),
        (("show", "ebay"), "write scrapy sessions show SITE ID"),
        (("warm", "ebay", "many"), "N from 1 to 10000"),
        (("warm", "ebay"), "sites.ebay.pool is missing"),
        (("warm", "linkedin", "--jar", "job"), "no jar 'job'; known: company, jobs, main"),
        (("drop", "ebay"), "or --all"),
    ],
)
def test_wrong_arguments_are_told(run, arguments, told):
    assert told in run(*arguments, code=2).stderr


@pytest.mark.slow
def test_warm_makes_sessions_and_refresh_visits_again(calm, project, run, redis_server):
    project.use(calm)
    project.env["FETCHWORKER_REDIS_URL"] = redis_server.url
    path = project.folder / "sites.yaml"
    sites = json.loads(path.read_text())["sites"]
    sites["tiktok_shop"] |= {"warmup": True, "pool": {"max_total": 2}}
    path.write_text(json.dumps({"sites": sites}))
    assert run("warm", "tiktok_shop", "2").stdout == "tiktok_shop: 2 warmed up\n"
    made = lines(run("list", "tiktok_shop", "--json"))
    assert [one["state"] for one in made] == ["idle", "idle"]
    (first,) = lines(run("show", "tiktok_shop", made[0]["id"], "--json"))
    assert first["cookies"]
    assert "raise sites.tiktok_shop.pool.max_total" in run("warm", "tiktok_shop", code=1).stderr, "there may be two"
    assert lines(run("refresh", "tiktok_shop", made[0]["id"], "--json"))[0]["warmed"] == [made[0]["id"]]
    (again,) = lines(run("show", "tiktok_shop", made[0]["id"], "--json"))
    assert again["identity"] == first["identity"]
    assert again["requests"] > first["requests"]
