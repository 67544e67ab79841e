"""Operations as the OpenAPI document tells them: their Pydantic models, as a query or as a body (pure)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from fetchworker.contracts import Render
from fetchworker.items import KINDS
from fetchworker.service.responses import IDEMPOTENCY, JSON, REF

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fetchworker.spiders.operation import Operation

#: how an array of query values would be written is no site's; those fields are JSON
_TEXT = {"type": "string"}


def described(operation: Operation, verb: str) -> dict[str, Any]:
    """What the document says of a route beside its answers."""
    if verb == "GET":
        return {"parameters": [*_query(operation), *_own()]}
    schema = _schema(operation)
    properties = {**schema.get("properties", {}), **{one["name"]: one["schema"] for one in _own()}}
    body = {**schema, "properties": properties, "additionalProperties": False}
    return {
        "parameters": [IDEMPOTENCY],
        "requestBody": {"required": True, "content": {JSON: {"schema": body}}},
    }


def _schema(operation: Operation) -> dict[str, Any]:
    schema = operation.params.model_json_schema(ref_template=REF)
    schema.pop("$defs", None)
    return schema


def _query(operation: Operation) -> Iterable[dict[str, Any]]:
    schema = _schema(operation)
    required = schema.get("required", ())
    for name, told in schema.get("properties", {}).items():
        plain = {key: value for key, value in told.items() if key not in ("description", "title")}
        field = {"name": name, "in": "query", "required": name in required, "schema": _in_query(plain)}
        if "description" in told:
            field["description"] = told["description"]
        yield field


def _in_query(schema: dict[str, Any]) -> dict[str, Any]:
    """A query holds texts: there is no null, and an object is JSON."""
    options = schema.get("anyOf")
    if options is not None:
        left = [one for one in options if one.get("type") != "null"]
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        schema = {**left[0], **rest} if len(left) == 1 else {**rest, "anyOf": left}
    return dict(_TEXT) if schema.get("type") in ("object", "array") else schema


def _own() -> list[dict[str, Any]]:
    return [
        _parameter("session_id", "keeps cookies and exit under this name", pattern="^[A-Za-z0-9._:@-]{1,128}$"),
        _parameter("lease", "the token of the lease that holds session_id", maxLength=256),
        {
            "name": "timeout",
            "in": "query",
            "description": "seconds for the whole call, all pages, tries and waits included",
            "schema": {"type": "number", "exclusiveMinimum": 0},
        },
        {
            "name": "render",
            "in": "query",
            "description": "whether a browser loads the pages (default: as sites.yaml says)",
            "schema": {"type": "string", "enum": list(get_args(Render))},
        },
    ]


def _parameter(name: str, told: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": told, "schema": {**_TEXT, **schema}}


@cache
def item_schema() -> dict[str, Any]:
    """The items of a call: which kinds they are is in each one's ``kind``."""
    options = [{"$ref": REF.format(model=model.__name__)} for model in KINDS.values()]
    names = {kind: REF.format(model=model.__name__) for kind, model in KINDS.items()}
    return {"type": "array", "items": {"oneOf": options, "discriminator": {"propertyName": "kind", "mapping": names}}}


def models(operations: Iterable[Operation]) -> dict[str, Any]:
    """The components that the routes refer to."""
    found: dict[str, Any] = {}
    for model in KINDS.values():
        schema = model.model_json_schema(ref_template=REF)
        found |= schema.pop("$defs", {})
        found[model.__name__] = schema
    for operation in operations:
        found |= operation.params.model_json_schema(ref_template=REF).get("$defs", {})
    return {name: _plainer(schema) for name, schema in found.items()}


def _plainer(schema: Any) -> Any:
    """Tuples of equals as arrays of two, say: many readers of such documents do not know ``prefixItems``."""
    if isinstance(schema, list):
        return [_plainer(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _plainer(value) for name, value in schema.items()}
    places = made.get("prefixItems")
    if isinstance(places, list) and all(place == places[0] for place in places):
        made["items"] = made.pop("prefixItems")[0]
    return made
