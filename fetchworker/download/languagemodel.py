"""The language model that documents are read with beside the rules, where one is configured: the way to it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fetchworker.documents.models import HttpModel
from fetchworker.documents.modelsettings import ModelSettings
from fetchworker.documents.second import SecondEngine
from fetchworker.download.direct import Direct, UnansweredError
from fetchworker.errors import AnswerRejectedError, EgressDeniedError
from fetchworker.telemetry.redaction import register_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fetchworker.config import Environment

#: bytes of an answer at most
_MOST = 4 << 20


def second_engine(environment: Environment, count: Callable[[str], None] = lambda _what: None) -> SecondEngine | None:
    """The language model that is configured; None where none is.

    Args:
        environment: tells which, and where requests may go.
        count: told ``read``, or ``failed/<reason>``, for each document.

    Raises:
        ConfigError: the configuration contradicts itself.
    """
    settings = ModelSettings.of(environment)
    if settings is None:
        return None
    if settings.key is not None:
        register_secret(settings.key)
    direct = Direct(environment, timeout=settings.timeout, most=_MOST)

    async def post(url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        try:
            answer = await direct.send("POST", url, headers, body)
        except EgressDeniedError as exc:
            raise AnswerRejectedError("egress", exc.message) from None
        except UnansweredError as exc:
            raise AnswerRejectedError("timeout" if exc.late else "unreachable", str(exc)) from None
        return answer.status, answer.body

    return SecondEngine(
        HttpModel.of(settings, post),
        name=f"llm-{_digest(settings)}",
        timeout=settings.timeout,
        pages=settings.pages,
        count=count,
    )


def _digest(settings: ModelSettings) -> str:
    """Stands for all that decides what is answered."""
    told = (settings.url, settings.model, str(settings.tokens), str(settings.pages))
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:12]
