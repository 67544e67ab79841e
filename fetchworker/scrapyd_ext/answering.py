"""What our services of scrapyd have in common: the work is done in a thread, errors are told as scrapyd tells them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scrapyd.exceptions import ScrapydError
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from twisted.web import resource
from twisted.web.server import NOT_DONE_YET

from fetchworker.errors import ConfigError, PlatformError

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.python.failure import Failure
    from twisted.web.iweb import IRequest

    from fetchworker.scrapyd_ext.node import Node

log = Logger()

#: bytes of a body
BODY_MAX = 4 * 1024 * 1024


Answer = tuple[int, dict[str, Any]]
"""A status and what is told."""


class Fields:
    """The query and form fields of a request."""

    def __init__(self, args: dict[bytes, list[bytes]]) -> None:
        try:
            self._values = {name.decode(): [value.decode() for value in values] for name, values in args.items()}
        except UnicodeDecodeError:
            raise ConfigError("a field is no UTF-8") from None

    def take(self, name: str, default: str | None = None) -> str:
        """The first value of a field, which is then gone.

        Raises:
            ConfigError: it is missing.
        """
        found = self._values.pop(name, None)
        if found is None and default is None:
            raise ConfigError(f"{name!r} parameter is required", field=name)
        return found[0] if found else default or ""

    def all(self, name: str) -> list[str]:
        """All values of a field, which is then gone."""
        return self._values.pop(name, [])

    def rest(self) -> dict[str, str]:
        """The first values of all fields that are left."""
        return {name: values[0] for name, values in self._values.items()}


class Answering(resource.Resource):
    """A service. ``get`` and ``post`` are called in a thread and return what is answered.

    A wrong value is answered as scrapyd answers it, with status 200 and ``"status": "error"``, where clients know
    scrapyd's own services; with 400, 503 or 500 where ``plain`` is False.
    """

    isLeaf = True
    plain = False

    def __init__(self, root: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.root = root
        self.node: Node = root.node

    def render_GET(self, request: IRequest) -> Any:
        """Answer a GET."""
        return self._begin(request, getattr(self, "get", None))

    def render_POST(self, request: IRequest) -> Any:
        """Answer a POST."""
        return self._begin(request, getattr(self, "post", None))

    def project(self, name: str) -> str:
        """A project's name.

        Raises:
            ConfigError: there is none of it.
        """
        if name not in self.root.poller.queues:
            raise ConfigError(f"project '{name}' not found", field="project")
        return name

    def _begin(self, request: Any, work: Callable[[Fields, Any], dict[str, Any]] | None) -> Any:
        if request.method == b"POST" and request.getHeader("sec-fetch-site") not in {None, "same-origin", "none"}:
            request.setResponseCode(403)  # a page of somebody else's, by the browser of one who knows the password
            return b""
        if work is None:
            request.setResponseCode(405)
            return b""
        answering = deferToThread(self._worked, request, work).addErrback(self._told)
        answering.addCallback(self._answer, request)
        return NOT_DONE_YET

    def _worked(self, request: Any, work: Callable[[Fields, Any], dict[str, Any]]) -> Answer:
        return 200, {**work(Fields(request.args), _body(request)), "status": "ok"}

    def _told(self, failure: Failure) -> Answer:
        error = failure.value
        status = next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 500)
        if status == 500:  # noqa: PLR2004  # a bug of ours
            log.failure("a bug of ours", failure)
        message = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        told = {"status": "error", "message": message, "type": getattr(error, "type", "INTERNAL_ERROR")}
        field = getattr(error, "context", {}).get("field")
        return 200 if self.plain else status, {**told, **({"field": field} if field else {})}

    def _answer(self, answer: Answer, request: Any) -> None:
        status, told = answer
        content = json.dumps({**told, "node_name": self.node.name}).encode() + b"\n"
        if request._disconnected:  # noqa: SLF001  # Twisted has no public word for it
            return
        request.setResponseCode(status)
        request.setHeader("Content-Type", "application/json")
        request.setHeader("Content-Length", str(len(content)))
        request.write(content)
        request.finish()


_STATUSES: dict[type[Exception], int] = {ConfigError: 400, ScrapydError: 400, PlatformError: 503, OSError: 503}


def _body(request: Any) -> Any:
    """A body of JSON, decoded; None where the body is something else."""
    if not (request.getHeader("content-type") or "").startswith("application/json"):
        return None
    request.content.seek(0)
    text = request.content.read(BODY_MAX + 1)
    if len(text) > BODY_MAX:
        raise ConfigError(f"the body is longer than {BODY_MAX} bytes")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ConfigError(f"the body is no JSON: {exc}") from None
