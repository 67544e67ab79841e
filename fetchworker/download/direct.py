"""Single requests of our own, outside of any crawl: directly, by our egress rules, our guard and our trust.

For the APIs that the operator names; pages of sites are the crawl's business, with its proxies and identities.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fetchworker.download.client import WRITE_ABORT, ClientOptions, CurlClient, TransferError, TransferRequest
from fetchworker.download.translate import OPERATION_TIMEDOUT
from fetchworker.download.trust import ca_bundle, connect_to_entries
from fetchworker.egress import EgressPolicy, denied
from fetchworker.egress.guard import DIRECT, TRUSTED, self_test

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.config import Environment


class UnansweredError(Exception):
    """There is no answer; ``place`` is the origin that was asked, ``why`` the reason in words."""

    def __init__(self, place: str, why: str, *, late: bool = False) -> None:
        super().__init__(f"{place} does not answer: {why}")
        self.place = place
        self.why = why
        self.late = late


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class Direct:
    """Sends requests, each on a connection of its own; redirects are not followed.

    Args:
        environment: tells where requests may go, and whom to trust.
        timeout: seconds that an answer may take.
        most: bytes that it may have.
    """

    def __init__(self, environment: Environment, *, timeout: float, most: int) -> None:
        self._policy = EgressPolicy(allow=environment.destinations(), ports=environment.egress_ports)
        self._options = ClientOptions(
            egress=self._policy, ca_file=ca_bundle(environment), connect_to=connect_to_entries(environment.host_map)
        )
        self._timeout = timeout
        self._most = most

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
        """The answer to a request.

        Raises:
            EgressDeniedError: it may not go there.
            UnansweredError: there is none.
        """
        decision = self._policy.classify(url)
        if not decision.allowed:
            raise denied(decision, url)
        self_test()
        request = TransferRequest(
            method=method,
            url=url.encode(),
            headers=[f"{name}: {value}".encode() for name, value in headers.items()],
            body=body,
            timeout=self._timeout,
            route=TRUSTED if decision.trusted else DIRECT,
        )
        return await self._perform(request)

    async def _perform(self, request: TransferRequest) -> Answer:
        client, taken = CurlClient(self._options, stateless=True), _Taken(self._most)
        place = b"/".join(request.url.split(b"/", 3)[:3]).decode()
        try:
            await client.perform(request, taken.on_header, taken.on_body)
        except TransferError as exc:
            if exc.denied:
                raise denied(exc.denied, place, address=exc.refused) from None
            told = f"its answer is larger than {self._most} bytes" if taken.too_large else exc.reason
            raise UnansweredError(place, told, late=exc.code == OPERATION_TIMEDOUT) from None
        finally:
            await client.close()
        return Answer(taken.status, taken.headers, bytes(taken.body))


class _Taken:
    """An answer in the making."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.too_large = False

    def on_header(self, line: bytes) -> int:
        text = line.decode("latin-1").strip()
        if text.startswith("HTTP/"):
            code = text.split(" ")[1:2]
            self.status = int(code[0]) if code and code[0].isdigit() else 0
            self.headers.clear()
        else:
            name, _, value = text.partition(":")
            self.headers[name.lower()] = value.strip()
        return len(line)

    def on_body(self, chunk: bytes) -> int:
        if len(self.body) + len(chunk) > self._most:
            self.too_large = True
            return WRITE_ABORT
        self.body += chunk
        return len(chunk)
