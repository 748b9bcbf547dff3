"""The Operators page in the real window."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QApplication

from gym_gui.controllers.live_play.state import OperatorState
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.ui import theme
from gym_gui.ui.main_window import MainWindow
from gym_gui.ui.operators.examples import random_operator
from gym_gui.ui.pages.agents import AgentsPage
from gym_gui.ui.pages.operators import OperatorsTab
from tests.ui.conftest import PATIENCE_MS

WAIT = PATIENCE_MS

pytestmark = pytest.mark.usefixtures("looks_here")


def baseline(name: str, behavior: str = "random", task: str = "CartPole-v1") -> OperatorConfig:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})
    return OperatorConfig(name, "", "", task, {"agent_0": player})


def page_of(window: MainWindow) -> OperatorsTab:
    page = window.findChild(OperatorsTab)
    assert page is not None
    return page


@pytest.fixture
def page(window: MainWindow) -> OperatorsTab:
    window.context.go("operators")
    return page_of(window)


def ready(page: OperatorsTab) -> bool:
    return all(
        o.player.alive and o.player.last_view is not None and not o.player.busy for o in page.deck.operators
    )


@pytest.mark.usefixtures("plays_here")
def test_the_empty_page_says_what_to_do_next(page: OperatorsTab, qtbot: Any):
    assert page.manual.empty.isVisible() and page.inspector is not None and not page.inspector.isVisible()
    assert not page.controls.run.isEnabled() and not page.controls.stop.isEnabled()
    page.add_operator()
    assert not page.manual.empty.isVisible() and page.inspector.isVisible()
    qtbot.waitUntil(lambda: ready(page), timeout=WAIT)
    assert page.manual.current is page.deck.operators[0]


@pytest.mark.usefixtures("plays_here")
def test_step_reset_and_speed_from_the_bar(window: MainWindow, qtbot: Any):
    window.context.go("operators", operators=[baseline("a"), baseline("b", "cycle")], seed=3)
    page = page_of(window)
    qtbot.waitUntil(lambda: ready(page), timeout=WAIT)
    qtbot.mouseClick(page.controls.step, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: [o.player.last_view.step for o in page.deck.operators] == [1, 1], timeout=WAIT)
    page.controls.seed.spin.setValue(77)
    qtbot.waitUntil(
        lambda: ready(page) and {o.player.last_view.seed for o in page.deck.operators} == {77}, timeout=WAIT
    )
    fastest = next(a for a in page.controls.menu.actions() if a.text() == "As fast as possible")
    fastest.trigger()
    assert page.deck.rate is None and page.controls.speed.text() == "Fastest"
    page.controls.together.trigger()
    assert not page.deck.lock_step


def test_remove_duplicate_and_undo(window: MainWindow, qtbot: Any):
    window.context.go("operators")
    page = page_of(window)
    for name in ("a", "b"):
        page.deck.add(baseline(name), start=False)
    page.manual.select(page.deck.operators[0])
    qtbot.mouseClick(page.config.remove, Qt.MouseButton.LeftButton)
    assert [o.player.config.operator_id for o in page.deck.operators] == ["b"]
    assert "a was removed" in page.manual.message.text
    qtbot.mouseClick(page.manual.message.button, Qt.MouseButton.LeftButton)
    assert [o.player.config.operator_id for o in page.deck.operators] == ["a", "b"]
    assert page.manual.current is page.deck.operators[0]
    qtbot.mouseClick(page.config.duplicate, Qt.MouseButton.LeftButton)
    assert [o.player.config.operator_id for o in page.deck.operators] == ["a", "b", "a_2"]


def test_a_card_is_selected_enlarged_and_escaped(window: MainWindow, qtbot: Any):
    window.context.go("operators")
    page = page_of(window)
    for name in ("a", "b"):
        page.deck.add(baseline(name), start=False)
    first, second = (page.manual.card(o) for o in page.deck.operators)
    qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    assert second.selected and not first.selected and page.config.operator is second.operator
    qtbot.mouseDClick(second, Qt.MouseButton.LeftButton)
    assert page.manual.grid.enlarged is second and not first.isVisible()
    qtbot.keyClick(second, Qt.Key.Key_Escape)
    assert page.manual.grid.enlarged is None and first.isVisible()
    page.manual.select_next(1)
    assert page.manual.current is first.operator


def test_side_by_side_a_killed_host_holds_up_nobody_and_all_are_stopped(window: MainWindow, qtbot: Any):
    """The page over real session processes, from its opening to its end."""
    window.context.go("operators", operators=[baseline("a"), baseline("b", "cycle")], seed=9, run=True)
    page = page_of(window)
    qtbot.waitUntil(lambda: all(o.player.tally.episodes_done for o in page.deck.operators), timeout=WAIT)
    assert {o.player.tally.episodes_done[0]["seed"] for o in page.deck.operators} == {9}
    assert page.deck.running and page.controls.run.text() == "Pause" and page.controls.seed.seed == 9

    victim, other = page.deck.operators
    os.kill(victim.player.link.pid, signal.SIGKILL)
    card = page.manual.card(victim)
    qtbot.waitUntil(lambda: card.trouble.isVisible(), timeout=WAIT)
    assert card.trouble.text() == "Session ended: killed (signal 9)"
    at = (other.player.last_view.episode, other.player.last_view.step)
    qtbot.waitUntil(lambda: (other.player.last_view.episode, other.player.last_view.step) > at, timeout=WAIT)
    assert victim.player.state is OperatorState.BROKEN and other.player.alive  # nobody else is held up
    qtbot.mouseClick(card.restart, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: victim.player.alive and not card.trouble.isVisible(), timeout=WAIT)

    qtbot.mouseClick(page.controls.run, Qt.MouseButton.LeftButton)
    assert not page.deck.running and page.controls.run.text() == "Run"
    run = page.deck.recording
    qtbot.waitUntil(lambda: run is not None and run.folder is not None, timeout=WAIT)
    qtbot.mouseClick(page.controls.stop, Qt.MouseButton.LeftButton)
    idle = [OperatorState.IDLE] * 2
    qtbot.waitUntil(lambda: [o.player.state for o in page.deck.operators] == idle, timeout=WAIT)


@pytest.mark.usefixtures("plays_here")
def test_a_script_opens_runs_and_goes_to_results(window: MainWindow, tmp_path: Path, qtbot: Any):
    path = tmp_path / "experiment.json"
    operator = {"id": "a", "task": "CartPole-v1", "workers": {"agent": {"type": "random"}}}
    path.write_text(json.dumps({"operators": [operator], "execution": {"num_episodes": 2}}))
    window.context.go("operators", script=path)
    page = page_of(window)
    assert not page.manual_mode and not page.controls.run.isVisible() and not page.inspector.isVisible()
    qtbot.waitUntil(lambda: page.script.run_button.isEnabled(), timeout=WAIT)
    qtbot.mouseClick(page.script.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.script.job.result is not None and not page.script.busy, timeout=WAIT)
    assert page.script.job.result.status == "completed"
    page.mode.chosen.emit("manual")
    assert page.manual_mode and page.controls.run.isVisible() and not page.script.run_button.isVisible()


def test_every_control_has_a_name_and_says_what_it_does(page: OperatorsTab, qtbot: Any):
    from PyQt6.QtWidgets import QAbstractButton

    page.deck.add(baseline("a"), start=False)
    qtbot.waitUntil(lambda: page.config.panel is not None, timeout=WAIT)
    for button in page.findChildren(QAbstractButton):
        if button.isVisible():
            assert button.objectName(), button.text()
            assert button.accessibleName() or button.text(), button.objectName()
    ids = [command.id for command in page.commands()]
    assert len(ids) == len(set(ids)) and {"operators.add", "operators.run", "operators.step"} <= set(ids)


@pytest.mark.usefixtures("plays_here")
def test_edits_reach_the_operator(window: MainWindow, qtbot: Any):
    window.context.go("operators", operators=[baseline("a")], seed=3)
    page = page_of(window)
    operator = page.deck.operators[0]
    qtbot.waitUntil(lambda: ready(page) and page.config.panel is not None, timeout=WAIT)
    page.config.panel.picker.chosen.emit("noop")
    qtbot.waitUntil(
        lambda: operator.player.config.workers["agent_0"].settings.get("behavior") == "noop" and ready(page),
        timeout=WAIT,
    )
    assert operator.player.last_view.seed == 3


@pytest.mark.usefixtures("plays_here")
def test_details_reach_the_running_session(window: MainWindow, qtbot: Any):
    window.context.go("operators", operators=[baseline("a", "cycle"), baseline("b", "cycle")], seed=3)
    page = page_of(window)
    operator, other = page.deck.operators
    qtbot.waitUntil(lambda: ready(page), timeout=WAIT)
    qtbot.mouseClick(page.controls.step, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: operator.player.last_view.step == 1 and not operator.player.stepping, timeout=WAIT
    )
    page.manual.select(operator)
    qtbot.mouseClick(page.config.details, Qt.MouseButton.LeftButton)
    agents = window.findChild(AgentsPage)
    assert agents is not None and agents.isVisible() and agents.message.isVisible()
    qtbot.waitUntil(lambda: agents.model.report is not None, timeout=WAIT)
    session = operator.player.link.session
    assert session is not None
    agents.tab.actor.picker.chosen.emit("noop")
    qtbot.waitUntil(
        lambda: operator.player.config.workers["agent_0"].settings["behavior"] == "noop", timeout=WAIT
    )
    assert (
        operator.player.link.session is session and operator.player.last_view.step == 1
    )  # it goes on where it stood
    qtbot.waitUntil(agents.apply.isEnabled, timeout=WAIT)
    qtbot.mouseClick(agents.apply, Qt.MouseButton.LeftButton)
    assert page.isVisible() and page.deck.operators == (operator, other)  # changed where it is
    assert operator.player.link.session is session and operator.player.last_view.step == 1


@pytest.mark.usefixtures("plays_here")
def test_plots_come_with_a_click_fill_and_are_remembered(window: MainWindow, qtbot: Any):
    window.context.go("operators", operators=[baseline("a"), baseline("b", "cycle")], seed=3, run=True)
    page = page_of(window)
    page.deck.set_pace(60.0, lock_step=False)  # some episodes, not all that the processor can play
    plots = page.manual.plots
    assert not plots.isVisible() and not page.controls.plots.isChecked()
    qtbot.waitUntil(lambda: all(o.player.tally.episodes > 1 for o in page.deck.operators), timeout=WAIT)
    assert not plots.returns.values("a")  # nothing is fetched while nobody looks
    qtbot.mouseClick(page.controls.plots, Qt.MouseButton.LeftButton)
    assert plots.isVisible() and page.controls.plots.isChecked()
    for plot in (plots.returns, plots.rewards, plots.shares):
        qtbot.waitUntil(lambda plot=plot: plot.drawn, timeout=WAIT)
        assert [one.name for one in plot.series] == ["a", "b"]
    assert plots.returns.values("a")[0] == (1, page.deck.operators[0].player.tally.returns[0][1])
    qtbot.waitUntil(lambda: set(plots.shares.shares("b")) == {"left", "right"}, timeout=WAIT)
    qtbot.waitUntil(lambda: bool(plots.rewards.values("a")), timeout=WAIT)
    assert {reward for _, reward in plots.rewards.values("a")} == {1.0}
    page.deck.pause()
    page.manual.remove("b")
    assert [one.id for one in plots.returns.series] == ["a"]
    qtbot.mouseClick(plots.close_button, Qt.MouseButton.LeftButton)
    assert not plots.isVisible() and not page.controls.plots.isChecked()
    assert window.context.commands.run("operators.plots")
    assert window.context.layout.value("operators/plots", type=bool) is True


@pytest.mark.parametrize("size", [(1366, 700), (1024, 640), (911, 512)])
def test_pictures_of_eight_are_whole_beside_plots(window: MainWindow, size: tuple[int, int], qtbot: Any):
    """On a small screen, or a large one at 150 %, they are small, and not cut."""
    window.resize(*size)
    window.go("operators")
    page = window.page
    assert isinstance(page, OperatorsTab)
    page.manual.set_plots_wanted(True)
    for _ in range(8):
        page.deck.add(random_operator(), start=False)
    cards = [page.manual.card(operator) for operator in page.deck.operators]
    for card in cards:
        card.stage.show_frame(np.full((400, 600, 3), 200, np.uint8))

    def whole() -> bool:
        frames = [card.stage.frame for card in cards]
        return all(
            frame.visibleRegion().boundingRect().contains(frame.picture_rect())
            and frame.picture_rect().height() > 20
            for frame in frames
        )

    qtbot.waitUntil(whole, timeout=WAIT)


@pytest.mark.parametrize("family", ["Inter", "DejaVu Sans"])
def test_no_word_of_the_bar_is_cut_in_the_smallest_window(
    window: MainWindow, page: OperatorsTab, qtbot: Any, qapp: QApplication, family: str
):
    theme.use_fonts(qapp, family)
    try:
        window.resize(window.minimumSize())
        page.controls.set_turn_based(True)
        page.controls.run.set_text("Pause", "pause")
        page.controls.speed.set_text("Fastest")
        shown = [button for button in page.controls.actions if button.isVisible()]
        assert len(shown) == 7
        wide_enough = lambda: all(b.width() >= b.minimumSizeHint().width() for b in shown)  # noqa: E731
        qtbot.waitUntil(wide_enough, timeout=WAIT)
    finally:
        theme.use_fonts(qapp)
