"""No credential of a page, a HAR, a trace or a WARC is kept."""

from __future__ import annotations

import base64
import io
import json
import zipfile

import orjson
import pytest
from warcio.archiveiterator import ArchiveIterator

from fetchworker.artifacts import recordings
from fetchworker.artifacts.exchange import SHOWN, Exchange, bundle
from fetchworker.artifacts.redact import headers, page, redacted
from fetchworker.artifacts.warc import WarcFile
from fetchworker.errors import ArtifactError
from fetchworker.telemetry.redaction import forget_secrets, register_secret

SECRET = "s3cr3t/Wert+ü"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    "given",
    [
        '<input type="hidden" name="csrf_token" value="{}">',
        "<input value='{}' type=\"password\">",
        '<meta content="{}" name="csrf-token">',
        '{{"accessToken":"{}","name":"ann"}}',
        '{{\\"fb_dtsg_token\\":\\"{}\\"}}',
        "var nonce = '{}';",
        "user=ann&pw={}&x=2",
        '{{"user_pwd": "{}"}}',
        "pass: {}",
        '<input name="login[pass]" value="{}">',
        "<textarea name=api_token rows=2>{}</textarea>",
        "https://site.example/a?id=1&sid={}&x=2",
        "Authorization: Bearer {}",
        "Set-Cookie: a={}; Path=/",
        "https://ann:{}@site.example/",
    ],
)
def test_values_whose_names_say_what_they_are(given):
    value = "Zx81-k9LmN0pQ"
    found = page(given.format(value).encode())
    assert value.encode() not in found
    assert b"***" in found


def test_known_values_in_each_spelling():
    spelt = (
        SECRET, "s3cr3t%2FWert%2B%C3%BC", "s3cr3t\\/x", json.dumps(SECRET), "s3cr3t/Wert+\\u00fc"
    )  # fmt: skip
    found = page(" ".join(spelt).encode(), [SECRET]).decode()
    assert found == '*** *** s3cr3t\\/x "***" ***'


def test_the_operators_secrets_too():
    register_secret("proxy-password-1")
    try:
        assert page(b"<p>proxy-password-1</p>") == b"<p>***</p>"
    finally:
        forget_secrets()


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
def test_a_page_of_any_encoding_is_itself_otherwise(encoding):
    text = f"<title>日本 ü</title><p>{JWT}</p>"
    found = page(text.encode(encoding)).decode(encoding)
    assert found == "<title>日本 ü</title><p>***</p>"


def test_what_is_no_secret_stays():
    kept = (
        b'<input type="text" name="q" value="shoes"><meta name="author" content="Ann Author">'
        b"<p>Token rings: a history. Keys: many. outside:1</p><a href='https://site.example/a?page=2'>"
    )
    assert page(kept) == kept
    binary = b"\x00\x01token=0123456789"
    assert redacted("screenshot", binary) == binary
    assert page(binary) == binary


@pytest.mark.timeout(20)
@pytest.mark.parametrize("head", ["<input ", "<meta name=token ", "token=", "token\\\\\\\\", "a://", "eyJaaaaaaaa."])
def test_a_hostile_page_takes_no_time(head):
    assert page((head * 40_000).encode()[:300_000])


def test_headers_keep_the_names_of_cookies_alone():
    given = [
        ("Cookie", "sid=abcdef123456; lang=en"), ("Set-Cookie", "sid=abcdef123456; Path=/; HttpOnly"),
        ("Authorization", "Basic YW5uOnB3"), ("Proxy-Authenticate", "x"), ("X-CSRF-Token", "y"), ("X-IG-App-ID", "936"),
        ("Location", "https://site.example/?token=0123456789"), ("Accept", "text/html"),
    ]  # fmt: skip
    assert headers(given) == [
        ("Cookie", "sid=***; lang=***"), ("Set-Cookie", "sid=***; Path=/; HttpOnly"),
        ("Authorization", "***"), ("Proxy-Authenticate", "***"), ("X-CSRF-Token", "***"), ("X-IG-App-ID", "936"),
        ("Location", "https://site.example/?token=***"), ("Accept", "text/html"),
    ]  # fmt: skip


