"""The demo's own certificate authority, and server contexts that tell which tickets they issue."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from fetchworker.demo.hello import issued_ticket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NEW_SESSION_TICKET = 4


class Authority:
    """A certificate authority made on the spot; its certificate is a PEM file for clients to trust.

    Args:
        directory: where to put ``ca.pem``; without one a temporary directory that :meth:`close` removes.
    """

    def __init__(self, directory: Path | str | None = None) -> None:
        import trustme  # noqa: PLC0415 - belongs to the extra `demo`

        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        if directory is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="fetchworker-demo-")
            directory = self._temporary.name
        self._authority = trustme.CA(organization_name="fetchworker demo")
        self.pem_path = Path(directory) / "ca.pem"
        self._authority.cert_pem.write_to_path(str(self.pem_path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary directory, if there is one."""
        if self._temporary is not None:
            self._temporary.cleanup()

    def server_context(self, names: Sequence[str], *, alpn: Sequence[str] = ()) -> ssl.SSLContext:
        """A context with a leaf certificate for ``names`` (and the loopback names), TLS 1.2 and up."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        leaf = self._authority.issue_cert(*dict.fromkeys([*names, "localhost", "127.0.0.1", "::1"]))
        leaf.configure_cert(context)
        if alpn:
            context.set_alpn_protocols(list(alpn))
        return context


class TicketWatch:
    """Notes the hash of each session ticket that a context's connections send.

    It listens through ``SSLContext._msg_callback``, CPython's debugging hook: the tickets travel encrypted, so
    nothing outside OpenSSL sees them. Where the hook is missing, no tickets are noted.
    """

    def __init__(self, context: ssl.SSLContext) -> None:
        self._seen: WeakKeyDictionary[object, list[str]] = WeakKeyDictionary()
        hooked: Any = context
        if hasattr(hooked, "_msg_callback"):
            hooked._msg_callback = self._callback()  # noqa: SLF001

    def tickets(self, connection: ssl.SSLObject) -> list[str]:
        """The list of a connection's tickets, which grows when more are sent."""
        return self._seen.setdefault(connection, [])

    def _callback(self) -> Callable[..., None]:
        def note(conn: Any, direction: str, version: int, _content: int, message: int, data: bytes) -> None:
            if message != _NEW_SESSION_TICKET or direction != "write" or data[:1] != b"\x04":
                return
            ticket = issued_ticket(data, tls13=version == ssl.TLSVersion.TLSv1_3)
            if ticket is not None:
                self.tickets(conn).append(ticket)

        return note
