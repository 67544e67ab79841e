"""The one reader of a service's documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.documents import DocumentReader
from fetchworker.download.languagemodel import second_engine
from fetchworker.errors import ConfigError
from fetchworker.runtime import document_settings
from fetchworker.service.failures import ApiError

if TYPE_CHECKING:
    from fetchworker.config import Environment


class Documents:
    """Opens the reader with its first use; its processes start with the first document."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._reader: DocumentReader | None = None

    async def get(self) -> DocumentReader:
        """The reader.

        Raises:
            ApiError: NOT_INSTALLED, saying what to install.
        """
        if self._reader is None:
            try:
                settings = document_settings(self._environment)
                second = second_engine(self._environment)
            except ConfigError as exc:
                raise ApiError("NOT_INSTALLED", exc.message) from exc
            # set before it is entered: who comes meanwhile gets the same one
            self._reader = DocumentReader(settings, second)
            await self._reader.__aenter__()
        return self._reader

    async def close(self) -> None:
        """End what is under way, and the processes."""
        if self._reader is not None:
            await self._reader.close()
