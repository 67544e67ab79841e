"""Who may call: API keys, known by their hashes, with scopes and a rate each."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from fetchworker.errors import ConfigError
from fetchworker.service.failures import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.config import Environment

Scope = Literal["fetch", "sites", "sessions", "pool", "documents", "artifacts", "runs", "admin"]
SCOPES: tuple[str, ...] = get_args(Scope)
#: begins every key, so that scanners of code and logs know it
HEAD = "fwk_"
_MINUTE = 60.0


class Key(BaseModel):
    """One key. ``rate``: calls a minute (none: any number), counted in each process by itself.

    ``workspace``: whose artifacts and runs it sees, and whose are those of its calls (none: everybody's).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    hash: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    scopes: Annotated[tuple[Scope, ...], Field(strict=False, min_length=1)]
    rate: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    workspace: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:@-]{1,128}$")] | None = None

    def may(self, scope: str) -> bool:
        """Whether the key opens what ``scope`` stands for; ``admin`` opens everything."""
        return scope in self.scopes or "admin" in self.scopes


_KEYS = TypeAdapter(list[Key])


def hash_of(key: str) -> str:
    """What is kept of a key. A key has 256 random bits, so that a slow hash would guard nothing more."""
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def new_key(
    name: str, scopes: tuple[str, ...], rate: int | None = None, *, workspace: str | None = None
) -> tuple[str, dict[str, object]]:
    """A fresh key, and its entry for the list of keys.

    Raises:
        ConfigError: naming what is wrong with the arguments.
    """
    key = HEAD + secrets.token_urlsafe(32)
    entry: dict[str, object] = {"name": name, "hash": hash_of(key), "scopes": list(scopes)}
    if rate is not None:
        entry["rate"] = rate
    if workspace is not None:
        entry["workspace"] = workspace
    _checked([entry], "the new key")
    return key, entry


def load_keys(environment: Environment) -> list[Key]:
    """The configured keys.

    Raises:
        ConfigError: they cannot be read, or two have the same name.
    """
    if environment.serve_keys_file is not None:
        try:
            text, source = environment.serve_keys_file.read_bytes(), str(environment.serve_keys_file)
        except OSError as exc:
            raise ConfigError(f"FETCHWORKER_SERVE_KEYS_FILE: cannot be read ({exc.strerror})") from exc
    elif environment.serve_keys is not None:
        text, source = environment.serve_keys.get_secret_value().encode(), "FETCHWORKER_SERVE_KEYS"
    else:
        return []
    return _checked(text, source)


def _checked(given: bytes | list[dict[str, object]], source: str) -> list[Key]:
    try:
        keys = _KEYS.validate_json(given) if isinstance(given, bytes) else _KEYS.validate_python(given)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the list"
        raise ConfigError(f"{source}: {place}: {first['msg']}; an entry is made by `scrapy serve --new-key`") from None
    names = [key.name for key in keys]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{source}: two keys are called {twice!r}; give each a name of its own")
    return keys


class _Rate:
    """A bucket of calls that fills evenly."""

    __slots__ = ("at", "left", "most")

    def __init__(self, most: int, now: float) -> None:
        self.most = most
        self.left = float(most)
        self.at = now

    def take(self, now: float) -> float:
        """Seconds until the call may come; 0: now, and it is counted."""
        self.left = min(self.most, self.left + (now - self.at) * self.most / _MINUTE)
        self.at = now
        if self.left >= 1:
            self.left -= 1
            return 0.0
        return (1 - self.left) * _MINUTE / self.most


class Callers:
    """Knows callers by their keys.

    Args:
        keys: none: nobody is asked for one (the command allows that on loopback alone).
        clock: seconds, monotonic.
    """

    def __init__(self, keys: list[Key], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._listed = keys
        self._keys = {key.hash: key for key in keys}
        self._rates = {key.name: _Rate(key.rate, clock()) for key in keys if key.rate is not None}
        #: names of the callers since somebody has looked
        self.seen: set[str] = set()

    def __len__(self) -> int:
        return len(self._keys)

    def renew(self, others: list[Key]) -> None:
        """Know these beside the list's; a name of the list is the list's."""
        names = {key.name for key in self._listed}
        self._keys = {key.hash: key for key in [*self._listed, *(key for key in others if key.name not in names)]}

    def workspace_of(self, name: str | None) -> str | None:
        """The workspace of the key with this name, None where it has none."""
        return next((key.workspace for key in self._keys.values() if key.name == name), None)

    def admit(self, given: str | None, scope: str) -> str | None:
        """The name of the caller, None where nobody is asked.

        Raises:
            ApiError: UNAUTHENTICATED, FORBIDDEN or RATE_LIMITED.
        """
        if not self._keys:
            return None
        key = self._known(given)
        if not key.may(scope):
            raise ApiError("FORBIDDEN", f"the key {key.name!r} has not the scope {scope!r}", scope=scope)
        rate = self._rates.get(key.name)
        wait = rate.take(self._clock()) if rate is not None else 0.0
        if wait:
            after = max(1, round(wait + 0.5))
            told = f"the key {key.name!r} may make {key.rate} calls a minute"
            raise ApiError("RATE_LIMITED", told, headers={"retry-after": str(after)}, retry_after=after, reason="key")
        self.seen.add(key.name)
        return key.name

    def _known(self, given: str | None) -> Key:
        wanted = hash_of(given) if given else ""
        found = None
        for known, key in self._keys.items():  # all of them: the time tells nothing about the one
            if hmac.compare_digest(known, wanted):
                found = key
        if found is None:
            told = "unknown API key" if given else "an API key is needed, as a bearer token or in x-api-key"
            raise ApiError("UNAUTHENTICATED", told, headers={"www-authenticate": "Bearer"})
        return found
