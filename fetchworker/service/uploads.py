"""What ``POST /documents`` is asked: a form with a file, or JSON with an address."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import ValidationError
from python_multipart.exceptions import FormParserError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from fetchworker.service.failures import ApiError
from fetchworker.service.models import DocumentBody, DocumentOptions, FetchBody, invalid, read_body
from fetchworker.spiders.kinds import plain_kinds, text_fault_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request

FORM = "multipart/form-data"
#: the form's field that holds the file
FILE = "file"
#: bytes that are taken apart at once, so that the loop is not held up
_PIECE = 256 * 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """One call: ``content`` is None where the file is to be downloaded from ``name``."""

    name: str | None
    content: bytes | None
    options: DocumentOptions

    def digest(self) -> str:
        """Stands for what is asked: the bytes of a form have another boundary each time."""
        content = hashlib.sha256(self.content).hexdigest() if self.content is not None else None
        told = orjson.dumps([self.name, content, self.options.kind, self.options.timeout])
        return hashlib.sha256(told).hexdigest()


async def asked_of(request: Request) -> Asked:
    """What a request asks for.

    Raises:
        ApiError: VALIDATION_ERROR, naming the field.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == FORM:
        return await _of_form(request)
    body: DocumentBody = read_body(DocumentBody, await request.body())
    FetchBody(url=body.url).params()  # an address that cannot be is told before anything begins
    return Asked(body.url, None, body)


class _InMemory(MultiPartParser):
    """The body is in memory already: a stranger's invoice is not written to a disk as well."""

    spool_max_size = 1 << 40


async def _of_form(request: Request) -> Asked:
    body = await request.body()
    parser = _InMemory(request.headers, _pieces(body), max_files=1, max_fields=len(DocumentOptions.model_fields))
    try:
        form = await parser.parse()
    except (MultiPartException, FormParserError, KeyError, ValueError) as exc:
        raise ApiError("VALIDATION_ERROR", f"the body is no form as is expected ({exc})") from None
    values: dict[str, Any] = {}
    for name, value in form.multi_items():
        if name in values:
            raise ApiError("VALIDATION_ERROR", f"{name}: given twice", fields=[name])
        values[name] = value
    file = values.pop(FILE, None)
    if not isinstance(file, UploadFile):
        raise ApiError("VALIDATION_ERROR", f"{FILE}: a file is expected", fields=[FILE])
    return Asked(_plain(file.filename), await file.read(), _options(values))


async def _pieces(body: bytes) -> AsyncGenerator[bytes, None]:
    view = memoryview(body)
    for start in range(0, len(body), _PIECE):
        yield bytes(view[start : start + _PIECE])
        await asyncio.sleep(0)
    yield b""


def _options(values: dict[str, Any]) -> DocumentOptions:
    for name, value in values.items():
        info = DocumentOptions.model_fields.get(name)
        fault = text_fault_of(value, plain_kinds(info.annotation)) if info and isinstance(value, str) else None
        if fault is not None:
            raise ApiError("VALIDATION_ERROR", f"{name}: {fault}", fields=[name])
    try:
        return DocumentOptions.model_validate_strings(values)
    except ValidationError as exc:
        raise invalid(exc) from None


def _plain(name: str | None) -> str | None:
    """A file's name without halves of characters, which JSON has no place for."""
    return name.encode("utf-8", "replace").decode() if name else None
