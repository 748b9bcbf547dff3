"""Draws charts of lines with bands: performance profiles and learning curves of algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from gym_gui.analysis.charts.intervals import Interval, IntervalChart
from gym_gui.analysis.charts.scale import Scale
from gym_gui.analysis.charts.shapes import (
    GAP,
    LINE_PX,
    ROW,
    STEP,
    Area,
    Box,
    Chart,
    Curve,
    Drawing,
    HoverRegion,
    Line,
    Mark,
    Measure,
    Patch,
    TextLine,
    baseline,
    cut,
)
from gym_gui.analysis.findings.trainings import AlgorithmReport
from gym_gui.analysis.statistics.distributions import MIN_INTERVAL
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import clean
from gym_gui.core.drawing.colors import SERIES

FOOT: Final = 24
SWATCH: Final = 10


class Band(NamedTuple):
    """Line of a chart, with an optional band around it.

    Attributes:
        name: Name of the line.
        role: Name of the line's color.
        x: Ascending x values.
        y: y values.
        low: Lower edge of the band at each x, empty without a band.
        high: Upper edge of the band at each x, empty without a band.
        thin: Thin lines behind the line, at the same x values.
    """

    name: str
    role: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    thin: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class BandChart(Chart):
    """Chart of lines with bands over a common x axis; the names of the lines are above the chart.

    Attributes:
        along: Label of the x axis.
        bands: The lines.
        told: Caption.
        percent: Whether y values are shares.
    """

    title: str
    along: str
    bands: tuple[Band, ...]
    told: str = ""
    percent: bool = False

    def __bool__(self) -> bool:
        return any(len(band.x) > 1 for band in self.bands)

    @property
    def caption(self) -> str:
        """Caption that explains how to read the chart."""
        return self.told

    def describe(self) -> str:
        """Return the first and the last value of each line, as text."""
        return " ".join(self._sentence(band) for band in self.bands)

    @property
    def heights(self) -> tuple[float, float]:
        """Least and usual height in pixels: space for the chart, and a line of text for each name."""
        names = len(self.bands) * LINE_PX
        return names + 180, names + 260

    def draw(self, width: float, height: float, measure: Measure) -> Drawing:
        """Draw names, grid, bands and lines in a size in pixels."""
        head = len(self.bands) * LINE_PX + 2 * GAP
        bottom = height - FOOT
        lows = [v for b in self.bands for row in (b.y, b.low, b.high, *b.thin) for v in row]
        up = Scale.over([0.0, 1.0] if self.percent else lows, bottom - STEP, head)
        words = [f"{100 * tick:.0f} %" for tick in up.ticks] if self.percent else up.words()
        left = max(measure(word, 12) for word in words) + GAP
        right = Scale.over([x for b in self.bands for x in b.x], left, width - 2 * GAP)
        marks: list[Mark] = []
        for tick, word in zip(up.ticks, words, strict=True):
            marks.append(Line(left, up(tick), width - 2 * GAP, up(tick)))
            marks.append(TextLine(left - ROW, baseline(up(tick)), word, anchor="end"))
        y = baseline(bottom + FOOT / 2)
        numbers = list(zip(right.ticks, right.words(), strict=True))
        room = (right.end - right.start) / max(len(numbers) - 1, 1)
        for i, (tick, word) in enumerate(numbers):
            if i % max(1, round(measure(word, 12) / max(room - ROW, 1) + 0.5)) == 0:
                marks.append(TextLine(right(tick), y, word, anchor="middle"))
        marks.append(TextLine(width - 2 * GAP, baseline(head - GAP), self.along, anchor="end"))
        spots = [self._spot(key, band, up, right, measure, width) for key, band in enumerate(self.bands)]
        return Drawing(width, height, tuple(marks), tuple(spots))

    def _spot(
        self, key: int, band: Band, up: Scale, right: Scale, measure: Measure, width: float
    ) -> HoverRegion:
        top = key * LINE_PX
        name = cut(band.name, width * 0.6, measure)
        marks: list[Mark] = []
        across = [right(x) for x in band.x]
        if band.low:
            edge = [(x, up(y)) for x, y in zip(across, band.high, strict=True)]
            back = [(x, up(y)) for x, y in zip(across, band.low, strict=True)]
            marks.append(Patch((*edge, *reversed(back)), band.role, 0.16))
        marks += [
            Curve(tuple((x, up(y)) for x, y in zip(across, row, strict=True)), band.role, 1.0, 0.35)
            for row in band.thin
        ]
        marks.append(Curve(tuple((x, up(y)) for x, y in zip(across, band.y, strict=True)), band.role, 1.8))
        marks.append(Box(Area(0, top + (LINE_PX - SWATCH) / 2, SWATCH, SWATCH), band.role, radius=2))
        marks.append(TextLine(SWATCH + STEP, baseline(top + LINE_PX / 2), name, "text"))
        return HoverRegion(key, Area(0, top, width, LINE_PX), self._sentence(band), tuple(marks))

    def _sentence(self, band: Band) -> str:
        if not band.x:
            return f"{band.name}: no data."

        def at(i: int) -> str:
            value = wording.percent(band.y[i]) if self.percent else wording.number(band.y[i])
            return f"{value} at {wording.number(band.x[i])}"

        return f"{band.name}: {at(0)}, {at(-1)}."


def algorithm_charts(report: AlgorithmReport) -> list[Chart]:
    """Return the charts of a report on algorithms: IQMs, performance profiles and learning curves."""
    charts: list[Chart] = [score_chart(report), profile_chart(report), *curve_charts(report)]
    return [chart for chart in charts if chart]


def score_chart(report: AlgorithmReport) -> IntervalChart:
    """Return a chart of each algorithm's IQM over its trainings."""
    roles = _roles(report)
    title = f"IQM of the {report.measure}, 95 % interval over trainings"
    return IntervalChart(
        title, tuple(Interval(clean(a.name), roles[a.name], a.iqm) for a in report.algorithms)
    )


