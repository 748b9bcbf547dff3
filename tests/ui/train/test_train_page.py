"""The Train page with a real trainer: started, watched, held, stopped, compared, cloned, removed."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QLineEdit, QMenu, QPlainTextEdit, QPushButton, QTableView
from pytestqt.qtbot import QtBot

from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import find
from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.trainings.training_presets import TrainingPreset
from gym_gui.ui.agents.setting_controls import NumberBox
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.environments.install_dialog import InstallDialog
from gym_gui.ui.pages.train import TrainPage
from gym_gui.ui.preset_menu import PresetMenu
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.train import runs_model as columns
from gym_gui.ui.train.compare_panel import ComparePanel
from gym_gui.ui.train.curve_plot import CurvePlot
from gym_gui.ui.train.extend_training import ExtendTrainingForm
from gym_gui.ui.train.link import LinkState
from gym_gui.ui.train.new_run import NewRunForm
from gym_gui.ui.train.run_data import RETURN
from gym_gui.ui.train.run_panel import RunPanel
from gym_gui.ui.train.runs_model import ACTIONS_ROLE
from gym_gui.ui.train.runs_table import RunsTable, action_box
from gym_gui.ui.train.runs_view import RunsView
from gym_gui.ui.widgets.badges import StatusDot
from gym_gui.ui.widgets.message_panels import EmptyHint, InlineMessage
from gym_gui.ui.window.main_window import MainWindow
from tests.support.groups import member
from tests.support.missing import missing_environment
from tests.support.named import named
from tests.ui.train.conftest import PATIENCE_MS, fill, kill_daemon

Start = Callable[..., str]


def record(page: TrainPage, run_id: str) -> TrainingRecord:
    found = page.link.run(run_id)
    assert found is not None
    return found


def wait_for(qtbot: QtBot, page: TrainPage, run_id: str, *states: str) -> None:
    qtbot.waitUntil(lambda: record(page, run_id).state in states, timeout=PATIENCE_MS)


def press(qtbot: QtBot, page: TrainPage, run_id: str, action: str) -> None:
    """Click an action in a run's row, once it is offered."""

    def offered() -> bool:
        runs = named(page, RunsView, "train-runs-view")
        index = runs.model.index(runs.model.row_of(run_id), runs.model.section(columns.ACTIONS))
        return action in (index.data(ACTIONS_ROLE) or ())

    qtbot.waitUntil(offered, timeout=PATIENCE_MS)
    table = named(page, RunsTable, "training-runs")
    viewport = table.viewport()
    assert viewport is not None
    place = action_box(table, run_id, action).center()
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place)


def click(page: TrainPage, action: str) -> None:
    """Press a button of the inspector."""
    button = named(page, QPushButton, f"train-run-{action}")
    assert button.isVisible(), action
    button.click()  # type: ignore[attr-defined]


def test_a_run_from_start_to_trash(page: TrainPage, started: Start, qtbot: QtBot) -> None:
    """One run, through everything that its page does with it."""
    run_id = started(spread=2.0)
    it_is_drawn(page, run_id, qtbot)
    it_is_held_and_goes_on(page, run_id, qtbot)
    its_policy_is_kept_and_its_log_read(page, run_id, qtbot)
    it_is_stopped_and_continued(page, run_id, qtbot)
    it_is_cloned(page)
    it_is_thrown_away(page, run_id, qtbot)


def it_is_drawn(page: TrainPage, run_id: str, qtbot: QtBot) -> None:
    first = named(page, CurvePlot, "train-first-chart-plot")
    qtbot.waitUntil(lambda: first.curves.get(run_id) is not None and first.drawn, timeout=PATIENCE_MS)
    assert first.curves[run_id].count > 0 and "return" in first.accessibleDescription()
    assert named(page, QLabel, "page-note").text() == "1 running"


