"""Ways to a language model: answers from a list, and servers that speak OpenAI's chat completions.

The server's adapter sends nothing itself: the request goes out by the transport that it is given, which is the
project's download path with its egress rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from fetchworker.errors import AnswerRejectedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import SecretStr

    from fetchworker.documents.modelsettings import ModelSettings

_OK = 200
#: statuses that people can do something about
_WHY = {
    401: "it does not take the key",
    403: "it does not take the key",
    404: "there is no such address or model",
    429: "it is asked too often",
}


class Transport(Protocol):
    """Sends one POST and gives status and body; raises an AnswerRejectedError where there is no answer."""

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
            raise AnswerRejectedError("no_completion", "no answer is left")
        return self._answers.pop(0)


@dataclass(frozen=True, slots=True)
class HttpModel:
    """A server that speaks ``POST /chat/completions``, asked with temperature 0 and for JSON only."""

    url: str
    model: str
    transport: Transport
    key: SecretStr | None = None
    max_tokens: int = 4096

    @classmethod
    def of(cls, settings: ModelSettings, transport: Transport) -> HttpModel:
        """The model that is configured."""
        return cls(
            f"{settings.url.rstrip('/')}/chat/completions", settings.model, transport, settings.key, settings.tokens
        )

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
            why = f" ({_WHY[status]})" if status in _WHY else ""
            raise AnswerRejectedError("status", f"the model's server answers with status {status}{why}", status=status)
        return _content(body)


def _content(body: bytes) -> str:
    try:
        content: Any = orjson.loads(body)["choices"][0]["message"]["content"]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError):
        told = "the model's server does not answer with a chat completion"
        raise AnswerRejectedError("no_completion", told) from None
    if not isinstance(content, str):
        raise AnswerRejectedError("no_completion", "the model's server answers without text")
    return content
