"""Runs actions in a browser as one call: by the session, exit and profile of a site, on the path of all requests."""

from __future__ import annotations

import asyncio
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fetchworker.actions import Runner, parse_actions
from fetchworker.artifacts import ArtifactContext
from fetchworker.browser import PageMethod, run_of
from fetchworker.browser.program import find_program
from fetchworker.contracts import Fetch
from fetchworker.download.wire import LAST, WIRE
from fetchworker.errors import BrowserError, ConfigError, OutcomeError, how_to_install
from fetchworker.middlewares.outcome import RETRIES
from fetchworker.middlewares.pooled import COUNTRY
from fetchworker.middlewares.recording import WORKSPACE
from fetchworker.service.calls import check_country, tier_meta
from fetchworker.service.failures import ApiError
from fetchworker.service.leasing import Held, session_of
from fetchworker.spiders.requests import build_request, fetch_meta

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine

    from fetchworker.actions import ActionOutcome
    from fetchworker.actions.outcome import Report
    from fetchworker.artifacts import ArtifactStore
    from fetchworker.artifacts.model import Kind
    from fetchworker.config import Environment
    from fetchworker.service.crawlers import Served
    from fetchworker.service.models import BrowserRunBody

OPERATION = "browser"
#: seconds of a call that are left for what comes after the page
_AFTER = 2.0


def check_browser(environment: Environment) -> None:
    """See that there is a browser.

    Raises:
        ApiError: NOT_INSTALLED, saying how to get one.
    """
    if find_spec("playwright") is None:
        raise ApiError("NOT_INSTALLED", f"a browser needs Playwright: {how_to_install('browser')}")
    try:
        find_program(environment.browser)
    except ConfigError as exc:
        raise ApiError("NOT_INSTALLED", exc.message) from exc


class BrowserRun:
    """One run.

    Args:
        served: the spider of the site whose sessions, exits and rules hold.
        body: what is asked for.
        store: where artifacts go.
        call_id: names the call.
        workspace: whose the artifacts are.
        caller: whose leases it may use.
        told: hears of each action when it is over.

    Raises:
        ArgumentError: an action that cannot be.
    """

    def __init__(
        self,
        served: Served,
        body: BrowserRunBody,
        store: ArtifactStore,
        *,
        call_id: str,
        workspace: str | None = None,
        caller: str | None = None,
        told: Callable[[ActionOutcome], None] = lambda _: None,
    ) -> None:
        assert served.runtime
        self._served, self._runtime, self._body = served, served.runtime, body
        self._store, self._caller = store, caller
        self._about = ArtifactContext(
            site=served.name, operation=OPERATION, request_id=call_id, job_id=self._runtime.crawl_id,
            session=body.session_id, workspace=workspace, url=body.url,
        )  # fmt: skip
        actions = parse_actions(body.actions)
        self._runner = Runner(
            actions, self._keep, always=body.keep, on_failure=body.keep_on_failure, told=told, refusals=_refusals
        )
        self._request: Request | None = None

    async def run(self, engine: ExecutionEngine, *, timeout: float, last: dict[str, Any]) -> dict[str, Any]:  # noqa: ASYNC109  # the whole call's is over it
        """Load the page and do the actions; what has come of it, as JSON.

        What fails once the page is there is told in the result; before, it is an error.

        Args:
            engine: of the site.
            timeout: seconds of the call.
            last: is told how the page was judged.

        Raises:
            ApiError: the arguments are wrong.
            Exception: as of the download path.
        """
        started = time.monotonic()
        body = self._body
        held = Held(body.session_id, body.lease, self._caller) if body.session_id is not None else None
        request = self._made(timeout)
        page: dict[str, Any] = {"url": body.url, "status": None, "outcome": "ok"}
        layer: str | None = None
        try:
            async with session_of(self._runtime, held, seconds=timeout) as meta:
                request.meta.update(meta, **{LAST: last})
                response = await engine.download_async(request)
            page |= {"url": response.url, "status": _status(self._runner.report, response.status)}
        except OutcomeError as exc:
            page |= {name: exc.context.get(name) for name in ("status", "vendor", "evidence", "artifact")}
            page["outcome"] = exc.outcome
        except BrowserError as exc:
            if not self._runner.report.begun:
                raise
            page |= {"outcome": None, "error": exc.message}
            layer = exc.layer
        finally:
            await asyncio.shield(self._runner.drop())
        return self._result(page, started, layer)

    @property
    def actions(self) -> list[ActionOutcome]:
        """What has become of the actions so far; none before the page is there."""
        return self._runner.report.actions

    def _made(self, seconds: float) -> Request:
        fetch = Fetch(OPERATION, self._body.url)
        config = self._runtime.config
        meta: dict[str, Any] = {
            **fetch_meta(fetch),
            **tier_meta(config, self._body.proxy),
            "fw_request_id": self._about.request_id,
            WORKSPACE: self._about.workspace,
            RETRIES: 0,  # what was done may not be done twice
            "download_timeout": max(seconds - _AFTER, seconds / 2),
            "playwright": True,
            "playwright_page_init_callback": self._begin,
            "playwright_page_methods": [PageMethod(self._runner.run)],
        }
        if self._body.country is not None:
            meta[COUNTRY] = check_country(self._runtime, self._body.country, self._body.proxy)
        return build_request(fetch, meta)

    async def _begin(self, page: Any, request: Request) -> None:
        self._request = request
        await self._runner.begin(page)

    async def _keep(self, kind: Kind, content: bytes | Path, media_type: str) -> str:
        wire = self._request.meta.get(WIRE) if self._request is not None else None
        secrets = self._runner.secrets | set(wire.session.secrets() if wire is not None else ())
        kept = await self._store.put(kind, content, media_type, about=self._about, secrets=secrets)
        return kept.id

    def _result(self, page: Mapping[str, Any], started: float, layer: str | None) -> dict[str, Any]:
        report = self._runner.report
        failed = report.failed
        went_well = failed is None and page["outcome"] == "ok"
        return {
            "outcome": "ok" if went_well else "failed",
            "layer": failed.layer if failed is not None else layer,
            "page": {name: value for name, value in page.items() if value is not None or name == "status"},
            "actions": [one.to_json() for one in report.actions],
            "extracted": report.extracted,
            "artifacts": report.artifacts,
            "problems": report.problems,
            "request_id": self._about.request_id,
            "elapsed_ms": round((time.monotonic() - started) * 1000, 1),
        }


def _status(report: Report, first: int) -> int | None:
    """The status of the page that was gone to last, None where it was not reached."""
    went = [one for one in report.actions if one.type == "goto" and one.outcome != "skipped"]
    if not went:
        return first
    return went[-1].value["status"] if went[-1].outcome == "ok" else None


def _refusals(page: Any) -> list[Any]:
    run = run_of(page)
    return list(run.refusals) if run is not None else []
