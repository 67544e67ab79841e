"""Engine B at work: asks a language model about what the rules have read; its failures cost nothing but a note."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fetchworker.documents import llm
from fetchworker.errors import AnswerRejectedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fetchworker.documents.llm import Model
    from fetchworker.documents.model import Document, Reading

logger = logging.getLogger(__name__)

#: questions under way at once, of all files
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Opinion:
    """What became of a question: the reading, and why it is the rules' alone (a reason of AnswerRejectedError)."""

    reading: Reading
    failed: str | None = None


class SecondEngine:
    """Asks a model about documents, beside the rules.

    Args:
        model: the way to it.
        name: what it is; readings of another model are not taken for its own.
        timeout: seconds that the answers about the documents of a file may take.
        pages: the lines of so many pages of a document are told, from the first.
        count: told ``read``, or ``failed/<reason>``, for each document.
    """

    def __init__(
        self,
        model: Model,
        *,
        name: str,
        timeout: float = 60,
        pages: int = 5,
        count: Callable[[str], None] = lambda _what: None,
    ) -> None:
        self.name = name
        self.timeout = timeout
        self._model = model
        self.pages = pages
        self._count = count
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def opinions(self, documents: Sequence[tuple[Document, Reading]]) -> list[Opinion]:
        """What the documents of a file say by both engines; never an error."""
        until = asyncio.get_running_loop().time() + self.timeout
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._opinion(document, rules, until)) for document, rules in documents]
        return [task.result() for task in tasks]

    async def _opinion(self, document: Document, rules: Reading, until: float) -> Opinion:
        if not any(page.lines for page in document.pages):  # an electronic invoice, an empty page
            return Opinion(rules)
        try:
            async with asyncio.timeout_at(until), self._places:
                reading = await llm.second(document, rules, self._model, pages=self.pages)
        except TimeoutError:
            return self._without(rules, AnswerRejectedError("timeout", f"no answer in {self.timeout:g} seconds"))
        except AnswerRejectedError as exc:
            return self._without(rules, exc)
        self._count("read")
        return Opinion(reading)

    def _without(self, rules: Reading, error: AnswerRejectedError) -> Opinion:
        self._count(f"failed/{error.reason}")
        logger.warning("a document is read by rules alone: %s (%s)", error.message, error.reason)
        note = f"read by rules alone; of the language model: {error.message} ({error.reason})"
        return Opinion(rules.noted(note), error.reason)
