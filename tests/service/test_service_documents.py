"""`POST /documents`: files and addresses are read as by the command, under the limits of all calls."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx
import psutil
import pytest

from fetchworker.errors import ConfigError, DocumentError
from fetchworker.service.callers import hash_of
from fetchworker.service.documents import Documents
from fetchworker.service.failures import ApiError, failure_of
from fetchworker.service.routes.documents import ReadingView
from tests.documents.conftest import INVOICE, _pdf
from tests.documents.modelserver import KEY as MODEL_KEY
from tests.documents.modelserver import model_server, said
from tests.service.conftest import Serving, failure

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

CAP = 64 * 1024
KEY = {"x-api-key": "fwk_papers"}
EVENTS = {"accept": "text/event-stream"}
PDF = _pdf(INVOICE)
#: twelve pages of one invoice, so that there is progress to tell
LONG = _pdf(*([INVOICE] + [[(40, 60, 10, f"Sheet {page} of notes")] for page in range(2, 13)]))


class _Files(BaseHTTPRequestHandler):
    answers: dict[str, bytes] = {"/invoice.pdf": PDF, "/large.pdf": PDF + b" " * CAP}  # noqa: RUF012

    def do_GET(self) -> None:
        body = self.answers[self.path]
        self.send_response(200)
        self.send_header("content-type", "application/pdf")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def serving_files() -> Iterator[str]:
    """The address of a site with an invoice."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def files() -> Iterator[str]:
    with serving_files() as address:
        yield address


@pytest.fixture(scope="module")
def papers(tmp_path_factory) -> Iterator[Serving]:
    """A stateless service that reads documents of 64 KiB, with keys."""
    keys = [
        {"name": name, "hash": hash_of(f"fwk_{name}"), "scopes": [scope]}
        for name, scope in (("papers", "documents"), ("fetch", "fetch"))
    ]
    made = Serving(
        tmp_path_factory.mktemp("papers"), "--stateless",
        FETCHWORKER_SERVE_KEYS=json.dumps(keys), FETCHWORKER_EGRESS_ALLOW="127.0.0.1",
        FETCHWORKER_DOCUMENTS_BYTES=str(CAP), FETCHWORKER_DOCUMENTS_WORKERS="1",
        FETCHWORKER_REDIS_URL="redis://127.0.0.1:1/0", FETCHWORKER_REDIS_PATIENCE="0",
    )  # fmt: skip
    with made:
        yield made


def post(papers: Serving, *, key: dict[str, str] = KEY, headers: Any = (), **more: Any) -> httpx.Response:
    with papers.client(headers=key) as client:
        return client.post("/documents", headers=dict(headers), timeout=100, **more)


def sent(papers: Serving, content: bytes, name: str = "invoice.pdf", **more: Any) -> httpx.Response:
    return post(papers, files={"file": (name, content)}, **more)


