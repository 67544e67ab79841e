"""TLS to one server, to the nodes of a cluster, and to sentinels and their master."""

from __future__ import annotations

import shutil
from contextlib import aclosing, closing
from pathlib import Path
from urllib.parse import quote

import pytest
import trustme

from fetchworker.demo.redis import RedisServer
from fetchworker.errors import RedisUnavailableError
from fetchworker.redis import connect, connect_sync, resolve_redis_url, wait_for_redis

pytestmark = pytest.mark.slow


class SecureServer(RedisServer):
    """Speaks TLS only."""

    def __init__(self, authority: trustme.CA, *options: str) -> None:
        super().__init__(*options)
        issued = authority.issue_cert("127.0.0.1")
        issued.private_key_pem.write_to_path(self.folder / "key.pem")
        issued.cert_chain_pems[0].write_to_path(self.folder / "cert.pem")
        self.authority = self.folder / "ca.pem"
        authority.cert_pem.write_to_path(self.authority)
        files = ("--tls-key-file", "key.pem", "--tls-cert-file", "cert.pem", "--tls-ca-cert-file", "ca.pem")
        tls = ("--tls-port", str(self.port), "--tls-auth-clients", "no", "--tls-replication", "yes", *files)
        self.options = ("--port", "0", *tls, *options)

    @property
    def query(self) -> str:
        return f"?ssl_ca_certs={quote(str(self.authority))}"

    def client(self, **options):
        return super().client(ssl=True, ssl_ca_certs=str(self.authority), **options)


class SecureSentinel(SecureServer):
    def __init__(self, authority: trustme.CA, master_port: int) -> None:
        super().__init__(authority)
        lines = [f"sentinel monitor main 127.0.0.1 {master_port} 1"]
        (self.folder / "sentinel.conf").write_text("\n".join(lines) + "\n")

    def _command(self) -> list[str]:
        program, *options = super()._command()
        return [program, str(self.folder / "sentinel.conf"), "--sentinel", *options]


@pytest.fixture(scope="module")
def authority():
    if shutil.which("redis-server") is None:  # the wheel's knows no TLS
        pytest.skip("no redis-server on PATH")
    return trustme.CA()


async def works(url: str) -> None:
    endpoint = resolve_redis_url(url, Path())
    await wait_for_redis(endpoint, limit=10)
    async with aclosing(connect(endpoint)) as client:
        assert await client.incr("count") == 1
    with closing(connect_sync(endpoint)) as client:
        assert client.incr("count") == 2


async def test_a_server(authority):
    with SecureServer(authority) as server:
        await works(f"rediss://127.0.0.1:{server.port}/0{server.query}")
        with pytest.raises(RedisUnavailableError, match="certificate"):
            await wait_for_redis(resolve_redis_url(f"rediss://127.0.0.1:{server.port}/0", Path()), limit=0)


async def test_a_cluster(authority):
    with SecureServer(authority, "--cluster-enabled", "yes", "--tls-cluster", "yes") as server:
        server.call("CLUSTER", "ADDSLOTS", *range(16_384))
        await works(f"rediss+cluster://127.0.0.1:{server.port}{server.query}")


async def test_sentinels_and_their_master(authority):
    with SecureServer(authority) as master, SecureSentinel(authority, master.port) as sentinel:
        await works(f"rediss+sentinel://127.0.0.1:{sentinel.port}/main/0{master.query}")
