"""What the wire has carried, for whom: counted, kept by day, held against budgets (docs/usage.md)."""

from fetchworker.usage.account import Account, Exit
from fetchworker.usage.keeper import INTERVAL, Keeper, Shelf
from fetchworker.usage.ledger import DIRECT, NONE, OTHERS, UNJUDGED, Charge, Key, Ledger, Used, day_of
from fetchworker.usage.spending import SiteSpending, Spending

__all__ = [
    "DIRECT",
    "INTERVAL",
    "NONE",
    "OTHERS",
    "UNJUDGED",
    "Account",
    "Charge",
    "Exit",
    "Keeper",
    "Key",
    "Ledger",
    "Shelf",
    "SiteSpending",
    "Spending",
    "Used",
    "day_of",
]
