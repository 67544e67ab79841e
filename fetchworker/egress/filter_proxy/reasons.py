"""What the proxy answers when it does not do what was asked."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from fetchworker.egress.policy import REASONS

if TYPE_CHECKING:
    from fetchworker.egress.policy import Decision

#: the address at which a browser shows its credentials once; nothing is looked up or connected for it
INTRODUCTION = "http://fetchworker.invalid/"

#: reason → status and words; the reasons of the policy are 403
PROXY_REASONS: dict[str, tuple[HTTPStatus, str]] = {
    "bad_request": (HTTPStatus.BAD_REQUEST, "this is no request to a forward proxy"),
    "credentials": (HTTPStatus.PROXY_AUTHENTICATION_REQUIRED, "no run has these credentials"),
    "head_timeout": (HTTPStatus.REQUEST_TIMEOUT, "the head of the request did not come in time"),
    "introduced": (HTTPStatus.OK, "the credentials are known"),
    "byte_cap": (HTTPStatus.FORBIDDEN, "the run has used up its bytes"),
    "deadline": (HTTPStatus.GATEWAY_TIMEOUT, "the time of the run is over"),
    "connections": (HTTPStatus.SERVICE_UNAVAILABLE, "the run has as many connections as it may have"),
    "unresolvable": (HTTPStatus.BAD_GATEWAY, "the name is not known"),
    "unreachable": (HTTPStatus.BAD_GATEWAY, "the target cannot be reached"),
    "bad_answer": (HTTPStatus.BAD_GATEWAY, "the target did not answer with HTTP/1.1"),
    "connect_timeout": (HTTPStatus.GATEWAY_TIMEOUT, "the target cannot be reached in time"),
    "answer_timeout": (HTTPStatus.GATEWAY_TIMEOUT, "the target did not answer in time"),
    "upstream_unreachable": (HTTPStatus.BAD_GATEWAY, "the run's own proxy cannot be reached"),
    "upstream_auth": (HTTPStatus.BAD_GATEWAY, "the run's own proxy refused its credentials"),
    "upstream_refused": (HTTPStatus.BAD_GATEWAY, "the run's own proxy did not open the way"),
    "upstream_timeout": (HTTPStatus.GATEWAY_TIMEOUT, "the run's own proxy did not open the way in time"),
}


class FilterError(Exception):
    """A request that is answered by the proxy itself; ``reason`` is one of the tables'."""

    def __init__(self, reason: str, *, layer: str = "", status: int | None = None) -> None:
        super().__init__(reason)
        known = PROXY_REASONS.get(reason)
        self.status, self.text = known or (HTTPStatus.FORBIDDEN, REASONS.get(reason, reason))
        self.status = HTTPStatus(status) if status else self.status
        self.reason, self.layer = reason, layer


class ClientGoneError(Exception):
    """Who asked has left: nobody is to be answered."""


def refused(decision: Decision) -> FilterError:
    """The answer to what the policy refuses."""
    return FilterError(decision.reason, layer=decision.layer)
