"""What a check answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from fetchworker.errors import FetchworkerError, how_to_install

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Check:
    """One check's answer.

    ``told`` is what was found, and where that is not good, what to do. ``needed``: a crawl goes wrong without it; what
    is not needed is told, and that is all.
    """

    name: str
    good: bool
    told: str
    needed: bool = True


def guarded(name: str, check: Callable[[], Check]) -> Check:
    """The check's answer, or its error as one; what is no error of ours or of the system is a fault of the doctor."""
    try:
        return check()
    except ImportError as exc:
        return Check(name, good=False, told=f"{exc}: {how_to_install()}")
    except (FetchworkerError, OSError, RedisError) as exc:
        return Check(name, good=False, told=str(exc))
