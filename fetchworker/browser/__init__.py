"""Pages that need a browser: one Chromium per process, behind the filtering proxy (extra ``browser``; docs/browser.md).

Nothing of Playwright is imported before the first page.
"""

from fetchworker.browser.context import BrowserContext, run_of
from fetchworker.browser.engine import BrowserEngine
from fetchworker.browser.options import ClientHints, ContextSpec, EngineOptions
from fetchworker.pagemethod import PageMethod

__all__ = ["BrowserContext", "BrowserEngine", "ClientHints", "ContextSpec", "EngineOptions", "PageMethod", "run_of"]
