"""Lines as they would lie on a page without skew (pure): the letters were read along the slope, the boxes follow."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from fetchworker.documents.model import Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fetchworker.documents.engine import Seen
    from fetchworker.documents.model import Box

_Point = tuple[float, float]
#: a slope in degrees below which boxes serve as they are
_SLIGHT = 0.4
#: lines must be this many times as wide as high to tell a slope
_LONG = 4


def skew_of(lines: Sequence[Seen]) -> float:
    """The slope of the lines in degrees, positive when they fall to the right; 0 when there is none to speak of."""
    slopes = [slope for line in lines if (slope := _slope(line.corners)) is not None]
    skew = median(slopes) if len(slopes) > 2 else 0.0  # noqa: PLR2004  # fewer tell nothing
    return skew if abs(skew) >= _SLIGHT else 0.0


def _slope(corners: Sequence[_Point]) -> float | None:
    (x0, y0), (x1, y1), (x2, y2) = corners[:3]
    if abs(x1 - x0) < _LONG * math.hypot(x2 - x1, y2 - y1):
        return None
    return math.degrees(math.atan2(y1 - y0, x1 - x0))


def lines_of(seen: Iterable[Seen], skew: float, centre: _Point, *, page: int, first_id: int) -> tuple[Line, ...]:
    """The lines of a page turned back by its skew, from top to bottom.

    Args:
        seen: what was recognised.
        skew: degrees, of :func:`skew_of`.
        centre: the middle of the page's picture, in pixels.
        page: its number.
        first_id: the id of its first line.
    """
    boxes = [(_upright(line.corners, skew, centre), line) for line in seen]
    boxes.sort(key=lambda pair: (pair[0][1] + pair[0][3], pair[0][0]))
    return tuple(Line(first_id + place, page, line.text, line.score, box) for place, (box, line) in enumerate(boxes))


def _upright(corners: Sequence[_Point], skew: float, centre: _Point) -> Box:
    angle = math.radians(-skew)
    cos, sin, (cx, cy) = math.cos(angle), math.sin(angle), centre
    xs = [cx + (x - cx) * cos - (y - cy) * sin for x, y in corners]
    ys = [cy + (x - cx) * sin + (y - cy) * cos for x, y in corners]
    return min(xs), min(ys), max(xs), max(ys)
