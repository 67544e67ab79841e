"""HARs and Playwright's traces without credentials (pure)."""

from __future__ import annotations

import base64
import binascii
import io
import zipfile
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.artifacts.redact import headers, hides, is_secret_field, page, text
from fetchworker.errors import ArtifactError
from fetchworker.telemetry.redaction import MASK

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINES = (".trace", ".network", ".stacks")
#: bytes that a trace may have when it is unpacked
_UNPACKED = 1 << 30
#: Playwright's actions that say what was typed
_TYPED = frozenset({"fill", "type", "insertText", "selectOption"})
_DEEPEST = 200
#: attributes that hold what a field holds; the last one is Playwright's, with an underscore behind it
_HOLDS = ("value", "content", "__playwright_value")


def har(content: bytes, secrets: Iterable[str] = ()) -> bytes:
    """A HAR; one that is no JSON is treated as a text."""
    known = list(secrets)
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return page(content, known)
    return orjson.dumps(_clean(value, known))


def trace(content: bytes, secrets: Iterable[str] = ()) -> bytes:
    """A ``trace.zip``: its events as HARs are, its files as pages are.

    Raises:
        ArtifactError: it is no archive, or one that would unpack without end.
    """
    known = list(secrets)
    made = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as given, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
            if sum(entry.file_size for entry in given.infolist()) > _UNPACKED:
                raise ArtifactError("trace: it unpacks to more than a GiB", reason="too_big")
            for entry in given.infolist():
                out.writestr(entry.filename, _member(entry.filename, given.read(entry), known))
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as exc:
        raise ArtifactError(f"trace: it is no archive ({exc})") from exc
    return made.getvalue()


def _member(name: str, content: bytes, secrets: list[str]) -> bytes:
    if not name.endswith(_LINES):
        return page(content, secrets)
    return b"\n".join(har(line, secrets) if line.strip() else line for line in content.split(b"\n"))


def _clean(value: Any, secrets: list[str], depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return MASK
    if isinstance(value, str):
        return MASK if value and value in secrets else text(value, secrets)
    if isinstance(value, list):
        if len(value) > 1 and isinstance(value[0], str) and isinstance(value[1], dict):
            return _element(value, secrets, depth)
        return [_clean(one, secrets, depth + 1) for one in value]
    if isinstance(value, dict):
        return _object(value, secrets, depth)
    return value


def _element(value: list[Any], secrets: list[str], depth: int) -> list[Any]:
    """An element of a snapshot: its name, its attributes, what is in it (Playwright 1.65)."""
    kind, attributes, *inside = value
    cleaned = [_clean(one, secrets, depth + 1) for one in inside]
    made = _object(attributes, secrets, depth)
    if is_secret_field(attributes):
        made = {name: MASK if one and name.lower().startswith(_HOLDS) else one for name, one in made.items()}
        if kind.upper() == "TEXTAREA":
            cleaned = [MASK if isinstance(one, str) else one for one in cleaned]
    return [kind, made, *cleaned]


def _object(value: dict[str, Any], secrets: list[str], depth: int) -> dict[str, Any]:
    name, own = value.get("name"), value.get("value")
    if isinstance(name, str) and isinstance(own, str):  # a header, a cookie, a parameter
        if own and own in secrets:
            own = MASK
        else:
            [(_, own)] = headers([(name, own)], secrets)
        return {**_all(value, secrets, depth), "value": own}
    cleaned = _all(value, secrets, depth)
    if isinstance(value.get("cookies"), list):
        cleaned["cookies"] = [_without_value(one) for one in cleaned["cookies"]]
    if value.get("encoding") == "base64" and isinstance(value.get("text"), str):
        cleaned["text"] = _decoded(value["text"], secrets)
    if value.get("method") in _TYPED and isinstance(value.get("params"), dict):
        cleaned["params"] = _typed(cleaned["params"])
    return cleaned


def _all(value: dict[str, Any], secrets: list[str], depth: int) -> dict[str, Any]:
    return {
        name: MASK if isinstance(one, str) and one and hides(name) else _clean(one, secrets, depth + 1)
        for name, one in value.items()
    }


def _without_value(cookie: Any) -> Any:
    return {**cookie, "value": MASK} if isinstance(cookie, dict) and "value" in cookie else cookie


def _decoded(body: str, secrets: list[str]) -> str:
    try:
        content = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return MASK
    return base64.b64encode(page(content, secrets)).decode()


def _typed(params: dict[str, Any]) -> dict[str, Any]:
    """What was typed into a field whose selector says that it is a secret one."""
    selector = str(params.get("selector", ""))
    if not hides(selector) and not is_secret_field({"name": selector}):
        return params
    return {name: MASK if name in ("value", "text") else one for name, one in params.items()}
