"""Where requests may go: public addresses, and what the operator lists.

Two places ask. The URL is judged before anything is sent (:class:`EgressPolicy`), and each connection when it is
opened, by the address that it really leads to (:mod:`fetchworker.egress.guard`): a name that is looked up anew, a
redirect and an unusual spelling change nothing about that.
"""

from fetchworker.egress.addresses import special
from fetchworker.egress.policy import REASONS, Decision, EgressPolicy, Layer, denied, is_place

__all__ = ["REASONS", "Decision", "EgressPolicy", "Layer", "denied", "is_place", "special"]
