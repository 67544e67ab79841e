from __future__ import annotations

import json

import pytest

from fetchworker.errors import ContractError
from fetchworker.spiders.instagram.parse_body import read


def documents(site, body):
    return read(site.page(body)).documents


def test_one_document(site):
    assert documents(site, {"data": {"a": 1}}) == ({"data": {"a": 1}},)


def test_a_guard_and_several_documents(site):
    body = 'for (;;);{"data":{"a":1}}\r\n{"data":{"b":2}}\n for(;;); {"data":{"c":3}}\n'
    assert documents(site, body) == ({"data": {"a": 1}}, {"data": {"b": 2}}, {"data": {"c": 3}})


def test_a_byte_order_mark(site):
    assert documents(site, b'\xef\xbb\xbf {"data":{}} ') == ({"data": {}},)


def test_deferred_chunks_go_back_to_their_path(site):
    chunks = [
        {"data": {"user": {"name": "Mira", "posts": {"edges": [{"node": {"pk": "1"}}], "page_info": None}}}},
        {"label": "a$stream$b", "path": ["user", "posts", "edges", 1], "data": {"node": {"pk": "2"}}},
        {"label": "c$defer$d", "path": ["user"], "data": {"bio": "Potter", "posts": {"count": 2}}},
        {"path": ["user", "posts"], "data": {"page_info": {"end_cursor": "E"}}},
        {"path": ["user", "absent", "deeper"], "data": {"lost": True}},
        {"path": [], "data": {"viewer": None}, "extensions": {"is_final": True}},
    ]
    found = documents(site, "\n".join(map(json.dumps, chunks)))
    edges = [{"node": {"pk": "1"}}, {"node": {"pk": "2"}}]
    posts = {"edges": edges, "page_info": {"end_cursor": "E"}, "count": 2}
    assert found == ({"data": {"user": {"name": "Mira", "posts": posts, "bio": "Potter"}, "viewer": None}},)


def test_incremental_parts(site):
    body = {"data": {"user": {}}, "incremental": [{"path": ["user"], "data": {"pk": "5"}}, {"path": 3}, None]}
    assert documents(site, body)[0]["data"] == {"user": {"pk": "5"}}


def test_relay_chunks_come_in_order_of_their_number(site):
    late = site.relay("ProfileQuery", {"data": {"user": {"pk": "1"}}}, {"path": ["user"], "data": {"bio": "x"}})
    swapped = late.replace('"sequence_number": 0', '"sequence_number": 5').replace(
        '"sequence_number": 1', '"sequence_number": 6'
    )
    assert documents(site, "<html>" + swapped)[0]["data"] == {"user": {"pk": "1", "bio": "x"}}


def test_relay_results_outside_of_json_scripts(site):
    script = '<script>requireLazy(["x"],function(){ x.handle([["adp_FeedQueryRelayPreloader_1",{"__bbox":'
    script += '{"result":{"data":{"user":{"pk":"9"}}}}}]]) });</script>'
    assert documents(site, "<html>" + script)[0]["data"] == {"user": {"pk": "9"}}


def test_shared_and_additional_data(site):
    text = site.shared_data("ProfilePage", None) + site.additional("/mira.k/", {"user": {"id": "77"}})
    shared, additional = documents(site, text)
    assert shared["entry_data"] == {"ProfilePage": [{}]}
    assert additional == {"graphql": {"user": {"id": "77"}}}


def test_context_of_an_embed(site):
    context = json.dumps({"gql_data": {"shortcode_media": {"id": "5"}}})
    told = json.dumps({"require": [["PolarisEmbedSimple", "init", [], [{"contextJSON": context}]]]})
    text = f"<html><script>s.handle({told})</script>"
    assert documents(site, text) == ({"gql_data": {"shortcode_media": {"id": "5"}}},)
    assert documents(site, '<html>"contextJSON":null') == ()


def test_meta_tags_of_any_quoting(site):
    text = """<html><meta content='It&#039;s "x" > y' property="og:title"/><META>
      <meta
        name="description"   content="5 &lt; 6"
      ><link rel="canonical" href="https://www.instagram.com/p/A/">"""
    found = read(site.page(text)).meta()
    assert found["og:title"] == 'It\'s "x" > y'
    assert found["description"] == "5 < 6"
    assert found["canonical"] == "https://www.instagram.com/p/A/"


@pytest.mark.parametrize("body", [b"", b"  ", b'{"a":', b"[1,2", b'{"a":1}{"b"', b"for (;;);<html>"])
def test_what_cannot_be_read_is_a_contract_error(site, body):
    with pytest.raises(ContractError):
        read(site.page(body))


def test_deep_nesting_is_a_contract_error(site):
    with pytest.raises(ContractError):
        read(site.page(b'{"a":' * 100_000))