def it_is_held_and_goes_on(page: TrainPage, run_id: str, qtbot: QtBot) -> None:
    press(qtbot, page, run_id, "pause")
    wait_for(qtbot, page, run_id, "paused")
    press(qtbot, page, run_id, "resume")
    wait_for(qtbot, page, run_id, "running")


def its_policy_is_kept_and_its_log_read(page: TrainPage, run_id: str, qtbot: QtBot) -> None:
    named(page, RunsTable, "training-runs").select(run_id)
    panel = named(page, RunPanel, "train-run-panel")
    qtbot.waitUntil(
        lambda: panel.isVisible() and named(page, StatusDot, "train-run-state").text == "Running",
        timeout=PATIENCE_MS,
    )
    assert panel.facts.texts["Environment"] == "CartPole-v1"
    assert not named(page, QPushButton, "train-run-longer").isVisible(), "it has not taken its steps yet"
    click(page, "checkpoint")
    qtbot.waitUntil(lambda: bool(record(page, run_id).policy), timeout=PATIENCE_MS)
    click(page, "log")
    qtbot.waitUntil(
        lambda: "Training search" in named(page, QPlainTextEdit, "train-log").toPlainText(),
        timeout=PATIENCE_MS,
    )


def it_is_stopped_and_continued(page: TrainPage, run_id: str, qtbot: QtBot) -> None:
    first = named(page, CurvePlot, "train-first-chart-plot")
    qtbot.waitUntil(lambda: record(page, run_id).step > 100, timeout=PATIENCE_MS)
    click(page, "stop")
    wait_for(qtbot, page, run_id, "stopped")
    kept = record(page, run_id).step
    qtbot.waitUntil(named(page, QPushButton, "train-run-continue").isVisible, timeout=PATIENCE_MS)
    click(page, "continue")
    wait_for(qtbot, page, run_id, "running")
    qtbot.waitUntil(lambda: record(page, run_id).step > kept, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: first.curves[run_id].span[1] > kept + 50, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: record(page, run_id).elapsed_s > 1.5, timeout=PATIENCE_MS)


def it_is_cloned(page: TrainPage) -> None:
    click(page, "clone")
    assert named(page, NewRunForm, "train-new-run").isVisible()
    assert named(page, SettingsForm, "settings_form").values()["spread"] == 2.0
    assert "judging by one earlier run" in named(page, InlineMessage, "train-estimate").text


def it_is_thrown_away(page: TrainPage, run_id: str, qtbot: QtBot) -> None:
    press(qtbot, page, run_id, "stop")
    wait_for(qtbot, page, run_id, "stopped")
    named(page, RunsTable, "training-runs").select(run_id)
    remove = named(page, QPushButton, "train-run-remove")
    qtbot.waitUntil(
        lambda: named(page, QPushButton, "train-run-use").isVisible() and remove.isVisible(),
        timeout=PATIENCE_MS,
    )
    folder = record(page, run_id).folder
    assert (folder / "policy.json").is_file()
    remove.click()
    sure = named(page, InlineMessage, "train-run-sure")
    assert sure.isVisible()
    named(sure, QPushButton, "message-action").click()
    qtbot.waitUntil(lambda: page.link.run(run_id) is None, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: named(page, NewRunForm, "train-new-run").isVisible(), timeout=PATIENCE_MS)
    assert not folder.exists()


