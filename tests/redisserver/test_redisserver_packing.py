"""Commands as they go over the wire: what hiredis writes is what the library writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio.connection import Connection
from redis.exceptions import DataError

from fetchworker.redis.packing import PackedConnection

NAMES = st.sampled_from(["GET", "EVALSHA", "CONFIG GET", b"SET", b"CLIENT INFO"])
VALUES = st.one_of(
    st.text(max_size=40), st.binary(max_size=40), st.integers(), st.floats(), st.binary(max_size=9).map(memoryview)
)


@given(NAMES, st.lists(VALUES, max_size=8))
def test_as_the_library_writes_them(name, values):
    ours, theirs = PackedConnection(), Connection()
    assert b"".join(ours.pack_command(name, *values)) == b"".join(theirs.pack_command(name, *values))


@pytest.mark.parametrize("value", [True, None, ["a"], {"a": 1}])
def test_what_is_no_text_nor_number_is_told(value):
    with pytest.raises(DataError):
        PackedConnection().pack_command("SET", "a", value)


async def test_a_client_of_one_server_uses_it(client):
    assert client.connection_pool.connection_class is PackedConnection
    await client.set("name", "Ärger")
    assert await client.get("name") == "Ärger".encode()