def events(response: httpx.Response) -> list[tuple[str, Any]]:
    """The events of an answer, without comments."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = [block for block in response.text.split("\n\n") if block and not block.startswith(":")]
    found = []
    for block in blocks:
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_a_file_is_read(papers):
    response = sent(papers, PDF, "März.pdf")
    assert response.status_code == 200, response.text
    (reading,) = response.json()
    ReadingView.model_validate(reading)
    assert (reading["file"], reading["kind"], reading["error"]) == ("März.pdf", "invoice", None)
    assert reading["fields"]["total"]["value"] == "108.00"
    assert (reading["pages_read"], reading["pages_total"]) == (1, 1)


def test_it_is_what_the_command_prints(papers, tmp_path):
    import subprocess
    import sys

    path = tmp_path / "invoice.pdf"
    path.write_bytes(PDF)
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "document", "--json", path.name], cwd=tmp_path, capture_output=True,
        env=papers.project.environment() | {"SCRAPY_SETTINGS_MODULE": "fetchworker.settings"}, check=True,
    )  # fmt: skip
    assert sent(papers, PDF).json() == [json.loads(line) for line in done.stdout.splitlines()]


def test_the_kind_is_the_callers_if_it_says_so(papers):
    (reading,) = sent(papers, PDF, data={"kind": "receipt", "timeout": "90.5"}).json()
    assert reading["kind"] == "receipt"


def test_an_address_is_downloaded_and_read(papers, files):
    response = post(papers, json={"url": f"{files}/invoice.pdf", "kind": "invoice"})
    assert response.status_code == 200, response.text
    (reading,) = response.json()
    assert reading["file"] == f"{files}/invoice.pdf"
    assert reading["fields"]["invoice_number"]["value"] == "PL-20417"


def test_addresses_are_under_the_rules_of_fetches(papers, files):
    assert failure(post(papers, json={"url": "http://169.254.169.254/invoice.pdf"})) == (403, "EGRESS_DENIED")
    assert failure(post(papers, json={"url": f"{files}/large.pdf"})) == (413, "PAYLOAD_TOO_LARGE")


def test_pages_are_told_as_they_are_read(papers):
    *progress, (name, result) = events(sent(papers, LONG, headers=EVENTS))
    assert {one for one, _ in progress} == {"progress"}
    pages = [told["page"] for _, told in progress]
    assert pages == sorted(pages)
    assert progress[-1][1] == {"page": 12, "pages": 12}
    assert name == "result"
    assert result == sent(papers, LONG).json()


def test_what_goes_wrong_is_the_last_event(papers):
    ((name, told),) = events(sent(papers, b"no document", headers=EVENTS))
    assert (name, told["type"], told["context"]["reason"]) == ("error", "VALIDATION_ERROR", "not_a_document")


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "empty"), (b"plain words", "not_a_document"), (PDF[: len(PDF) // 3], "truncated")],
)
def test_files_that_are_none_say_why(papers, content, reason):
    response = sent(papers, content)
    assert failure(response) == (400, "VALIDATION_ERROR")
    assert response.json()["context"]["reason"] == reason


def test_files_over_the_caps(papers):
    over = sent(papers, PDF + b" " * CAP)
    assert failure(over) == (413, "PAYLOAD_TOO_LARGE")
    assert over.json()["context"]["reason"] == "too_big"
    assert over.json()["context"]["cap"] == "bytes"
    body = sent(papers, PDF + b" " * (3 * CAP))
    assert failure(body) == (413, "PAYLOAD_TOO_LARGE")
    assert body.json()["context"]["reason"] == "body"


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"files": {"other": ("a.pdf", b"x")}}, "file"),
        ({"files": {"file": ("a.pdf", b"x")}, "data": {"kind": "letter"}}, "kind"),
        ({"files": {"file": ("a.pdf", b"x")}, "data": {"timeout": "soon"}}, "timeout"),
        ({"files": {"file": ("a.pdf", b"x")}, "data": {"timeout": "3000"}}, "timeout"),
        ({"files": {"file": ("a.pdf", b"x")}, "data": {"nonsense": "1"}}, "nonsense"),
        ({"json": {}}, "url"),
        ({"json": {"url": "gopher://x.example/"}}, "url"),
        ({"json": {"url": "http://x.example/", "kind": 1}}, "kind"),
    ],
)
def test_arguments_that_are_wrong_are_named(papers, form, field):
    response = post(papers, headers=EVENTS, **form)
    assert failure(response) == (400, "VALIDATION_ERROR")
    assert field in response.json()["context"]["fields"]


@pytest.mark.parametrize("body", [b"", b"--b", b"--b\r\n\r\nx", b"--b\r\nnonsense\r\n\r\n--b--", b"\0" * 40])
@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=b", "multipart/form-data"])
def test_forms_that_are_broken(papers, body, kind):
    assert failure(post(papers, content=body, headers={"content-type": kind})) == (400, "VALIDATION_ERROR")


def test_other_bodies_and_other_routes_take_no_files(papers):
    assert failure(post(papers, content=PDF, headers={"content-type": "application/pdf"})) == (
        415,
        "UNSUPPORTED_MEDIA_TYPE",
    )
    with papers.client(headers={"x-api-key": "fwk_fetch"}) as client:
        assert failure(client.post("/fetch", files={"file": PDF})) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_the_scope_is_needed(papers):
    assert failure(sent(papers, PDF, key={"x-api-key": "fwk_fetch"})) == (403, "FORBIDDEN")
    assert failure(sent(papers, PDF, key={})) == (401, "UNAUTHENTICATED")


def test_the_same_call_twice(papers):
    key = {"idempotency-key": "order-7"}
    first = sent(papers, PDF, headers=key)
    again = sent(papers, PDF, headers=key)  # with another boundary
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == first.json()
    assert events(sent(papers, PDF, headers={**key, **EVENTS})) == [("result", first.json())]
    assert failure(sent(papers, LONG, headers=key)) == (409, "CONFLICT")
    broken = {"idempotency-key": "order-8"}
    assert failure(sent(papers, b"words", headers=broken)) == (400, "VALIDATION_ERROR")
    ((name, told),) = events(sent(papers, b"words", headers={**broken, **EVENTS}))
    assert (name, told["context"]["reason"]) == ("error", "not_a_document")


def test_the_deadline_ends_the_download(papers, silent):
    response = post(papers, json={"url": silent.url, "timeout": 0.5})
    assert failure(response) == (504, "DEADLINE")
    assert silent.left.acquire(timeout=15)


@pytest.mark.parametrize("headers", [EVENTS, {}])
def test_a_client_that_hangs_up_ends_its_call(papers, silent, headers):
    with pytest.raises(httpx.ReadTimeout), papers.client(headers=KEY) as client:
        client.post("/documents", json={"url": silent.url}, headers=headers, timeout=1)
    assert silent.left.acquire(timeout=15)
    papers.until(lambda health: not health["in_flight"])


def readers(papers: Serving) -> list[psutil.Process]:
    """The processes that read the service's documents."""
    children = psutil.Process(papers.process.pid).children(recursive=True)
    return [child for child in children if "fetchworker.documents.worker" in child.cmdline()]


