"""Words and tags that the invented market's pages are made of."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from datetime import date

    from fetchworker.demo.wares import Shop

IMAGES = "https://i.ebayimg.com/images/g"
MONTHS = ("Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez")


@dataclass(frozen=True)
class English:
    """How ebay.com says things."""

    code: str = "en"
    country: str = "US"
    currency: str = "USD"
    buy_now: str = "Buy It Now"
    bids: str = "bids"
    free: str = "Free delivery"
    shipping: str = "delivery"
    place: str = "Located in"
    sold_count: str = "sold"
    positive: str = "positive"
    results: str = "results for"
    fewer: str = "Results matching fewer words"
    to: str = "to"

    def market(self) -> str:
        """The script by which a page tells whose dollars it shows."""
        return f'<script>$MC=[{{"localeInfo":{{"country":"{self.country}","language":"{self.code}"}}}}]</script>'

    def number(self, value: float, decimals: int = 0) -> str:
        """``1,234.50``."""
        return f"{value:,.{decimals}f}"

    def money(self, cents: int) -> str:
        """``$1,234.50``."""
        return f"${self.number(cents / 100, 2)}"

    def sold(self, day: date) -> str:
        """``Sold  Oct 3, 2026``."""
        return f"Sold  {day:%b} {day.day}, {day.year}"


@dataclass(frozen=True)
class German(English):
    """How ebay.de does."""

    code: str = "de"
    country: str = "DE"
    currency: str = "EUR"
    buy_now: str = "Sofort-Kaufen"
    bids: str = "Gebote"
    free: str = "Gratis Versand"
    shipping: str = "Versand"
    place: str = "aus"
    sold_count: str = "verkauft"
    positive: str = "positiv"
    results: str = "Ergebnisse für"
    fewer: str = "Ergebnisse für weniger Suchbegriffe"
    to: str = "bis"

    def number(self, value: float, decimals: int = 0) -> str:
        """``1.234,50``."""
        return super().number(value, decimals).translate(str.maketrans(",.", ".,"))

    def money(self, cents: int) -> str:
        """``EUR 1.234,50``."""
        return f"EUR {self.number(cents / 100, 2)}"

    def sold(self, day: date) -> str:
        """``Verkauft  3. Okt. 2026``."""
        return f"Verkauft  {day.day}. {MONTHS[day.month - 1]}. {day.year}"


def language_of(host: str) -> English:
    return German() if host.endswith(".de") else English()


def tag(name: str, classes: str, *content: str, **attributes: str) -> str:
    told = {"class": classes, **{key.strip("_"): value for key, value in attributes.items()}}
    shown = "".join(f' {key.replace("_", "-")}="{escape(value)}"' for key, value in told.items() if value)
    return f"<{name}{shown}>{''.join(content)}</{name}>"


def div(classes: str, *content: str, **attributes: str) -> str:
    return tag("div", classes, *content, **attributes)


def span(classes: str, *content: str) -> str:
    return tag("span", classes, *content)


def document(title: str, head: str, *body: str, language: str = "en") -> str:
    top = f"<title>{escape(title)}</title>{head}"
    return f'<!DOCTYPE html><html lang="{language}"><head>{top}</head><body>{"".join(body)}</body></html>'


def seller_url(shop: Shop, host: str) -> str:
    return f"https://{host}/usr/{quote(shop.name, safe='*')}"
