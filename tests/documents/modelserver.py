"""A language model's server on loopback, shaped like OpenAI's chat completions; it reads the lines that it is told."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "sk-own-4711-not-to-be-shown"
_LINE = re.compile(r'^(\d+) \d+ -?\d+ -?\d+ (".*")$', re.MULTILINE)
#: field → what it says of the invoice of the conftest
SAYS = {
    "seller": "Pinewood Lamps Ltd",
    "invoice_number": "PL-20417",
    "invoice_date": "2025-03-14",
    "total": "108.00",
}
_STANDS = {"invoice_date": "14 March 2025"}


def said(instruction: str, **changes: str) -> str:
    """An answer from the lines of an instruction; ``changes`` are said in the place of what stands there."""
    lines = [(int(number), json.loads(text)) for number, text in _LINE.findall(instruction)]
    fields = {
        name: {
            "value": changes.get(name, value),
            "lines": [number for number, text in lines if _STANDS.get(name, value) in text],
        }
        for name, value in SAYS.items()
    }
    return json.dumps({"kind": changes.get("kind", "invoice"), "fields": fields, "line_items": []})


class ModelServer(ThreadingHTTPServer):
    """``answers`` is called with an instruction and gives a status and a text, or the body itself as bytes."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.answers: Any = lambda instruction: (200, said(instruction))
        self.closing = threading.Event()

    @property
    def place(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self.server_port}"

    @property
    def variables(self) -> dict[str, str]:
        """What lets the project ask it."""
        return {
            "FETCHWORKER_DOCUMENTS_LLM_URL": f"http://{self.place}/v1",
            "FETCHWORKER_DOCUMENTS_LLM_MODEL": "small",
            "FETCHWORKER_DOCUMENTS_LLM_KEY": KEY,
            "FETCHWORKER_EGRESS_ALLOW": self.place,
        }


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.path, headers, told))
        status, content = self.server.answers(told["messages"][0]["content"])
        completion = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]}
        body = content if isinstance(content, bytes) else json.dumps(completion).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A server, and at the end none."""
    server = ModelServer()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
