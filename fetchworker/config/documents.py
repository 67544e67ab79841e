"""The variables of documents: whether items' documents are read, and how much of each."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # pydantic reads it

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings


class DocumentVariables(BaseSettings):
    """``FETCHWORKER_DOCUMENTS*``."""

    documents: bool = Field(
        default=False, description="true to read the invoices and receipts of items, or false", examples=["true"]
    )
    documents_workers: int = Field(
        default=2, ge=1, le=64, description="how many processes read documents", examples=["2"]
    )
    documents_waiting: int = Field(
        default=64, ge=0, le=10_000, description="how many documents may wait for a process", examples=["64"]
    )
    documents_bytes: int = Field(
        default=20_971_520, ge=1, le=1 << 30, description="the bytes of a document at most", examples=["20971520"]
    )
    documents_pages: int = Field(
        default=20, ge=1, le=1000, description="how many pages of a document are read", examples=["20"]
    )
    documents_edge: int = Field(
        default=4000,
        ge=500,
        le=10_000,
        description="the pixels that a page's longer edge is scaled down to",
        examples=["4000"],
    )
    documents_megapixels: int = Field(
        default=80, ge=1, le=1000, description="the megapixels of a picture at most", examples=["80"]
    )
    documents_seconds: float = Field(
        default=120, gt=0, le=3600, description="the seconds that reading a document may take", examples=["120"]
    )
    documents_rows: int = Field(
        default=2000, ge=1, le=1_000_000, description="how many rows of items of a document are told", examples=["2000"]
    )
    documents_recycle_pages: int = Field(
        default=200, ge=1, le=1_000_000, description="the pages after which a process is replaced", examples=["200"]
    )
    documents_recycle_megabytes: int = Field(
        default=900,
        ge=100,
        le=1_000_000,
        description="the megabytes above which a process is replaced",
        examples=["900"],
    )
    documents_llm_url: str | None = Field(
        default=None,
        description="the address of a language model's server (OpenAI's chat completions)",
        examples=["https://api.example.com/v1"],
    )
    documents_llm_model: str | None = Field(
        default=None, max_length=200, description="the name that the server knows the model by", examples=["small"]
    )
    documents_llm_key: SecretStr | None = Field(
        default=None, description="the key of the language model's server", examples=["sk-…"]
    )
    documents_llm_key_file: Path | None = Field(
        default=None, description="the path of a file with that key alone", examples=["llm.key"]
    )
    documents_llm_timeout: float = Field(
        default=60,
        gt=0,
        le=3600,
        description="the seconds that a language model's answers about a file may take",
        examples=["60"],
    )
    documents_llm_tokens: int = Field(
        default=4096, ge=64, le=1_000_000, description="the tokens of such an answer at most", examples=["4096"]
    )
    documents_llm_pages: int = Field(
        default=5,
        ge=1,
        le=1000,
        description="how many pages of a document a language model is told the lines of",
        examples=["5"],
    )
