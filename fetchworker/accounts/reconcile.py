"""``scrapy usage reconcile``: ours beside what a provider billed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from fetchworker.accounts.asking import Asking
from fetchworker.accounts.show import DONE, today, used_by, write
from fetchworker.config import command_line, load_environment
from fetchworker.errors import ArgumentError, ConfigError
from fetchworker.usage import compare
from fetchworker.usage.decodo import DecodoUsage
from fetchworker.usage.evomi import EvomiUsage
from fetchworker.usage.report import days_of

if TYPE_CHECKING:
    from datetime import date

    from pydantic import SecretStr
    from scrapy.settings import BaseSettings

    from fetchworker.config import Environment
    from fetchworker.usage.billed import BilledUsage

PROVIDERS = ("evomi", "decodo")


async def reconcile(
    settings: BaseSettings, provider: str | None, *, day: str | None, since: str | None, until: str | None, json: bool
) -> int:
    """Print what we counted beside what a provider billed.

    Raises:
        ArgumentError: it cannot be asked so.
        ConfigError: the environment is wrong, or the provider's key is not there.
        RedisUnavailableError: there is no Redis.
        BilledUsageError: the provider does not tell.
    """
    days = days_of(day, since, until, today=today())
    if provider not in PROVIDERS:
        raise ArgumentError(f"write --provider with one of {', '.join(PROVIDERS)}")
    port = _port(load_environment(overrides=command_line(settings)), provider, today())
    used = await used_by(settings, (), days)
    ours = {key.tier for _, key in used if key.provider == provider}
    asked = [tier for tier in port.tiers if tier in ours] if ours and ours <= set(port.tiers) else port.tiers
    lines = compare.lines_of(used, await port.billed(days, asked), provider)
    why = compare.reasons(lines, port.notes(), today=str(today()), tiers=port.tiers) if lines else []
    if json:
        write([orjson.dumps(compare.as_json(provider, lines, why)).decode()])
    else:
        write(compare.as_text(lines, why) if lines else [f"neither we nor {provider} know of any usage then"])
    return DONE


def _port(environment: Environment, provider: str, now: date) -> BilledUsage:
    ask = Asking(environment)
    if provider == "evomi":
        return EvomiUsage(_key(environment, "evomi_api_key"), ask, today=now)
    return DecodoUsage(_key(environment, "decodo_api_key"), ask)


def _key(environment: Environment, name: str) -> SecretStr:
    value: SecretStr | None = getattr(environment, name)
    if value is None:
        environment.secret(name)  # which says what to do
        raise ConfigError(f"no {name}")
    return value
