"""What providers billed: their APIs on loopback, shaped after their documentation, and how ours is compared with it."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import AsyncExitStack, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from fetchworker.accounts.asking import Asking
from fetchworker.config import Environment
from fetchworker.demo.lab import as_json, text
from fetchworker.demo.server import UpstreamServer
from fetchworker.errors import ArgumentError, BilledUsageError, EgressDeniedError
from fetchworker.redis import connect, resolve_redis_url
from fetchworker.usage import Key, Used
from fetchworker.usage._redis import RedisUsage
from fetchworker.usage.billed import Answered
from fetchworker.usage.compare import Line, as_text, lines_of, reasons
from fetchworker.usage.decodo import DecodoUsage
from fetchworker.usage.decodo import read as read_decodo
from fetchworker.usage.evomi import EvomiUsage
from fetchworker.usage.evomi import read as read_evomi

TODAY = datetime.now(UTC).date()
YESTERDAY = str(TODAY - timedelta(1))
SECRET = "k3y-that-must-not-show"


def evomi(product: str, stats: object, unit: str = "MB") -> dict:
    products = [{"name": "Any", "code": product, "totalBandwidth": 1.5, "stats": stats}]
    meta = {"period": "7d", "product": product, "granularity": "day", "bandwidth_unit": unit}
    return {"success": True, "data": {"bandwidth": {"products": products}, "requests": {}}, "meta": meta}


def decodo(rows: list, pages: int = 1) -> dict:
    return {"metadata": {"total_pages": pages, "totals": {}}, "data": rows}


def row(day: str, size: int) -> dict:
    return {"key": f"{day} 00:00:00", "rx_bytes": size - 1, "tx_bytes": 1, "rx_tx_bytes": size, "requests": 3}


class Stub:
    """Both providers' APIs; ``says`` may be put in the place of their answers."""

    def __init__(self) -> None:
        self.says = None
        self.asked = []
        self.sizes = {}

    def app(self, request):
        self.asked.append(request)
        headers = {name.lower(): value for name, value in request.headers}
        if self.says is not None:
            return self.says
        if request.host == "api.evomi.com":
            product = parse_qs(urlsplit(request.path).query)["product"][0]
            if headers.get("x-apikey") != SECRET:
                return as_json({"success": False, "error": "Invalid API key"}, 401)
            size = self.sizes.get(product, 0)
            return as_json(evomi(product, {f"{YESTERDAY} 00:00": {"default": size, "extra": 0, "total": size}}))
        if headers.get("authorization") != SECRET:
            return as_json({"message": "Unauthorized"}, 401)
        body = json.loads(request.body)
        return as_json(decodo([row(YESTERDAY, self.sizes.get(body["proxyType"], 0))]))


@pytest.fixture
def stub(project, redis_server):
    made, loop, stack = Stub(), asyncio.new_event_loop(), AsyncExitStack()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(30)

    server = run(stack.enter_async_context(UpstreamServer(made.app, hosts=("api.evomi.com", "api.decodo.com"))))
    project.env |= {
        "REDIS_URL": redis_server.url,
        "FETCHWORKER_CA_FILE": server.ca_pem_path,
        "FETCHWORKER_HOST_MAP": json.dumps(server.host_map()),
        "FETCHWORKER_EVOMI_API_KEY": SECRET,
        "FETCHWORKER_DECODO_API_KEY": SECRET,
    }
    yield made
    run(stack.aclose())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture
def kept(redis_server):
    """Puts usage into the Redis that the project's commands find."""

    async def add(day, used):
        client = connect(resolve_redis_url(redis_server.url, Path()))

        async def given():
            return client

        try:
            await RedisUsage("fetch", "test", given, keep=100_000).add(1, day, used)
        finally:
            await client.aclose()

    return lambda used, day=YESTERDAY: asyncio.run(add(day, used))


def key(provider: str, tier: str) -> Key:
    return Key(provider, tier, "fetch", "fetch", "-", "ok")


