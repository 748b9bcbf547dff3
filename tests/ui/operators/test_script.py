"""An experiment file is looked at first, run on request, stopped and resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QApplication,
    QLabel,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.analysis import open_run
from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.experiment.shards import SHARD
from gym_gui.core.trusted import trust
from gym_gui.services.runs.run_library import RunEntry, RunLibrary
from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.install_dialog import InstallDialog
from gym_gui.ui.live.watch_pane import WatchPane
from gym_gui.ui.operators import script_words
from gym_gui.ui.operators.script import ScriptExperimentWidget
from gym_gui.ui.operators.script_card import ScriptCard
from gym_gui.ui.operators.script_file import OPENED
from gym_gui.ui.operators.script_rows import OperatorRow
from gym_gui.ui.operators.script_start import ScriptStart
from gym_gui.ui.widgets import PageBar
from gym_gui.ui.widgets.message_panels import InlineMessage
from tests.support.missing import missing_environment
from tests.support.named import named

from .conftest import WAIT

pytestmark = pytest.mark.usefixtures("looks_here")

RANDOM = {"agent": {"type": "random"}}


@pytest.fixture
def script(context: AppContext, finish: Any, qtbot: Any) -> Iterator[ScriptExperimentWidget]:
    catalog = CatalogCache(context.store)
    bar = PageBar("Operators")
    result = ScriptExperimentWidget(context, catalog, bar)
    page = QWidget()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    column.addWidget(bar)
    column.addWidget(result, 1)
    page.resize(900, 644)
    page.show()
    yield result
    finish(result.play.shut_down())
    finish(catalog.close())


def row(script: ScriptExperimentWidget, operator: str) -> OperatorRow:
    return named(script, OperatorRow, f"script-operator-{operator}")


def experiment(folder: Path, *, episodes: int = 3, count: int = 2, **operator: Any) -> Path:
    """Two operators on CartPole, as JSON; or the first of them."""
    one = {"id": "a", "name": "Anna", "task": "CartPole-v1", "workers": RANDOM, **operator}
    two = {"id": "b", "name": "Bert", "task": "CartPole-v1", "workers": {"agent": {"type": "passive"}}}
    path = folder / "experiment.json"
    execution = {"num_episodes": episodes, "seeds": 7, "concurrency": 2, "processes": 1}
    path.write_text(json.dumps({"operators": [one, two][:count], "execution": execution}))
    return path


def test_with_nothing_open_it_says_what_to_do(script: ScriptExperimentWidget):
    assert (
        named(script, ScriptStart, "script-empty").isVisible()
        and not named(script, ScriptCard, "script-card").isVisible()
    )
    assert (
        named(script.window(), QPushButton, "script-open").isVisible()
        and not named(script.window(), QPushButton, "script-run").isVisible()
    )


def test_plain_data_is_read_and_its_plan_shown(script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any):
    script.file.open(experiment(tmp_path))
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    assert script.file.plan.playable and script.file.plan.episodes == 6
    about = named(script, QLabel, "script-about")
    assert "2 operators, 3 episodes each, seeds 7 to 9" in about.text()
    assert "At most 3,000 steps in all" in about.text()
    assert (
        named(row(script, "a"), QLabel, "script-operator-name").text() == "Anna"
        and named(row(script, "a"), QLabel, "script-operator-count").text() == "0 / 3"
    )
    assert (
        named(script.window(), QPushButton, "script-run").isEnabled()
        and named(script.window(), QPushButton, "script-run").text() == "Run"
    )


@pytest.mark.usefixtures("plays_here")
def test_runs_and_its_results_are_offered(
    script: ScriptExperimentWidget, context: AppContext, tmp_path: Path, qtbot: Any
):
    context.settings.set("compress_runs", True)
    script.file.open(experiment(tmp_path))
    qtbot.waitUntil(lambda: named(script.window(), QPushButton, "script-run").isEnabled(), timeout=WAIT)
    qtbot.mouseClick(named(script.window(), QPushButton, "script-run"), Qt.MouseButton.LeftButton)
    assert (
        named(script.window(), QPushButton, "script-run").text() == "Stop"
        and not named(script.window(), QPushButton, "script-open").isEnabled()
    )
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    assert (
        named(row(script, "a"), QLabel, "script-operator-count").text() == "3 / 3"
        and named(row(script, "b"), QLabel, "script-operator-left").text() == "done"
    )
    assert "Done: 6 episodes" in named(script, InlineMessage, "message-ok").text
    with qtbot.waitSignal(context.requested) as went:
        qtbot.mouseClick(named(script.window(), QPushButton, "script-results"), Qt.MouseButton.LeftButton)
    assert went.args[0] == "results"
    opened = open_run(went.args[1]["run"])
    assert {name: len(list(o.episodes())) for name, o in opened.operators.items()} == {"a": 3, "b": 3}
    assert len(list(opened.path.glob("operators/*/steps.jsonl.zst"))) == 2


def test_steps_are_as_far_apart_as_the_file_says(script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any):
    path = experiment(tmp_path, episodes=2, count=1, max_steps=8)
    written = json.loads(path.read_text())
    written["execution"] |= {"step_delay_ms": 100}
    path.write_text(json.dumps(written))
    script.file.open(path)
    qtbot.waitUntil(lambda: named(script.window(), QPushButton, "script-run").isEnabled(), timeout=WAIT)
    script.play.toggle()
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    episodes = list(open_run(script.play.job.result.folder).operators["a"].episodes())
    assert [each.length for each in episodes] == [8, 8]
    assert min(each.wall_s or 0.0 for each in episodes) >= 0.7, episodes


@pytest.mark.usefixtures("plays_here")
def test_what_is_played_until_it_is_decided_says_so(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any
):
    path = experiment(tmp_path, episodes=100)
    written = json.loads(path.read_text())
    written["execution"] |= {"until": "decided", "batch": 7}
    path.write_text(json.dumps(written))
    script.file.open(path)
    qtbot.waitUntil(lambda: named(script.window(), QPushButton, "script-run").isEnabled(), timeout=WAIT)
    assert named(row(script, "a"), QLabel, "script-operator-count").text() == "0 of at most 100"
    about = named(script, QLabel, "script-about")
    assert "2 operators, at most 100 episodes each" in about.text()
    assert "until every comparison is decided" in about.text()
    seen: list[str] = []
    script.play.toggle()
    script.play.job.progressed.connect(lambda _: seen.append(about.text()))
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    assert any("of at most 200 episodes" in words for words in seen)
    done = script.play.job.result.episodes // 2
    assert script.play.job.result.status == "completed" and done % 7 == 0 and done < 100
    assert (
        named(row(script, "a"), QLabel, "script-operator-count").text() == f"{done} / {done}"
        and named(row(script, "a"), QLabel, "script-operator-left").text() == "done"
    )


@pytest.mark.usefixtures("plays_here")
def test_the_rows_of_a_matrix_that_can_be_played_are_and_the_others_named(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any
):
    path = tmp_path / "matrix.json"
    one = {"type": "baseline", "behavior": "tictactoe_one_ply"}
    rows = ["rl_vs_random", "rl_vs_llm", {"name": "odd", "sides": [["rl", "rl"], "rl"]}]
    matrix = {"task": "tictactoe_v3", "rows": [*rows, {"name": "misfit", "sides": ["rl", "chaser"]}]}
    pool = {"rl": one, "chaser": {"type": "baseline", "behavior": "soccer_chaser"}}
    execution = {"num_episodes": 2, "seeds": 0, "processes": 1}
    path.write_text(json.dumps({"policies": pool, "matrix": matrix, "execution": execution}))
    script.file.open(path)
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    (played,) = script.findChildren(OperatorRow)
    assert played is row(script, "rl_vs_random")
    assert named(played, QLabel, "script-operator-name").text() == "RL vs Random"
    said = named(script, QLabel, "script-about").text()
    assert "Not played: rl_vs_llm: no policy is called 'llm'" in said
    assert "Not played: odd: it has 2 players for player_1 of tictactoe_v3, which has 1" in said
    assert "Not played: misfit: policy 'chaser': operators_worker cannot play here" in said
    qtbot.mouseClick(named(script.window(), QPushButton, "script-run"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    assert "Done: 2 episodes" in named(script, InlineMessage, "message-ok").text


def test_stopped_it_goes_on_where_it_stood(script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any):
    slow = {"task": "MiniGrid-Empty-8x8-v0", "max_steps": 40}
    script.file.open(experiment(tmp_path, episodes=30, count=1, **slow))
    qtbot.waitUntil(lambda: named(script.window(), QPushButton, "script-run").isEnabled(), timeout=WAIT)
    script.play.toggle()
    qtbot.waitUntil(
        lambda: named(row(script, "a"), QProgressBar, "script-progress").value() > 0, timeout=WAIT
    )
    script.play.toggle()
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    folder = script.play.job.folder
    done = script.play.job.result.episodes
    assert script.play.job.result.status == "stopped" and 0 < done < 30
    assert named(script.window(), QPushButton, "script-run").text() == "Resume"
    script.play.toggle()
    qtbot.waitUntil(lambda: not script.work.busy)
    assert script.play.job.folder == folder and script.play.job.result.episodes == 30
    assert named(script.window(), QPushButton, "script-run").text() == "Run again"


@pytest.fixture
def stopped(script: ScriptExperimentWidget, plays_here: None, tmp_path: Path, qtbot: Any) -> RunEntry:
    """A run of 30 episodes that was stopped after some, of the file that is still shown."""
    slow = {"task": "MiniGrid-Empty-8x8-v0", "max_steps": 40}
    script.file.open(experiment(tmp_path, episodes=30, count=1, **slow))
    run = named(script.window(), QPushButton, "script-run")
    qtbot.waitUntil(run.isEnabled, timeout=WAIT)
    script.play.toggle()
    progress = named(row(script, "a"), QProgressBar, "script-progress")
    qtbot.waitUntil(lambda: progress.value() > 0, timeout=WAIT)
    script.play.toggle()
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    assert script.play.job is not None and script.play.job.folder is not None
    return entry_of(script.play.job.folder)


def entry_of(run: Path) -> RunEntry:
    found = RunLibrary(run.parent).one(run)
    assert found is not None
    return found


def test_a_run_that_was_stopped_is_gone_on_with_by_what_it_has_recorded(
    script: ScriptExperimentWidget, stopped: RunEntry, qtbot: Any
):
    assert stopped.can_go_on and 0 < stopped.done < 30
    script.file.resume(stopped, begin=False)
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    assert named(row(script, "a"), QLabel, "script-operator-count").text() == f"{stopped.done} / 30"
    assert script.play.job is None and "Resume" in named(script, InlineMessage, "message-info").text
    assert named(script.window(), QPushButton, "script-results").isEnabled(), "what it has can be seen"
    script.file.resume(stopped)
    assert named(script, QLabel, "script-name").text() == stopped.full_title
    qtbot.waitUntil(lambda: script.play.job is not None and script.play.job.result is not None)
    assert script.play.job is not None and script.play.job.result is not None
    assert script.play.job.folder == stopped.path and script.play.job.result.episodes == 30
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    over = entry_of(stopped.path)
    assert over.status == "completed" and over.done == 30 and not over.can_go_on
    assert not named(script.window(), QPushButton, "script-run").isEnabled()
    assert not named(script.window(), QPushButton, "script-edit").isEnabled(), "a record is not edited"


@pytest.fixture
def brought_back(
    context: AppContext, finish: Any, qtbot: Any
) -> Iterator[Callable[[], ScriptExperimentWidget]]:
    """Makes the widget once more, as a restart of the window does."""
    catalog, bar = CatalogCache(context.store), PageBar("Operators")
    qtbot.addWidget(bar)

    def bring_back() -> ScriptExperimentWidget:
        again = ScriptExperimentWidget(context, catalog, bar)
        qtbot.addWidget(again, before_close_func=lambda _widget: finish(again.play.shut_down()))
        again.file.reopen_last(Path(str(context.layout.value(OPENED))))
        qtbot.waitUntil(lambda: again.file.plan is not None and not again.work.busy, timeout=WAIT)
        return again

    yield bring_back
    finish(catalog.close())


def test_after_a_restart_a_run_that_was_left_is_offered(
    stopped: RunEntry, brought_back: Callable[[], ScriptExperimentWidget], qtbot: Any
):
    again = brought_back()
    offer = named(again, InlineMessage, "message-info")
    assert f"{stopped.done} of 30 episodes" in offer.text and again.play.job is None
    assert named(row(again, "a"), QLabel, "script-operator-count").text() == "0 / 30", "the file is a whole"
    qtbot.mouseClick(named(offer, QPushButton, "message-action"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: again.play.job is not None and again.play.job.result is not None)
    assert again.play.job is not None and again.play.job.result is not None
    assert again.play.job.folder == stopped.path and again.play.job.result.episodes == 30


def test_a_run_of_another_file_is_not_offered(
    script: ScriptExperimentWidget,
    stopped: RunEntry,
    brought_back: Callable[[], ScriptExperimentWidget],
    qtbot: Any,
):
    script.file.open(experiment(stopped.path.parent.parent, episodes=1, count=1))
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    again = brought_back()
    assert again.work.message is None and entry_of(stopped.path).can_go_on


def test_a_part_of_an_experiment_is_gone_on_with_elsewhere(
    script: ScriptExperimentWidget, stopped: RunEntry, qtbot: Any
):
    file = stopped.path / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), SHARD: {"number": 1, "of": 2}}))
    assert not entry_of(stopped.path).can_go_on
    script.file.resume(stopped)
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    assert f"mosaic run --resume {stopped.path}" in named(script, InlineMessage, "message-error").text


def test_a_program_is_run_only_after_the_person_agrees(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any
):
    witness = tmp_path / "ran"
    path = tmp_path / "program.py"
    path.write_text(
        f"open({str(witness)!r}, 'w').close()\n"
        "operators = [{'id': 'a', 'task': 'CartPole-v1', 'workers': {'agent': {'type': 'random'}}}]\n"
    )
    script.file.open(path)
    qtbot.waitUntil(
        lambda: script.findChild(InlineMessage, "message-warning") is not None and not script.work.busy,
        timeout=WAIT,
    )
    assert "is a program" in named(script, InlineMessage, "message-warning").text and not witness.exists()
    source = named(script, QPlainTextEdit, "script-source")
    assert "operators = [" in source.toPlainText()  # what would be run is shown
    assert script.file.plan is None and not named(script.window(), QPushButton, "script-run").isEnabled()
    qtbot.mouseClick(named(script, QPushButton, "message-action"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: script.file.plan is not None, timeout=WAIT)
    assert witness.exists() and script.file.plan.playable and not source.isVisible()  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        (json.dumps({"operators": []}), "must not be empty"),
        (json.dumps({"operators": [{"id": "a", "taks": "X"}]}), "taks"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any, text: str, words: str
):
    path = tmp_path / "bad.json"
    path.write_text(text)
    script.file.open(path)
    qtbot.waitUntil(lambda: script.findChild(InlineMessage, "message-error") is not None, timeout=WAIT)
    assert words in named(script, InlineMessage, "message-error").text and script.file.plan is None
    path.write_text(experiment(tmp_path).read_text())
    qtbot.mouseClick(named(script, QPushButton, "message-action"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: script.file.plan is not None, timeout=WAIT)


def test_a_message_is_answered_as_soon_as_it_is_there(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any, monkeypatch: pytest.MonkeyPatch
):
    """The reading that ends with the message has not quite ended then."""
    path, say, clicked = tmp_path / "bad.json", script.work.show_message, list[bool]()

    def answered(message: InlineMessage | None) -> None:
        say(message)
        if message is not None and message.button is not None and not clicked:
            path.write_text(experiment(tmp_path).read_text())
            clicked.append(script.work.busy)
            message.button.click()

    monkeypatch.setattr(script.work, "show_message", answered)
    path.write_text("{")
    script.file.open(path)
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    assert clicked == [True]


def test_an_operator_that_cannot_play_is_marked(script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any):
    script.file.open(experiment(tmp_path, task="CartPoll-v1"))
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    assert "CartPole" in script.file.plan.operators[0].error and not script.file.plan.operators[1].error
    assert not named(script.window(), QPushButton, "script-run").isEnabled()


def test_what_an_operator_lacks_can_be_installed(script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any):
    task, family = missing_environment()
    script.file.open(experiment(tmp_path, task=task))
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    qtbot.mouseClick(named(script, QPushButton, "message-action"), Qt.MouseButton.LeftButton)
    dialog = script.window().findChild(InstallDialog)
    assert dialog is not None
    assert f"mosaic envs install {family}" in named(dialog, QLabel, "install-state").text()
    before = script.file.plan
    dialog.installed.emit(family)
    qtbot.waitUntil(lambda: script.file.plan is not before and script.file.plan is not None, timeout=WAIT)
    dialog.reject()


def test_a_person_in_a_script_is_warned_about(script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any):
    script.file.open(experiment(tmp_path, workers={"agent": {"type": "human"}}))
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    assert "asks no person" in script.file.plan.operators[0].warnings[0]


MAZE = """
from pathlib import Path
import gymnasium
(Path(__file__).parent / "ran").touch()
def make(**kwargs):
    return gymnasium.make("CartPole-v1", **kwargs)
