"""URLs, clients, and waiting for a Redis that is away, old or closed to us."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import traceback
from contextlib import aclosing, asynccontextmanager, closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as RedisConnectionError

from fetchworker import redis as fetchworker_redis
from fetchworker.errors import ConfigError, RedisUnavailableError
from fetchworker.redis import MAX_CONNECTIONS, connect, connect_sync, resolve_redis_url, wait_for_redis, waiting
from fetchworker.redis import endpoint as redis_endpoint

HERE = Path()


def external(url):
    return resolve_redis_url(url, HERE)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def serve(tmp_path):
    """Start a Redis on TCP with the given options; ends with the test."""
    running = []

    def start(port, *options):
        binary = redis_endpoint.server().find_binary().path
        running.append(subprocess.Popen([binary, "--port", str(port), "--dir", tmp_path, "--save", "", *options]))

    yield start
    for process in running:
        process.terminate()
        process.wait()


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("redis://localhost", "redis://localhost"),
        ("redis://ada:Zq9@redis.example:6380/2", "redis://redis.example:6380/2"),
        ("rediss://:Zq9%40%3A@[2001:db8::7]:6380/0?ssl_cert_reqs=none", "rediss://[2001:db8::7]:6380/0"),
        ("unix:///run/a%20b.sock?db=1&password=Zq9", "unix:///run/a b.sock"),
        ("unix://ada:Zq9@/run/redis.sock", "unix:///run/redis.sock"),
        (" redis://localhost/0\n", "redis://localhost/0"),
        (
            "redis+sentinel://ada:Zq9@one:26379,[2001:db8::7],three/main/2?sentinel_password=Zq9&socket_timeout=3",
            "redis+sentinel://one:26379,[2001:db8::7],three/main/2",
        ),
        ("Sentinel://:Zq9@one/the%20main", "sentinel://one/the main"),
        (
            "rediss+sentinel://one/main?sentinel_username=bob&sentinel_password=Zq9&ssl_cert_reqs=none",
            "rediss+sentinel://one/main",
        ),
    ],
)
def test_urls(url, label):
    endpoint = external(url)
    assert endpoint.kind == "url"
    assert endpoint.label == label
    assert endpoint.url.get_secret_value() == url.strip()
    assert "Zq9" not in f"{endpoint} {endpoint!r}"
    client = connect_sync(endpoint)
    assert "Zq9" not in repr(client)
    client.close()


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("localhost:6379", "the scheme must be one of redis, rediss, unix"),
        ("http://ada:Zq9@localhost", "the scheme must be one of"),
        ("redis+other://ada:Zq9@localhost", "the scheme must be one of"),
        ("redis+sentinel://ada:Zq9@localhost", "the name of the service is missing"),
        ("redis+sentinel://ada:Zq9@localhost,/main", "a host is missing"),
        ("redis+sentinel://ada:Zq9@localhost/main/first", "no number of a database"),
        ("redis+sentinel://ada:Zq9/Zq9@localhost/main", "percent-encode"),
        ("redis+sentinel://ada:Zq9#Zq9@localhost/main", "percent-encode"),
        ("redis+sentinel://ada:Zq9?Zq9@localhost/main", "percent-encode"),
        ("redis+sentinel://ada:Zq9@localhost:Zq9/main", "percent-encode"),
        ("redis+sentinel://ada:Zq9@localhost/main?sentinel_passwort=Zq9", "options after"),
        ("redis+sentinel://ada:Zq9@localhost/main?sentinel_socket_timeout=Zq9", "options after"),
        ("redis+sentinel://ada:Zq9@localhost/main?passwort=Zq9", "options after"),
        ("redis+cluster://ada:Zq9@localhost:0,other", "the port is not a number"),
        ("redis+cluster://ada:Zq9@localhost/3", "no numbered databases"),
        ("redis+cluster://ada:Zq9@localhost?passwort=Zq9", "options after"),
        ("cluster://ada:Zq9@", "a host is missing"),
        ("redis://ada:Zq9@one:6379,two:6379/0", "several hosts"),
        ("redis://ada:Zq9/Zq9@localhost", "percent-encode"),
        ("redis://ada:6379/0#Zq9@localhost", "percent-encode"),
        ("redis://ada:6379/Zq9@localhost", "percent-encode"),
        ("redis://ada:6379?Zq9@localhost", "percent-encode"),
        ("redis://ada:Zq9?Zq9@localhost", "percent-encode"),
        ("redis://ada:Zq9@localhost:Zq9", "percent-encode"),
        ("redis://ada:Zq9@localhost:99999", "percent-encode"),
        ("redis://ada:Zq9@localhost:0", "the port is not a number"),
        ("redis://ada:Zq9@[::1", "percent-encode"),
        ("redis://ada:Zq9\u2100@localhost", "percent-encode"),
        ("redis://ada:Zq9@localhost/first", "no number of a database"),
        ("redis://ada:Zq9@localhost?socket_timeout=Zq9", "options after"),
        ("redis://ada:Zq9@localhost?passwort=Zq9", "options after"),
        ("unix://", "the path of the socket is missing"),
    ],
)
def test_a_wrong_url_is_refused_without_its_secrets(url, fault):
    with pytest.raises(ConfigError, match=r"^REDIS_URL: ") as caught:
        external(url)
    assert fault in str(caught.value)
    assert_untold(caught.value)


def assert_untold(error: BaseException) -> None:
    told = "".join(traceback.format_exception(error))
    while error:
        told += repr(error) + repr(vars(error))
        error = error.__cause__ or error.__context__
    assert CANARY not in told


CANARY = "Zq" + "9"  # a traceback shows the lines of this file


FORMS = ("redis://{}@redis.example:6379/0", "redis+sentinel://{}@one,two:1/main/0", "redis+cluster://{}@one,two:1")


@given(
    st.sampled_from(FORMS), st.lists(st.sampled_from([CANARY, *":@/?#[]%&= ,", "%40", "://", "6379", "ℂ"]), max_size=7)
)
def test_no_url_tells_its_password(form, parts):
    try:
        endpoint = external(form.format(f"ada:{CANARY}{''.join(parts)}{CANARY}"))
    except ConfigError as error:
        wrong: BaseException | None = error
    else:
        wrong = None
        assert CANARY not in repr(endpoint)
        assert endpoint.label == form.replace("{}@", "")
    if wrong:
        assert_untold(wrong)


@pytest.mark.parametrize("nothing", [None, "", "  "])
@pytest.mark.usefixtures("either_server")
async def test_without_a_url_the_projects_own_server_serves_both_clients(project, nothing):
    endpoint = await asyncio.to_thread(resolve_redis_url, nothing, project)
    async with aclosing(connect(endpoint)) as client:
        assert await client.set("color", "green") is True
        assert await client.client_getname() == "fetchworker"
    with closing(connect_sync(endpoint)) as client:
        assert client.get("color") == b"green"
        assert client.client_getname() == "fetchworker"


async def test_a_query_cannot_change_what_our_code_relies_on(project):
    path = resolve_redis_url(None, project).label
    endpoint = external(f"{path}?decode_responses=yes&protocol=3")
    async with aclosing(connect(endpoint)) as client:
        await client.hset("kept", "color", "green")
        assert await client.hgetall("kept") == {b"color": b"green"}
    with closing(connect_sync(endpoint)) as client:
        assert client.hgetall("kept") == {b"color": b"green"}


async def test_connections_are_few_and_commands_wait_for_one(project):
    endpoint = resolve_redis_url(None, project)
    async with aclosing(connect(endpoint)) as client:
        await asyncio.gather(*(client.incr("count") for _ in range(200)))
        assert await client.get("count") == b"200"
        names = [each["name"] for each in await client.client_list()]
    assert 1 < names.count("fetchworker") <= MAX_CONNECTIONS


async def test_a_broken_connection_is_made_again(project):
    endpoint = resolve_redis_url(None, project)
    async with aclosing(connect(endpoint)) as client:
        await client.ping()
        await client.client_kill_filter(_type="normal", skipme=True)
        with closing(connect_sync(endpoint)) as other:
            other.client_kill_filter(_type="normal", skipme=True)
        assert await client.set("color", "green") is True


@pytest.mark.slow
async def test_waits_for_a_redis_that_starts_late(serve):
    port = free_port()
    endpoint = external(f"redis://127.0.0.1:{port}/0")
    refused = asyncio.Event()
    waiting = asyncio.create_task(_wait_noting_refusals(endpoint, refused))
    await refused.wait()
    serve(port)
    await waiting


async def _wait_noting_refusals(endpoint, refused):
    with pytest.MonkeyPatch.context() as patch:
        look = waiting._try

        async def noting(*args):
            reason = await look(*args)
            if reason:
                refused.set()
            return reason

        patch.setattr(waiting, "_try", noting)
        await wait_for_redis(endpoint, limit=30)


async def test_nobody_there_is_an_error_in_the_time_given():
    endpoint = external(f"redis://ada:Zq9@127.0.0.1:{free_port()}/0")
    with pytest.raises(RedisUnavailableError) as caught:
        await wait_for_redis(endpoint, limit=0.05)
    assert str(caught.value).startswith(f"no Redis at {endpoint.label} within 0.05 s: ")
    assert str(caught.value).endswith("; start it, or correct REDIS_URL")
    assert_untold(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("credentials", ["ada:Zq9", ":Zq9", ""])
async def test_refused_credentials_end_the_wait_at_once(serve, credentials):
    port = free_port()
    serve(port, "--requirepass", "another")
    endpoint = external(f"redis://{credentials}@127.0.0.1:{port}/0")
    await wait_for_redis(external(f"redis://:another@127.0.0.1:{port}/0"))
    with pytest.raises(RedisUnavailableError, match="refuses our user name or password") as caught:
        await wait_for_redis(endpoint, limit=1e9)
    assert_untold(caught.value)


@pytest.mark.slow
async def test_a_user_with_few_rights_will_do(serve):
    port = free_port()
    serve(port)
    admin = external(f"redis://127.0.0.1:{port}/0")
    await wait_for_redis(admin)
    async with aclosing(connect(admin)) as client:
        await client.acl_setuser("ada", enabled=True, passwords=["+pass"], commands=["+ping", "+client"])
    await wait_for_redis(external(f"redis://ada:pass@127.0.0.1:{port}/0"))


@asynccontextmanager
async def fake(answers: dict[bytes, bytes]):
    """Something on a port that answers commands by their name; None: with silence."""

    async def talk(reader, writer):
        try:
            while line := await reader.readline():
                words = []
                for _ in range(int(line[1:])):
                    size = int((await reader.readline())[1:])
                    words.append((await reader.readexactly(size + 2))[:-2])
                answer = answers.get(words[0].upper(), b"+OK\r\n")
                if answer is not None:
                    writer.write(answer)
        finally:
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        yield external(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0")


def bulk(text: str) -> bytes:
    return f"${len(text)}\r\n{text}\r\n".encode()


async def test_too_old():
    async with fake({b"PING": b"+PONG\r\n", b"INFO": bulk("redis_version:6.0.16\r\n")}) as endpoint:
        with pytest.raises(RedisUnavailableError, match=r"it is 6\.0\.16, 6\.2 is needed"):
            await wait_for_redis(endpoint, limit=1e9)


async def test_new_enough_or_silent_about_it():
    for answer in (bulk("redis_version:7.4.1-rc2\r\n"), bulk("server:other\r\n"), b"-NOPERM no\r\n"):
        async with fake({b"PING": b"+PONG\r\n", b"INFO": answer}) as endpoint:
            await wait_for_redis(endpoint, limit=0)


@pytest.mark.parametrize("answer", [b"-LOADING Redis is loading\r\n", b"-MISCONF Errors writing to the AOF file\r\n"])
async def test_not_ready_is_waited_for(answer):
    answers = {b"PING": answer, b"INFO": bulk("redis_version:7.0.0\r\n")}
    async with fake(answers) as endpoint:
        with pytest.raises(RedisUnavailableError, match=r"within 0 s: .*(loading|writing)"):
            await wait_for_redis(endpoint, limit=0)
        answers[b"PING"] = b"+PONG\r\n"
        await wait_for_redis(endpoint, limit=0)


async def test_silence_is_not_waited_for_longer_than_allowed():
    async with fake({b"CLIENT": None, b"PING": None}) as endpoint:
        with pytest.raises(RedisUnavailableError, match="within 0 s"):
            await wait_for_redis(endpoint, limit=0)


@pytest.mark.slow
@pytest.mark.usefixtures("either_server")
async def test_the_projects_own_server_is_revived_and_clients_go_on(project):
    endpoint = resolve_redis_url(None, project)
    async with aclosing(connect(endpoint)) as client:
        await client.set("color", "green")
        os.kill((await client.info("server"))["process_id"], signal.SIGKILL)
        await wait_for_redis(endpoint)
        assert await client.get("color") == b"green"


async def test_a_dead_server_is_an_error_of_the_library_after_the_retries(project):
    endpoint = resolve_redis_url(None, project)
    async with aclosing(connect(endpoint)) as client:
        await client.ping()
        await asyncio.to_thread(fetchworker_redis.stop_embedded, project)
        with pytest.raises(RedisConnectionError):
            await client.ping()


def test_on_windows_it_asks_for_a_url(monkeypatch):
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(RedisUnavailableError, match="set REDIS_URL"):
        resolve_redis_url(None, HERE)
