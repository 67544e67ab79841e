"""Which plain types an argument takes, and whether a value is of one: JSON's own, not what may be made of it (pure)."""

from __future__ import annotations

import re
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from fetchworker.spiders.operation import RESERVED, Operation

_TYPES = {"text": str, "true or false": bool, "int": int, "float": float}
_SCALARS: frozenset[Any] = frozenset(_TYPES.values())
_NUMBERS: frozenset[Any] = frozenset({int, float})
#: of the arguments that are the spider base's own; all else of these is text
_RESERVED: dict[str, frozenset[Any]] = {"exclusive": frozenset({bool}), "priority": _NUMBERS}
_TEXT: frozenset[Any] = frozenset({str})
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,3999})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,399})(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?")


def kinds_of(operation: Operation, name: str) -> frozenset[Any]:
    """The types that an operation's argument takes; none: there is no such argument."""
    info = operation.params.model_fields.get(name)
    if info is not None:
        return plain_kinds(info.annotation)
    return _RESERVED.get(name, _TEXT) if name in (*RESERVED, "url") else frozenset()


def plain_kinds(annotation: Any) -> frozenset[Any]:
    """The types that an annotation stands for, None left out; those of a literal are its values'."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return plain_kinds(get_args(annotation)[0])
    if origin is Literal:
        return frozenset(type(value) for value in get_args(annotation)) - {NoneType}
    if origin in (Union, UnionType):
        return frozenset(kind for one in get_args(annotation) for kind in plain_kinds(one))
    return frozenset({origin or annotation}) - {NoneType}


def fault_of(value: Any, kinds: frozenset[Any]) -> str | None:
    """Why a value of a JSON body is not of these types; None where it is, or that is not for this to say."""
    known = kinds <= _SCALARS and type(value) in _SCALARS
    if not kinds or not known or type(value) in kinds or (type(value) is int and float in kinds):
        return None
    return f"{_called(kinds)} is expected, not {_called(frozenset({type(value)}))}"


def text_fault_of(text: str, kinds: frozenset[Any]) -> str | None:
    """Why a text does not stand for a value of these types, written as JSON has it; None as above."""
    if not kinds or not kinds <= _SCALARS or str in kinds:
        return None
    whole = bool in kinds and text in ("true", "false")
    number = kinds & _NUMBERS and (_WHOLE if float not in kinds else _NUMBER).fullmatch(text)
    return None if whole or number else f"{_called(kinds)} is expected"


def _called(kinds: frozenset[Any]) -> str:
    return " or ".join(name for name, kind in sorted(_TYPES.items()) if kind in kinds)