@pytest.mark.parametrize("headers", [EVENTS, {}])
def test_a_client_that_hangs_up_ends_the_reading(papers, headers):
    assert sent(papers, PDF).status_code == 200
    (reader,) = readers(papers)
    reader.suspend()  # a document that takes long
    content = _pdf([*INVOICE, (40, 700, 10, f"Sent as {headers}")])
    with pytest.raises(httpx.ReadTimeout), papers.client(headers=KEY) as client:
        client.post("/documents", files={"file": content}, headers=headers, timeout=1)
    reader.wait(30)
    papers.until(lambda health: not health["in_flight"])
    assert sent(papers, content).status_code == 200


def test_the_readers_end_with_the_service(make_service):
    with make_service("--stateless", FETCHWORKER_DOCUMENTS_WORKERS="1") as one:
        assert sent(one, PDF).status_code == 200
        (reader,) = readers(one)
        one.process.terminate()
        assert one.process.wait(30) == -15
        assert not reader.is_running()


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("encrypted", "VALIDATION_ERROR"),
        ("too_big", "PAYLOAD_TOO_LARGE"),
        ("timeout", "DEADLINE"),
        ("busy", "OVERLOADED"),
        ("engine", "INTERNAL_ERROR"),
    ],
)
def test_each_reason_has_its_type(reason, kind):
    found = failure_of(DocumentError(reason, "x"))
    assert found.type == kind
    assert found.body()["context"]["reason"] == reason
    assert ("retry-after" in found.headers) == (reason == "busy")


async def test_without_the_extra_it_says_what_to_install(monkeypatch):
    from fetchworker.config import Environment
    from fetchworker.documents import settings

    monkeypatch.setattr(settings, "_NEEDED", ("fetchworker_has_no_such_module",))
    with pytest.raises(ConfigError):
        settings.check_installed()
    with pytest.raises(ApiError, match=r"pip install .*\[documents\]") as told:
        await Documents(Environment()).get()
    assert (told.value.type, told.value.status) == ("NOT_INSTALLED", 501)


def test_the_document_of_the_api_has_both_bodies(papers):
    route = papers.get("/openapi.json").json()["paths"]["/documents"]["post"]
    assert set(route["requestBody"]["content"]) == {"application/json", "multipart/form-data"}
    assert set(route["responses"]["200"]["content"]) == {"application/json", "text/event-stream"}
    assert {"400", "413", "429", "501", "504"} <= set(route["responses"])


def test_a_configured_language_model_reads_beside_the_rules(tmp_path):
    with model_server() as server:
        variables = server.variables | {"FETCHWORKER_REDIS_URL": "redis://127.0.0.1:1/0"}
        variables |= {"FETCHWORKER_DOCUMENTS_WORKERS": "1", "FETCHWORKER_REDIS_PATIENCE": "0"}
        with Serving(tmp_path, "--stateless", **variables) as made:
            server.answers = lambda asked: (200, said(asked, total="180.00"))
            (alone,) = sent(made, PDF, key={}).json()
            server.answers = lambda asked: (200, said(asked))
            (both,) = sent(made, PDF, key={}).json()
    assert "not_backed" in alone["note"]
    assert both["engine"] == f"{alone['engine']}+llm"
    assert both["fields"]["total"]["confidence"] > alone["fields"]["total"]["confidence"]
    ReadingView.model_validate(alone)
    ReadingView.model_validate(both)
    assert MODEL_KEY not in json.dumps([alone, both])
