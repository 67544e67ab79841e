"""What a job pays, as pages write it (pure).

Other dollars than the page's own have their country before the sign (``CA$``).
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from fetchworker.reading import money
from fetchworker.spiders.linkedin import words
from fetchworker.spiders.reading import dollars
from fetchworker.spiders.reading.values import dig, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.contracts import Page

#: ``$126K``
_THOUSANDS = re.compile(r"(?<![\w.,])(?P<sign>\D{0,4})(?P<number>\d{1,4}(?:[.,]\d{1,2})?)\s?[Kk](?![A-Za-z])")
_MOST = 2
_LANGUAGE = re.compile(r'lang="?v=2&lang=([a-z]{2,3})-([a-z]{2})(?![a-z])')


def dollar(page: Page, source: str) -> str | None:
    """What a bare ``$`` means: by the page's locale, or by the one that the answer sets a cookie for.

    Fragments have no locale of their own. ``set-cookie: lang=v=2&lang=en-us`` came with the first answer to a visitor
    (a client's log of 2020-11; cookies of 2021 to 2025 in public scrapers).
    """
    set_here = (_LANGUAGE.match(line) for line in page.headers.get("set-cookie", ()))
    found = next((match for match in set_here if match), None)
    told = dollars.of_locale(f"{found[1]}-{found[2].upper()}") if found else None
    return dollars.written(source) or told


def offered(told: str | None, dollar: str | None) -> dict[str, Any]:
    """``salary_min``, ``salary_max`` and ``currency`` of a text such as ``$65,000.00/yr - $75,000.00/yr``.

    ``dollar`` is what a bare ``$`` means on the page.
    """
    found = money.amounts(_THOUSANDS.sub(_written_out, told or ""), dollar=dollar)
    if not 0 < len(found) <= _MOST or len({amount.currency for amount in found}) > 1:
        return {}
    return {"salary_min": found[0].value, "salary_max": found[-1].value, "currency": found[0].currency}


def period(told: str | None) -> str | None:
    """What the pay is for: ``YEAR``, ``MONTH``, ``WEEK``, ``DAY``, ``HOUR``."""
    return next((name for name, pattern in words.PERIODS.items() if pattern.search(told or "")), None)


def stated(base_salary: Any) -> dict[str, Any]:
    """The same of JSON-LD's ``baseSalary``."""
    currency = dig(base_salary, "currency")
    values = dig(base_salary, "value")
    told = values if isinstance(values, dict) else {"value": values}
    least = money.money(_first(told, "minValue", "value"), currency)
    most = money.money(_first(told, "maxValue", "value"), currency)
    if least is None and most is None:
        return {}
    return {
        "salary_min": least.value if least else None,
        "salary_max": most.value if most else None,
        "currency": (least or most).currency,  # type: ignore[union-attr]  # one of them is there
    }


def unit(base_salary: Any) -> str | None:
    """JSON-LD's unit of pay."""
    return text(dig(base_salary, "value", "unitText")) or text(dig(base_salary, "unitText"))


def _first(told: Mapping[str, Any], *names: str) -> Any:
    return next((told[name] for name in names if told.get(name) is not None), None)


def _written_out(match: re.Match[str]) -> str:
    try:
        return f"{match['sign']}{Decimal(match['number'].replace(',', '.')) * 1000:f}"
    except InvalidOperation:
        return match[0]
