"""Charts of results in the window: painted, said, pointed at, chosen from."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PyQt6.QtCore import QEvent, QPoint, Qt
from PyQt6.QtGui import QHelpEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QToolTip, QWidget

from gym_gui.analysis.charts.pairs import MOST_BARS
from gym_gui.ui import theme as themes
from gym_gui.ui.plots import ChartView
from gym_gui.ui.theme import Theme
from tests.support.charts import interval, intervals, outcomes, pairs

Show = Callable[..., None]
LEFT = Qt.MouseButton.LeftButton
HINT = "No completed episodes yet."


@pytest.fixture
def view(theme: Theme, shown: Show) -> ChartView:
    """A chart from which something can be chosen."""
    view = ChartView(theme, "chart", HINT, invitation="Click a bar to replay both episodes.")
    shown(view)
    return view


@pytest.fixture
def paired(view: ChartView) -> ChartView:
    view.set_chart(pairs([101, 102, 103, 104], [0.5, -0.25, 0.0, 1.0]))
    return view


@pytest.fixture
def keys(view: ChartView) -> list[int]:
    """What was chosen."""
    chosen: list[int] = []
    view.chosen.connect(chosen.append)
    return chosen


def colors_at(widget: QWidget, row: int) -> set[str]:
    image = widget.grab().toImage()
    return {image.pixelColor(x, row).name() for x in range(image.width())}


def test_intervals_are_drawn_and_said(view: ChartView) -> None:
    ppo, random = interval("PPO", "rl", 0.91, 0.88, 0.93), interval("Random", "baseline", 0.02, 0.0, 0.05)
    view.set_chart(intervals(ppo, random, interval("Qwen", "llm", None, note="no completed episode")))
    assert "PPO: 0.910, 95 % interval 0.880 to 0.930." in view.accessibleDescription()
    rows = [colors_at(view, round(view.spot_rect(row).center().y())) for row in (0, 1)]
    assert themes.kind_color("rl").name() in rows[0]
    assert themes.kind_color("rl").name() not in rows[1]
    assert themes.kind_color("baseline").name() in rows[1]


def test_without_values_the_way_out_is_said(view: ChartView) -> None:
    for chart in (None, intervals(interval("PPO", "rl", None))):
        view.set_chart(chart)
        assert view.chart is None and view.accessibleDescription() == HINT
        blank = QWidget()
        assert view.grab().toImage() != blank.grab().toImage()


def test_a_chart_that_says_why_it_is_empty_is_that_sentence(view: ChartView) -> None:
    chart = pairs([101, 102], [0.0, 0.0])
    view.set_chart(chart)
    assert view.chart is None and view.accessibleDescription() == chart.nothing
    view.set_chart(None)
    assert view.accessibleDescription() == HINT


def test_a_click_on_a_bar_chooses_its_pair(paired: ChartView, keys: list[int]) -> None:
    for index in (3, 0, 2):
        QTest.mouseClick(paired, LEFT, pos=paired.spot_rect(index).center().toPoint())
    QTest.mouseClick(paired, LEFT, pos=QPoint(3, 3))
    assert keys == [3, 0, 2]


def test_bars_are_reached_by_keyboard(paired: ChartView, keys: list[int]) -> None:
    paired.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right):
        QTest.keyClick(paired, key)
    said = paired.accessibleDescription()
    assert said.endswith("Seed 102: Qwen 2.5 ahead by 0.250 in return. Click a bar to replay both episodes.")
    QTest.keyClick(paired, Qt.Key.Key_Return)
    QTest.keyClick(paired, Qt.Key.Key_End)
    assert keys == [1] and "Seed 104" in paired.accessibleDescription()


def test_who_is_pointed_at_is_marked(paired: ChartView) -> None:
    before = paired.grab().toImage()
    QTest.mouseMove(paired, QPoint(2, 2))
    QTest.mouseMove(paired, paired.spot_rect(0).center().toPoint())
    assert paired.grab().toImage() != before
    assert paired.cursor().shape() == Qt.CursorShape.PointingHandCursor


def test_the_tooltip_says_what_is_pointed_at(paired: ChartView) -> None:
    def asked_at(point: QPoint) -> str:
        QToolTip.hideText()
        where = paired.mapToGlobal(point)
        QApplication.sendEvent(paired, QHelpEvent(QEvent.Type.ToolTip, point, where))
        return QToolTip.text()

    at = paired.spot_rect(3).center().toPoint()
    assert asked_at(at) == "Seed 104: PPO ahead by 1.00 in return. Click a bar to replay both episodes."
    paired.set_chart(outcomes(("Green", 6, 1, 3)))
    assert asked_at(paired.spot_rect(0).center().toPoint()).startswith("Green: won 6/10 (60 % [0, 100]).")


def test_bars_point_to_who_was_ahead(paired: ChartView) -> None:
    image = paired.grab().toImage()

    def drawn(index: int) -> list[int]:
        """Rows of the chart in which the bar is colored."""
        area = paired.spot_rect(index).toRect()
        bar, beside = area.center().x(), area.left() + 1
        rows = range(area.top(), area.bottom())
        return [y for y in rows if image.pixelColor(bar, y) != image.pixelColor(beside, y)]

    up, down = drawn(0), drawn(1)
    assert max(up) <= min(down)
    assert len(up) == pytest.approx(2 * len(down), rel=0.1)
    assert len(drawn(3)) == pytest.approx(4 * len(down), rel=0.1)


def test_of_many_pairs_the_ends_are_still_chosen(view: ChartView, keys: list[int]) -> None:
    view.set_chart(pairs(range(1000), [float(i - 500) for i in range(1000)]))
    assert f"{MOST_BARS} of them shown" in view.accessibleDescription()
    view.setFocus()
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Return, Qt.Key.Key_End, Qt.Key.Key_Return):
        QTest.keyClick(view, key)
    assert keys == [999, 0]


def test_where_nothing_can_be_chosen_nothing_is(theme: Theme, shown: Show) -> None:
    view = ChartView(theme, "chart", HINT)
    shown(view)
    view.set_chart(pairs([1], [1.0]))
    chosen: list[int] = []
    view.chosen.connect(chosen.append)
    QTest.mouseClick(view, LEFT, pos=view.spot_rect(0).center().toPoint())
    assert not chosen and view.focusPolicy() == Qt.FocusPolicy.NoFocus


def test_outcomes_are_shares_of_the_width(theme: Theme, shown: Show) -> None:
    plot = ChartView(theme, "chart", HINT)
    plot.set_chart(outcomes(("Green", 6, 1, 3)))
    shown(plot, 400, 120)
    assert plot.accessibleDescription() == "Green: won 6, drawn 1, lost 3."
    row = round(plot.spot_rect(0).top()) + 3
    image = plot.grab().toImage()
    colors = [image.pixelColor(x, row).name() for x in range(400)]
    assert colors.count(theme.tokens.ok) == pytest.approx(240, abs=8)
    assert colors.count(theme.tokens.error) == pytest.approx(120, abs=8)