"""


@pytest.fixture
def asked(script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any, monkeypatch: Any) -> Any:
    """The dialog that opens with an experiment which names code beside it."""
    monkeypatch.setenv("MOSAIC_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "maze.py").write_text(MAZE)
    script.file.open(experiment(tmp_path, task="maze:make"))
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)
    (dialog,) = (w for w in QApplication.topLevelWidgets() if w.objectName() == "trust-dialog")
    assert not (tmp_path / "ran").exists()
    yield dialog
    trust.begin()  # what a test has allowed once


def test_code_that_a_file_names_is_asked_for_by_name(
    asked: Any, script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any
):
    told = " ".join(label.text() for label in asked.findChildren(QLabel))
    for words in (str(tmp_path / "experiment.json"), "maze:make", f"code in {tmp_path}"):
        assert words in told
    qtbot.keyClick(asked.focusWidget(), Qt.Key.Key_Space)  # in haste: nothing is allowed by it
    assert script.file.plan is None
    assert "not been allowed" in named(script, InlineMessage, "message-warning").text
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("button", "kept"), [("trust-once", False), ("trust-always", True)])
def test_code_that_was_allowed_plays(
    asked: Any, script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any, button: str, kept: bool
):
    asked.findChild(QPushButton, button).click()
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    assert script.file.plan.playable
    assert (tmp_path / "config" / "trust.json").exists() is kept


def test_what_an_operator_plays_is_seen_by_its_eye_while_the_run_goes_on(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any
):
    script.file.open(experiment(tmp_path, episodes=4000))
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    row(script, "a").eye.click()
    pane = named(script, WatchPane, "watch-pane")
    assert "Press Run to play its episodes" in pane.stage.frame.hint[1]
    script.play.toggle()
    qtbot.waitUntil(lambda: "frame" in pane.stage.ways and "seed" in pane.facts.text(), timeout=WAIT)
    assert row(script, "a").eye.isChecked() and not row(script, "b").eye.isChecked()
    row(script, "b").eye.click()
    assert pane.name.text() == "Bert" and row(script, "b").eye.isChecked()
    assert not row(script, "a").eye.isChecked()
    qtbot.keyClick(pane, Qt.Key.Key_Escape)
    assert script.card.pane is None and script.window().focusWidget() is row(script, "b").eye
    assert not row(script, "b").eye.isChecked() and script.play.job is not None and script.play.job.running
    script.play.stop()
    qtbot.waitUntil(lambda: not script.work.busy, timeout=WAIT)


def test_where_memory_is_short_slots_may_share_processes(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(script_words, "free_memory", lambda: 150_000_000)
    slots = {f"agent_{i}": {"type": "random"} for i in range(3)}
    path = tmp_path / "spread.json"
    execution = {"num_episodes": 1, "seeds": 7, "processes": 1}
    operator = {"id": "a", "name": "Anna", "task": "simple_spread_v3", "workers": slots}
    path.write_text(json.dumps({"operators": [operator], "execution": execution}))
    script.file.open(path)
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    warning = named(script, InlineMessage, "message-warning")
    assert "need about 150.0 MB of memory, and 150.0 MB are free" in warning.text
    assert "need about 50.0 MB" in warning.text
    qtbot.mouseClick(named(warning, QPushButton, "message-action"), Qt.MouseButton.LeftButton)
    assert script.file.plan.experiment.execution.isolation == "worker"
    assert "Slots of a team share a worker process" in named(script, QLabel, "script-about").text()
    assert script.work.message is None


def test_where_memory_is_enough_nothing_is_said_of_it(
    script: ScriptExperimentWidget, tmp_path: Path, qtbot: Any
):
    script.file.open(experiment(tmp_path))
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=WAIT)
    assert script.work.message is None
