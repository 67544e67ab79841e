"""Operations: what a spider can do, and how arguments, addresses and seeds name one of them (pure)."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import orjson
from pydantic import ValidationError

from fetchworker.contracts import Call, Fetch, Page, Params, Parsed
from fetchworker.errors import ArgumentError, ContractError, field_path
from fetchworker.frontier.seedkeys import priority_of, tier_of
from fetchworker.sessions.poolkeys import MAIN, check_jar, jar_of
from fetchworker.spiders.reading import html

Scope = Literal["request", "page", "chain", "crawl"]
Method = Callable[[Any, Call[Any]], Iterator[Fetch]]
Parser = Callable[[Page, Call[Any]], Parsed]
M = TypeVar("M", bound=Callable[..., Iterator[Fetch]])

#: arguments and seed keys that are the spider base's own, whatever the operation
RESERVED = ("operation", "session", "exclusive", "priority", "tier")
#: an argument that an error's words ask for
_NAMED = re.compile(r"\b([a-z_]+)=")
#: the names that stored sessions may have
SESSION = r"^[A-Za-z0-9._:@-]{1,128}$"


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing a spider can do.

    ``default_for`` lists the arguments that choose this operation when none is named; ``patterns`` the addresses that
    do (named groups become parameters); ``counts`` is the kind of item that ``limit`` counts; ``whole``: a document
    that was cut off is refused, whatever can still be read of it; ``session_scope`` and ``jar``: whose session its
    requests have (:mod:`fetchworker.spiders.scopes`).
    """

    name: str
    method: Method
    params: type[Params]
    parse: Parser
    default_for: tuple[str, ...] = ()
    patterns: tuple[re.Pattern[str], ...] = ()
    counts: str | None = None
    summary: str = ""
    whole: bool = True
    session_scope: Scope = "page"
    jar: str = MAIN

    def read(self, page: Page, call: Call[Any]) -> Parsed:
        """What the parser finds in a page (pure).

        Raises:
            ContractError: the page lacks what the operation promises, or its end.
        """
        if self.whole and html.cut_off(page.body):
            raise ContractError("</html>", "the page is cut off")
        return self.parse(page, call)

    def fetches(self, spider: object, call: Call[Any]) -> list[Fetch]:
        """The strategies for a call, the preferred one first."""
        return list(self.method(spider, call))


@dataclass(frozen=True, slots=True)
class Started:
    """A call as somebody asked for it; ``priority`` holds what its tier adds."""

    call: Call[Any]
    session: str | None = None
    priority: int = 0
    exclusive: bool = False


_MARK: typing.Final = "_fw_operation"


def operation(
    *,
    parse: Parser,
    params: type[Params] | None = None,
    default_for: tuple[str, ...] = (),
    patterns: tuple[str, ...] = (),
    counts: str | None = None,
    whole: bool = True,
    session_scope: Scope = "page",
    jar: str = MAIN,
) -> Callable[[M], M]:
    """Make a method of a :class:`~fetchworker.spiders.base.SiteSpider` one of its operations.

    The method takes a :class:`~fetchworker.contracts.Call` and yields the :class:`~fetchworker.contracts.Fetch` of
    each strategy in order of preference. Its first docstring line is what ``scrapy sites`` shows. ``params`` may be
    left out when the call is annotated ``Call[SomeParams]``. ``whole=False`` takes cut-off documents too.
    ``session_scope`` says how long a session is kept: for one try (``request``), for a call's pages until paging ends
    (``page``), for a chain of requests that hang on one identity and begin again without it (``chain``), for the crawl
    (``crawl``). Sessions of one ``jar`` are never used for another's.
    """
    check_jar(jar)

    def mark(method: M) -> M:
        compiled = tuple(re.compile(pattern) for pattern in patterns)
        told = {"parse": parse, "params": params, "default_for": default_for, "patterns": compiled}
        kept = {"session_scope": session_scope, "jar": jar}
        setattr(method, _MARK, {**told, **kept, "counts": counts, "whole": whole})
        return method

    return mark


