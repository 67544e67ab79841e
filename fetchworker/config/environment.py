"""The variables, and what their values may be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, SecretStr, StringConstraints, field_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from fetchworker.config.artifacts import ArtifactVariables
from fetchworker.config.browsing import BrowserVariables
from fetchworker.config.destinations import EVERY_DEFAULT_PORT, Destination, destination, destinations, port_ranges
from fetchworker.config.documents import DocumentVariables
from fetchworker.config.jobs import JobVariables
from fetchworker.config.rates import rate
from fetchworker.config.runs import RunVariables
from fetchworker.config.serving import Serving
from fetchworker.config.texts import host_map_entry, passwords
from fetchworker.errors import CredentialMissingError

if TYPE_CHECKING:
    from collections.abc import Callable

#: head of every variable that is ours
PREFIX = "FETCHWORKER_"

_REDIS_SCHEME = re.compile(r"(rediss?(\+(sentinel|cluster))?|unix|sentinel|cluster)://\S+\Z", re.IGNORECASE)
_DATABASE_URL = re.compile(r"sqlite:///[^?\n]*[^?/\n]\Z|postgres(ql)?://\S+\Z")


def _parsed(parse: Callable[[str], Any]) -> PlainValidator:
    """Values are texts for ``parse``, or what it made of one."""
    return PlainValidator(lambda value: parse(value) if isinstance(value, str) else value)


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$")]
"""An id that may stand in a Redis key, a file name and a URL."""
Destinations = Annotated[tuple[Destination, ...], NoDecode, _parsed(destinations)]
PortRanges = Annotated[tuple[tuple[int, int], ...], NoDecode, _parsed(port_ranges)]
Rate = Annotated[tuple[float, int] | None, NoDecode, _parsed(rate)]
LogFormat = Annotated[Literal["auto", "json", "text"], BeforeValidator(_lower)]
LogLevel = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], BeforeValidator(_upper)]

_NAME = "1 to 64 letters, digits, dots, hyphens or underscores, no dot first"


_SHOWN = 4  # hosts of the map that a warning names


class Environment(Serving, DocumentVariables, ArtifactVariables, BrowserVariables, JobVariables, RunVariables):
    """The values of the ``FETCHWORKER_*`` variables, checked. Made by :func:`fetchworker.config.load_environment`.

    ``Environment()`` gives the defaults and reads nothing, which suits tests. Paths of a loaded environment are
    absolute; times are seconds.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, hide_input_in_errors=True, str_strip_whitespace=True
    )

    # description and example are what an error tells the reader to write
    proxies: SecretStr | None = Field(
        default=None, description="proxies as lines or JSON, or @ and a file's path", examples=["@proxies.txt"]
    )
    proxies_file: Path | None = Field(default=None, description="the path of a proxy list", examples=["proxies.txt"])
    redis_url: SecretStr | None = Field(
        default=None, description="the URL of the Redis server", examples=["redis://127.0.0.1:6379/0"]
    )
    redis_keep_running: bool = Field(
        default=True,
        description="true to leave a Redis that we started running at the end, or false",
        examples=["true"],
    )
    redis_patience: float = Field(
        default=30,
        ge=0,
        le=3600,
        description="the seconds that a Redis which does not answer is waited for",
        examples=["30"],
    )
    frontier: Literal["redis", "memory"] = Field(
        default="redis",
        description="where the requests of a crawl with arguments are kept, redis (it can be resumed) or memory",
        examples=["redis"],
    )
    lease: float = Field(
        default=60,
        ge=1,
        le=86_400,
        description="the seconds that a worker may be silent before its requests go to others",
        examples=["60"],
    )
    aging: float = Field(
        default=30,
        ge=0,
        le=86_400,
        description="the seconds after which a low priority that is not served gets a share",
        examples=["30"],
    )
    attempts: int = Field(
        default=3, ge=1, le=200, description="how often the callback of a request may fail", examples=["3"]
    )
    attempt_delay: float = Field(
        default=5,
        ge=0,
        le=3600,
        description="the seconds before the second attempt, doubled for each further one",
        examples=["5"],
    )
    grace: float = Field(
        default=30,
        ge=0,
        le=86_400,
        description="the seconds that a crawl which is told to end waits for what is under way",
        examples=["30"],
    )
    deliveries: int = Field(
        default=10, ge=1, le=200, description="how many workers may go down with a request", examples=["10"]
    )
    crawl_ttl: float = Field(
        default=604_800,
        ge=1,
        description="the seconds that the queue of an ended or abandoned crawl is kept",
        examples=["604800"],
    )
    worker: Name | None = Field(default=None, description=_NAME, examples=["crawler-1"])
    state_dir: Path = Field(
        default=Path(".fetchworker"), description="the path of a folder for our own state", examples=[".fetchworker"]
    )
    sites_file: Path = Field(
        default=Path("sites.yaml"), description="the path of the file of the sites", examples=["sites.yaml"]
    )
    crawl_id: Name | None = Field(default=None, description=_NAME, examples=["nightly-7"])
    trace_id: Name | None = Field(default=None, description=_NAME, examples=["4bf92f3577b34da6"])
    host_map: dict[str, str] = Field(
        default_factory=dict,
        description='a JSON object of "host[:port]": "ip:port"',
        examples=['{"www.example.com:443": "127.0.0.1:8443"}'],
    )
    ca_file: Path | None = Field(
        default=None, description="the path of a PEM file of certificates to trust as well", examples=["ca.pem"]
    )
    egress_allow: Destinations = Field(
        default=(),
        description="hosts, host:port, addresses or networks that may be reached though they are not public",
        examples=["wiki.corp.example,10.1.0.0/16,127.0.0.1:8080"],
    )
    egress_ports: PortRanges = Field(
        default=EVERY_DEFAULT_PORT, description="ports and ranges of ports", examples=["80,443,1024-65535"]
    )
    proxy_cooldown: float = Field(
        default=60,
        ge=0,
        le=3600,
        description="the seconds that a proxy rests for a site after its first block there",
        examples=["60"],
    )
    proxies_reload: float = Field(
        default=5,
        ge=0,
        le=3600,
        description="the seconds between two looks at the proxy file, 0 for none",
        examples=["5"],
    )
    proxy_check: bool = Field(
        default=True,
        description="true to have proxies try our credentials before a crawl begins, or false",
        examples=["true"],
    )
    no_egress_patience: float = Field(
        default=300,
        ge=0,
        le=86_400,
        description="the seconds that a site whose proxies are all out is paused before the crawl ends",
        examples=["300"],
    )
    evomi_username: str | None = Field(default=None, description="the user name of Evomi's proxies", examples=["ann"])
    evomi_password: SecretStr | None = Field(
        default=None, description="the password of Evomi's proxies, without parameters", examples=["…"]
    )
    decodo_username: str | None = Field(default=None, description="the user name of Decodo's proxies", examples=["ann"])
    decodo_password: SecretStr | None = Field(
        default=None, description="the password of Decodo's proxies", examples=["…"]
    )
    clients_max: int = Field(
        default=200, ge=1, le=10_000, description="how many identities keep their connections open", examples=["200"]
    )
    limit_concurrency: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="how many requests all processes of a Redis may have under way",
        examples=["200"],
    )
    limit_rate: Rate = Field(
        default=None,
        description="requests a second of all processes of a Redis, / and how many at once",
        examples=["50/100"],
    )
    session_ttl: float = Field(
        default=86_400,
        gt=0,
        allow_inf_nan=False,
        description="the seconds that an unused session is kept",
        examples=["86400"],
    )
    usage_ttl: int = Field(
        default=34_560_000,
        ge=86_400,
        le=1 << 40,
        description="the whole seconds that the usage of a day is kept",
        examples=["34560000"],
    )
    contact_data: bool = Field(
        default=False,
        description="true to keep mail addresses and telephone numbers that pages show, or false",
        examples=["true"],
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="the URL of the database, sqlite:///path or postgresql://…",
        examples=["postgresql://user:password@127.0.0.1/fetchworker"],
    )
    store: bool | None = Field(
        default=None, description="true to store items in the database, or false", examples=["true"]
    )
    store_batch: int = Field(
        default=200, ge=1, le=5000, description="how many items one transaction stores at most", examples=["200"]
    )
    store_delay: float = Field(
        default=0.01, ge=0, le=60, description="the seconds that a batch gathers items", examples=["0.01"]
    )
    store_patience: float = Field(
        default=60,
        ge=0,
        le=3600,
        description="the seconds that a database which does not answer is tried again",
        examples=["60"],
    )
    meta_access_token: SecretStr | None = Field(
        default=None,
        description="the access token for the official API of the Ad Library",
        examples=["EAAB…"],
    )
    evomi_api_key: SecretStr | None = Field(
        default=None, description="the key of Evomi's public API", examples=["0a1b2c…"]
    )
    decodo_api_key: SecretStr | None = Field(
        default=None, description="the key of Decodo's public API", examples=["0a1b2c…"]
    )
    media: bool = Field(default=False, description="true to fetch the media of items, or false", examples=["true"])
    media_store: SecretStr | None = Field(
        default=None,
        description="a folder, or a URL that fsspec knows",
        examples=["s3://bucket/media"],
    )
    media_max_bytes: int = Field(
        default=33_554_432, ge=1, le=1 << 30, description="the bytes of a file at most", examples=["33554432"]
    )
    log_format: LogFormat = Field(default="auto", description="auto, json or text", examples=["json"])
    log_level: LogLevel | None = Field(
        default=None, description="DEBUG, INFO, WARNING, ERROR or CRITICAL", examples=["INFO"]
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Values come from ``load_environment`` alone, which checks what it reads."""
        return (init_settings,)

    @field_validator("redis_url")
    @classmethod
    def _redis_url(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not _REDIS_SCHEME.match(value.get_secret_value()):
            raise ValueError(
                "must be a URL that begins with redis://, rediss://, unix://, redis+sentinel:// or redis+cluster:// "
                "(or rediss+…)"
            )
        return value

    @field_validator("database_url")
    @classmethod
    def _database_url(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not _DATABASE_URL.match(value.get_secret_value()):
            raise ValueError("must be a URL that begins with sqlite:/// or postgresql://")
        return value

    @field_validator("host_map")
    @classmethod
    def _host_map(cls, value: dict[str, str]) -> dict[str, str]:
        entries = dict(host_map_entry(host, address) for host, address in value.items())
        for host in entries:
            destination(host)
        return entries

    def destinations(self) -> tuple[Destination, ...]:
        """What may be reached though it is not public: the allow list, and the host map's hosts and targets."""
        mapped = (destination(place) for pair in self.host_map.items() for place in pair)
        return (*self.egress_allow, *mapped)

    def secrets(self) -> frozenset[str]:
        """The secret values known so far, for the log to hide; who parses the proxy list knows more of them."""
        told = {name: value for name in SECRETS if (value := getattr(self, name)) is not None}
        urls = [url for name in URLS if name in told for url in told[name].get_secret_value().split()]
        found = {secret for url in urls for secret in passwords(url)}
        found |= {told[name].get_secret_value() for name in told.keys() & KEYS}
        return frozenset(found)

    def accounts(self) -> dict[str, tuple[str | None, SecretStr | None]]:
        """Provider of proxies → user name and password."""
        return {
            "evomi": (self.evomi_username, self.evomi_password),
            "decodo": (self.decodo_username, self.decodo_password),
        }

    def secret(self, name: str) -> str:
        """The credential in the variable ``FETCHWORKER_<NAME>``.

        Raises:
            CredentialMissingError: it is not set.
        """
        value: SecretStr | None = getattr(self, name)
        if value is None:
            raise CredentialMissingError(f"{PREFIX}{name.upper()} is not set: put {self._described(name)} there")
        return value.get_secret_value()

    @classmethod
    def _described(cls, name: str) -> str:
        return cls.model_fields[name].description or name

    @property
    def stores(self) -> bool:
        """Whether items go to a database: as told, or else when one is named."""
        return self.database_url is not None if self.store is None else self.store

    def notes(self) -> tuple[str, ...]:
        """What an operator should be warned of, one sentence each."""
        if not self.host_map:
            return ()
        shown = sorted({host.rpartition(":")[0] or host for host in self.host_map})
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        hosts = ", ".join(shown[:_SHOWN]) + more
        return (f"{PREFIX}HOST_MAP is on, for tests and demos only; these hosts are not the real ones: {hosts}",)


#: the fields that hold secrets
SECRETS = frozenset(name for name, field in Environment.model_fields.items() if field.annotation == SecretStr | None)
#: those of them that are URLs of servers, one or several: a password may stand in them
URLS = frozenset({"redis_url", "database_url", "media_store", "artifacts_store", "nodes"})
#: those that hold several: who reads them knows which
_LISTS = frozenset({"proxies", "serve_keys"})
#: those that are secret as a whole
KEYS = SECRETS - URLS - _LISTS
