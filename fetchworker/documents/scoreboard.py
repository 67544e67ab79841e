"""A score as a table of text, and its calibration as a plot in SVG (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fetchworker.documents.scoring import Count, Report

_SIDE, _EDGE = 420, 56
_FACE = 'font-family="sans-serif" font-size="13"'
_FULL = _SIDE + 2 * _EDGE
_INK, _LINE, _PALE = "#1a1a1a", "#0a6cbd", "#c9c9c9"


def table(report: Report) -> str:
    """The report for people."""
    rows = [("field", "fields", "exact", "normalised")]
    rows += [(f"{kind}.{name}", *_cells(count)) for (kind, name), count in sorted(report.fields.items())]
    rows += [("all fields", *_cells(report.all)), ("line items", *_cells(report.rows)), ("kind", *_cells(report.kinds))]
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    lines = [
        row[0].ljust(widths[0]) + "".join("  " + row[place].rjust(widths[place]) for place in (1, 2, 3)) for row in rows
    ]
    sure, right = report.sure
    lines.append("")
    lines.append(f"{report.documents} documents, {report.failed} not read")
    lines.append(
        f"given as sure (0.9 and more): {sure} of {len(report.told)} fields"
        + (f", {right / sure:.3f} of them right" if sure else "")
    )
    return "\n".join(lines)


def plot(report: Report) -> str:
    """The calibration curve: a circle for each tenth of confidence, larger for more fields; right is the diagonal."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_FULL}" height="{_FULL}" {_FACE}>',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    parts += [_grid(step / 5) for step in range(6)]
    parts.append(f'<path d="M{_x(0)} {_y(0)} L{_x(1)} {_y(1)}" stroke="{_PALE}" stroke-dasharray="5 4"/>')
    curve = report.curve()
    if curve:
        path = " L".join(f"{_x(mean)} {_y(good)}" for mean, good, _ in curve)
        parts.append(f'<path d="M{path}" stroke="{_LINE}" fill="none" stroke-width="2"/>')
    most = max((count for _, _, count in curve), default=1)
    for mean, good, count in curve:
        radius = 4 + 10 * (count / most) ** 0.5
        parts.append(f'<circle cx="{_x(mean)}" cy="{_y(good)}" r="{radius:.1f}" fill="{_LINE}" fill-opacity="0.55">')
        parts.append(f"<title>{count} fields: told {mean:.2f}, right {good:.2f}</title></circle>")
    middle = _EDGE + _SIDE / 2
    parts.append(_text(middle, _SIDE + 2 * _EDGE - 12, "confidence"))
    parts.append(f'<g transform="rotate(-90 16 {middle})">{_text(16, middle, "share of right fields")}</g>')
    return "\n".join([*parts, "</svg>", ""])


def _cells(count: Count) -> tuple[str, str, str]:
    if not count.fields:
        return "0", "-", "-"
    return str(count.fields), f"{count.exact / count.fields:.3f}", f"{count.normalised / count.fields:.3f}"


def _grid(value: float) -> str:
    label = f"{value:.1f}"
    return (
        f'<path d="M{_x(value)} {_y(0)} V{_y(1)} M{_x(0)} {_y(value)} H{_x(1)}" stroke="{_PALE}" stroke-width="0.6"/>'
        + _text(_x(value), _y(0) + 18, label)
        + _text(_x(0) - 18, _y(value) + 4, label)
    )


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" fill="{_INK}">{text}</text>'


def _x(value: float) -> float:
    return round(_EDGE + value * _SIDE, 1)


def _y(value: float) -> float:
    return round(_EDGE + (1 - value) * _SIDE, 1)