@pytest.mark.parametrize(
    ("provider", "sizes"), [("evomi", {"rp": 2.1}), ("decodo", {"residential_proxies": 2_100_000})]
)
def test_ours_and_theirs_side_by_side(stub, kept, project, provider, sizes):
    kept(
        {
            key(provider, "residential"): Used(500_000, 1_500_000, 7),
            key("other", "residential"): Used(1, 10**9, 1),
        }
    )
    stub.sizes = sizes
    done = project.scrapy("usage", "reconcile", "--provider", provider, "--since", YESTERDAY, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    numbers = {"bytes": 2_000_000, "billed_bytes": 2_100_000, "difference_percent": 5.0}
    assert told["rows"] == [{"day": YESTERDAY, "tier": "residential", **numbers}]
    assert told["total"] == numbers
    assert any("same account" in each for each in told["reasons"])
    assert len(stub.asked) == 1, "only tiers that were used are asked for"
    assert SECRET not in done.stdout + done.stderr


def test_a_key_that_is_refused_ends_with_1(stub, project):
    project.env["FETCHWORKER_EVOMI_API_KEY"] = "an-old-key"
    done = project.scrapy("usage", "reconcile", "--provider", "evomi")
    assert (done.returncode, done.stdout) == (1, "")
    assert "refuses the key in FETCHWORKER_EVOMI_API_KEY (401)" in done.stderr
    assert "Traceback" not in done.stderr
    assert "an-old-key" not in done.stderr


@pytest.fixture
async def asking(tmp_path):
    """Asks the stub by the way that the command goes; gives the adapter of a provider."""
    stub = Stub()
    async with UpstreamServer(stub.app, hosts=("api.evomi.com", "api.decodo.com")) as server:

        def port(provider):
            environment = Environment(
                host_map=server.host_map(), ca_file=Path(server.ca_pem_path), state_dir=tmp_path / "state"
            )
            ask, key = Asking(environment), SecretStr(SECRET)
            return EvomiUsage(key, ask, today=TODAY) if provider == "evomi" else DecodoUsage(key, ask)

        yield stub, port


@pytest.mark.parametrize(
    ("provider", "says", "told"),
    [
        ("evomi", as_json({"success": False}, 401), r"refuses the key in FETCHWORKER_EVOMI_API_KEY \(401\)"),
        ("decodo", text("no", 403), r"refuses the key in FETCHWORKER_DECODO_API_KEY \(403\)"),
        ("evomi", text("slow down", 429, (("retry-after", "17"),)), r"asked too often \(429\): try again in 17 s"),
        ("decodo", text("slow down", 429), "try again later"),
        ("evomi", text("oops", 502), "answers with status 502"),
        ("decodo", text("<html>"), "no JSON"),
        ("evomi", as_json({"success": True}), "no meta"),
        ("decodo", text("x" * (5 << 20)), "its answer is larger than 4194304 bytes"),
    ],
)
async def test_a_provider_that_does_not_tell(asking, provider, says, told):
    stub, port = asking
    stub.says = says
    with pytest.raises(BilledUsageError, match=told) as caught:
        await port(provider).billed([YESTERDAY], ["residential"])
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("provider", ["evomi", "decodo"])
async def test_both_are_asked_as_documented(asking, provider):
    stub, port = asking
    stub.sizes = {"dcp": 0.5, "datacenter_proxies": 500_000}
    assert (await port(provider).billed([YESTERDAY], ["datacenter"]))[YESTERDAY, "datacenter"] == 500_000
    (request,) = stub.asked
    assert request.method == ("GET" if provider == "evomi" else "POST")


async def test_no_way_where_requests_may_not_go(tmp_path):
    asking = Asking(Environment(state_dir=tmp_path, egress_ports=((80, 80),)))
    with pytest.raises(EgressDeniedError):
        await EvomiUsage(SecretStr(SECRET), asking, today=TODAY).billed([YESTERDAY], ["mobile"])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--provider", "nobody"], "write --provider with one of evomi, decodo"),
        (["--provider", "evomi"], "FETCHWORKER_EVOMI_API_KEY is not set"),
    ],
)
def test_it_cannot_be_asked_so(project, options, told):
    done = project.scrapy("usage", "reconcile", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_the_table():
    lines = [Line("2026-11-29", "residential", 2 << 20, 3 << 20), Line("2026-11-30", "-", 0, 1)]
    assert as_text(lines, ["a reason"]) == [
        "day         tier            ours   billed  difference",
        "2026-11-29  residential  2.0 MiB  3.0 MiB     +50.0 %",
        "2026-11-30  -                0 B      1 B           -",
        "total                    2.0 MiB  3.0 MiB     +50.0 %",
        "",
        "what could explain it:",
        "- a reason",
    ]


# ── what they answer ─────────────────────────────────────────────────────────────────────────────────────────────────


def answered(value: object, status: int = 200) -> Answered:
    return Answered(status, {}, json.dumps(value).encode())


def test_evomis_figures_by_day():
    both = {"2026-11-29 00:00": {"default": 1.5, "extra": 0.5, "total": 2}, "2026-11-30 00:00": 0.000512}
    assert read_evomi(answered(evomi("rpc", both)), "rpc") == {"2026-11-29": 2_000_000, "2026-11-30": 512}
    assert read_evomi(answered(evomi("rpc", both, "GB")), "rpc")["2026-11-29"] == 2 * 10**9
    assert read_evomi(answered(evomi("rp", both)), "rpc") == {}
    assert read_evomi(answered(evomi("rpc", [])), "rpc") == {}


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"success": False},
        evomi("rpc", {"2026-11-30": {"default": 1}}),
        evomi("rpc", {"2026-11-30": "12"}),
        evomi("rpc", {"2026-11-30": -1}),
        evomi("rpc", {"2026-11-30": True}),
        evomi("rpc", {"soon": 1}),
        evomi("rpc", ["2026-11-30"]),
        evomi("rpc", {}, "furlongs"),
        {**evomi("rpc", {}), "data": {"bandwidth": {"products": {}}}},
        {**evomi("rpc", {}), "data": {"bandwidth": {"products": [7]}}},
    ],
)
def test_what_evomi_does_not_document_is_told(value):
    with pytest.raises(BilledUsageError, match="otherwise than documented"):
        read_evomi(answered(value), "rpc")


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"metadata": {}},
        decodo([{"key": "2026-11-30 00:00:00"}]),
        decodo([row("2026-11-30", 9) | {"rx_tx_bytes": "9"}]),
        decodo([row("yesterday!", 9)]),
        decodo([9]),
        {"data": {}},
        {"data": [], "metadata": {"total_pages": "many"}},
    ],
)
def test_what_decodo_does_not_say_is_told(value):
    with pytest.raises(BilledUsageError, match="otherwise than documented"):
        read_decodo(answered(value))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                        st.sampled_from(["success", "data", "meta", "bandwidth", "products", "key", "stats", "code"]),
                        inner, max_size=4)))  # fmt: skip
