"""Pages that need a browser: one Chromium per process, behind the filtering proxy (extra ``browser``; docs/browser.md).

Nothing of Playwright is imported before the first page.
"""

from typing import TYPE_CHECKING, Any

from fetchworker.browser.context import BrowserContext, run_of
from fetchworker.browser.options import ClientHints, ContextSpec, EngineOptions
from fetchworker.pagemethod import PageMethod

if TYPE_CHECKING:
    from fetchworker.browser.engine import BrowserEngine

__all__ = ["BrowserContext", "BrowserEngine", "ClientHints", "ContextSpec", "EngineOptions", "PageMethod", "run_of"]


def __getattr__(name: str) -> Any:
    if name != "BrowserEngine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from fetchworker.browser.engine import BrowserEngine  # noqa: PLC0415  # its packages belong to the extra
    except ModuleNotFoundError as exc:
        from fetchworker.errors import ConfigError, how_to_install  # noqa: PLC0415  # rare

        raise ConfigError(f"pages that need a browser need {exc.name}: {how_to_install('browser')}") from exc
    return BrowserEngine