@pytest.mark.full
def test_short_runs(
    page: TrainPage, trainer: Store, qtbot: QtBot, finish: Callable[[object], object]
) -> None:
    """Two seeds are compared, one is trained longer, TensorBoard shows them; a third one fails."""
    fill(page, total_steps=400, step_s=0.0)
    env_id = str(named(page, EnvironmentPicker, "train-environment").value)
    member(trainer.runs / "by_hand", 1, label="search", env_id=env_id)  # of the foreground, trained otherwise
    named(page, QLineEdit, "train-runs").setText("2")
    named(page, NewRunForm, "train-new-run").check()
    start = named(page, QPushButton, "train-start")
    assert start.text() == "Start 2"
    start.click()
    qtbot.waitUntil(lambda: len(page.link.runs) == 2, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: all(run.has_ended for run in page.link.runs), timeout=PATIENCE_MS)
    assert {(run.seed, run.group) for run in page.link.runs} == {(1, "search_2"), (2, "search_2")}
    runs = named(page, RunsView, "train-runs-view")
    titles = {runs.model.index(row, runs.model.section(columns.RUN)).data() for row in range(2)}
    assert titles == {"Search, seed 1", "Search, seed 2"}
    what_a_return_is_stands_by_it(page, page.link.runs[0], qtbot)
    two_are_compared(page, qtbot)
    tensorboard_shows(page, page.link.runs[0], finish)
    one_is_trained_longer(page, page.link.runs[0], qtbot)
    one_fails(page, qtbot)


def two_are_compared(page: TrainPage, qtbot: QtBot) -> None:
    named(page, QTableView, "training-runs").selectAll()
    named(page, QPushButton, "train-compare-runs").click()
    assert (
        named(page, ComparePanel, "train-compare").isVisible()
        and named(page, QLabel, "train-compare-title").text() == "2 runs"
    )
    plot = named(page, CurvePlot, "train-first-chart-plot")
    qtbot.waitUntil(lambda: len(plot.curves) == 2, timeout=PATIENCE_MS)
    assert "Search, seed 2" in plot.text_at(1.0) or plot.text_at(100.0)
    one = page.link.runs[0].run_id
    page.new_run()
    runs = named(page, RunsView, "train-runs-view")
    runs.toggle_drawn(one)
    qtbot.waitUntil(lambda: list(plot.curves) == [page.link.runs[1].run_id], timeout=PATIENCE_MS)
    assert runs.data.store(page.link.runs[1].run_id).count(RETURN) > 0


def what_a_return_is_stands_by_it(page: TrainPage, run: TrainingRecord, qtbot: QtBot) -> None:
    """In the table that of the evaluation, in the chart of training episodes; and why there is no film."""
    assert run.evaluated
    runs = named(page, RunsView, "train-runs-view")
    cell = runs.model.index(runs.model.row_of(run.run_id), runs.model.section(columns.RETURN))
    qtbot.waitUntil(lambda: cell.data().endswith(", evaluated"), timeout=PATIENCE_MS)
    named(page, RunsTable, "training-runs").select(run.run_id)
    assert "evaluation after the training" in named(page, RunPanel, "train-run-panel").facts.texts["Return"]
    assert "training episodes" in named(page, QLabel, "train-first-chart-title").accessibleName()
    assert "records no films" in named(page, FrameView, "frameView").hint[1]


def tensorboard_shows(page: TrainPage, run: TrainingRecord, finish: Callable[[object], object]) -> None:
    """It serves the runs, and ends with the page."""
    logs = run.folder / "tensorboard"
    logs.mkdir(exist_ok=True)
    before = children()
    finish(page.tensorboard.show({"Search / seed 1": logs}))
    own = children() - before
    assert own
    with urllib.request.urlopen(f"{page.tensorboard.address}data/environment", timeout=20) as answer:
        assert json.loads(answer.read())["data_location"].startswith(str(page.context.store.cache))
    finish(page.tensorboard.close())
    assert not own & children() and not page.tensorboard.running


def children() -> set[int]:
    """Processes that this one has started."""
    return {child.pid for child in psutil.Process().children()}


