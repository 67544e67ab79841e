"""Proxy providers as data: one YAML file each, and the pure functions that write and read its syntax.

A gateway of a provider takes parameters behind the user name or the password: the exit's country, a token that stands
for one exit (two requests with the same token leave by the same address), and how long the exit is kept.
"""

from __future__ import annotations

import re
import secrets
import string
from dataclasses import dataclass, field
from datetime import date  # noqa: TC003  # pydantic reads it
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies.base import Scheme  # noqa: TC001  # pydantic reads it
from fetchworker.proxies.countries import country_code

_TOKEN_LETTERS = string.ascii_lowercase + string.digits
_NAME = r"^[a-z][a-z0-9_]*$"
_PLACE = r"^[a-z0-9.-]+:\d+$"


class Syntax(BaseModel):
    """How a provider's gateway wants to be told; ``{}`` in a part stands for its value."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    carrier: Literal["username", "password"] = Field(description="behind which of the two the parameters stand")
    prefix: str = Field(default="", description="what stands before the account's user name")
    country: str = Field(pattern=r"\{\}$")
    country_case: Literal["upper", "lower"]
    session: str = Field(pattern=r"\{\}$")
    lifetime: str = Field(pattern=r"\{\}$")
    token_length: int = Field(ge=6, le=32, description="letters and digits of a token")
    lifetime_default: int = Field(ge=1, description="minutes that an exit is asked for")
    lifetime_max: int = Field(ge=1, description="minutes that the provider keeps one at most")


class Product(BaseModel):
    """One kind of exits that a provider sells."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    provider: str = Field(pattern=_NAME)
    name: str = Field(pattern=_NAME)
    tier: str = Field(pattern=_NAME)
    syntax: Syntax
    endpoints: dict[Scheme, str] = Field(description="scheme → host:port")
    source: str = Field(description="the provider's page that says so")
    seen: date

    def place(self, scheme: Scheme) -> tuple[str, int]:
        """Host and port for a scheme.

        Raises:
            ProxyConfigError: the product has no such endpoint.
        """
        place = self.endpoints.get(scheme)
        if place is None:
            known = ", ".join(self.endpoints)
            raise ProxyConfigError(f"{self.provider} names no {scheme} endpoint for {self.name}; write one of {known}")
        host, _, port = place.rpartition(":")
        return host, int(port)


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of a gateway; None leaves it to the provider. ``minutes`` goes with a token alone."""

    country: str | None = None
    token: str | None = None
    minutes: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What user name and password say: the account, and what is asked for."""

    username: str
    password: str = field(repr=False)
    wish: Wish = Wish()


@cache
def products() -> dict[str, dict[str, Product]]:
    """Provider → name of the product → product."""
    import yaml  # noqa: PLC0415  # heavy, and few lists name a provider

    found: dict[str, dict[str, Product]] = {}
    for file in sorted(files(__package__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".yaml"):
            data = yaml.safe_load(file.read_text(encoding="utf-8"))
            found[data["provider"]] = dict(_products_of(data))
    return found


def _products_of(data: dict[str, Any]) -> list[tuple[str, Product]]:
    syntax = Syntax.model_validate(data["syntax"])
    return [
        (name, Product(provider=data["provider"], name=name, syntax=syntax, **told))
        for name, told in data["products"].items()
    ]


def product_of(provider: str, name: str) -> Product:
    """The product of that name.

    Raises:
        ProxyConfigError: there is none; the message names those there are.
    """
    known = products().get(provider)
    if known is None:
        raise ProxyConfigError(f"the provider is not known; write one of {', '.join(products())}")
    if name not in known:
        raise ProxyConfigError(f"{provider} has no such product; write one of {', '.join(known)}")
    return known[name]


def fresh_token(product: Product) -> str:
    """A token that nobody else has: its letters are drawn from 36, ten of them or more."""
    return "".join(secrets.choice(_TOKEN_LETTERS) for _ in range(product.syntax.token_length))


def check_account(product: Product, username: str, password: SecretStr) -> None:
    """See that the account's name and password carry no parameters of their own.

    Raises:
        ProxyConfigError: one is missing, or would be taken for a parameter.
    """
    plain = password.get_secret_value()
    if not username or not plain:
        raise ProxyConfigError(
            f"user name and password missing; write them there, or set FETCHWORKER_{product.provider.upper()}_USERNAME "
            f"and FETCHWORKER_{product.provider.upper()}_PASSWORD"
        )
    carried = username if product.syntax.carrier == "username" else plain
    if any(mark in carried for mark in _marks(product.syntax)):
        raise ProxyConfigError(
            f"the {product.syntax.carrier} carries parameters; write the bare one, and country and lifetime as keys"
        )


def credentials(product: Product, username: str, password: SecretStr, wish: Wish) -> tuple[str, SecretStr]:
    """User name and password for the gateway.

    Args:
        product: what was bought.
        username: of the account, with the provider's prefix or without.
        password: of the account.
        wish: the exit that is asked for.

    Raises:
        ProxyConfigError: a part of the wish is none that the provider takes, or the account's parts are not bare.
    """
    check_account(product, username, password)
    syntax, told = product.syntax, _parameters(product, wish)
    name = syntax.prefix + username.removeprefix(syntax.prefix)
    if syntax.carrier == "username":
        return name + told, password
    return name, SecretStr(password.get_secret_value() + told)


def read_credentials(product: Product, username: str, password: str) -> Told:
    """The reverse of :func:`credentials`, for what answers as a gateway does."""
    syntax = product.syntax
    carried = username if syntax.carrier == "username" else password
    match = _reader(syntax).fullmatch(carried)
    assert match, "the pattern takes anything"
    country, token, minutes = match["country"], match["token"], match["minutes"]
    wish = Wish(country.upper() if country else None, token, int(minutes) if minutes else None)
    bare = match["bare"]
    name, plain = (bare, password) if syntax.carrier == "username" else (username, bare)
    return Told(name.removeprefix(syntax.prefix), plain, wish)


def _parameters(product: Product, wish: Wish) -> str:
    syntax, parts = product.syntax, []
    if wish.country is not None:
        code = country_code(wish.country)
        parts.append(syntax.country.format(code if syntax.country_case == "upper" else code.lower()))
    if wish.token is not None:
        if not re.fullmatch(rf"[a-z0-9]{{{syntax.token_length}}}", wish.token):
            raise ProxyConfigError(f"a token of {product.provider} is {syntax.token_length} small letters and digits")
        parts.append(syntax.session.format(wish.token))
        if wish.minutes is not None:
            parts.append(syntax.lifetime.format(check_minutes(product, wish.minutes)))
    return "".join(parts)


def check_minutes(product: Product, minutes: int) -> int:
    """``minutes``, if the provider keeps an exit so long.

    Raises:
        ProxyConfigError: it does not.
    """
    if not 1 <= minutes <= product.syntax.lifetime_max:
        raise ProxyConfigError(f"the lifetime is not a number of minutes from 1 to {product.syntax.lifetime_max}")
    return minutes


def _marks(syntax: Syntax) -> tuple[str, ...]:
    return tuple(part.removesuffix("{}") for part in (syntax.country, syntax.session, syntax.lifetime))


@cache
def _reader(syntax: Syntax) -> re.Pattern[str]:
    country, session, lifetime = (re.escape(mark) for mark in _marks(syntax))
    return re.compile(
        rf"(?P<bare>.*?)({country}(?P<country>[A-Za-z]{{2}}))?({session}(?P<token>[a-z0-9]+)({lifetime}(?P<minutes>\d{{1,5}}))?)?",
        re.DOTALL,
    )
