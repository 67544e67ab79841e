"""Arguments, addresses and seeds name one call; what is wrong with them is said with the way out."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError, create_model
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader

from fetchworker.contracts import Call, Fetch, Page, Paged, Params, Parsed
from fetchworker.errors import ArgumentError, ContractError
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.requests import dump_call, request_id

SPIDERS = get_spider_loader(Settings({"SPIDER_MODULES": ["fetchworker.spiders"]}))


class ShopParams(Params):
    shop: str = Field(pattern=r"^[a-z]+$")


class ListParams(Paged):
    shop: str | None = None
    query: str | None = None


def nothing(page, call):
    return Parsed([])


class ShopSpider(SiteSpider):
    name = "shop"

    @operation(parse=nothing, default_for=("shop",), patterns=(r"https://shop\.example/(?P<shop>[a-z]+)/?$",))
    def shop(self, call: Call[ShopParams]):
        """One shop."""
        yield Fetch("page", f"https://shop.example/{call.params.shop}")

    @operation(
        parse=nothing,
        params=ListParams,
        default_for=("query",),
        counts="product",
        patterns=(r"https://shop\.example/search\?q=(?P<query>.+)",),
    )
    def listing(self, call):
        """What a shop sells."""
        yield Fetch("page", "https://shop.example/list")

    @operation(parse=nothing, params=ShopParams, whole=False)
    def anything(self, call):
        """Whatever comes."""
        yield Fetch("page", "https://shop.example/any")


resolver = ShopSpider.make_resolver()


@pytest.mark.parametrize(
    "arguments",
    [
        {"shop": "tea"},
        {"url": "https://shop.example/tea/"},
        {"operation": "shop", "shop": "tea"},
        {"operation": "shop", "url": "https://shop.example/tea"},
    ],
)
def test_arguments_address_and_operation_name_the_same_call(arguments):
    started = resolver.arguments(arguments)
    assert (started.call.operation, started.call.params.shop) == ("shop", "tea")


def test_seeds_are_addresses_or_objects():
    wanted = resolver.arguments({"shop": "tea"}).call
    assert resolver.seed(b'{"shop": "tea"}').call == wanted
    assert resolver.seed(" https://shop.example/tea ").call == wanted
    seed = resolver.seed('{"shop": "tea", "session": "s-1", "priority": 7}')
    assert (seed.session, seed.priority) == ("s-1", 7)


def test_another_operation_takes_the_same_argument_and_text_numbers():
    started = resolver.arguments({"shop": "tea", "operation": "listing", "limit": "50"})
    assert started.call.operation == "listing"
    assert started.call.params.limit == 50


def test_params_model_comes_from_the_annotation():
    assert ShopSpider.operations["shop"].params is ShopParams
    assert ShopSpider.operations["shop"].summary == "One shop."


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "no arguments"),
        ({"shup": "tea"}, "did you mean 'shop'"),
        ({"operation": "shops", "shop": "tea"}, "no operation 'shops' (did you mean 'shop'?)"),
        ({"operation": "shop"}, "shop: Field required"),
        ({"shop": "TEA"}, "String should match pattern"),
        ({"shop": "tea", "limt": "5"}, "unknown field 'limt'"),
        ({"query": "x", "limt": "5"}, "did you mean 'limit'"),
        ({"query": "x", "limit": "0"}, "limit: Input should be greater than or equal to 1"),
        ({"query": "x", "limit": "many"}, "limit: Input should be a valid integer"),
        ({"url": "https://other.example/"}, "no operation for the address"),
        ({"shop": "tea", "session": "no spaces please"}, "session: a name"),
        ({"shop": "tea", "priority": "high"}, "priority: a whole number"),
        ({"shop": "tea", "priority": 10**20}, "priority: a whole number from -1000000000 to 1000000000"),
        ({"shop": "tea", "priority": "9" * 5000}, "priority: a whole number"),
        ({"shop": "tea", "priority": 1.5}, "priority: a whole number"),
        ({"shop": "tea", "priority": 1e99}, "priority: a whole number"),
        ({"shop": "tea", "priority": True}, "priority: a whole number"),
        ({"shop": "tea", "priority": None}, "priority: a whole number"),
        ({"shop": "tea", "tier": "urgent"}, "tier: one of high, normal, low is expected, not 'urgent'"),
        ({"shop": "tea", "tier": None}, "tier: one of high, normal, low"),
        ({"shop": "tea", "tire": "low"}, "did you mean 'tier'?"),
        ({"query": "x", "limit": "9" * 23}, "limit: Input should be less than or equal to 1000000000"),
        ({"query": "x", "limit": 1e99}, "limit: Unable to parse"),
        ({"query": "half \ud800"}, "query: it is no UTF-8 text"),
    ],
)
def test_what_is_wrong_is_said_with_the_fields(arguments, told):
    with pytest.raises(ArgumentError) as caught:
        resolver.arguments(arguments)
    assert told in caught.value.message
    if not {"session", "priority", "tier"} & arguments.keys():
        assert "shop" in caught.value.message.partition("fields (* required)")[2]


@pytest.mark.parametrize(("given", "priority"), [(7, 7), (-3, -3), ("12", 12), (" -4 ", -4), (10**9, 10**9)])
def test_priorities_are_whole_numbers(given, priority):
    assert resolver.arguments({"shop": "tea", "priority": given}).priority == priority


@pytest.mark.parametrize(
    ("given", "priority"),
    [
        ({"tier": "high"}, 1000),
        ({"tier": "normal"}, 0),
        ({"tier": " low "}, -1000),
        ({"tier": "low", "priority": "7"}, -993),
        ({}, 0),
    ],
)
def test_a_tier_adds_to_the_priority(given, priority):
    assert resolver.arguments({"shop": "tea", **given}).priority == priority


@pytest.mark.parametrize("chosen", [{}, {"operation": "shop"}])
def test_an_argument_that_contradicts_the_address_is_refused(chosen):
    with pytest.raises(ArgumentError) as caught:
        resolver.arguments({"shop": "ink", "url": "https://shop.example/tea", **chosen})
    assert "shop=ink contradicts url=https://shop.example/tea" in caught.value.message
    assert resolver.arguments({"shop": "tea", "url": "https://shop.example/tea", **chosen}).call.params.shop == "tea"


@pytest.mark.parametrize(
    ("site", "url", "argument"),
    [
        ("ebay", "https://www.ebay.com/sch/i.html?_nkw=tea", {"query": "ink"}),
        ("ebay", "https://www.ebay.com/sch/i.html?_nkw=tea", {"sold": "true"}),
        ("walmart", "https://www.walmart.com/search?q=tea", {"query": "ink"}),
        ("tiktok_shop", "https://shop.tiktok.com/us/s?q=tea", {"query": "ink"}),
        ("tiktok_ads", "https://library.tiktok.com/ads?region=DE&adv_name=tea", {"query": "ink"}),
    ],
)
def test_an_argument_beside_the_address_of_a_search_is_not_ignored(site, url, argument):
    found = SPIDERS.load(site).make_resolver()
    assert found.arguments({"url": url, "limit": "5"}).call.params.limit == 5
    with pytest.raises(ArgumentError) as caught:
        found.arguments({"url": url, **argument})
    told = caught.value.message.partition("fields (* required)")[0]
    assert "url" in told
    assert next(iter(argument)) in told


def numbers_of(params: type[Params]) -> list[str]:
    return [name for name, field in params.model_fields.items() if "int" in str(field.annotation)]


@pytest.mark.parametrize("name", SPIDERS.list())
@pytest.mark.parametrize("value", [10**30, -(10**30), str(10**30), 1e99, 2**63])
def test_no_site_takes_a_number_that_no_queue_can_hold(name, value):
    found = SPIDERS.load(name).make_resolver()
    for chosen, params in ((op.name, op.params) for op in SPIDERS.load(name).operations.values()):
        for field in numbers_of(params):
            with pytest.raises(ArgumentError, match=rf"\b{field}: "):
                found.arguments({"operation": chosen, field: value})


def test_a_site_of_somebody_elses_is_bounded_too():
    class Numbers(Params):
        count: int

    with pytest.raises(ValidationError, match="at most 64 bits"):
        Numbers(count=2**63)


@pytest.mark.parametrize(
    "seed", [b"123", b"[]", b'""', b"\xff\xfe", b"", b"nasa", b"null", b'{"shop":', b"ftp://shop.example/tea"]
)
def test_poison_seeds_are_refused(seed):
    with pytest.raises(ArgumentError):
        resolver.seed(seed)


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_seed_is_a_call_or_an_argument_error(seed):
    try:
        started = resolver.seed(seed)
    except ArgumentError:
        return
    assert started.call.operation in ShopSpider.operations


def test_calls_survive_the_queue():
    spider = ShopSpider(query="tea", limit="5")
    call = spider.started.call.then(cursor="c2", seen=3, state={"id": "9"})
    assert spider.load_call(dump_call(call)) == call


def test_the_same_work_has_the_same_id_and_other_work_another():
    first = request_id("shop", resolver.arguments({"shop": "tea"}).call)
    assert first == request_id("shop", resolver.seed("https://shop.example/tea").call)
    others = [
        request_id("shop", resolver.arguments({"shop": "ink"}).call),
        request_id("shop", resolver.arguments({"query": "tea"}).call),
        request_id("shop", resolver.arguments({"query": "tea"}).call.then(cursor="c", seen=1, state={})),
        request_id("mall", resolver.arguments({"shop": "tea"}).call),
    ]
    assert len({first, *others}) == 5


@pytest.mark.parametrize(
    ("low", "high", "kind", "told"),
    [
        ({"price_min": "50"}, {"price_max": "9.5"}, str, "greater than"),
        ({"start": date(2026, 5, 5)}, {"end": date(2026, 1, 1)}, date, "after"),
        ({"since": "2026-05-05"}, {"until": "2026-01-01"}, str, "after"),
    ],
)
def test_a_range_that_ends_before_it_begins_is_refused_by_its_names(low, high, kind, told):
    (first,), (last,) = low, high
    ranged = create_model("Ranged", __base__=Params, **{first: (kind | None, None), last: (kind | None, None)})
    with pytest.raises(ValidationError, match=rf"{first} \(.*\) is {told} {last} \(.*\)"):
        ranged(**low, **high)
    assert ranged(**low)
    assert ranged(**high)
    assert ranged(**{first: low[first], last: low[first]})


def test_a_document_that_was_cut_off_is_read_only_by_who_takes_any():
    page = Page(None, 200, {}, b"<html><body>half")
    call = Call("shop", ShopParams(shop="tea"))
    with pytest.raises(ContractError, match="the page is cut off") as caught:
        ShopSpider.operations["shop"].read(page, call)
    assert caught.value.context["path"] == "</html>"
    assert ShopSpider.operations["anything"].read(page, call) == Parsed([])
    assert SPIDERS.load("fetch").operations["fetch"].read(page, call).items[0].body == "<html><body>half"
