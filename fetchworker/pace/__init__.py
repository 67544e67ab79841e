"""How fast a site is asked: by this process (:class:`Pace`), and by all workers of the site (:class:`Turns`)."""

from fetchworker.pace.local import DIRECT, MINUTE, Pace, Waits
from fetchworker.pace.shared import Answer, Lane, SharedPace, Terms
from fetchworker.pace.turns import Turn, Turns

__all__ = ["DIRECT", "MINUTE", "Answer", "Lane", "Pace", "SharedPace", "Terms", "Turn", "Turns", "Waits"]
