"""The files that variables name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import SecretStr

from fetchworker.config.environment import PREFIX, Environment
from fetchworker.config.texts import may_be_shown

#: files that must be there
_READ = ("proxies_file", "ca_file", "serve_keys_file", "documents_llm_key_file")
_PATHS = (*_READ, "state_dir", "sites_file")


def project_dir(start: Path | None = None) -> Path:
    """The folder of the ``scrapy.cfg`` at or above ``start`` (default: the current folder), or else beside the package.

    Without any ``scrapy.cfg`` it is ``start``.
    """
    here = (start or Path.cwd()).absolute()
    beside = Path(__file__).absolute().parents[2]
    return next((folder for folder in (here, *here.parents, beside) if (folder / "scrapy.cfg").is_file()), here)


def with_paths(env: Environment, project: Path) -> tuple[Environment, list[tuple[str, str]]]:
    """Absolute paths in place of relative ones; and what is wrong with the files, as pairs of variable and fault."""
    update: dict[str, Any] = {}
    named = {field: PREFIX + field.upper() for field in _READ}
    if env.proxies and (written := env.proxies.get_secret_value()).startswith("@"):
        update |= {"proxies": None, "proxies_file": Path(written[1:].strip())}
        named["proxies_file"] = f"{PREFIX}PROXIES"
    if "sites_file" in env.model_fields_set:  # the default one is looked for when the sites are read
        named["sites_file"] = f"{PREFIX}SITES_FILE"
    paths = {field: update.get(field) or getattr(env, field) for field in _PATHS}
    update |= {field: project / _home(path) for field, path in paths.items() if path is not None}
    if env.database_url:
        update["database_url"] = SecretStr(_database_url(env.database_url.get_secret_value(), project))
    for field in ("media_store", "artifacts_store"):
        named_store: SecretStr | None = getattr(env, field)
        if named_store and "://" not in (folder := named_store.get_secret_value()):
            update[field] = SecretStr(str(project / _home(Path(folder))))
    loaded = env.model_copy(update=update)
    return loaded, _file_faults(loaded, named)


def _file_faults(env: Environment, named: dict[str, str]) -> list[tuple[str, str]]:
    faults = [(named[field], wrong) for field in named if (wrong := _unreadable(getattr(env, field)))]
    if not faults and env.ca_file and b"-----BEGIN CERTIFICATE-----" not in env.ca_file.read_bytes():
        faults.append((named["ca_file"], f"no certificate in {env.ca_file}"))
    if _is_no_folder(env.state_dir):
        faults.append((f"{PREFIX}STATE_DIR", "is not the name of a folder"))
    return faults


def _database_url(url: str, project: Path) -> str:
    path = url.removeprefix("sqlite:///")
    return url if path == url else f"sqlite:///{project / _home(Path(path))}"


def _home(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # no such user: then it is a file's name
        return path


def _unreadable(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        with path.open("rb"):
            return None
    except (OSError, ValueError) as exc:
        shown = path if may_be_shown(path.name) and ":" not in str(path) else "a file of this name"
        return f"{shown} cannot be read ({getattr(exc, 'strerror', None) or 'it is no path'})"


def _is_no_folder(path: Path) -> bool:
    try:
        return path.exists() and not path.is_dir()
    except (OSError, ValueError):
        return True
