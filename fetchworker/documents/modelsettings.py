"""Which language model is asked beside the rules, and how: the configuration, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from pydantic import SecretStr

from fetchworker.egress import EgressPolicy
from fetchworker.egress.policy import REASONS
from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from fetchworker.config import Environment

_URL, _MODEL, _KEY = (f"FETCHWORKER_DOCUMENTS_LLM_{name}" for name in ("URL", "MODEL", "KEY"))
#: longer ones are no keys
_LONGEST_KEY = 4096
_ANY_PORT = ((1, 65_535),)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """A server that speaks OpenAI's chat completions.

    Args:
        url: its address, to which ``/chat/completions`` is added.
        model: the name it knows the model by.
        key: what it lets us in with.
        timeout: seconds that the answers about a file may take.
        tokens: how long an answer may be.
        pages: the model is told the lines of so many pages of a document, from the first.
    """

    url: str
    model: str
    key: SecretStr | None = None
    timeout: float = 60
    tokens: int = 4096
    pages: int = 5

    @classmethod
    def of(cls, environment: Environment) -> Self | None:
        """As the environment has it; None where no model is to be asked.

        Raises:
            ConfigError: the variables contradict each other or the egress rules; names them.
        """
        if environment.documents_llm_url is None:
            _nothing_without_url(environment)
            return None
        if not environment.documents_llm_model:
            raise ConfigError(f"{_URL} is set, but no model is named: set {_MODEL}, or unset {_URL}")
        found = cls(
            environment.documents_llm_url,
            environment.documents_llm_model,
            _key(environment),
            environment.documents_llm_timeout,
            environment.documents_llm_tokens,
            environment.documents_llm_pages,
        )
        _check_url(found, environment)
        return found


def _nothing_without_url(environment: Environment) -> None:
    told = sorted(name for name in environment.model_fields_set if name.startswith("documents_llm_"))
    if told:
        names = ", ".join(f"FETCHWORKER_{name.upper()}" for name in told)
        raise ConfigError(f"{names}: set without {_URL}, so that no model would be asked; set it too, or unset these")


def _check_url(settings: ModelSettings, environment: Environment) -> None:
    url = settings.url
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError(f"{_URL}: write an http or https address without a query, such as https://api.example.com/v1")
    decision = EgressPolicy(allow=environment.destinations(), ports=environment.egress_ports).classify(url)
    if not decision.allowed:
        # a user name or a password in it is not repeated
        place = parts.netloc.rpartition("@")[2]
        hint = "" if decision.reason == "userinfo" else f"; to allow it, list {place} in FETCHWORKER_EGRESS_ALLOW"
        raise ConfigError(f"{_URL}: {place} may not be reached: {REASONS[decision.reason]}{hint}")
    public = EgressPolicy(ports=_ANY_PORT).classify(url).allowed
    if settings.key is not None and parts.scheme == "http" and public:
        raise ConfigError(f"{_URL}: the key would be sent over the internet as it stands: write https://")


def _key(environment: Environment) -> SecretStr | None:
    told, file = environment.documents_llm_key, environment.documents_llm_key_file
    if told is not None and file is not None:
        raise ConfigError(f"{_KEY}: set beside {_KEY}_FILE; unset one of them")
    key = told.get_secret_value() if told is not None else None if file is None else _of_file(file)
    if key is None:
        return None
    if not key.isascii() or not key.isprintable() or " " in key or not 0 < len(key) <= _LONGEST_KEY:
        source = _KEY if file is None else f"{_KEY}_FILE"
        raise ConfigError(f"{source}: a key is one word of ASCII characters, and nothing else")
    return SecretStr(key)


def _of_file(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_LONGEST_KEY + 2).decode().strip()
    except (OSError, UnicodeDecodeError) as exc:
        why = getattr(exc, "strerror", None) or "it is no text"
        raise ConfigError(f"{_KEY}_FILE: {file} cannot be read ({why})") from None
