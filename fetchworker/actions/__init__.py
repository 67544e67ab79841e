"""What is to be done with a page in a browser, as data, and what runs it; see docs/actions.md."""

from fetchworker.actions.models import TYPES, Action, parse_actions
from fetchworker.actions.outcome import ActionOutcome, Report
from fetchworker.actions.runner import Runner
from fetchworker.actions.short import parse_short

__all__ = ["TYPES", "Action", "ActionOutcome", "Report", "Runner", "parse_actions", "parse_short"]