def one_is_trained_longer(page: TrainPage, run: TrainingRecord, qtbot: QtBot) -> None:
    """In its own folder, from where it was; fewer steps than it has taken are refused."""
    named(page, RunsTable, "training-runs").select(run.run_id)
    click(page, "longer")
    form = named(page, ExtendTrainingForm, "train-longer")
    taken = max(run.step, 400)
    steps = named(form, QLineEdit, "train-longer-steps")
    assert form.isVisible() and steps.text() == f"{2 * taken:,}"
    steps.clear()
    qtbot.keyClicks(steps, "300")
    assert (
        not named(form, QPushButton, "train-longer-go").isEnabled()
        and f"more than {taken:,}" in named(form, QLabel, "train-longer-problem").text()
    )
    steps.clear()
    qtbot.keyClicks(steps, "1,200")
    qtbot.keyClick(steps, Qt.Key.Key_Return)
    assert not form.isVisible()

    def done() -> bool:
        now = record(page, run.run_id)
        return now.state == "completed" and now.step >= 1200

    qtbot.waitUntil(done, timeout=PATIENCE_MS)
    now = record(page, run.run_id)
    assert (now.folder, now.settings["total_steps"], now.total_steps) == (run.folder, 1200, 1200)
    assert len(page.link.runs) == 2, "it is the same run"


def one_fails(page: TrainPage, qtbot: QtBot) -> None:
    """And says why."""
    page.new_run()
    named(page, QLineEdit, "train-runs").setText("1")
    fill(page, fault="nan", step_s=0.0)
    named(page, QPushButton, "train-start").click()
    qtbot.waitUntil(lambda: any(run.state == "failed" for run in page.link.runs), timeout=PATIENCE_MS)
    run = next(run for run in page.link.runs if run.state == "failed")
    named(page, RunsTable, "training-runs").select(run.run_id)
    failure = named(page, InlineMessage, "message-error")
    assert failure.isVisible() and "not a finite number" in failure.text
    runs = named(page, RunsView, "train-runs-view")
    left = runs.model.index(runs.model.row_of(run.run_id), runs.model.section(columns.LEFT))
    qtbot.waitUntil(lambda: left.data() == "failed", timeout=PATIENCE_MS)


def test_the_form(page: TrainPage, qtbot: QtBot) -> None:
    """What cannot be is said and Start waits; presets are saved and taken."""
    form = named(page, NewRunForm, "train-new-run")
    start, problem = named(page, QPushButton, "train-start"), named(page, QLabel, "train-problem")
    page.window().resize(page.window().minimumSize())  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: start.visibleRegion().boundingRect() == start.rect(), timeout=PATIENCE_MS)
    steps = form.findChild(NumberBox, "setting_total_steps")
    assert steps is not None
    steps.clear()
    qtbot.keyClicks(steps, "-3")
    assert not start.isEnabled() and "at least 1, not -3" in start.toolTip()
    fill(page)
    assert start.isEnabled()
    seed = named(form, QLineEdit, "train-seed")
    seed.clear()
    qtbot.keyClicks(seed, "one")
    assert not start.isEnabled() and "Seed must be a whole number from 0" in start.toolTip()
    seed.setText("1")
    form.choose_environment("Pendulum-v1")
    qtbot.waitUntil(lambda: "continuous" in problem.text(), timeout=PATIENCE_MS)
    assert not start.isEnabled() and "for discrete actions" in start.toolTip()
    form.fill(TrainingPreset("search_trainer", "search", "NoSuch-v0"))
    assert problem.text() == "The environment NoSuch-v0 is not available. Choose another environment."
    offered = {item.value: item.reason for item in named(form, EnvironmentPicker, "train-environment").items}
    assert "several agents" in offered["classic/connect_four_v3"] and offered["CartPole-v1"] == ""
    what_is_not_installed_can_be(page, qtbot)
    presets_are_saved_and_taken(page, qtbot)


def what_is_not_installed_can_be(page: TrainPage, qtbot: QtBot) -> None:
    """A training of another machine is done again in an environment that there is not here."""
    task, family = missing_environment()
    form, install = named(page, NewRunForm, "train-new-run"), named(page, QPushButton, "train-install")
    assert not install.isVisible()
    form.fill(TrainingPreset("search_trainer", "search", task))
    qtbot.waitUntil(install.isVisible, timeout=PATIENCE_MS)
    qtbot.mouseClick(install, Qt.MouseButton.LeftButton)
    dialog = page.window().findChild(InstallDialog)  # type: ignore[union-attr]
    assert dialog is not None
    assert f"mosaic envs install {family}" in named(dialog, QLabel, "install-state").text()
    with qtbot.waitSignal(form.loaded, timeout=PATIENCE_MS):
        dialog.installed.emit(family)
    dialog.reject()
    absent = [
        i for i in named(form, EnvironmentPicker, "train-environment").items if "family:" in str(i.value)
    ]
    assert absent and not any(item.reason for item in absent), "each can be chosen, to be installed"