def test_no_answer_breaks_the_readers(value):
    for read in (lambda: read_evomi(answered(value), "rpc"), lambda: read_decodo(answered(value))):
        with suppress(BilledUsageError):
            read()


async def test_decodo_is_asked_page_by_page():
    bodies = []

    async def ask(asked):
        assert asked.headers["authorization"] == SECRET
        assert SECRET not in repr(asked)
        bodies.append(json.loads(asked.body))
        return answered(decodo([row("2026-11-29", 10 * len(bodies)), row("2020-01-01", 5)], pages=3))

    port = DecodoUsage(SecretStr(SECRET), ask)
    assert await port.billed(["2026-11-28", "2026-11-29"], ["datacenter"]) == {("2026-11-29", "datacenter"): 60}
    assert [body["page"] for body in bodies] == [1, 2, 3]
    assert bodies[0]["proxyType"] == "datacenter_proxies"
    assert (bodies[0]["startDate"], bodies[0]["endDate"]) == ("2026-11-28 00:00:00", "2026-11-29 23:59:59")


async def test_evomi_tells_seven_days_and_no_more():
    async def ask(_asked):
        raise AssertionError

    port = EvomiUsage(SecretStr(SECRET), ask, today=date(2026, 11, 30))
    with pytest.raises(ArgumentError, match="--since 2026-11-24 or later"):
        await port.billed(["2026-11-23"], ["residential"])


# ── how they compare ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_either_side_knows_has_a_line():
    used = {
        ("2026-11-30", key("evomi", "residential")): Used(1, 2, 1),
        ("2026-11-30", key("decodo", "residential")): Used(1, 2, 1),
    }
    billed = {("2026-11-30", "datacenter"): 7, ("2026-11-29", "residential"): 0}
    assert lines_of(used, billed, "evomi") == [
        Line("2026-11-30", "datacenter", 0, 7),
        Line("2026-11-30", "residential", 3, 0),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (Line("2026-11-30", "residential", 1000, 1015), None),
        (Line("2026-11-30", "residential", 1000, 1100), "same account"),
        (Line("2026-11-30", "residential", 1000, 700), "may be free there"),
        (Line("2026-12-01", "residential", 1000, 700), "today is not over"),
        (Line("2026-11-30", "-", 1000, 0), "no figures of tier -"),
        (Line("2026-11-30", "residential", 0, 10), "same account"),
    ],
)
def test_what_could_explain_it(line, told):
    found = reasons([line], ["a note"], today="2026-12-01", tiers=("residential",))
    if told is None:
        assert found == []
    else:
        assert any(told in each for each in found), found
        assert found[-1] == "a note"
