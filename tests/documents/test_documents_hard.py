"""The recorded hard inputs: each gives the right answer or a typed error, and the next one is read."""

from __future__ import annotations

import asyncio

import pytest

from fetchworker.documents import DocumentReader
from fetchworker.errors import DocumentError

#: what each file is: a reason, or a value that must be read
EXPECTED = {
    "alpha.png": "112.45", "bomb_20k.png": "too_big", "doc.docx": "not_a_document", "enc_user.pdf": "encrypted",
    "exif6.jpg": "112.45", "garbage_layer.pdf": "112.45", "html.pdf": "not_a_document", "huge_page.pdf": None,
    "multi.tiff": "112.45", "photo.heic": "112.45", "rotate90.pdf": "5577.03", "scan.pdf": "112.45",
    "trunc.jpg": "truncated", "trunc.pdf": "truncated", "zero.pdf": "empty",
}  # fmt: skip


async def outcome(reader, content):
    try:
        (reading, *_) = await reader.read(content)
    except DocumentError as exc:
        return exc.reason
    return reading.fields["total"].value if "total" in reading.fields else None


@pytest.mark.captures
@pytest.mark.timeout(1800)
async def test_every_hard_file_gives_its_answer_or_its_error(captures, settings_of):
    files = sorted((captures / "documents" / "hard").iterdir())
    async with DocumentReader(settings_of(workers=2)) as reader:
        outcomes = await asyncio.gather(*(outcome(reader, file.read_bytes()) for file in files))
    found = dict(zip((file.name for file in files), outcomes, strict=True))
    assert found == EXPECTED
