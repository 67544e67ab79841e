"""A language model beside the rules: what it is told, what of it counts, and that its failures cost no document."""

import contextlib
import json
import socket
from dataclasses import replace

import pytest

from fetchworker.config import load_environment
from fetchworker.documents import DocumentReader
from fetchworker.documents.modelsettings import ModelSettings
from fetchworker.download.languagemodel import second_engine
from fetchworker.errors import AnswerRejectedError, ConfigError
from tests.documents.modelserver import KEY, model_server, said

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def server():
    with model_server() as running:
        yield running


@pytest.fixture
def reader_of(settings_of, server):
    """Readers that ask the server, and what they counted."""

    def make(counted, **variables):
        environment = load_environment(server.variables | variables)
        return DocumentReader(settings_of(), second_engine(environment, counted.append))

    return make


def plain(reading):
    return {name: field.to_json() for name, field in reading.fields.items()}


async def test_both_engines_read_and_only_lines_leave(reader_of, settings_of, server, invoice_pdf):
    async with DocumentReader(settings_of()) as alone:
        (rules,) = await alone.read(invoice_pdf)
    counted = []
    async with reader_of(counted) as reader:
        (both,) = await reader.read(invoice_pdf)
        (again,) = await reader.read(invoice_pdf)
        assert reader.name != alone.name
    assert counted == ["read"], "the same bytes are asked about once"
    assert again == both
    assert both.engine == f"{rules.engine}+llm"
    assert both.note is None
    total, before = both.fields["total"], rules.fields["total"]
    assert (total.value, total.lines) == ("108.00", before.lines)
    assert total.confidence > before.confidence
    ((path, headers, told),) = server.asked
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (told["model"], told["max_tokens"]) == ("small", 4096)
    sent = json.dumps(told)
    assert "PL-20417" in sent
    for of_the_file in ("%PDF", "endstream", "/Helvetica"):
        assert of_the_file not in sent


FAILURES = [
    ("status", lambda _: (401, b'{"error": {"message": "Incorrect API key provided: %s"}}' % KEY.encode())),
    ("status", lambda _: (429, b'{"error": {"message": "slow down"}}')),
    ("status", lambda _: (500, b"oops")),
    ("status", lambda _: (302, b"")),
    ("no_completion", lambda _: (200, b"<html>")),
    ("no_completion", lambda _: (200, None)),
    ("schema", lambda _: (200, "Here you are: {}")),
    ("schema", lambda asked: (200, said(asked)[:-1])),
    ("not_backed", lambda asked: (200, said(asked, total="180.00"))),
    ("not_backed", lambda asked: (200, said(asked, seller="Pinewood Lamps Limited"))),
    ("other_kind", lambda asked: (200, said(asked, kind="other"))),
    ("unreachable", lambda _: (200, b" " * (5 << 20))),
]


async def test_whatever_goes_wrong_leaves_the_rules_reading_with_a_note(
    reader_of, settings_of, server, invoice_pdf, caplog
):
    async with DocumentReader(settings_of()) as alone:
        (rules,) = await alone.read(invoice_pdf)
    counted = []
    async with reader_of(counted) as reader:
        for reason, server.answers in FAILURES:
            (found,) = await reader.read(invoice_pdf)
            assert counted.pop() == f"failed/{reason}"
            assert reason in found.note
            assert found.note in json.dumps(found.to_json("a.pdf"), ensure_ascii=False)
            assert (plain(found), found.engine) == (plain(rules), rules.engine)
        server.answers = lambda asked: (200, said(asked))
        (found,) = await reader.read(invoice_pdf)
        assert found.engine.endswith("+llm"), "what failed is asked again"
    assert KEY not in caplog.text
    assert caplog.text.count("a document is read by rules alone") == len(FAILURES)


async def test_an_answer_that_does_not_come_is_not_waited_for(reader_of, server, invoice_pdf):
    server.answers = lambda _: (server.closing.wait(), (200, ""))[1]
    counted = []
    async with reader_of(counted, FETCHWORKER_DOCUMENTS_LLM_TIMEOUT="0.3") as reader:
        (found,) = await reader.read(invoice_pdf)
    assert counted == ["failed/timeout"]
    assert found.fields["total"].value == "108.00"


async def test_a_server_that_is_not_there_costs_no_document(reader_of, invoice_pdf):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    counted = []
    variables = {
        "FETCHWORKER_DOCUMENTS_LLM_URL": f"http://127.0.0.1:{port}/v1",
        "FETCHWORKER_EGRESS_ALLOW": f"127.0.0.1:{port}",
    }
    async with reader_of(counted, **variables) as reader:
        (found,) = await reader.read(invoice_pdf)
    assert counted == ["failed/unreachable"]
    assert found.fields["total"].value == "108.00"


