"""Engine B: what a model is asked, and what of its answer is believed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from fetchworker.documents import llm, rules
from fetchworker.documents.model import Field, Reading
from fetchworker.documents.models import CannedModel, HttpModel
from fetchworker.documents.modelsettings import ModelSettings
from fetchworker.errors import AnswerRejectedError

TEXT = """
MORNING LEAF SDN BHD
NO. 3, JALAN DAMAI, 43000 KAJANG
Date : 03/04/2018 14:22
Tea | 2 | 4.00 | 8.00
TOTAL | RM 8.00
VISA | 8.00
"""


def answer(**fields):
    told = {name: {"value": value, "lines": lines} for name, (value, lines) in fields.items()}
    return json.dumps({"kind": "receipt", "fields": told, "line_items": []})


GOOD = {
    "company": ("Morning Leaf Sdn Bhd", [0]),
    "address": ("NO. 3, JALAN DAMAI, 43000 KAJANG", [1]),
    "date": ("2018-04-03", [2]),
    "total": ("8.00", [7, 8]),
    "currency": ("MYR", [8]),
    "payment": ("card", [9]),
    "tax": (None, []),
}


@pytest.fixture
def asked(document):
    return document(TEXT)


def test_the_instruction_holds_every_line_with_its_id_and_the_schema(asked):
    text = llm.instruction(asked, "receipt")
    for line in asked.pages[0].lines:
        assert f"{line.id} 1 {line.box[0]:.0f} {line.box[1]:.0f} {json.dumps(line.text)}" in text
    assert '"additionalProperties":false' in text
    assert "ISO 4217" in text


def test_an_answer_that_its_lines_bear_out_is_a_reading(asked):
    reading = llm.read(answer(**GOOD), asked)
    assert reading.kind == "receipt"
    assert {name: field.value for name, field in reading.fields.items()} == {k: v for k, (v, _) in GOOD.items()}
    assert reading.fields["total"].lines == (7, 8)
    assert reading.fields["total"].page == 1
    assert reading.fields["tax"].value is None


def test_items_are_read_and_must_be_backed_too(asked):
    rows = [{"description": {"value": "Tea", "lines": [3]}, "amount": {"value": "8.00", "lines": [6]}}]
    told = {"kind": "invoice", "fields": {}, "line_items": rows}
    assert llm.read(json.dumps(told), asked).line_items[0]["amount"].value == "8.00"
    rows[0]["amount"]["value"] = "9.00"
    with pytest.raises(AnswerRejectedError, match="amount"):
        llm.read(json.dumps(told), asked)


@pytest.mark.parametrize(
    ("name", "value", "lines"),
    [
        ("company", "EVENING LEAF SDN BHD", [0]),
        ("company", "MORNING LEAF SDN BHD", [1]),
        ("date", "2018-04-05", [2]),
        ("date", "3 April 2018", [2]),
        ("total", "80.00", [8]),
        ("total", "RM 8.00", [8]),
        ("total", "1e3", [8]),
        ("currency", "USD", [8]),
        ("payment", "cash", [9]),
        ("total", "8.00", []),
        ("total", "8.00", [77]),
    ],
)
def test_a_value_that_is_not_in_its_lines_rejects_the_answer(asked, name, value, lines):
    with pytest.raises(AnswerRejectedError) as caught:
        llm.read(answer(**{**GOOD, name: (value, lines)}), asked)
    assert caught.value.context["field"] == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Here you are: {}",
        "[]",
        '{"kind": "receipt"}',
        '{"kind": "letter", "fields": {}}',
        '{"kind": "receipt", "fields": {}, "note": "x"}',
        '{"kind": "receipt", "fields": {"iban": {"value": "MORNING", "lines": [0]}}}',
        '{"kind": "receipt", "fields": {"total": {"value": 8.00, "lines": [8]}}}',
        '{"kind": "receipt", "fields": {"total": {"value": "8.00", "lines": ["8"]}}}',
        '{"kind": "receipt", "fields": {"total": "8.00"}}',
        '{"kind": "invoice", "fields": {}, "line_items": [{"colour": {"value": "Tea", "lines": [3]}}]}',
    ],
)
def test_what_is_no_such_answer_is_rejected(asked, text):
    with pytest.raises(AnswerRejectedError):
        llm.read(text, asked)


@given(st.text(max_size=80))
def test_any_text_is_rejected_or_read(text):
    from fetchworker.documents.model import Document

    try:
        reading = llm.read(text, Document("x", (), 0, 0, "", ""))
    except AnswerRejectedError:
        return
    assert reading.kind in {"invoice", "receipt", "other"}


def field(value, confidence):
    return Field(value, confidence, 1, (0, 0, 1, 1), (0,))


@pytest.mark.parametrize(
    ("one", "two", "value", "low", "high"),
    [
        (("8.00", 0.8), ("8.0", 0.8), "8.00", 0.9, 1.0),
        (("8.00", 0.9), ("9.00", 0.6), "8.00", 0.4, 0.7),
        (("8.00", 0.4), ("9.00", 0.9), "9.00", 0.5, 0.8),
        ((None, 0.0), ("9.00", 0.7), "9.00", 0.69, 0.71),
        (("8.00", 0.7), (None, 0.0), "8.00", 0.69, 0.71),
    ],
)
def test_two_engines_are_merged_by_confidence(one, two, value, low, high):
    merged = llm.merged(
        Reading("receipt", 1.0, {"total": field(*one)}, [], "rules"),
        Reading("receipt", 1.0, {"total": field(*two)}, [], "llm"),
    )
    assert merged.fields["total"].value == value
    assert low <= merged.fields["total"].confidence <= high
    assert merged.engine == "rules+llm"


def test_readings_of_other_kinds_are_not_merged():
    mine = Reading("receipt", 1.0, {"total": field("8.00", 0.8)}, [], "rules")
    assert llm.merged(mine, Reading("invoice", 1.0, {"total": field("9.00", 0.9)}, [], "llm")) is mine
    assert llm.merged(mine, None) is mine


async def test_a_model_reads_beside_the_rules(asked):
    model = CannedModel([answer(**GOOD)])
    mine = rules.read(asked, "receipt")
    reading = await llm.second(asked, mine, model)
    assert model.asked == [llm.instruction(asked, "receipt")]
    assert reading.engine.endswith("+llm")
    assert reading.fields["total"].confidence > mine.fields["total"].confidence


async def test_a_rejected_answer_is_no_reading(asked):
    mine = rules.read(asked, "receipt")
    with pytest.raises(AnswerRejectedError) as caught:
        await llm.second(asked, mine, CannedModel(["no"]))
    assert caught.value.reason == "schema"
    with pytest.raises(AnswerRejectedError, match="no answer is left"):
        await llm.second(asked, mine, CannedModel([]))


class Server:
    def __init__(self, status=200, body=b""):
        self.status, self.body, self.sent = status, body, []

    async def __call__(self, url, headers, body):
        self.sent.append((url, headers, json.loads(body)))
        return self.status, self.body


async def test_a_server_is_asked_by_the_transport_it_is_given():
    body = json.dumps({"choices": [{"message": {"content": "{}"}}]}).encode()
    server = Server(body=body)
    model = HttpModel.of(ModelSettings("http://127.0.0.1:9/v1/", "small", SecretStr("key-4711")), server)
    assert await model.answer("Read this.") == "{}"
    url, headers, sent = server.sent[0]
    assert url == "http://127.0.0.1:9/v1/chat/completions"
    assert headers["Authorization"] == "Bearer key-4711"
    assert sent["messages"] == [{"role": "user", "content": "Read this."}]
    assert sent["temperature"] == 0
    assert "key-4711" not in repr(model)


@pytest.mark.parametrize(
    ("status", "body"),
    [(500, b"oops"), (200, b"<html>"), (200, b"{}"), (200, b'{"choices": [{"message": {"content": null}}]}')],
)
async def test_a_server_that_answers_something_else_is_rejected(status, body):
    model = HttpModel.of(ModelSettings("http://127.0.0.1:9/v1", "small"), Server(status, body))
    with pytest.raises(AnswerRejectedError):
        await model.answer("Read this.")
