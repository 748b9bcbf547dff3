"""What the window says of a run beside what its page says."""

from __future__ import annotations

import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.analysis import Summary, open_run, render_html, summarize
from gym_gui.analysis.charts import IntervalChart
from gym_gui.analysis.charts.shapes import role_colors
from gym_gui.core.drawing.colors import LIGHT, kind_colors, leading_kind
from gym_gui.ui.context import AppContext
from gym_gui.ui.plots import ChartView
from gym_gui.ui.results.comparison_view import ComparisonView, PairChosen
from gym_gui.ui.theme import Theme, fill_for_white
from gym_gui.ui.widgets import PickerButton
from gym_gui.ui.widgets.card import Card
from tests.support.named import named
from tests.ui.results.conftest import played_run

__all__ = ["played_run"]
PLOTS = ("intervalPlot", "pairedSeedsPlot", "outcomePlot")


@pytest.fixture
def summary(played_run: Path) -> Summary:
    return summarize(open_run(played_run))


@pytest.fixture
def view(summary: Summary, qtbot: QtBot) -> ComparisonView:
    view = ComparisonView(Theme("light"))
    qtbot.addWidget(view)
    view.task.setParent(view)  # Which belongs into the bar of a page.
    view.resize(1200, 800)
    view.show_analysis(summary)
    view.show()
    qtbot.waitExposed(view)
    return view


def plot(view: ComparisonView, name: str) -> ChartView:
    found = view.findChild(ChartView, name)
    assert found is not None
    return found


def test_window_and_page_show_the_same_charts(view: ComparisonView, summary: Summary) -> None:
    page = unescape(render_html(summary))
    seen = 0
    task = named(view, PickerButton, "results-task")
    for item in task.items:
        task.set_value(item.value)
        task.chosen.emit(item.value)
        for chart in (plot(view, name).chart for name in PLOTS):
            if chart is not None:
                seen += 1
                assert f"<h3>{chart.title}</h3>" in page
                assert f'aria-label="{chart.title}. {chart.describe()}"' in page
                assert all(
                    f"<title>{spot.sentence}</title>" in page for spot in chart.draw(540, 240, len_px).spots
                )
        caption = view.findChild(QLabel, "results-pair-caption")
        assert (
            caption is not None
            and caption.text().removesuffix(" Click a bar to replay both episodes.") in page
        )
    assert seen == 5, "intervals and pairs of two tasks, outcomes of one"


def test_what_is_missing_stands_with_the_verdict(
    view: ComparisonView, played_run: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(played_run, tmp_path / played_run.name))
    (run / "operators" / "poor" / "episodes.jsonl").unlink()
    view.show_analysis(summarize(open_run(run)))
    told = f"Run {run.name} has ended, but 3 of 9 episodes are missing, of Poor in CartPole-v1."
    assert told in view.verdict.text() and told not in view.notes.text()
    shutil.rmtree(run / "operators")
    view.show_analysis(summarize(open_run(run)))
    assert view.hint.isVisible() and view.hint.title.text() == "No episodes are recorded"
    assert "9 of 9 episodes are missing" in view.hint.text.text()


def test_a_link_has_the_color_of_the_theme_that_comes(
    summary: Summary, context: AppContext, qtbot: QtBot
) -> None:
    view = ComparisonView(context.theme)
    qtbot.addWidget(view)
    view.task.setParent(view)
    view.resize(1200, 800)
    view.show_analysis(replace(summary, verdicts=tuple(summary.verdicts) * 10))
    view.show()
    qtbot.waitExposed(view)
    try:
        for mode in ("dark", "light"):
            context.theme.set_mode(mode)
            qtbot.waitUntil(lambda: context.theme.color("accent").rgb() in colors_in(view.banner))
    finally:
        context.theme.set_mode("light")


def colors_in(widget: QWidget) -> set[int]:
    """Every color of its picture."""
    picture = widget.grab().toImage()
    return {picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height())}


def len_px(text: str, pixels: int) -> float:
    return len(text) * pixels * 0.5


def test_matches_are_not_called_seeds(view: ComparisonView) -> None:
    """A seed of a match is played once for each seating."""
    task = named(view, PickerButton, "results-task")
    task.set_value(task.items[1].value)
    task.chosen.emit(task.value)
    comparison = view.comparison
    assert comparison is not None and comparison.kind == "teams"
    said = plot(view, "pairedSeedsPlot").accessibleDescription()
    assert f"of {comparison.pairs}." in said and "seeds" not in said


def test_who_plays_alone_and_teams_of_one_environment_have_a_chart_each(
    view: ComparisonView, summary: Summary
) -> None:
    team_card = named(view, Card, "results-team-card")
    assert not team_card.isVisible()
    task = summary.operators[0].task
    together = tuple(replace(operator, task=task) for operator in summary.operators)
    view.show_analysis(replace(summary, operators=together, comparisons=()))
    alone, teams = plot(view, "intervalPlot").chart, plot(view, "teamIntervalPlot").chart
    assert alone is not None and alone.title.startswith("IQM")
    assert teams is not None and teams.title.startswith("Mean") and team_card.isVisible()


def test_a_bar_stands_for_its_pair(view: ComparisonView, qtbot: QtBot) -> None:
    bars = plot(view, "pairedSeedsPlot")
    with qtbot.waitSignal(view.pair_chosen) as chosen:
        qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=bars.spot_rect(1).center().toPoint())
    (pair,) = chosen.args
    assert isinstance(pair, PairChosen) and (pair.pair, pair.seed) == (1, 2)


def test_two_of_a_kind_have_their_own_colors_in_table_and_chart(
    view: ComparisonView, summary: Summary
) -> None:
    summary = replace(summary, operators=tuple(replace(o, kinds=("rl",)) for o in summary.operators))
    view.show_analysis(summary)
    kinds = [leading_kind(operator.kinds) for operator in summary.operators]
    colors = dict(zip((o.key for o in summary.operators), kind_colors(kinds), strict=True))
    image = view.table.grab().toImage()
    across = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    chart = plot(view, "intervalPlot").chart
    assert isinstance(chart, IntervalChart)
    shown = [o for o in summary.operators if o.task == view.task.value]
    assert len({colors[o.key] for o in shown}) == len(shown) > 1
    roles = {row.name: role_colors(LIGHT)[row.role] for row in chart.rows}
    for operator in shown:
        assert roles[operator.name] == colors[operator.key]
        assert fill_for_white(QColor(colors[operator.key])).name() in across