def profile_chart(report: AlgorithmReport) -> BandChart:
    """Return a performance profile: for each score, the share of trainings that reach it."""
    roles = _roles(report)
    profiles = tuple(_profile(report, i, roles) for i in range(len(report.algorithms)))
    return BandChart(
        "Performance profile",
        f"{report.measure} at least",
        profiles if len(report.levels) > 1 else (),
        "Share of trainings that reach a score. Band: 95 % interval at each score separately.",
        percent=True,
    )


def curve_charts(report: AlgorithmReport) -> Iterator[BandChart]:
    """Yield a chart of learning curves for each environment."""
    roles, names = _roles(report), [algorithm.name for algorithm in report.algorithms]
    for env_id in dict.fromkeys(curve.env_id for curve in report.curves):
        curves = [curve for curve in report.curves if curve.env_id == env_id]
        bands = tuple(
            Band(
                clean(c.algorithm),
                roles[c.algorithm],
                c.steps,
                c.values,
                c.low,
                c.high,
                () if c.low else tuple(c.trainings.values()),
            )
            for c in sorted(curves, key=lambda curve: names.index(curve.algorithm))
        )
        yield BandChart(
            f"Learning in {clean(env_id)}",
            "steps",
            bands,
            "IQM over trainings of the mean return of their last 100 training episodes. "
            f"Band: 95 % interval at each step separately; with fewer than {MIN_INTERVAL}, each training.",
        )


def _roles(report: AlgorithmReport) -> Mapping[str, str]:
    """Return the name of each algorithm's color; colors repeat if there are many algorithms."""
    return {a.name: SERIES[i % len(SERIES)] for i, a in enumerate(report.algorithms)}


def _profile(report: AlgorithmReport, i: int, roles: Mapping[str, str]) -> Band:
    algorithm = report.algorithms[i]
    shares = [share for share, _, _ in algorithm.profile]
    low = [low for _, low, _ in algorithm.profile if low is not None]
    high = [high for _, _, high in algorithm.profile if high is not None]
    return Band(
        clean(algorithm.name), roles[algorithm.name], report.levels, tuple(shares), tuple(low), tuple(high)
    )