def collect(cls: type) -> dict[str, Operation]:
    """The operations that a class and its bases declare, by name."""
    found: dict[str, Operation] = {}
    for base in reversed(cls.__mro__):
        for name, method in vars(base).items():
            marked = getattr(method, _MARK, None)
            if marked is not None:
                values = dict(marked)
                values["params"] = values["params"] or _annotated_params(method)
                summary = (method.__doc__ or "").strip().partition("\n")[0]
                found[name] = Operation(name=name, method=method, summary=summary, **values)
    return found


def _annotated_params(method: Callable[..., Any]) -> type[Params]:
    hint = typing.get_type_hints(method).get("call")
    arguments = typing.get_args(hint)
    if not arguments:
        raise TypeError(f"{method.__qualname__}: annotate `call: Call[SomeParams]` or give @operation(params=…)")
    params: type[Params] = arguments[0]
    return params


class Resolver:
    """Turns arguments and seeds into calls of one spider's operations."""

    _EXAMPLES: ClassVar[int] = 3

    def __init__(self, spider: str, operations: Mapping[str, Operation]) -> None:
        self._spider = spider
        self._operations = operations

    def seed(self, raw: str | bytes) -> Started:
        """A seed: an address, or a JSON object of arguments.

        Raises:
            ArgumentError: saying what is wrong with it.
        """
        try:
            text = (raw.decode() if isinstance(raw, bytes) else raw).strip()
        except UnicodeDecodeError:
            raise ArgumentError("the seed is not UTF-8") from None
        if re.match(r"https?://", text, re.IGNORECASE):
            return self.arguments({"url": text})
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            raise ArgumentError("the seed is neither an http(s) address nor JSON") from None
        if not isinstance(value, dict):
            raise ArgumentError(f"the seed is JSON, but no object: {type(value).__name__}")
        return self.arguments(value)

    def arguments(self, arguments: Mapping[str, Any]) -> Started:
        """Spider arguments, or the keys of a seed.

        Raises:
            ArgumentError: naming the argument and the nearest right word, or the fields that are missing.
        """
        rest = dict(arguments)
        name = rest.pop("operation", None)
        session = _session(rest.pop("session", None))
        exclusive = _exclusive(rest.pop("exclusive", False), session)
        priority = priority_of(rest.pop("priority", 0)) + tier_of(rest.pop("tier", "normal"))
        if not rest and name is None:
            raise ArgumentError(f"{self._spider}: no arguments. {self.usage()}")
        chosen = self._choose(name, rest)
        values = self._from_address(chosen, rest)
        params = self._validated(chosen, values)
        return Started(Call(chosen.name, params, cursor=getattr(params, "cursor", None)), session, priority, exclusive)

    def _choose(self, name: str | None, arguments: Mapping[str, Any]) -> Operation:
        if name is not None:
            if name not in self._operations:
                raise ArgumentError(
                    f"{self._spider} has no operation {name!r}{_nearest(name, self._operations)}. {self.usage()}",
                    fields=["operation"],
                )
            return self._operations[name]
        for argument in arguments:
            for candidate in self._operations.values():
                if argument in candidate.default_for:
                    return candidate
        if "url" in arguments:
            return self._by_address(str(arguments["url"]))
        first = next(iter(arguments))
        known = {key for op in self._operations.values() for key in op.params.model_fields} | set(RESERVED)
        raise ArgumentError(
            f"{self._spider} does not know the argument {first!r}{_nearest(first, known)}. {self.usage()}",
            fields=[first],
        )

    def _by_address(self, url: str) -> Operation:
        for candidate in self._operations.values():
            if any(pattern.match(url) for pattern in candidate.patterns):
                return candidate
        raise ArgumentError(f"{self._spider} has no operation for the address {url}. {self.usage()}", fields=["url"])

    def _from_address(self, chosen: Operation, arguments: dict[str, Any]) -> dict[str, Any]:
        if "url" not in arguments or "url" in chosen.params.model_fields:
            return arguments
        url = str(arguments.pop("url"))
        places = [(op, pattern) for op in (chosen, *self._operations.values()) for pattern in op.patterns]
        for candidate, pattern in places:
            match = pattern.match(url)
            if match:
                found = {key: value for key, value in match.groupdict().items() if value is not None}
                usable = {key: value for key, value in found.items() if key in chosen.params.model_fields}
                if usable or (not found and candidate is chosen):
                    self._agree(chosen, url, usable, arguments)
                    return {**usable, **arguments}
        raise ArgumentError(
            f"{self._spider} {chosen.name}: the address {url} names none of its fields. {self.usage(chosen)}",
            fields=["url"],
        )

    def _agree(self, chosen: Operation, url: str, found: Mapping[str, str], arguments: Mapping[str, Any]) -> None:
        """See that no argument says otherwise than the address, whatever the spelling."""
        differing = [name for name in found if name in arguments and str(arguments[name]) != found[name]]
        if differing and self._validated(chosen, {**arguments, **found}) != self._validated(
            chosen, {**found, **arguments}
        ):
            told = ", ".join(f"{name}={arguments[name]}" for name in differing)
            raise ArgumentError(
                f"{self._spider} {chosen.name}: {told} contradicts url={url}: give one of them",
                fields=[*differing, "url"],
            )

    def _validated(self, chosen: Operation, values: Mapping[str, Any]) -> Params:
        try:
            return chosen.params.model_validate(values)
        except ValidationError as exc:
            errors = exc.errors(include_url=False)
            wrong = "; ".join(self._field_error(error, chosen) for error in errors)
            told = f"{self._spider} {chosen.name}: {wrong}. {self.usage(chosen)}"
            raise ArgumentError(told, fields=list(dict.fromkeys(fields_of(errors)))) from None

    def _field_error(self, error: Any, chosen: Operation) -> str:
        name = ".".join(map(str, error["loc"])) or "arguments"
        if error["type"] != "extra_forbidden":
            return f"{name}: {error['msg'].removeprefix('Value error, ')}"
        others = [op.name for op in self._operations.values() if name in op.params.model_fields]
        where = f" ({', '.join(others)} have it: add operation={others[0]})" if others else ""
        return f"unknown field {name!r}{where or _nearest(name, [*chosen.params.model_fields, *RESERVED])}"

    def usage(self, only: Operation | None = None) -> str:
        """The operations and their fields, for an error's end."""
        shown = [only] if only else list(self._operations.values())
        lines = "\n".join(f"  {op.name}: {_fields(op.params)}" for op in shown)
        return f"{'Its fields' if only else 'Operations and their fields'} (* required):\n{lines}"