async def test_the_egress_rules_hold_for_each_request(server):
    engine = second_engine(load_environment(server.variables))
    elsewhere = replace(engine._model, url="http://127.0.0.1:9/v1/chat/completions")
    with pytest.raises(AnswerRejectedError) as caught:
        await elsewhere.answer("Read this.")
    assert caught.value.reason == "egress"
    assert server.asked == []


async def test_pages_beyond_the_limit_and_electronic_invoices_are_not_told(reader_of, server, pdf_of, invoice_rows):
    counted = []
    content = pdf_of(invoice_rows, [(40, 60, 10, "A page of small print")])
    xml = (
        b'<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID>U-1</ID>'
        b"<IssueDate>2025-03-14</IssueDate><DocumentCurrencyCode>EUR</DocumentCurrencyCode>"
        b"<LegalMonetaryTotal><TaxInclusiveAmount>108.29</TaxInclusiveAmount></LegalMonetaryTotal></Invoice>"
    )
    async with reader_of(counted, FETCHWORKER_DOCUMENTS_LLM_PAGES="1") as reader:
        await reader.read(content)
        (electronic,) = await reader.read(xml)
    assert counted == ["read"]
    assert electronic.note is None
    ((_, _, told),) = server.asked
    assert "PL-20417" in told["messages"][0]["content"]
    assert "small print" not in told["messages"][0]["content"]


URL, MODEL = "FETCHWORKER_DOCUMENTS_LLM_URL", "FETCHWORKER_DOCUMENTS_LLM_MODEL"
SECRET, FILE = "FETCHWORKER_DOCUMENTS_LLM_KEY", "FETCHWORKER_DOCUMENTS_LLM_KEY_FILE"
GOOD = {URL: "https://api.example.com/v1", MODEL: "small"}


def settings(variables, project=None):
    return ModelSettings.of(load_environment(variables, project=project))


def test_nothing_is_asked_unless_a_server_is_named():
    assert settings({}) is None
    assert second_engine(load_environment({})) is None


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({MODEL: "small"}, f"{MODEL}: set without {URL}"),
        ({SECRET: KEY, "FETCHWORKER_DOCUMENTS_LLM_PAGES": "3"}, f"{SECRET}, FETCHWORKER_DOCUMENTS_LLM_PAGES: set"),
        ({URL: GOOD[URL]}, f"set {MODEL}"),
        (GOOD | {URL: "file:///etc/passwd"}, "http or https"),
        (GOOD | {URL: "https://"}, "http or https"),
        (GOOD | {URL: "https://[/v1"}, "http or https"),
        (GOOD | {URL: "https://api.example.com/v1?key=4711"}, "without a query"),
        (GOOD | {URL: "https://ann:pass4711@api.example.com/v1"}, "user name or a password"),
        (GOOD | {URL: "http://127.0.0.1:8080/v1"}, "list 127.0.0.1:8080 in FETCHWORKER_EGRESS_ALLOW"),
        (GOOD | {URL: "http://localhost:8080/v1"}, "list localhost:8080 in FETCHWORKER_EGRESS_ALLOW"),
        (GOOD | {URL: "http://api.example.com/v1", SECRET: KEY}, "https://"),
        (GOOD | {SECRET: "two words 4711"}, "one word"),
        (GOOD | {SECRET: "line\nbreak-4711"}, "one word"),
    ],
)
def test_what_contradicts_itself_stops_the_start(variables, told):
    with pytest.raises(ConfigError) as caught:
        settings(variables)
    assert told in caught.value.message
    assert "4711" not in caught.value.message


def test_the_key_may_stand_in_a_file_and_is_never_shown(tmp_path):
    (tmp_path / "llm.key").write_text(f"{KEY}\n")
    found = settings(GOOD | {FILE: "llm.key"}, tmp_path)
    assert found.key.get_secret_value() == KEY
    assert KEY not in repr(found)
    with pytest.raises(ConfigError, match="unset one of them"):
        settings(GOOD | {FILE: "llm.key", SECRET: KEY}, tmp_path)
    (tmp_path / "llm.key").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="no text"):
        settings(GOOD | {FILE: "llm.key"}, tmp_path)
    with pytest.raises(ConfigError, match=r"none\.key cannot be read"):
        settings(GOOD | {FILE: "none.key"}, tmp_path)


def test_the_key_is_refused_on_a_command_line_and_hidden_by_the_log():
    with pytest.raises(ConfigError, match="command line") as caught:
        load_environment({}, {SECRET: KEY})
    assert KEY not in str(caught.value)
    assert KEY in load_environment(GOOD | {SECRET: KEY}).secrets()


def test_a_listed_server_of_ones_own_may_be_asked_without_tls():
    own = {URL: "http://llm.corp:8080/v1", MODEL: "small", SECRET: KEY, "FETCHWORKER_EGRESS_ALLOW": "llm.corp:8080"}
    assert settings(own).url == own[URL]