def test_a_har():
    cookie = {"name": "sid", "value": "abcdef123456", "path": "/"}
    body = base64.b64encode(f'{{"access_token": "abcdef123456", "e": "{SECRET}"}}'.encode()).decode()
    given = {"log": {"entries": [{
        "request": {
            "url": "https://site.example/?sig=1&api_key=abcdef123456",
            "headers": [{"name": "Cookie", "value": "sid=abcdef123456"}, {"name": "Accept", "value": "*/*"}],
            "cookies": [cookie],
            "queryString": [{"name": "api_key", "value": "abcdef123456"}],
            "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "user=ann&password=abcdef123456"},
        },
        "response": {"cookies": [cookie], "content": {"encoding": "base64", "text": body}, "status": 200},
    }]}}  # fmt: skip
    found = redacted("har", orjson.dumps(given), [SECRET])
    assert b"abcdef123456" not in found
    entry = orjson.loads(found)["log"]["entries"][0]
    assert entry["request"]["headers"] == [
        {"name": "Cookie", "value": "sid=***"}, {"name": "Accept", "value": "*/*"}
    ]  # fmt: skip
    assert entry["response"]["cookies"] == [{"name": "sid", "value": "***", "path": "/"}]
    assert base64.b64decode(entry["response"]["content"]["text"]) == b'{"access_token": "***", "e": "***"}'
    assert entry["response"]["status"] == 200


def test_a_har_that_is_no_json_is_a_text():
    assert redacted("har", b"{ token=0123456789") == b"{ token=***"