def fields_of(errors: Iterable[Any]) -> Iterator[str]:
    """The fields that are wrong; one that concerns several names them in its context, or as ``name=`` in its words."""
    for error in errors:
        several = error.get("ctx", {}).get("fields") or _NAMED.findall(error["msg"])
        yield from [field_path(error["loc"])] if error["loc"] else several


def _fields(params: type[Params]) -> str:
    return ", ".join(f"{name}{'*' if field.is_required() else ''}" for name, field in params.model_fields.items())


def _nearest(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _exclusive(value: Any, session: str | None) -> bool:
    words = {True: True, False: False, "true": True, "false": False}
    if not isinstance(value, bool | str) or value not in words:
        raise ArgumentError("exclusive: true or false is expected", fields=["exclusive"])
    if words[value] and session is None:
        raise ArgumentError(
            "exclusive: name the session that nobody else may use meanwhile: session=NAME", fields=["exclusive"]
        )
    return words[value]


def _session(value: Any) -> str | None:
    if isinstance(value, str) and jar_of(value) is not None:
        raise ArgumentError("session: the names of sessions in the pool are the pool's own", fields=["session"])
    if value is None or (isinstance(value, str) and re.fullmatch(SESSION, value)):
        return value
    raise ArgumentError("session: a name of 1 to 128 letters, digits and . _ : @ - is expected", fields=["session"])
