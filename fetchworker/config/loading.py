"""From variables to an :class:`Environment`, or to a list of all that is wrong with them."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource, SettingsError

from fetchworker.config.environment import KEYS, PREFIX, SECRETS, URLS, Environment
from fetchworker.config.files import project_dir, with_paths
from fetchworker.config.serving import Serving
from fetchworker.config.texts import may_be_shown, passwords
from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_core import ErrorDetails
    from scrapy.settings import BaseSettings as ScrapySettings

#: the name by which Redis is known everywhere else; the same as FETCHWORKER_REDIS_URL
PLAIN_REDIS_URL = "REDIS_URL"

#: the name by which the drain's time is known elsewhere; the same as FETCHWORKER_SHUTDOWN_DRAIN_SECONDS, which wins
PLAIN_DRAIN = "SHUTDOWN_DRAIN_SECONDS"

_REDIS = f"{PREFIX}REDIS_URL"
_PROXIES = f"{PREFIX}PROXIES"
_PROXIES_FILE = f"{PREFIX}PROXIES_FILE"
_HOST_MAP = f"{PREFIX}HOST_MAP"
_FROM_COMMAND_LINE = 40  # scrapy.settings.SETTINGS_PRIORITIES["cmdline"]

#: those of one part of the project after those of all
_FIELDS = {PREFIX + f.upper(): f for f in sorted(Environment.model_fields, key=Serving.model_fields.__contains__)}
#: fields whose wrong values are not shown: secrets, and texts of many parts, whose errors name the part
_HIDDEN = SECRETS | {"documents_llm_url", "control_url", "host_map", "egress_allow", "egress_ports"}


def load_environment(
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    project: Path | None = None,
) -> Environment:
    """Read and check the ``FETCHWORKER_*`` variables.

    Args:
        environ: the variables; default ``os.environ``. Empty ones count as unset.
        overrides: values from the command line (``scrapy crawl -s FETCHWORKER_X=…``, see :func:`command_line`); they
            win over the environment. A secret in them is refused, since every user of the host can read it.
        project: what relative paths are relative to; default :func:`project_dir`.

    Raises:
        ConfigError: one line per fault; ``context["variables"]`` lists the variables.
    """
    given = _ours(os.environ if environ is None else environ)
    over = _ours({name: _as_text(value) for name, value in (overrides or {}).items() if value is not None})
    faults = [*_unknown(given | over), *_twice(given), *_twice(over), *_secrets_shown(over)]
    env, wrong = _validated(_merged(given, over))
    faults += [(_as_named(name, given | over), text) for name, text in wrong]
    if env is not None:
        env, missing = with_paths(env, project or project_dir())
        faults += [(name, text + _write(name)) for name, text in missing]
    if faults or env is None:
        raise ConfigError("\n".join(f"{name}: {text}" for name, text in faults), variables=[name for name, _ in faults])
    return env


def command_line(settings: ScrapySettings) -> dict[str, Any]:
    """What ``-s`` gave of ours: the ``overrides`` for :func:`load_environment`."""
    return {
        name: settings[name]
        for name in settings
        if _is_ours(name) and (settings.getpriority(name) or 0) >= _FROM_COMMAND_LINE
    }


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class _MappingSource(EnvSettingsSource):
    """pydantic-settings' reading of an environment, from a mapping instead of ``os.environ``."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        super().__init__(Environment)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._values.items()}


def _is_ours(name: str) -> bool:
    return name in (PLAIN_REDIS_URL, PLAIN_DRAIN) or name.upper().startswith(PREFIX)


def _ours(values: Mapping[str, str]) -> dict[str, str]:
    found = {name.upper(): text for name, value in values.items() if _is_ours(name) and (text := value.strip())}
    drain = found.pop(PLAIN_DRAIN, None)
    return {PREFIX + PLAIN_DRAIN: drain} | found if drain else found


def _as_text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, Mapping | list | tuple) else str(value)


