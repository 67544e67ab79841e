"""What an answer teaches about exits, identities and the rules themselves.

Stats: ``fetchworker/soft_block/<site>/<rule>`` counts pages that came with a refusal beside their data,
``fetchworker/rule_suspect/<site>/<rule>`` how often a rule became suspect.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from fetchworker.outcomes import Outcome, Verdict
from fetchworker.outcomes.breaker import Change, rule_of
from fetchworker.outcomes.snippet import snippet
from fetchworker.outcomes.taxonomy import REFUSALS
from fetchworker.proxies import ProxyResult

if TYPE_CHECKING:
    from fetchworker.contracts import Page
    from fetchworker.download.wire import Wire
    from fetchworker.runtime import Runtime

logger = logging.getLogger(__name__)

#: outcome → what it says of the exit; all others are an answer that came through
RESULTS = {
    Outcome.BLOCKED: ProxyResult.BLOCKED,
    Outcome.CHALLENGE: ProxyResult.BLOCKED,
    Outcome.LOGIN_WALL: ProxyResult.BLOCKED,
    Outcome.RATE_LIMITED: ProxyResult.RATE_LIMITED,
}


class Refusals:
    """Keeps the books of one crawl."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def learn(self, wire: Wire | None, page: Page, verdict: Verdict) -> bool:
        """Take note of a verdict; whether the identity and its exit are to blame for a refusal.

        They are not when the rule that found it condemns nearly everything: then nothing rests for it.
        """
        if verdict.soft:
            self._runtime.count(f"soft_block/{self._runtime.site}/{verdict.evidence[0]}")
        if wire is None:
            return True
        believed = self._believed(wire, page, verdict)
        if believed and wire.proxy is not None:
            wait = verdict.retry_after
            capped = None if wait is None else min(wait, self._runtime.config.backoff.retry_after_max)
            self._runtime.exits.report(wire.proxy, RESULTS.get(verdict.outcome, ProxyResult.OK), retry_after=capped)
        if verdict.soft or (believed and verdict.outcome in REFUSALS):
            wire.session.blocks += 1
        return believed

    def _believed(self, wire: Wire, page: Page, verdict: Verdict) -> bool:
        redirects = page.status is not None and 300 <= page.status < 400  # noqa: PLR2004
        if wire.proxy is None or (redirects and verdict.outcome is Outcome.OK):
            return True  # one address alone proves nothing about a rule, half of a way nothing about its end
        rules, rule = self._runtime.rules, rule_of(verdict)
        for change in rules.record(wire.exit, rule):
            self._tell(change)
        return rule is None or not rules.suspects(rule)

    def _tell(self, change: Change) -> None:
        site = self._runtime.site
        if not change.suspect:
            logger.info("rule_trusted_again site=%s rule=%s", site, change.rule)
            return
        self._runtime.count(f"rule_suspect/{site}/{change.rule}")
        logger.error(
            "rule_suspect site=%s rule=%s condemned=%d tried=%d: this rule refuses nearly every exit. Look at the "
            "snippets in failures.jsonl: is the rule wrong, or is it so? Until then no proxy rests for it",
            site,
            change.rule,
            change.condemned,
            change.tried,
        )

    def evidence(self, wire: Wire | None, page: Page, verdict: Verdict, url: str) -> str:
        """What of the page may be kept to show why it was refused."""
        secrets = () if wire is None else wire.session.secrets()
        return snippet(page, verdict, site=self._runtime.site, request_url=url, secrets=secrets)
