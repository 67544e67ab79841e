"""scrapyd's application with our parts; ``application`` in scrapy.cfg names it, and that is all it needs."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapyd import app as stock

from fetchworker.errors import ConfigError
from fetchworker.exports.private import private_opener
from fetchworker.scrapyd_ext.node import node_of

if TYPE_CHECKING:
    from scrapyd.config import Config

_PARTS = "fetchworker.scrapyd_ext.parts"
_SERVICES = "fetchworker.scrapyd_ext.services"
_OWN = {
    "poller": f"{_PARTS}.Poller",
    "launcher": f"{_PARTS}.Launcher",
    "jobstorage": f"{_PARTS}.JobStorage",
    "spiderqueue": f"{_PARTS}.JobQueue",
    "webroot": "fetchworker.scrapyd_ext.root.Root",
}
_ANSWERS = {
    "schedule.json": "Schedule",
    "cancel.json": "Cancel",
    "status.json": "Status",
    "listjobs.json": "ListJobs",
    "listspiders.json": "ListSpiders",
    "node.json": "NodeInfo",
    "spawn.json": "Spawn",
    "jobstatus.json": "JobStatuses",
    "forget.json": "Forget",
}
#: services that take code, or take it away: off unless `deploy = on`
_DEPLOYS = ("addversion.json", "delversion.json", "delproject.json")
USER = "fetchworker"


def application(config: Config) -> Any:
    """Make the application.

    Raises:
        ConfigError: a value is wrong.
    """
    for name, part in _OWN.items():
        config.cp.set("scrapyd", name, part)
    for name, service in _ANSWERS.items():
        config.cp.set("services", name, f"{_SERVICES}.{service}")
    if not config.getboolean("deploy", False):
        for name in _DEPLOYS:
            config.cp.set("services", name, "")
    _authenticate(config)
    node_of(config)
    return stock.application(config)


def _authenticate(config: Config) -> None:
    """Have every route ask for a user and a password: those that are told, or else made up once and kept."""
    user = os.environ.get("SCRAPYD_USERNAME") or config.get("username", "") or USER
    password = os.environ.get("SCRAPYD_PASSWORD") or config.get("password", "")
    if ":" in user:
        raise ConfigError("SCRAPYD_USERNAME: a user name cannot have a colon")
    if not password:
        password = kept_password(Path(config.get("dbs_dir", "dbs")).parent / "netrc", user)
    config.cp.set("scrapyd", "username", user.replace("%", "%%"))
    config.cp.set("scrapyd", "password", password.replace("%", "%%"))


def kept_password(path: Path, user: str) -> str:
    """The password in a file that ``curl --netrc-file`` reads; made where there is none.

    Raises:
        ConfigError: the file cannot be read or made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            made = secrets.token_urlsafe(24)
            lines = "".join(f"machine {host} login {user} password {made}\n" for host in ("localhost", "127.0.0.1"))
            with open(path, "x", opener=private_opener) as file:
                file.write(lines)
        words = path.read_text().split()
        return words[words.index("password") + 1]
    except (OSError, ValueError, IndexError) as exc:
        raise ConfigError(
            f"{path}: no password to be had there ({exc}); set SCRAPYD_PASSWORD, or delete the file"
        ) from exc
