"""Draws charts of estimates with their intervals, one row per estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from gym_gui.analysis.charts.scale import Scale
from gym_gui.analysis.charts.shapes import (
    GAP,
    LABEL_PX,
    LINE_PX,
    STEP,
    TEXT_PX,
    Area,
    Box,
    Chart,
    Drawing,
    HoverRegion,
    Line,
    Mark,
    Measure,
    TextLine,
    baseline,
    cut,
    operator_roles,
)
from gym_gui.analysis.columns.cells import ResultRow
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import clean, iqm_title
from gym_gui.core.drawing.colors import kind_role

AXIS: Final = 28
PITCH: Final = (30, 180)
"""Least and largest height of a row, in pixels."""
USUAL_PITCH: Final = 52
LABEL_SHARE: Final = 0.32
LABEL_MOST: Final = 200


class Interval(NamedTuple):
    """Estimate with its interval, the name of the operator, team, algorithm or policy, and a color name."""

    name: str
    role: str
    estimate: Estimate

    def sentence(self) -> str:
        """Return the estimate as a sentence."""
        e = self.estimate
        if e.value is None:
            return f"{self.name}: {e.note or 'no data'}."
        digits = wording.decimals(e.value, e.low, e.high)
        text = f"{self.name}: {wording.number(e.value, digits)}"
        if e.low is not None and e.high is not None:
            ends = (wording.number(end, digits) for end in (e.low, e.high))
            text += f", 95 % interval {' to '.join(ends)}"
        return f"{text} ({e.note})." if e.note else f"{text}."


@dataclass(frozen=True)
class IntervalChart(Chart):
    """Chart with one row per estimate: a bar for the interval and a mark for the value."""

    title: str
    rows: tuple[Interval, ...]

    def __bool__(self) -> bool:
        return any(row.estimate.value is not None for row in self.rows)

    def describe(self) -> str:
        """Return all rows as sentences."""
        return " ".join(row.sentence() for row in self.rows)

    @property
    def heights(self) -> tuple[float, float]:
        """Least and usual height in pixels: a line of text for each row, or more space."""
        return max(len(self.rows), 2) * PITCH[0] + AXIS, max(len(self.rows), 4) * USUAL_PITCH + AXIS

    def draw(self, width: float, height: float, measure: Measure) -> Drawing:
        """Draw the rows in a size in pixels; a few rows are centered vertically."""
        least, most = PITCH
        pitch = min(max((height - AXIS) / len(self.rows), least), most)
        top = max((height - AXIS - pitch * len(self.rows)) / 2, 0.0)
        bottom = top + pitch * len(self.rows)
        widest = max(measure(row.name, TEXT_PX) for row in self.rows)
        label = min(widest + 2 * GAP, width * LABEL_SHARE, LABEL_MOST)
        estimates = [row.estimate for row in self.rows]
        known = [v for e in estimates for v in (e.value, e.low, e.high) if v is not None]
        scale = Scale.over(known, label + STEP, width - 2 * GAP)
        marks: list[Mark] = []
        for tick, word in zip(scale.ticks, scale.words(), strict=True):
            marks.append(Line(scale(tick), top + STEP, scale(tick), bottom))
            marks.append(TextLine(scale(tick), baseline(bottom + STEP + LINE_PX / 2), word, anchor="middle"))
        notes = [(row.estimate, top + (key + 0.5) * pitch) for key, row in enumerate(self.rows)]
        marks += [_ground(_note(e, scale, y, measure), y, measure) for e, y in notes if e.note]
        spots = [
            _spot(key, row, Area(0, top + key * pitch, width, pitch), scale, label, measure)
            for key, row in enumerate(self.rows)
        ]
        return Drawing(width, height, tuple(marks), tuple(spots))


def _spot(key: int, row: Interval, area: Area, scale: Scale, label: float, measure: Measure) -> HoverRegion:
    e, y = row.estimate, area.y + area.height / 2
    half = min(max(12.0, area.height * 0.13), area.height * 0.3)
    name = cut(row.name, label - GAP, measure, TEXT_PX)
    marks: list[Mark] = [TextLine(0, baseline(y, TEXT_PX), name, "text", TEXT_PX)]
    if e.low is not None and e.high is not None:
        wide = max(scale(e.high) - scale(e.low), 2.0)
        marks.append(Box(Area(scale(e.low), y - half, wide, 2 * half), row.role, 0.38, STEP))
    if e.value is not None:
        marks.append(Box(Area(scale(e.value) - 1.5, y - half - STEP, 3, 2 * half + 2 * STEP), row.role))
    if e.note:
        marks.append(_note(e, scale, y, measure))
    return HoverRegion(key, area, row.sentence(), tuple(marks))


def _note(e: Estimate, scale: Scale, y: float, measure: Measure) -> TextLine:
    """Return the estimate's note beside its value, on the side with more space."""
    at = scale.start if e.value is None else scale(e.value)
    if at > (scale.start + scale.end) / 2:
        text = cut(e.note, at - scale.start - GAP, measure, LABEL_PX)
        return TextLine(at - GAP, baseline(y), text, anchor="end")
    return TextLine(at + GAP, baseline(y), cut(e.note, scale.end - at - GAP, measure, LABEL_PX))


def _ground(words: TextLine, y: float, measure: Measure) -> Box:
    """Return a background box that hides the grid lines behind a text."""
    wide = measure(words.text, words.pixels)
    left = words.x - (wide if words.anchor == "end" else 0.0)
    return Box(Area(left - STEP, y - LINE_PX / 2, wide + 2 * STEP, LINE_PX), "panel")


def interval_charts(
    operators: Sequence[OperatorSummary], roles: Mapping[str, str] | None = None
) -> list[IntervalChart]:
    """Return up to two charts for one environment: operators without competing teams, and competing teams.

    Args:
        operators: Operators in the order of the rows.
        roles: Names of colors by operator key (:func:`~gym_gui.analysis.charts.shapes.operator_roles`).
    """
    roles = operator_roles(operators) if roles is None else roles
    alone = [o for o in operators if len(o.teams) <= 1]
    competing = [o for o in operators if len(o.teams) > 1]
    charts: list[IntervalChart] = []
    if alone:
        rows = tuple(Interval(clean(o.name), roles[o.key], o.iqm) for o in alone)
        charts.append(IntervalChart(iqm_title(alone), rows))
    if competing:
        scored = all(team.score for o in competing for team in o.teams)
        rows = tuple(row for o in competing for row in _teams(o, scored, len(operators) > 1))
        charts.append(IntervalChart(f"Mean {'score' if scored else 'return'}, 95 % interval", rows))
    return charts


def _teams(operator: OperatorSummary, scored: bool, several: bool) -> list[Interval]:
    return [
        Interval(
            clean(f"{operator.name}: {team.title}" if several else team.title),
            kind_role(next(iter(ResultRow(operator, team).kinds), "")),
            team.score if scored and team.score else team.mean,
        )
        for team in operator.teams
    ]
