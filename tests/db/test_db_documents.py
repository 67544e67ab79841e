"""What documents say is kept by their bytes, in both databases."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import SecretStr

from fetchworker.db import place_of
from fetchworker.db.documents import DocumentKey, DocumentStore

KEY = DocumentKey("ab" * 32, "reader-1", "auto")
READING = {"documents": [{"kind": "receipt", "fields": {"total": {"value": "7.50", "text": "nul \x00 € é"}}}]}


@pytest.fixture
async def shelf(url):
    store = await DocumentStore.open(place_of(SecretStr(url)), patience=20)
    yield store
    await store.close()


async def test_a_reading_is_there_for_the_same_bytes_reader_and_kind_alone(shelf):
    assert await shelf.known(KEY) is None
    await shelf.remember(KEY, READING)
    assert await shelf.known(KEY) == READING
    for other in (KEY._replace(sha256="cd" * 32), KEY._replace(reader="reader-2"), KEY._replace(read_as="invoice")):
        assert await shelf.known(other) is None


async def test_what_is_kept_twice_is_there_once_and_the_first_stays(shelf):
    await asyncio.gather(*(shelf.remember(KEY, READING) for _ in range(8)))
    await shelf.remember(KEY, {"documents": []})
    assert await shelf.known(KEY) == READING
