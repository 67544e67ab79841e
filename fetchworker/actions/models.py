"""The actions (pure). Types are strict, fields that are unknown are errors, and errors name ``actions[3].selector``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from cssselect import SelectorError
from lxml.etree import XPath, XPathError
from parsel.csstranslator import HTMLTranslator
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from fetchworker.errors import ArgumentError, field_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: actions of one run at most
MOST = 200
#: seconds that an action waits for what it needs, unless it says so itself
PATIENCE = 10.0
_LONGEST = 300.0

Selector = Annotated[str, StringConstraints(min_length=1, max_length=2048)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=65_536)]
_URL = r"^(?i:https?)://\S+$"
Url = Annotated[str, StringConstraints(pattern=_URL, max_length=8192)]
State = Literal["visible", "hidden", "attached", "detached"]
Load = Literal["commit", "domcontentloaded", "load", "networkidle"]
_KEYS = r"^[^\s]{1,64}$"
_NAMES = r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$"
_JSON_LD = r"^(\*|[A-Za-z][A-Za-z0-9:/.#_-]{0,127})$"
#: pattern → in words
_PATTERNS = {
    _URL: "an http or https address is expected",
    _KEYS: "the name of a key without spaces is expected",
    _NAMES: "a name of letters, digits, '_', '.' and '-' is expected",
    _JSON_LD: "the name of a type, or *, is expected",
}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


def _exactly_one(model: BaseModel, names: Sequence[str]) -> None:
    """See that one of the fields is given.

    Raises:
        PydanticCustomError: none is, or several are.
    """
    given = [name for name in names if getattr(model, name) is not None]
    if len(given) != 1:
        raise PydanticCustomError("one_of", "give one of {names}", {"names": ", ".join(names)})


class _Base(_Strict):
    """What all actions have."""

    name: Annotated[str, Field(pattern=_NAMES)] | None = Field(default=None, description="tells it in the result")
    on_failure: Literal["stop", "continue"] = Field(
        default="stop", description="whether the actions behind it are run when it fails"
    )
    timeout: Annotated[float, Field(gt=0, le=_LONGEST)] = Field(
        default=PATIENCE, description="seconds that it may take"
    )


class Goto(_Base):
    """Go to an address."""

    type: Literal["goto"]
    url: Url
    wait_until: Load = "load"
    timeout: Annotated[float, Field(gt=0, le=_LONGEST)] = 30.0


class Click(_Base):
    """Click on what is found, once it can be."""

    type: Literal["click"]
    selector: Selector
    button: Literal["left", "middle", "right"] = "left"
    count: Annotated[int, Field(ge=1, le=3)] = 1


class Fill(_Base):
    """Put a text into a field, in place of what is there. ``secret``: it is masked in all that is kept."""

    type: Literal["fill"]
    selector: Selector
    text: Annotated[str, StringConstraints(max_length=65_536)] = Field(repr=False)
    secret: bool = False


class Press(_Base):
    """Press a key, such as ``Enter`` or ``Control+A``, in what is found or where the focus is."""

    type: Literal["press"]
    key: Annotated[str, Field(pattern=_KEYS)]
    selector: Selector | None = None


class Select(_Base):
    """Choose options of a list by their values or by their labels."""

    type: Literal["select"]
    selector: Selector
    value: list[Text] | Text | None = None
    label: list[Text] | Text | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self, ("value", "label"))
        return self


class WaitFor(_Base):
    """Wait for one thing: a selector's state, a text, an address (a glob such as ``**/done``), a load state, time."""

    type: Literal["wait_for"]
    selector: Selector | None = None
    state: State = "visible"
    text: Text | None = None
    url: Selector | None = None
    load: Load | None = None
    seconds: Annotated[float, Field(gt=0, le=60)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self, ("selector", "text", "url", "load", "seconds"))
        if "state" in self.model_fields_set and self.selector is None:
            raise PydanticCustomError("alone", "state belongs to a selector")
        return self


class Scroll(_Base):
    """Turn the wheel: by pixels, to the bottom or the top, or until something is in view; ``times`` with pauses."""

    type: Literal["scroll"]
    to: Literal["bottom", "top"] | None = None
    selector: Selector | None = None
    by: Annotated[int, Field(ge=-1_000_000, le=1_000_000)] | None = None
    times: Annotated[int, Field(ge=1, le=100)] = 1
    pause: Annotated[float, Field(ge=0, le=10)] = 0.3

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.to, self.selector, self.by) != (None, None, None):
            _exactly_one(self, ("to", "selector", "by"))
        return self