def zipped(**members: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def test_a_trace():
    typed = {"type": "before", "method": "fill", "params": {"selector": "#password", "value": "hunter2hunter2"}}
    shown = {"type": "before", "method": "fill", "params": {"selector": "#q", "value": "shoes"}}
    sent = {"snapshot": {"request": {"headers": [{"name": "Cookie", "value": "sid=abcdef123456"}]}}}
    found = redacted("trace", zipped(**{
        "trace.trace": b"\n".join(map(orjson.dumps, (typed, shown))) + b"\n",
        "trace.network": orjson.dumps(sent),
        "resources/a.html": f"<p>{SECRET}</p>".encode(),
        "resources/b.png": b"\x89PNG\r\n\x1a\n\x00\x00",
    }), [SECRET])  # fmt: skip
    with zipfile.ZipFile(io.BytesIO(found)) as archive:
        events = archive.read("trace.trace")
        assert b"hunter2" not in events
        assert b'"shoes"' in events
        assert b"abcdef123456" not in archive.read("trace.network")
        assert archive.read("resources/a.html") == b"<p>***</p>"
        assert archive.read("resources/b.png") == b"\x89PNG\r\n\x1a\n\x00\x00"


def test_a_trace_that_is_none_is_refused():
    with pytest.raises(ArtifactError, match="it is no archive"):
        recordings.trace(b"PK nothing")


EXCHANGE = Exchange(
    url="https://site.example/ann?sid=abcdef123456",
    method="POST",
    sent=[("Cookie", "sid=abcdef123456"), ("Accept-Language", "en")],
    sent_body=b"password=abcdef123456&user=ann",
    status=403,
    protocol="h2",
    received=[("Set-Cookie", "dd=abcdef123456; Path=/"), ("Content-Encoding", "gzip"), ("Server", "demo")],
    body=b"<title>Blocked</title>abcdef123456",
    secrets=frozenset(["abcdef123456"]),
)


def test_a_bundle_shows_the_block_and_no_secret():
    made = bundle(EXCHANGE, {"verdict": {"outcome": "blocked", "vendor": "demo", "evidence": ["body:Blocked"]}})
    assert b"abcdef123456" not in made
    told = orjson.loads(made)
    assert told["verdict"]["evidence"] == ["body:Blocked"]
    assert told["request"]["line"] == "POST /ann?sid=*** HTTP/1.1"
    assert told["request"]["headers"] == [
        ["Host", "site.example"], ["Cookie", "sid=***"], ["Accept-Language", "en"]
    ]  # fmt: skip
    assert told["request"]["body"] == "password=***&user=ann"
    assert (told["answer"]["status"], told["answer"]["body"]) == (403, "<title>Blocked</title>***")


def test_a_bundle_of_no_answer_and_of_a_long_one():
    assert orjson.loads(bundle(Exchange("https://site.example", "GET", []), {}))["answer"] is None
    long = Exchange("https://site.example", "GET", [], status=200, body=b"x" * (SHOWN + 1))
    answer = orjson.loads(bundle(long, {}))["answer"]
    assert (answer["body_cut"], len(answer["body"]), answer["body_bytes"]) == (True, SHOWN, SHOWN + 1)
    binary = Exchange("https://site.example", "GET", [], status=200, body=b"\x89PNG\x00")
    assert orjson.loads(bundle(binary, {}))["answer"]["body"] is None


def test_a_warc_is_read_by_its_library():
    made = io.BytesIO()
    file = WarcFile(made, {"isPartOf": "crawl-1"})
    file.add(EXCHANGE)
    file.add(Exchange("https://site.example", "GET", []))
    assert file.records == 2
    assert b"abcdef123456" not in made.getvalue()
    records = [
        (record.rec_type, record.rec_headers, record.http_headers, record.content_stream().read())
        for record in ArchiveIterator(io.BytesIO(made.getvalue()), check_digests="raise")
    ]
    assert [kind for kind, *_ in records] == ["warcinfo", "response", "request"]
    _, about, head, body = records[1]
    assert about.get_header("WARC-Target-URI") == "https://site.example/ann?sid=***"
    assert (head.get_statuscode(), head.get_header("Content-Length"), head.get_header("Content-Encoding")) == (
        "403", str(len(body)), None,
    )  # fmt: skip
    assert body == b"<title>Blocked</title>***"
    _, asked, head, body = records[2]
    assert asked.get_header("WARC-Concurrent-To") == about.get_header("WARC-Record-ID")
    assert (head.protocol, body) == ("POST", b"password=***&user=ann")


@pytest.mark.parametrize(
    "element",
    [
        ["META", {"name": "csrf-token", "content": SECRET}],
        ["INPUT", {"__playwright_value_": SECRET, "type": "hidden", "name": "authenticity_token"}],
        ["INPUT", {"value": SECRET, "type": "password", "name": "word"}],
        ["INPUT", {"__playwright_value_": SECRET, "autocomplete": "section-a one-time-code"}],
        ["TEXTAREA", {"id": "api_token"}, SECRET],
        ["FORM", {}, ["INPUT", {"value": SECRET, "name": "user.pwd"}], "text"],
    ],
)
def test_elements_of_a_snapshot_are_masked_by_what_they_are(element):
    line = {"type": "frame-snapshot", "snapshot": {"html": ["HTML", {}, element]}}
    (made,) = json.loads(recordings.har(orjson.dumps(line)))["snapshot"]["html"][2:]
    assert SECRET not in json.dumps(made, ensure_ascii=False)
    assert "***" in json.dumps(made)


def test_what_is_no_secret_of_a_snapshot_stays():
    html = ["HTML", {}, ["META", {"name": "author", "content": "Ann"}], ["INPUT", {"name": "q", "value": "hats"}],
            ["P", {"class": "passage"}, "they pass: on"]]  # fmt: skip
    assert json.loads(recordings.har(orjson.dumps({"html": html})))["html"] == html


def test_a_short_secret_is_masked_where_it_stands_alone():
    line = {"params": {"value": "ab1"}, "postData": {"params": [{"name": "word", "value": "ab1"}], "text": "cab1n"}}
    assert json.loads(recordings.har(orjson.dumps(line), ["ab1"])) == {
        "params": {"value": "***"},
        "postData": {"params": [{"name": "word", "value": "***"}], "text": "cab1n"},
    }