def presets_are_saved_and_taken(page: TrainPage, qtbot: QtBot) -> None:
    fill(page, spread=3.0)
    presets = named(page, PresetMenu, "presets_menu")
    presets.save("Wide")
    fill(page)
    assert "spread" not in named(page, SettingsForm, "settings_form").values()  # type: ignore[union-attr]
    presets.fill()
    presets.load("Wide")
    assert named(page, SettingsForm, "settings_form").values()["spread"] == 3.0  # type: ignore[union-attr]
    presets_are_thrown_into_the_trash(page, qtbot)


def presets_are_thrown_into_the_trash(page: TrainPage, qtbot: QtBot) -> None:
    presets = named(page, PresetMenu, "presets_menu")
    delete = presets.findChild(QMenu, "presets_delete")
    assert delete is not None
    delete.actions()[0].trigger()
    store = presets.store
    qtbot.waitUntil(lambda: not store.presets(), timeout=PATIENCE_MS)
    trash = Path(os.environ["XDG_DATA_HOME"]) / "Trash" / "files"
    qtbot.waitUntil(lambda: (trash / "Wide.training.json").is_file(), timeout=PATIENCE_MS)


def test_trainings_outlive_their_trainer_and_the_window(
    page: TrainPage, started: Start, window: MainWindow, qtbot: QtBot, trainer: Store
) -> None:
    run_id = started()
    line = named(window, StatusDot, "status-workers")
    qtbot.waitUntil(lambda: line.text == "1 training running", timeout=PATIENCE_MS)
    killed = kill_daemon(trainer)
    qtbot.waitUntil(lambda: page.link.client is None, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: page.link.client is not None, timeout=PATIENCE_MS)
    address = find(trainer)
    assert address is not None and address.pid != killed
    step = record(page, run_id).step
    qtbot.waitUntil(lambda: record(page, run_id).step > step, timeout=PATIENCE_MS)
    wait_for(qtbot, page, run_id, "running")

    page.act(run_id, "pause")
    qtbot.waitUntil(lambda: line.text == "1 training paused", timeout=PATIENCE_MS)
    page.act(run_id, "resume")
    wait_for(qtbot, page, run_id, "running")
    folder = record(page, run_id).folder
    closing = window.context.spawn(window.shut_down(), "Closing")
    qtbot.waitUntil(closing.done, timeout=PATIENCE_MS)
    size = (folder / "episodes.jsonl").stat().st_size
    qtbot.waitUntil(lambda: (folder / "episodes.jsonl").stat().st_size > size, timeout=PATIENCE_MS)
    assert find(trainer) is not None


def test_no_trainer_is_a_sentence_and_a_button(trainer: Store, window: MainWindow, qtbot: QtBot) -> None:
    (trainer.data).mkdir(exist_ok=True)
    blocked = trainer.data / "training"
    blocked.write_text("in the way")
    window.go("train")
    page = named(window, TrainPage, "page-train")
    qtbot.waitUntil(lambda: page.link.state is LinkState.BROKEN, timeout=PATIENCE_MS)
    trouble = named(page, InlineMessage, "train-trouble")
    assert trouble.isVisible() and trouble.text
    assert named(page, QPushButton, "train-start").isEnabled() is False
    blocked.unlink()
    named(page, QPushButton, "message-action").click()
    qtbot.waitUntil(lambda: page.link.client is not None, timeout=PATIENCE_MS)
    assert not trouble.isVisible() and named(page, EmptyHint, "train-empty").isVisible()
