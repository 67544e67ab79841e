"""How much all processes of one Redis send together: permits, so many at once and so many a second."""

from fetchworker.limiter.base import Answer, Ask, Ceiling, Limits, Question
from fetchworker.limiter.limiter import LEASE, Limiter, Permit
from fetchworker.limiter.local import MemoryLimits
from fetchworker.limiter.starts import Starts

__all__ = ["LEASE", "Answer", "Ask", "Ceiling", "Limiter", "Limits", "MemoryLimits", "Permit", "Question", "Starts"]
