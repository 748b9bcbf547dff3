"""Intervals, pairs and outcomes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gym_gui.ui import theme as themes
from gym_gui.ui.plots import Interval, IntervalPlot, OutcomePlot, PairedSeedsPlot, Side, TeamOutcome
from gym_gui.ui.plots.chart import Scale
from gym_gui.ui.plots.paired_seeds_plot import MOST_BARS
from gym_gui.ui.theme import Theme

Show = Callable[..., None]
LEFT = Qt.MouseButton.LeftButton
FIRST, SECOND = Side("PPO", "rl"), Side("Qwen 2.5", "llm")
NUMBERS = st.floats(-1e9, 1e9)


@given(st.lists(NUMBERS, min_size=1), st.booleans())
def test_a_scale_spans_its_values_with_round_numbers(values: list[float], zero: bool) -> None:
    scale = Scale.over(values, 0.0, 500.0, zero=zero)
    slack = 1e-6 * max(1.0, scale.high - scale.low)
    assert scale.low - slack <= min(values) and max(values) <= scale.high + slack
    assert 2 <= len(scale.ticks) <= 8
    assert len(set(scale.words())) == len(scale.ticks)
    assert all(-1 <= scale(value) <= 501 for value in values)
    if zero:
        assert any(abs(tick) <= slack for tick in scale.ticks)


def test_equal_values_get_room_and_no_negative_goals() -> None:
    assert Scale.over([0.0, 0.0], 0, 100).low == 0.0
    assert Scale.over([3.0], 0, 100).low > 0


def colours_at(widget: QWidget, row: int) -> set[str]:
    image = widget.grab().toImage()
    return {image.pixelColor(x, row).name() for x in range(image.width())}


def test_intervals_are_drawn_and_said(theme: Theme, shown: Show) -> None:
    plot = IntervalPlot(theme)
    plot.set_intervals(
        [
            Interval("PPO", "rl", 0.91, 0.88, 0.93),
            Interval("Random", "baseline", 0.02, 0.0, 0.05),
            Interval("Qwen", "llm", None, note="no completed episode"),
        ]
    )
    shown(plot)
    said = plot.accessibleDescription()
    assert "PPO: 0.91, 95 % interval 0.88 to 0.93." in said
    assert "Qwen: no completed episode." in said
    ppo, random = (plot.row_rect(row).center().y() for row in (0, 1))
    assert themes.kind_colour("rl").name() in colours_at(plot, ppo)
    assert themes.kind_colour("rl").name() not in colours_at(plot, random)
    assert themes.kind_colour("baseline").name() in colours_at(plot, random)


def test_few_intervals_stand_in_the_middle(theme: Theme, shown: Show) -> None:
    plot = IntervalPlot(theme)
    plot.set_intervals([Interval("PPO", "rl", 0.91, 0.88, 0.93)])
    shown(plot)
    plot.resize(400, 600)
    above, below = plot.row_rect(0).top(), plot.height() - plot.row_rect(0).bottom()
    assert above > 100
    assert abs(above - below) < 40


def test_without_values_the_way_out_is_said(theme: Theme, shown: Show) -> None:
    plot = IntervalPlot(theme)
    shown(plot)
    assert "No completed episodes" in plot.accessibleDescription()
    blank = QWidget()
    assert plot.grab().toImage() != blank.grab().toImage()


@pytest.fixture
def paired(theme: Theme, shown: Show) -> PairedSeedsPlot:
    plot = PairedSeedsPlot(theme)
    plot.set_pairs(FIRST, SECOND, [101, 102, 103, 104], [0.5, -0.25, 0.0, 1.0])
    shown(plot)
    return plot


def test_the_summary_counts(paired: PairedSeedsPlot) -> None:
    assert paired.summary == "PPO ahead on 2 seeds, level on 1, behind on 1."


def test_a_click_on_a_bar_chooses_its_seed(paired: PairedSeedsPlot) -> None:
    seeds: list[int] = []
    pairs: list[int] = []
    paired.seed_chosen.connect(seeds.append)
    paired.pair_chosen.connect(pairs.append)
    for index in (3, 0, 2):
        QTest.mouseClick(paired, LEFT, pos=paired.bar_rect(index).center().toPoint())
    QTest.mouseClick(paired, LEFT, pos=QPoint(3, 3))
    assert (seeds, pairs) == ([104, 101, 103], [3, 0, 2])


def test_bars_are_reached_by_keyboard(paired: PairedSeedsPlot, qtbot: QtBot) -> None:
    paired.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right):
        QTest.keyClick(paired, key)
    assert "Seed 102: Qwen 2.5 ahead by 0.25 in return." in paired.accessibleDescription()
    with qtbot.waitSignal(paired.seed_chosen) as chosen:
        QTest.keyClick(paired, Qt.Key.Key_Return)
    assert chosen.args == [102]
    QTest.keyClick(paired, Qt.Key.Key_End)
    assert "Seed 104" in paired.accessibleDescription()


def test_bars_point_to_who_was_ahead(paired: PairedSeedsPlot) -> None:
    image = paired.grab().toImage()

    def drawn(index: int) -> list[int]:
        """Rows of the chart in which the bar is coloured."""
        area = paired.bar_rect(index).toRect()
        bar, beside = area.center().x(), area.left() + 1
        rows = range(area.top(), area.bottom())
        return [y for y in rows if image.pixelColor(bar, y) != image.pixelColor(beside, y)]

    up, down = drawn(0), drawn(1)
    assert max(up) <= min(down)
    assert len(up) == pytest.approx(2 * len(down), rel=0.1)
    assert len(drawn(3)) == pytest.approx(4 * len(down), rel=0.1)


def test_an_unknown_seed_still_has_its_pair(theme: Theme, shown: Show) -> None:
    plot = PairedSeedsPlot(theme)
    plot.set_pairs(FIRST, SECOND, [None, None], [1.0, -1.0])
    shown(plot)
    seeds: list[int] = []
    pairs: list[int] = []
    plot.seed_chosen.connect(seeds.append)
    plot.pair_chosen.connect(pairs.append)
    QTest.mouseClick(plot, LEFT, pos=plot.bar_rect(1).center().toPoint())
    assert (seeds, pairs) == ([], [1])


def test_many_pairs_are_thinned_and_it_says_so(theme: Theme, shown: Show) -> None:
    plot = PairedSeedsPlot(theme)
    differences = [float(i - 500) for i in range(1000)]
    plot.set_pairs(FIRST, SECOND, list(range(1000)), differences)
    shown(plot)
    assert f"{MOST_BARS} shown" in plot.summary
    seeds: list[int] = []
    plot.seed_chosen.connect(seeds.append)
    plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Home)
    QTest.keyClick(plot, Qt.Key.Key_Return)
    QTest.keyClick(plot, Qt.Key.Key_End)
    QTest.keyClick(plot, Qt.Key.Key_Return)
    assert seeds == [999, 0]


def test_seeds_must_fit_differences(theme: Theme, qtbot: QtBot) -> None:
    plot = PairedSeedsPlot(theme)
    qtbot.addWidget(plot)
    with pytest.raises(ValueError, match="1 seeds do not fit 2 differences"):
        plot.set_pairs(FIRST, SECOND, [1], [0.5, 0.5])


def test_outcomes_are_shares_of_the_width(theme: Theme, shown: Show) -> None:
    plot = OutcomePlot(theme)
    plot.set_teams(
        [TeamOutcome("Green", ("you",), 6, 1, 3), TeamOutcome("Nobody", (), 0, 0, 0)],
    )
    shown(plot, 400, 120)
    assert plot.accessibleDescription() == "Green: won 6, drawn 1, lost 3."
    image = plot.grab().toImage()
    row = [image.pixelColor(x, 30).name() for x in range(400)]
    assert row.count(theme.tokens.ok) == pytest.approx(240, abs=6)
    assert row.count(theme.tokens.error) == pytest.approx(120, abs=6)
