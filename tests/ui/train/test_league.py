"""A run that plays against itself on the Train page: its rating, its members, and one of them used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.services.trainer.training_folder import METRICS
from gym_gui.ui.pages.train import TrainPage
from gym_gui.ui.train.chart_words import chart_items
from gym_gui.ui.train.curve_plot import CurvePlot
from gym_gui.ui.train.league_plot import LeaguePlot, Mark
from gym_gui.ui.train.league_table import LeagueTable
from gym_gui.ui.train.policy_now import CurrentPolicyCard
from gym_gui.ui.train.runs_table import RunsTable
from gym_gui.ui.widgets import EmptyHint
from gym_gui.ui.window.main_window import MainWindow
from mosaic_worker.training import LEAGUE
from tests.support.named import named
from tests.ui.train.conftest import PATIENCE_MS

FIRST = {
    "name": "past_0",
    "folder": "past_0",
    "step": 0,
    "rating": -13.6,
    "won": 2,
    "drawn": 1,
    "lost": 3,
    "odds": 0.25,
}
POOL = {"name": "search", "folder": None, "plays": "mcts_100", "step": None, "rating": 210.0, "odds": 0.75}


def write(folder: Path, *members: dict[str, Any], rating: float | None = 60.0) -> None:
    league = {"format_version": 2, "learner": {"step": 5, "rating": rating}, "members": members}
    (folder / "coming").write_text(json.dumps(league))
    (folder / "coming").replace(folder / LEAGUE)


def report(folder: Path, **metrics: float) -> None:
    with (folder / METRICS).open("a") as file:
        for step in (1, 4):
            row = {"step": step, "m": {f"league/{name}": value * step for name, value in metrics.items()}}
            file.write(json.dumps(row) + "\n")


def cells(page: TrainPage) -> list[list[str]]:
    """What the table shows, its hidden columns too."""
    model = named(page, LeagueTable, "train-league-table").rows
    return [
        [str(model.index(row, column).data()) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


@pytest.fixture
def run(page: TrainPage, started: Callable[..., str], qtbot: QtBot, joint_policy: Path) -> Path:
    """Folder of a run with a league, which is looked at."""
    record = page.link.run(started())
    assert record is not None
    choice = named(page, QPushButton, "train-lower-league")
    assert not choice.isVisible()
    (record.folder / "past_0").symlink_to(joint_policy)
    write(record.folder, FIRST, POOL)
    report(record.folder, rating=15.0, members=2.0)
    qtbot.waitUntil(choice.isVisible, timeout=PATIENCE_MS)
    choice.click()
    return record.folder


def test_the_league_of_a_run_is_shown_as_it_grows(page: TrainPage, run: Path, qtbot: QtBot) -> None:
    assert cells(page) == [
        ["search", "pool", "210", "–", "–", "75 %"],  # noqa: RUF001
        ["past_0", "0", "\N{MINUS SIGN}14", "6", "2/1/3", "25 %"],
    ]
    plot = named(page, LeaguePlot, "train-league-plot")
    qtbot.waitUntil(lambda: bool(plot.curves), timeout=PATIENCE_MS)
    assert list(plot.marks) == [Mark("past_0", -13.6, 0), Mark("search", 210.0)]
    (curve,) = plot.curves.values()
    assert curve.values.tolist() == [15.0, 60.0]
    assert named(page, QLabel, "train-league-heading").accessibleName() == "Rating, Elo points"
    assert named(page, QLabel, "train-league-unit").text() == "0: rating at the start of the training"
    assert named(page, QLabel, "train-league-note").text().endswith(": learner at 60, 2 members")
    assert not named(page, CurrentPolicyCard, "policy-now").isVisible()
    assert "past_0" in plot.text_at(0.0) and "search" not in plot.text_at(0.0)
    assert "past_0" not in plot.text_at(2.0)

    write(run, FIRST, POOL, {"name": "past_9", "step": 9, "rating": 300, "won": 1})
    qtbot.waitUntil(lambda: len(cells(page)) == 3, timeout=PATIENCE_MS)
    assert cells(page)[0] == ["past_9", "9", "300", "1", "1/0/0", "–"]  # noqa: RUF001

    (run / LEAGUE).write_text("{")
    trouble = named(page, EmptyHint, "train-league-trouble")
    qtbot.waitUntil(trouble.isVisible, timeout=PATIENCE_MS)
    said = " ".join(each.text() for each in trouble.findChildren(QLabel))
    assert "league.json in the run folder is damaged, or was cut off." in said
    (run / LEAGUE).unlink()
    qtbot.waitUntil(
        lambda: any("is not in the run folder" in each.text() for each in trouble.findChildren(QLabel)),
        timeout=PATIENCE_MS,
    )
    write(run, FIRST)
    qtbot.waitUntil(lambda: len(cells(page)) == 1 and not trouble.isVisible(), timeout=PATIENCE_MS)


def test_a_member_is_used_as_any_policy(page: TrainPage, run: Path, window: MainWindow, qtbot: QtBot) -> None:
    table = named(page, LeagueTable, "train-league-table")
    use = named(page, QPushButton, "train-league-use")
    assert not use.isEnabled()
    table.select("search")
    assert not use.isEnabled() and "not a trained policy" in use.toolTip()
    table.select("past_0")
    qtbot.waitUntil(use.isEnabled, timeout=PATIENCE_MS)
    qtbot.mouseClick(use, Qt.MouseButton.LeftButton)
    menu = named(page, QMenu, "train-league-use-menu")
    assert menu.isVisible()
    with qtbot.waitSignal(window.context.requested, timeout=PATIENCE_MS) as told:
        next(each for each in menu.actions() if each.data() == "agents").trigger()
    menu.close()
    assert told.args is not None and told.args[0] == "agents"
    operator = told.args[1]["operator"]
    assert {each.settings["checkpoint"] for each in operator.workers.values()} == {str(run / "past_0")}
    assert operator.display_name.endswith(", past_0")


def test_where_all_play_together_returns_stand_for_ratings(page: TrainPage, run: Path, qtbot: QtBot) -> None:
    member = {**FIRST, "rating": 0.0, "games": 6, "mean_return": 2.5, "won": 0, "drawn": 0, "lost": 0}
    write(run, member, rating=None)
    qtbot.waitUntil(
        lambda: cells(page) == [["past_0", "0", "2.50", "6", "25 %"]],
        timeout=PATIENCE_MS,
    )
    heading = named(page, QLabel, "train-league-heading")
    assert heading.accessibleName() == "Return over steps"
    plot = named(page, LeaguePlot, "train-league-plot")
    qtbot.waitUntil(lambda: list(plot.marks) == [Mark("past_0", 2.5, 0)], timeout=PATIENCE_MS)


def test_runs_without_a_league_are_drawn_beside_it(
    page: TrainPage, run: Path, started: Callable[..., str], qtbot: QtBot
) -> None:
    other = started()
    league, choice = (
        named(page, LeagueTable, "train-league-table"),
        named(page, QPushButton, "train-lower-league"),
    )
    assert league.isVisible()  # of the newest run that has one
    runs = named(page, RunsTable, "training-runs")
    runs.select(other)
    assert not choice.isVisible() and not league.isVisible()
    assert named(page, CurrentPolicyCard, "policy-now").isVisible()
    runs.select(next(r.run_id for r in page.link.runs if r.folder == run))
    qtbot.waitUntil(league.isVisible, timeout=PATIENCE_MS)
    first = named(page, CurvePlot, "train-first-chart-plot")
    qtbot.waitUntil(lambda: len(first.curves) == 2, timeout=PATIENCE_MS)
    assert "League" in {item.group for item in chart_items(["league/rating"])}