class What(_Strict):
    """One thing to extract: by CSS (with ``::text`` and ``::attr(href)``), by XPath, or JSON-LD objects of a type."""

    css: Selector | None = None
    xpath: Selector | None = None
    json_ld: Annotated[str, StringConstraints(pattern=_JSON_LD)] | None = Field(
        default=None, description="the @type that is wanted, * for any"
    )
    many: bool = Field(default=False, description="a list of all that are found, not the first one")
    required: bool = Field(default=False, description="whether the action fails when there is none")

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        _exactly_one(self, ("css", "xpath", "json_ld"))
        try:
            path = self.xpath if self.css is None else HTMLTranslator().css_to_xpath(self.css)
            if path is not None:
                XPath(path, namespaces={"re": "http://exslt.org/regular-expressions"})
        except (SelectorError, XPathError) as exc:
            kind = "css" if self.css is not None else "xpath"
            raise PydanticCustomError("selector", "{kind}: {why}", {"kind": kind, "why": str(exc)}) from None
        return self


class Extract(_Base):
    """Read fields out of the page as it is now, without running anything in it."""

    type: Literal["extract"]
    fields: dict[Annotated[str, Field(pattern=_NAMES)], What] = Field(min_length=1, max_length=100)


class Assert(_Base):
    """See that everything given holds, within the time. It fails as ``assertion``, and the page is as it is."""

    type: Literal["assert"]
    selector: Selector | None = None
    state: State | None = Field(default=None, description="of the selector (visible)")
    text: Text | None = Field(default=None, description="that the selector, or the page, shows")
    min_count: Annotated[int, Field(ge=0, le=100_000)] | None = None
    max_count: Annotated[int, Field(ge=0, le=100_000)] | None = None
    url_contains: Text | None = None
    title_contains: Text | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        of_selector = [name for name in ("state", "min_count", "max_count") if getattr(self, name) is not None]
        if of_selector and self.selector is None:
            raise PydanticCustomError("alone", "{names}: needs a selector", {"names": ", ".join(of_selector)})
        if (self.selector, self.text, self.url_contains, self.title_contains) == (None,) * 4:
            raise PydanticCustomError("nothing", "give a selector, text, url_contains or title_contains")
        return self


class Screenshot(_Base):
    """A picture of what is seen, of the whole page, or of one element."""

    type: Literal["screenshot"]
    selector: Selector | None = None
    full_page: bool = False
    format: Literal["png", "jpeg"] = "png"
    timeout: Annotated[float, Field(gt=0, le=_LONGEST)] = 30.0

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.full_page and self.selector is not None:
            raise PydanticCustomError("one_of", "give full_page or a selector")
        return self


class Pdf(_Base):
    """The page, printed."""

    type: Literal["pdf"]
    format: Literal["A3", "A4", "A5", "Letter", "Legal"] = "A4"
    landscape: bool = False
    background: bool = True


class Html(_Base):
    """The page's HTML as it is now."""

    type: Literal["html"]


Action = Goto | Click | Fill | Press | Select | WaitFor | Scroll | Extract | Assert | Screenshot | Pdf | Html
_MODELS: tuple[type[_Base], ...] = get_args(Action)
#: type → its model
TYPES: dict[str, type[_Base]] = {get_args(model.model_fields["type"].annotation)[0]: model for model in _MODELS}
_ACTION: TypeAdapter[Action] = TypeAdapter(Annotated[Action, Field(discriminator="type")])


def parse_actions(values: Any, *, name: str = "actions") -> tuple[Action, ...]:
    """The actions of a list of JSON objects.

    Args:
        values: the list.
        name: what it is called, for errors.

    Raises:
        ArgumentError: naming each field that is wrong; ``fields`` in its context.
    """
    if not isinstance(values, list):
        raise ArgumentError(f"{name}: a list of objects is expected", fields=[name])
    if len(values) > MOST:
        raise ArgumentError(f"{name}: at most {MOST} are run, these are {len(values)}", fields=[name])
    found: list[Action] = []
    wrong: list[tuple[str, str]] = []
    for place, value in enumerate(values):
        try:
            found.append(_ACTION.validate_python(value))
        except ValidationError as exc:
            wrong += _told(exc, f"{name}[{place}]", value)
    if wrong:
        fields = list(dict.fromkeys(field for field, _ in wrong))
        raise ArgumentError("; ".join(f"{field}: {what}" for field, what in wrong), fields=fields)
    return tuple(found)


def _told(error: ValidationError, place: str, value: Any) -> Iterable[tuple[str, str]]:
    for one in error.errors(include_url=False, include_input=False):
        if one["type"] in ("union_tag_invalid", "union_tag_not_found"):
            kind = value.get("type") if isinstance(value, dict) else None
            told = f"there is no {kind!r}; " if isinstance(kind, str) and len(kind) <= 64 else ""  # noqa: PLR2004
            yield f"{place}.type", f"{told}known: {', '.join(TYPES)}"
        elif one["type"] in ("model_attributes_type", "model_type"):
            yield place, "an object is expected"
        else:
            path = [part for part in one["loc"][1:] if part != "[key]"]
            yield field_path([place, *path]), _PATTERNS.get(one.get("ctx", {}).get("pattern", ""), one["msg"])
