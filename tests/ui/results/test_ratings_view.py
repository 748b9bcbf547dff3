"""What the window says of a tournament beside what its page says."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gym_gui.analysis import Summary, open_run, summarize
from gym_gui.analysis.pages.tournament_page import render_found_page
from gym_gui.analysis.reporting import find_standings
from gym_gui.analysis.words.wording import SCREEN
from gym_gui.ui.plots import ChartView
from gym_gui.ui.results.comparison_view import ComparisonView
from gym_gui.ui.results.ratings_view import RatingsView, StandingsTable
from gym_gui.ui.theme import Theme
from tests.analysis.tournaments.conftest import by_strength, write_tournament
from tests.analysis.tournaments.test_cross_play import write as write_cross_play
from tests.support.named import named

STRENGTHS = {"strong": 1.5, "fair": 0.0, "<b>weak": -1.5}


@pytest.fixture
def summary(tmp_path: Path) -> Summary:
    run = open_run(write_tournament(tmp_path, list(STRENGTHS), by_strength(STRENGTHS), range(30)))
    return replace(summarize(run), standings=find_standings([run]))


@pytest.fixture
def view(summary: Summary, qtbot: QtBot) -> ComparisonView:
    view = ComparisonView(Theme("light"))
    qtbot.addWidget(view)
    view.task.setParent(view)  # Which belongs into the bar of a page.
    view.resize(1000, 700)
    view.show_analysis(summary)
    view.show()
    qtbot.waitExposed(view)
    return view


def len_px(text: str, pixels: int) -> float:
    return len(text) * pixels * 0.5


def test_what_a_table_shows_is_said_below_it_and_above_the_pairings(view: ComparisonView) -> None:
    assert "Bradley-Terry" in named(view, QLabel, "results-legend").text()
    heading = named(view, QLabel, "results-pairings")
    assert heading.isVisible() and heading.text() == "GAMES BY PAIRING"
    below = view.table.rows.index(1, 0).data().strip()
    assert below == "first: strong"  # who of the pool, and not which worker plays for it


def test_a_square_leads_to_its_games(view: ComparisonView, qtbot: QtBot) -> None:
    matrix = named(view, ChartView, "payoffPlot")
    with qtbot.waitSignal(view.operator_chosen) as told:
        qtbot.keyClick(matrix, Qt.Key.Key_End)
        qtbot.keyClick(matrix, Qt.Key.Key_Return)
    assert told.args is not None and told.args[0].operator_id == "fair_vs_<b>weak"


def test_window_and_page_show_the_same(view: ComparisonView, summary: Summary) -> None:
    assert summary.standings is not None
    page = unescape(render_found_page(summary.standings, summary))
    for name, cells in (("ratingPlot", 3), ("payoffPlot", 6)):
        plot = view.findChild(ChartView, name)
        assert plot is not None and plot.isVisible() and plot.chart is not None
        spots = plot.chart.draw(540, 240, len_px).spots
        assert len(spots) == cells and all(f"<title>{spot.sentence}</title>" in page for spot in spots)
    table = view.findChild(StandingsTable)
    assert table is not None
    shown = [[table.rows.index(row, column).data() for column in range(4)] for row in range(3)]
    assert [row[1] for row in shown] == ["strong", "fair", "<b>weak"]
    for row in shown:
        assert all(cell.replace(SCREEN.minus, "-") in page for cell in row), "files have the sign of ASCII"
    verdict = view.findChild(QLabel, "results-verdict")
    assert verdict is not None and "strong is the best of 3 policies</span>" in verdict.text()
    paired = view.findChild(ChartView, "pairedSeedsPlot")
    assert paired is not None and not paired.isVisible(), "pairings are no operators to choose from"


def test_all_of_the_table_and_its_names_are_legible_in_a_small_window(view: ComparisonView) -> None:
    table = view.findChild(StandingsTable)
    assert table is not None
    port, headings = table.viewport(), table.horizontalHeader()
    assert port is not None and headings is not None and headings.length() <= port.width()
    assert all(table.columnWidth(c) >= table.sizeHintForColumn(c) for c in range(len(table.rows.columns)))


def test_another_run_is_shown_without_ratings(view: ComparisonView, summary: Summary) -> None:
    view.show_analysis(replace(summary, standings=None))
    ratings = view.findChild(RatingsView)
    assert ratings is not None and not ratings.isVisible()
    verdict = view.findChild(QLabel, "results-verdict")
    assert verdict is not None and "the best of" not in verdict.text()


def test_cross_play_is_shown_as_on_its_page(tmp_path: Path, qtbot: QtBot) -> None:
    found = write_cross_play(
        tmp_path, ["<b>one", "two"], lambda who, seed: seed / 50 + (who[0] == who[1]), held_out=["guest"]
    )
    summary = replace(summarize(open_run(tmp_path / "01CROSSPLAY")), cross_play=found)
    view = ComparisonView(Theme("light"))
    qtbot.addWidget(view)
    qtbot.addWidget(view.task)
    view.resize(1000, 700)
    view.show_analysis(summary)
    view.show()
    qtbot.waitExposed(view)
    page = unescape(render_found_page(found, summary))
    for name, cells in (("ratingPlot", 3), ("payoffPlot", 8)):
        plot = view.findChild(ChartView, name)
        assert plot is not None and plot.isVisible() and plot.chart is not None
        spots = plot.chart.draw(540, 240, len_px).spots
        assert len(spots) == cells and all(f"<title>{spot.sentence}</title>" in page for spot in spots)
    table = view.findChild(StandingsTable)
    assert table is not None
    shown = [[table.rows.index(row, column).data() for column in range(6)] for row in range(3)]
    assert {row[0] for row in shown} == {"<b>one", "two", "guest (held out)"}
    assert all(cell.replace(SCREEN.minus, "-") in page for row in shown for cell in row)
    verdict = view.findChild(QLabel, "results-verdict")
    assert verdict is not None and "Self-play is better than cross-play</span>" in verdict.text()
    assert "&lt;b&gt;one in one seat costs the team of two" in verdict.text()
    paired = view.findChild(ChartView, "pairedSeedsPlot")
    assert paired is not None and not paired.isVisible(), "teams are no operators to choose from"
