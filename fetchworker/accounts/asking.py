"""Asks a provider's API, by the way that all requests go: our egress rules, our guard, our trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.download.client import WRITE_ABORT, ClientOptions, CurlClient, TransferError, TransferRequest
from fetchworker.download.trust import ca_bundle, connect_to_entries
from fetchworker.egress import EgressPolicy, denied
from fetchworker.egress.guard import DIRECT, TRUSTED, self_test
from fetchworker.errors import BilledUsageError
from fetchworker.usage.billed import Answered

if TYPE_CHECKING:
    from fetchworker.config import Environment
    from fetchworker.usage.billed import Asked

#: seconds that an answer may take, and bytes that it may have
TIMEOUT, MOST = 30.0, 4 << 20


class Asking:
    """Makes the calls of one command, directly and not through a proxy."""

    def __init__(self, environment: Environment) -> None:
        self._policy = EgressPolicy(allow=environment.destinations(), ports=environment.egress_ports)
        self._options = ClientOptions(
            egress=self._policy, ca_file=ca_bundle(environment), connect_to=connect_to_entries(environment.host_map)
        )

    async def __call__(self, asked: Asked) -> Answered:
        """The answer to a call.

        Raises:
            EgressDeniedError: it may not go there.
            BilledUsageError: there is none.
        """
        decision = self._policy.classify(asked.url)
        if not decision.allowed:
            raise denied(decision, asked.url)
        self_test()
        request = TransferRequest(
            method=asked.method,
            url=asked.url.encode(),
            headers=[f"{name}: {value}".encode() for name, value in asked.headers.items()],
            body=asked.body,
            timeout=TIMEOUT,
            route=TRUSTED if decision.trusted else DIRECT,
        )
        return await self._perform(request)

    async def _perform(self, request: TransferRequest) -> Answered:
        client, taken = CurlClient(self._options, stateless=True), _Taken()
        place = b"/".join(request.url.split(b"/", 3)[:3]).decode()
        try:
            await client.perform(request, taken.on_header, taken.on_body)
        except TransferError as exc:
            if exc.denied:
                raise denied(exc.denied, place, address=exc.refused) from None
            told = f"its answer is larger than {MOST} bytes" if taken.too_large else exc.reason
            raise BilledUsageError(f"{place} does not answer: {told}") from None
        finally:
            await client.close()
        return Answered(taken.status, taken.headers, bytes(taken.body))


class _Taken:
    """An answer in the making."""

    def __init__(self) -> None:
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
        if len(self.body) + len(chunk) > MOST:
            self.too_large = True
            return WRITE_ABORT
        self.body += chunk
        return len(chunk)
