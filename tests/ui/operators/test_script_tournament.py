"""A tournament file is looked at first, played on request, and rated while it is played."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.analysis import open_run
from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.services.runs.run_library import RunLibrary
from gym_gui.ui.context import AppContext
from gym_gui.ui.operators.script import ScriptExperimentWidget
from gym_gui.ui.results.live_results import LiveResults
from gym_gui.ui.widgets import LinkButton, PageBar
from gym_gui.ui.widgets.message_panels import InlineMessage
from tests.support.named import named

from .conftest import WAIT

pytestmark = pytest.mark.usefixtures("looks_here", "plays_here", "analyzes_here")

RULES = {name: {"type": "baseline", "behavior": name} for name in ("random", "cycle", "noop")}
POOL = {"random": RULES["random"], "other": RULES["random"], "cycle": RULES["cycle"]}


@pytest.fixture
def script(context: AppContext, finish: Any, qtbot: Any) -> Iterator[ScriptExperimentWidget]:
    catalog = CatalogCache(context.store)
    bar = PageBar("Operators")
    result = ScriptExperimentWidget(context, catalog, bar)
    page = QWidget()
    qtbot.addWidget(page, before_close_func=lambda _page: finish(result.play.shut_down()))
    column = QVBoxLayout(page)
    column.addWidget(bar)
    column.addWidget(result, 1)
    page.resize(1000, 700)
    page.show()
    yield result
    finish(catalog.close())


def tournament(folder: Path, **changes: Any) -> Path:
    path = folder / "club.json"
    usual = {"task": "tictactoe_v3", "policies": POOL, "execution": {"seeds": "range(0, 3)", "processes": 1}}
    path.write_text(json.dumps({**usual, **changes}))
    return path


def opened(script: ScriptExperimentWidget, path: Path, qtbot: Any) -> ScriptExperimentWidget:
    script.file.open(path)
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    return script


def button(script: ScriptExperimentWidget, name: str) -> QPushButton:
    return named(script.window(), QPushButton, name)


def test_it_is_seen_before_it_is_played_and_rated_while_it_is(
    script: ScriptExperimentWidget, context: AppContext, tmp_path: Path, qtbot: Any
):
    opened(script, tournament(tmp_path), qtbot)
    about = named(script, QLabel, "script-about").text()
    assert "3 policies at tictactoe_v3, round robin: 3 pairings" in about
    assert "18 games in all" in about and "both seats" in about
    assert named(script, QWidget, "script-policy-cycle").isVisible()
    pairing = named(script, QWidget, "script-operator-random_vs_other")
    assert not pairing.isVisible()
    qtbot.mouseClick(button(script, "script-views-pairings"), Qt.MouseButton.LeftButton)
    assert pairing.isVisible() and named(pairing, QLabel, "script-operator-count").text() == "0 / 6"

    qtbot.mouseClick(button(script, "script-run"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    assert "Done: 18 games" in named(script, InlineMessage, "message-ok").text
    live = named(script, LiveResults, "live-results")
    assert live.isVisible(), "who stands where is what is shown while it plays"
    qtbot.waitUntil(
        lambda: live.view.analysis is not None and live.view.analysis.standings.games == 18, timeout=WAIT
    )
    assert live.view.ratings.payoffs.chart
    with qtbot.waitSignal(context.requested) as went:
        qtbot.mouseClick(button(script, "script-results"), Qt.MouseButton.LeftButton)
    assert went.args[0] == "results" and went.args[1]["run"] == live.folder

    opened(script, tournament(tmp_path, schedule=[["random", "cycle"]]), qtbot)
    assert script.play.standings.view is None and list(script.card.rows) == ["random_vs_cycle"]
    assert named(script, QWidget, "script-policy-cycle").isVisible()


def test_rounds_come_by_the_results_and_go_on_after_a_stop(
    script: ScriptExperimentWidget, context: AppContext, tmp_path: Path, qtbot: Any
):
    context.settings.set("compress_runs", True)
    pool = {f"p{i}": RULES["random"] for i in range(4)}
    opened(script, tournament(tmp_path, policies=pool, schedule={"swiss": 2}), qtbot)
    assert "Swiss, 2 rounds: in its first round 2 pairings" in named(script, QLabel, "script-about").text()
    assert len(script.card.rows) == 2
    script.play.toggle()
    assert script.play.job is not None
    script.play.job.paired.connect(script.play.stop)
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    assert button(script, "script-run").text() == "Resume" and len(script.card.rows) == 4
    folder = script.play.job.folder

    script.play.toggle()
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    assert button(script, "script-run").text() == "Run again" and script.play.job.folder == folder
    assert folder is not None
    run = open_run(folder)
    assert run.record.status == "completed"
    assert {len(list(pairing.episodes())) for pairing in run.operators.values()} == {6}
    assert len(run.operators) == 4

    script.play.toggle()  # again, from its first round on
    assert len(script.card.rows) == 2
    script.play.stop()
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)


def test_one_that_was_stopped_is_gone_on_with_after_another_file_was_shown(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any
):
    pool = {f"p{i}": RULES["random"] for i in range(4)}
    opened(script, tournament(tmp_path, policies=pool, schedule={"swiss": 2}), qtbot)
    script.play.toggle()
    assert script.play.job is not None
    script.play.job.paired.connect(script.play.stop)
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    folder = script.play.job.folder
    assert folder is not None
    stopped = RunLibrary(folder.parent).one(folder)
    assert stopped is not None and stopped.can_go_on

    opened(script, tournament(tmp_path), qtbot)
    script.file.resume(stopped)
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    assert script.play.job is not None and script.play.job.result is not None
    assert (script.play.job.folder, script.play.job.result.status) == (folder, "completed")
    assert len(script.card.rows) == 4 and script.play.standings.view is not None
    standings = script.play.standings.view
    qtbot.waitUntil(lambda: standings.view.analysis is not None, timeout=WAIT)
    run = open_run(folder)
    assert {len(list(pairing.episodes())) for pairing in run.operators.values()} == {6}


def test_a_policy_that_cannot_play_says_why_at_its_line(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any
):
    wrong = {"type": "baseline", "behavior": "connect_four_one_ply"}
    opened(script, tournament(tmp_path, policies={**POOL, "wrong": wrong}), qtbot)
    row = named(script, QWidget, "script-policy-wrong")
    sentence = next(each.text() for each in row.findChildren(QLabel) if "policy 'wrong'" in each.text())
    assert "cannot play" in sentence
    assert "club.json" in named(row, LinkButton, "script-operator-place").text()
    assert not button(script, "script-run").isEnabled()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task": "CartPole-v1"}, "has one agent: a tournament needs several"),
        ({"policies": {"random": RULES["random"]}}, "at least two policies"),
        ({"task": None}, "'task' is missing"),
    ],
)
def test_what_is_no_tournament_says_so(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any, changes: dict[str, Any], said: str
):
    opened(script, tournament(tmp_path, **changes), qtbot)
    assert said in named(script, InlineMessage, "message-error").text
