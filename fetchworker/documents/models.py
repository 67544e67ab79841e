"""Ways to a language model: answers from a list, and servers that speak OpenAI's chat completions.

The server's adapter sends nothing itself: the request goes out by the transport that it is given, which is the
project's download path with its egress rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from fetchworker.errors import AnswerRejectedError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import SecretStr

_OK = 200


class Transport(Protocol):
    """Sends one POST and gives status and body; raises the project's own errors."""

    async def __call__(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]: ...


class CannedModel:
    """Gives the answers of a list, one after another; for tests, and for answers that were made elsewhere."""

    def __init__(self, answers: Iterable[str]) -> None:
        self._answers = list(answers)
        #: what was asked so far
        self.asked: list[str] = []

    async def answer(self, instruction: str) -> str:
        """The next answer.

        Raises:
            AnswerRejectedError: there is none left.
        """
        self.asked.append(instruction)
        if not self._answers:
            raise AnswerRejectedError("no answer is left")
        return self._answers.pop(0)


@dataclass(frozen=True, slots=True)
class HttpModel:
    """A server that speaks ``POST /chat/completions``, asked with temperature 0 and for JSON only."""

    url: str
    model: str
    transport: Transport
    key: SecretStr | None = None
    max_tokens: int = 4096

    async def answer(self, instruction: str) -> str:
        """The server's answer.

        Raises:
            AnswerRejectedError: its status is not 200, or its body is no chat completion.
        """
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key.get_secret_value()}"
        asked = {
            "model": self.model,
            "temperature": 0,
            "max_tokens": self.max_tokens,
            "response_format": {"type": "json_object"},
            "messages": [{"role": "user", "content": instruction}],
        }
        status, body = await self.transport(self.url, headers, orjson.dumps(asked))
        if status != _OK:
            raise AnswerRejectedError(f"the model's server answered with status {status}", status=status)
        return _content(body)


def http_model(
    url: str | None, model: str | None, transport: Transport, key: SecretStr | None = None
) -> HttpModel | None:
    """The model that is configured; None where no address is.

    Raises:
        ConfigError: the address is none of http or https, or no model is named.
    """
    if not url:
        return None
    if not url.startswith(("http://", "https://")):
        raise ConfigError("the address of the language model has to begin with http:// or https://")
    if not model:
        raise ConfigError("a language model's server is configured, but no model is named")
    return HttpModel(f"{url.rstrip('/')}/chat/completions", model, transport, key)


def _content(body: bytes) -> str:
    try:
        content: Any = orjson.loads(body)["choices"][0]["message"]["content"]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError):
        raise AnswerRejectedError("the model's server did not answer with a chat completion") from None
    if not isinstance(content, str):
        raise AnswerRejectedError("the model's server answered without text")
    return content