def _merged(given: Mapping[str, str], over: Mapping[str, str]) -> dict[str, str]:
    """The overrides over the environment. The names of one thing go together: a new one drops all the old ones."""
    merged = dict(given)
    for names in ({_REDIS, PLAIN_REDIS_URL}, {_PROXIES, _PROXIES_FILE}):
        if names & over.keys():
            merged = {name: value for name, value in merged.items() if name not in names}
    merged |= over
    plain = merged.pop(PLAIN_REDIS_URL, None)
    return {_REDIS: plain} | merged if plain else merged


def _validated(values: Mapping[str, str]) -> tuple[Environment | None, list[tuple[str, str]]]:
    known = {name: value for name, value in values.items() if name in _FIELDS}
    try:
        return Environment(**_MappingSource(known)()), []
    except ValidationError as exc:
        return None, [_fault(error, known) for error in exc.errors(include_url=False, include_input=False)]
    except SettingsError:  # the one value that is JSON: say so, and go on with the others
        _, more = _validated({name: value for name, value in known.items() if name != _HOST_MAP})
        return None, [(_HOST_MAP, "is not JSON" + _write(_HOST_MAP)), *more]


# ── faults: pairs of variable and text ───────────────────────────────────────────────────────────────────────────────


def _write(name: str) -> str:
    info = Environment.model_fields[_FIELDS[name]]
    example = (info.examples or [""])[0]
    return f"; write {info.description}, such as {name}={example}"


def _fault(error: ErrorDetails, values: Mapping[str, str]) -> tuple[str, str]:
    name = PREFIX + str(error["loc"][0]).upper()
    what = error["msg"].removeprefix("Value error, ").replace("Input should", "must").partition(", unable to")[0]
    if error["type"] == "string_pattern_mismatch":
        what = "is too long or has other characters"
    return name, what + _shown(name, values.get(name, "")) + _write(name)


def _shown(name: str, value: str) -> str:
    return f", not {value!r}" if _FIELDS[name] not in _HIDDEN and may_be_shown(value) else ""


def _unknown(values: Mapping[str, str]) -> list[tuple[str, str]]:
    unknown = sorted(values.keys() - _FIELDS.keys() - {PLAIN_REDIS_URL})
    return [(name, f"unknown variable; {_nearest(name)}") for name in unknown]


def _as_named(name: str, values: Mapping[str, str]) -> str:
    return PLAIN_REDIS_URL if name == _REDIS and _REDIS not in values else name


def _nearest(name: str) -> str:
    ours = [known.removeprefix(PREFIX) for known in _FIELDS]
    near = difflib.get_close_matches(name.removeprefix(PREFIX), ours, n=1, cutoff=0.6)
    return f"did you mean {PREFIX}{near[0]}?" if near else f"known are {', '.join(_FIELDS)}"


def _twice(values: Mapping[str, str]) -> list[tuple[str, str]]:
    faults = []
    if len({values[name] for name in (_REDIS, PLAIN_REDIS_URL) if name in values}) > 1:
        faults.append((_REDIS, f"differs from {PLAIN_REDIS_URL}, and both are set; unset one of them"))
    if {_PROXIES, _PROXIES_FILE} <= values.keys():
        faults.append((_PROXIES, f"set beside {_PROXIES_FILE}; unset one of them"))
    return faults


def _secrets_shown(over: Mapping[str, str]) -> list[tuple[str, str]]:
    why = "must not be given with -s: every user of the host can read a command line; set it in the environment"
    faults = []
    if not over.get(_PROXIES, "@").startswith("@"):
        faults.append((_PROXIES, f"{why}, or name a file with -s {_PROXIES_FILE}=proxies.txt"))
    faults += [(name, why) for name in sorted(over) if _FIELDS.get(name) in KEYS]
    told = [name for name in over if name == PLAIN_REDIS_URL or _FIELDS.get(name) in URLS]
    urls = [name for name in told if any(map(passwords, over[name].split()))]
    return faults + [(name, f"with a password {why}") for name in urls]
