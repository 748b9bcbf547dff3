"""Three small plots as inline SVG, coloured by the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from gym_gui.analysis import wording
from gym_gui.analysis.summary import Comparison, Estimate, TeamSummary
from gym_gui.analysis.text import clean

WIDTH = 540
LABELS = 150
MOST_BARS = 240


class IntervalRow(NamedTuple):
    """One line of :func:`interval_plot`: its label, the class of its colour, the estimate."""

    label: str
    kind: str
    estimate: Estimate


def safe(text: str) -> str:
    """Run data for HTML: nothing in it is markup, nothing turns the text around."""
    return escape(clean(text))


def shorten(text: str, length: int) -> str:
    """At most ``length`` characters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers that span ``low`` to ``high``, about ``most`` of them."""
    span = high - low
    if not span > 0:
        return [low]
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * (1 - 1e-9))
    first = math.floor(low / step)
    return [i * step for i in range(first, first + most + 3) if i * step < high + step * (1 - 1e-9)]


def interval_plot(rows: Sequence[IntervalRow]) -> str:
    """Estimates under one another: a bar for the interval, a mark for the value."""
    known = [v for r in rows for v in (r.estimate.value, r.estimate.low, r.estimate.high) if v is not None]
    if not known:
        return '<p class="muted">No completed episodes.</p>'
    low, high = min(known), max(known)
    pad = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
    # Goals and times are never negative: an axis for them does not begin below 0.
    scale = ticks(max(low - pad, 0.0) if low >= 0 else low - pad, high + pad)
    left, right = LABELS + 10, WIDTH - 24
    pitch = min(64.0, max(44.0, 180.0 / len(rows)))
    height = pitch * len(rows) + 34

    def x(value: float) -> float:
        return left + (value - scale[0]) / (scale[-1] - scale[0]) * (right - left)

    digits = _tick_digits(scale)
    parts = [_open(height, "Estimates with 95 % intervals")]
    for tick in scale:
        parts.append(
            f'<line class="rule" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="4" y2="{height - 28:.0f}"/>'
        )
        parts.append(_text(x(tick), height - 10, wording.number(tick, digits), "quiet", "middle"))
    for i, (label, kind, e) in enumerate(rows):
        y = pitch * (i + 0.5) + 4
        parts.append(f"<g><title>{safe(label)}: {safe(wording.estimate(e))}</title>")
        parts.append(_text(0, y + 4, shorten(label, 22)))
        if e.low is not None and e.high is not None:
            width = max(x(e.high) - x(e.low), 2)
            parts.append(
                f'<rect class="{kind}" opacity=".38" x="{x(e.low):.1f}" y="{y - 11:.1f}" '
                f'width="{width:.1f}" height="22" rx="4"/>'
            )
        if e.value is not None:
            parts.append(
                f'<rect class="{kind}" x="{x(e.value) - 1.5:.1f}" y="{y - 14:.1f}" width="3" height="28"/>'
            )
        if e.note:
            middle = (left + right) / 2
            mark = left if e.value is None else x(e.value)
            end, at = ("end", mark - 8) if mark > middle else ("start", mark + 8)
            parts.append(_text(at, y + 4, e.note, "quiet", end))
        parts.append("</g>")
    return "".join(parts) + "</svg>"


def paired_plot(c: Comparison) -> str:
    """First minus second, a bar per pair in the order of episodes."""
    values = list(c.differences)
    labels = [f"seed {seed}" for seed in c.seeds]
    if len(values) > MOST_BARS:
        ranked = sorted(range(len(values)), key=lambda i: -values[i])
        last = len(values) - 1
        order = [ranked[round(k * last / (MOST_BARS - 1))] for k in range(MOST_BARS)]
        values, labels = [values[i] for i in order], [labels[i] for i in order]
    height, top, bottom = 210, 12, 198
    scale = ticks(min(0.0, *values), max(0.0, *values), 4) if any(values) else [-1.0, 0.0, 1.0]
    left, right = 60, WIDTH - 8
    slot = (right - left) / len(values)
    bar = max(0.8, min(18.0, slot * 0.7))

    def y(value: float) -> float:
        return bottom - (value - scale[0]) / (scale[-1] - scale[0]) * (bottom - top)

    digits = _tick_digits(scale)
    parts = [_open(height, "Difference by seed")]
    for tick in scale:
        name = "zero" if tick == 0 else "rule"
        parts.append(f'<line class="{name}" x1="{left}" x2="{right}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(_text(left - 8, y(tick) + 4, wording.number(tick, digits), "quiet", "end"))
    for i, (value, label) in enumerate(zip(values, labels, strict=True)):
        name = "ahead" if value > 0 else "behind" if value < 0 else "draw"
        height_of = max(abs(y(value) - y(0)), 1.0)
        at = left + (i + 0.5) * slot - bar / 2
        parts.append(
            f'<rect class="{name}" x="{at:.1f}" y="{min(y(value), y(0)):.1f}" width="{bar:.1f}" '
            f'height="{height_of:.1f}"><title>{label}: {wording.number(value)}</title></rect>'
        )
    return "".join(parts) + "</svg>"


def paired_caption(c: Comparison, first: str, second: str) -> str:
    """Counts behind a paired plot, in words."""
    text = f"{first} ahead in {c.ahead}, level in {c.level}, {second} ahead in {c.behind} of {c.pairs}."
    if c.pairs > MOST_BARS:
        text += f" {MOST_BARS} of them shown, from largest to smallest."
    return text


def outcome_plot(teams: Sequence[TeamSummary]) -> str:
    """Won, drawn, lost by team, with the counts in words above each bar."""
    height = 58 * len(teams)
    parts = [_open(height, "Outcomes by team")]
    for i, team in enumerate(teams):
        if not (team.win and team.draw and team.loss and team.win.n):
            continue
        y = 58 * i
        words = f"won {team.win.hits}, drawn {team.draw.hits}, lost {team.loss.hits}"
        parts.append(_text(0, y + 18, shorten(f"{team.name}: {', '.join(team.members)}", 48)))
        parts.append(_text(WIDTH, y + 18, words, "quiet", "end"))
        at = 0.0
        for name, part in (("win", team.win), ("draw", team.draw), ("loss", team.loss)):
            width = WIDTH * part.hits / part.n
            if width:
                parts.append(
                    f'<rect class="{name}" x="{at:.1f}" y="{y + 26}" width="{max(width - 2, 1):.1f}" '
                    f'height="18" rx="3"><title>{name}: {safe(wording.share(part))}</title></rect>'
                )
            at += width
    return "".join(parts) + "</svg>"


def _tick_digits(scale: Sequence[float]) -> int:
    step = abs(scale[1] - scale[0]) if len(scale) > 1 else 1.0
    return max(0, -math.floor(math.log10(step) + 1e-9) + (f"{step:.2e}"[2] not in "0"))


def _open(height: float, label: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{safe(label)}">'


def _text(x: float, y: float, text: str, name: str = "", anchor: str = "start") -> str:
    return f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{safe(text)}</text>'
