"""Draws a chart of two operators or teams on the same seeds: one bar per seed, upwards if the first leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from gym_gui.analysis.charts.scale import Scale
from gym_gui.analysis.charts.shapes import (
    GAP,
    LINE_PX,
    ROW,
    STEP,
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
    same_hue,
)
from gym_gui.analysis.columns.cells import ResultRow
from gym_gui.analysis.findings.comparison import Comparison
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import clean
from gym_gui.core.drawing.colors import kind_role

MOST_BARS: Final = 240
HEAD: Final = ROW
FOOT: Final = 24


class ChartSide(NamedTuple):
    """Name of one of the two operators or teams of a pair chart, and the name of its color."""

    name: str
    role: str


class _Pair(NamedTuple):
    key: int
    seed: int | None
    difference: float


@dataclass(frozen=True)
class PairChart(Chart):
    """Chart of the difference first minus second on each seed.

    If there are more than 240 pairs, the chart has a selection of them, sorted from the largest difference.
    """

    title: str
    first: ChartSide
    second: ChartSide
    comparison: Comparison

    def __bool__(self) -> bool:
        return any(self.comparison.differences)

    @property
    def nothing(self) -> str:
        """Sentence that replaces the chart if all differences are 0; else empty."""
        c = self.comparison
        if not c.differences:
            return ""
        return f"Level on every seed: {self.first.name} and {self.second.name} have the same {c.measure}."

    @property
    def caption(self) -> str:
        """Counts of pairs in which each side is ahead."""
        c = self.comparison
        text = f"Difference in {c.measure}. {self.first.name} ahead in {c.ahead}, level in {c.level}, "
        text += f"{self.second.name} ahead in {c.behind} of {c.pairs}."
        return f"{text} {MOST_BARS} of them shown, from largest to smallest." if self._selected else text

    def describe(self) -> str:
        """Return the counts as text."""
        return self.caption

    @property
    def heights(self) -> tuple[float, float]:
        """Least and usual height in pixels, the same for any number of bars."""
        return 120, 240

    def draw(self, width: float, height: float, measure: Measure) -> Drawing:
        """Draw the bars, the grid with the zero line, and the labels, in a size in pixels."""
        pairs = self._shown()
        bottom = height - FOOT
        scale = Scale.over([pair.difference for pair in pairs], bottom - STEP, HEAD, zero=True)
        words = scale.words()
        left = max(measure(word, 12) for word in words) + GAP
        wide = max(width - left - STEP, 1.0)
        marks = self._foot(Area(left, bottom + STEP, wide, LINE_PX), measure)
        for tick, word in zip(scale.ticks, words, strict=True):
            role = "line" if tick else "muted"
            marks.append(Line(left, scale(tick), left + wide, scale(tick), role))
            marks.append(TextLine(left - ROW, baseline(scale(tick)), word, anchor="end"))
        slot = wide / len(pairs)
        spots = [
            self._spot(pair, Area(left + i * slot, HEAD, slot, bottom - HEAD), scale)
            for i, pair in enumerate(pairs)
        ]
        return Drawing(width, height, tuple(marks), tuple(spots))

    def _spot(self, pair: _Pair, area: Area, scale: Scale) -> HoverRegion:
        zero, end = scale(0.0), scale(pair.difference)
        role = (self.first if pair.difference > 0 else self.second).role
        if pair.difference < 0 and same_hue(self.first.role, self.second.role):
            role += "-second"
        if not pair.difference:
            role, end = "muted", zero - 2
        thick = max(1.0, min(18.0, area.width * 0.7))
        x, high = area.x + (area.width - thick) / 2, max(abs(end - zero), 2.0)
        bar = Box(Area(x, min(zero, end), thick, high), role, 0.78)
        return HoverRegion(pair.key, area, self._sentence(pair), (bar,))

    def _sentence(self, pair: _Pair) -> str:
        where = f"Seed {pair.seed}" if pair.seed is not None else f"Pair {pair.key + 1}"
        if not pair.difference:
            return f"{where}: no difference."
        ahead = self.first if pair.difference > 0 else self.second
        amount = wording.number(abs(pair.difference))
        return f"{where}: {ahead.name} ahead by {amount} in {self.comparison.measure}."

    def _foot(self, area: Area, measure: Measure) -> list[Mark]:
        y, end = baseline(area.y + area.height / 2), area.x + area.width
        order = "Largest difference first" if self._selected else "Seeds in order"
        right = measure(order, 12)
        sides = f"↑ {self.first.name} ahead\N{EM SPACE}↓ {self.second.name} ahead"
        return [
            TextLine(area.x, y, cut(sides, area.width - right - GAP, measure)),
            TextLine(end, y, cut(order, area.width, measure), anchor="end"),
        ]

    @property
    def _selected(self) -> bool:
        return len(self.comparison.differences) > MOST_BARS

    def _shown(self) -> list[_Pair]:
        """Return all pairs, or 240 spread over the whole range of differences."""
        c = self.comparison
        pairs = [_Pair(i, *both) for i, both in enumerate(zip(c.seeds, c.differences, strict=True))]
        if not self._selected:
            return pairs
        ranked = sorted(pairs, key=lambda pair: -pair.difference)
        last = len(ranked) - 1
        return [ranked[round(k * last / (MOST_BARS - 1))] for k in range(MOST_BARS)]


def pair_chart(
    c: Comparison, operators: Mapping[str, OperatorSummary], roles: Mapping[str, str] | None = None
) -> PairChart:
    """Return the chart of a comparison.

    Args:
        c: The comparison of two operators or of two teams of one operator.
        operators: Operators by key.
        roles: Names of colors by operator key; by default, colors that differ between the two operators.
    """
    if c.kind == "operators":
        both = (operators[c.first], operators[c.second])
        roles = operator_roles(both) if roles is None else roles
        first, second = (ChartSide(clean(o.name), roles[o.key]) for o in both)
        return PairChart(f"Same seed, {first.name} minus {second.name}", first, second, c)
    operator = operators[c.operator]
    teams = {team.name: kind_role(next(iter(ResultRow(operator, team).kinds), "")) for team in operator.teams}
    first, second = (ChartSide(clean(name), teams.get(name, "baseline")) for name in (c.first, c.second))
    where = f"{clean(operator.name)}: same match"
    return PairChart(f"{where}, {first.name} minus {second.name}", first, second, c)
