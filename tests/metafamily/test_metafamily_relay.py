"""JSON of Meta's answers and pages: several documents, guards, chunks at their path."""

import json

import pytest

from fetchworker.contracts import Page
from fetchworker.errors import ContractError
from fetchworker.spiders.metafamily import relay
from fetchworker.spiders.metafamily.tokens import extract, jazoest


def block(name: str, number: int, result: object) -> str:
    return json.dumps([f"adp_{name}RelayPreloader_6a", {"__bbox": {"sequence_number": number, "result": result}}])


def test_several_documents_with_chunks_become_one():
    lines = [
        {"data": {"user": {"id": "7", "feed": {"edges": [{"node": 1}]}}}},
        {"label": "Q$stream", "path": ["user", "feed", "edges", 1], "data": {"node": 2}},
        {"label": "Q$defer", "path": ["user", "feed"], "data": {"page_info": {"end_cursor": "c"}}},
    ]
    body = b"\r\n".join(json.dumps(line).encode() for line in lines)
    assert relay.is_json(body)
    (found,) = relay.answers(body)
    assert found["data"]["user"]["feed"] == {"edges": [{"node": 1}, {"node": 2}], "page_info": {"end_cursor": "c"}}


@pytest.mark.parametrize("guard", ["for (;;);", "for(;;);", "while(1);", "\ufeff for (;;);"])
def test_a_guard_is_cut(guard):
    body = (guard + '{"payload":{"a":1}}').encode()
    assert relay.is_json(body)
    assert relay.answers(body) == [{"payload": {"a": 1}}]


def test_what_is_cut_off_is_said():
    with pytest.raises(ContractError):
        relay.answers(b'{"data":{"a":1}}\n{"data":{"a"')


def test_more_documents_than_any_answer_has_are_none():
    with pytest.raises(ContractError, match="2000 JSON documents"):
        relay.answers(b'{"data":{"a":1}}' * 2_001)
    assert len(relay.answers(b'{"data":{"a":1}}' * 2_000)) == 2_000


def test_results_of_a_page_in_the_order_of_their_numbers():
    page = f"<script>requireLazy([{block('AQuery', 1, {'path': ['user'], 'data': {'late': True}})}])</script>"
    page += f"<script data-sjs>[{block('AQuery', 0, {'data': {'user': {'id': '7'}}})},{block('B', 0, {'data': 5})}]"
    assert relay.results(page) == [
        relay.Result("AQuery", [{"data": {"user": {"id": "7", "late": True}}}]),
        relay.Result("B", [{"data": 5}]),
    ]


def test_a_streamed_chunk_for_nowhere_stays_by_itself():
    lines = '{"data":{"user":{"id":"7"}}}\n{"path":["group","feed"],"data":{"x":1}}\n{"path":["user",true],"data":1}'
    lines += '\n{"label":"a$stream","path":["user","feed","edges",1],"data":{"node":{"id":"1"}}}'
    lines += '\n{"path":["user"],"data":{"name":"Mira"}}'
    whole, chunk = relay.answers(lines.encode())
    assert whole == {"data": {"user": {"id": "7", "name": "Mira"}}}
    assert chunk["data"] == {"node": {"id": "1"}}


@pytest.mark.parametrize(("lsd", "value"), [("a", "297"), ("AdTok-1", "2561"), ("", "20"), ("zzzz", "2488")])
def test_jazoest(lsd, value):
    assert jazoest(lsd) == value


def test_the_number_of_the_environment():
    page = b'["SiteData",[],{"server_revision":1,"comet_env":15,"hsi":"745"},317]'
    assert extract(Page(None, 200, {}, page)) == {"comet_env": "15", "hsi": "745"}


def test_ids_in_bundles_of_either_brand():
    module = '__d("{}RelayOperation",[],(function(a,b,c,d,e){{e.exports="{}"}}),null);'
    script = module.format("AQuery_facebook", "8120769664682001") + module.format(
        "BQuery_instagram", "8120769664682002"
    )
    found = extract(Page(None, 200, {}, script.encode()))
    assert found == {"doc:AQuery": "8120769664682001", "doc:BQuery": "8120769664682002"}
