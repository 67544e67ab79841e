"""Outcomes: every response is classified once, before any parser sees it."""

from fetchworker.outcomes._http import wait_asked
from fetchworker.outcomes.classifier import classify
from fetchworker.outcomes.taxonomy import Outcome, Verdict

__all__ = ["Outcome", "Verdict", "classify", "wait_asked"]
