"""A forward proxy on loopback that lets a browser out under the egress policy (extra ``browser``).

::

    async with FilterProxy(policy) as proxy:
        run = proxy.open_run(upstream=session_proxy, max_bytes=50_000_000, deadline=60)
        # fetchworker.egress.chromium tells how a browser is started so that this is its only way out
        browser = launch(args=chromium_arguments(proxy.url), env=chromium_environment(os.environ))
        ...  # with run.url, run.username and run.password as the context's proxy
        await run.close()

A browser opens connections of its own, so nothing in it can be trusted to keep a rule. All that it can reach is this
proxy, and each target is judged here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fetchworker.egress.filter_proxy.reasons import INTRODUCTION, PROXY_REASONS

if TYPE_CHECKING:
    from fetchworker.egress.filter_proxy.outside import Resolve
    from fetchworker.egress.filter_proxy.run import Refusal, Run, Upstream
    from fetchworker.egress.filter_proxy.server import FilterProxy, Limits

__all__ = [
    "INTRODUCTION",
    "PROXY_REASONS",
    "FilterProxy",
    "Limits",
    "Refusal",
    "Resolve",
    "Run",
    "Upstream",
]

#: name → module: imported when they are asked for, as their packages belong to the extra
_LATER = {
    "FilterProxy": "server", "Limits": "server", "Resolve": "outside",
    "Refusal": "run", "Run": "run", "Upstream": "run",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
