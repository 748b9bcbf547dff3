"""The Operators page in the real window."""

from __future__ import annotations

import json
import os
import signal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QApplication, QLabel, QMenu, QPushButton, QSpinBox, QToolButton, QWidget

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.drawing.colors import kind_colors
from gym_gui.ui import theme
from gym_gui.ui.config_panels.player_panel import PlayerPicker
from gym_gui.ui.config_panels.single_agent_panel import SingleAgentPanel
from gym_gui.ui.operators.config_widget import OperatorConfigWidget
from gym_gui.ui.operators.examples import random_operator
from gym_gui.ui.operators.manual import ManualOperators
from gym_gui.ui.operators.plots_panel import OperatorPlots
from gym_gui.ui.operators.render_tabs import RenderTabs
from gym_gui.ui.operators.script import ScriptExperimentWidget
from gym_gui.ui.pages.agents import AgentsPage
from gym_gui.ui.pages.operators import OperatorsTab
from gym_gui.ui.plots.action_plot import ActionPlot
from gym_gui.ui.plots.line_plots import ReturnPlot, RewardPlot
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.renderers.stage_view import StageView
from gym_gui.ui.widgets.badges import KindBadge
from gym_gui.ui.widgets.buttons import PrimaryButton, QuietButton
from gym_gui.ui.widgets.inspector import Inspector
from gym_gui.ui.widgets.message_panels import EmptyHint, InlineMessage
from gym_gui.ui.widgets.page_bar import PageBar
from gym_gui.ui.widgets.picker import PickerButton
from gym_gui.ui.widgets.seed import SeedBox
from gym_gui.ui.widgets.segments import SegmentedControl
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
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


def colors_of(widget: QWidget) -> set[str]:
    image = widget.grab().toImage()
    places = product(range(image.width()), range(image.height()))
    return {image.pixelColor(x, y).name() for x, y in places}


def ready(page: OperatorsTab) -> bool:
    return all(
        o.player.alive and o.player.last_view is not None and not o.player.busy for o in page.deck.operators
    )


@pytest.mark.usefixtures("plays_here")
def test_the_empty_page_says_what_to_do_next(page: OperatorsTab, qtbot: Any):
    empty = named(page, EmptyHint, "operators-empty")
    inspector = named(page, Inspector, "inspector")
    assert empty.isVisible() and not inspector.isVisible()
    assert (
        not named(page, PrimaryButton, "operators-run").isEnabled()
        and not named(page, QPushButton, "operators-stop").isEnabled()
    )
    page.add_operator()
    assert not empty.isVisible() and inspector.isVisible()
    qtbot.waitUntil(lambda: ready(page), timeout=WAIT)
    assert named(page, ManualOperators, "manual-operators").current is page.deck.operators[0]


@pytest.mark.usefixtures("plays_here")
def test_step_reset_and_speed_from_the_bar(window: MainWindow, qtbot: Any):
    window.context.go("operators", operators=[baseline("a"), baseline("b", "cycle")], seed=3)
    page = page_of(window)
    qtbot.waitUntil(lambda: ready(page), timeout=WAIT)
    qtbot.mouseClick(named(page, QPushButton, "operators-step"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: [o.player.last_view.step for o in page.deck.operators] == [1, 1], timeout=WAIT)
    named(page, QSpinBox, "seed").setValue(77)
    qtbot.waitUntil(
        lambda: ready(page) and {o.player.last_view.seed for o in page.deck.operators} == {77}, timeout=WAIT
    )
    fastest = next(
        a for a in named(page, QMenu, "operators-speed-menu").actions() if a.text() == "As fast as possible"
    )
    fastest.trigger()
    assert page.deck.play.rate is None and named(page, QuietButton, "operators-speed").text() == "Fastest"
    page.controls.together.trigger()
    assert not page.deck.play.lock_step


def test_remove_duplicate_and_undo(window: MainWindow, qtbot: Any):
    window.context.go("operators")
    page = page_of(window)
    for name in ("a", "b"):
        page.deck.add(baseline(name), start=False)
    manual = named(page, ManualOperators, "manual-operators")
    manual.select(page.deck.operators[0])
    qtbot.mouseClick(named(page, QPushButton, "operator-remove"), Qt.MouseButton.LeftButton)
    assert [o.player.config.operator_id for o in page.deck.operators] == ["b"]
    message = named(page, InlineMessage, "message-info")
    assert "a was removed" in message.text
    qtbot.mouseClick(named(message, QPushButton, "message-action"), Qt.MouseButton.LeftButton)
    assert [o.player.config.operator_id for o in page.deck.operators] == ["a", "b"]
    assert manual.current is page.deck.operators[0]
    qtbot.mouseClick(named(page, QPushButton, "operator-duplicate"), Qt.MouseButton.LeftButton)
    assert [o.player.config.operator_id for o in page.deck.operators] == ["a", "b", "a_2"]


def test_a_card_is_selected_enlarged_and_escaped(window: MainWindow, qtbot: Any):
    window.context.go("operators")
    page = page_of(window)
    for name in ("a", "b"):
        page.deck.add(baseline(name), start=False)
    manual = named(page, ManualOperators, "manual-operators")
    first, second = (manual.card(o) for o in page.deck.operators)
    qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    assert (
        second.selected
        and not first.selected
        and named(page, OperatorConfigWidget, "operator-config").operator is second.operator
    )
    qtbot.mouseDClick(second, Qt.MouseButton.LeftButton)
    grid = named(page, RenderTabs, "render-tabs")
    assert grid.enlarged is second and not first.isVisible()
    qtbot.keyClick(second, Qt.Key.Key_Escape)
    assert grid.enlarged is None and first.isVisible()
    manual.select_next(1)
    assert manual.current is first.operator


def test_side_by_side_a_killed_host_holds_up_nobody_and_all_are_stopped(window: MainWindow, qtbot: Any):
    """The page over real session processes, from its opening to its end."""
    window.context.go("operators", operators=[baseline("a"), baseline("b", "cycle")], seed=9, run=True)
    page = page_of(window)
    qtbot.waitUntil(lambda: all(o.player.tally.episodes_done for o in page.deck.operators), timeout=WAIT)
    assert {o.player.tally.episodes_done[0]["seed"] for o in page.deck.operators} == {9}
    run_button = named(page, PrimaryButton, "operators-run")
    assert (
        page.deck.play.running and run_button.text() == "Pause" and named(page, SeedBox, "seed-box").seed == 9
    )

    victim, other = page.deck.operators
    os.kill(victim.player.link.pid, signal.SIGKILL)
    card = named(page, ManualOperators, "manual-operators").card(victim)
    trouble = named(card, QLabel, "operator-trouble")
    qtbot.waitUntil(lambda: trouble.isVisible(), timeout=WAIT)
    assert trouble.text() == "Session ended: killed (signal 9)"
    at = (other.player.last_view.episode, other.player.last_view.step)
    qtbot.waitUntil(lambda: (other.player.last_view.episode, other.player.last_view.step) > at, timeout=WAIT)
    assert victim.player.state is OperatorState.BROKEN and other.player.alive  # the other one plays on
    qtbot.mouseClick(named(card, QPushButton, "operator-restart"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: victim.player.alive and not trouble.isVisible(), timeout=WAIT)

    qtbot.mouseClick(run_button, Qt.MouseButton.LeftButton)
    assert not page.deck.play.running and run_button.text() == "Run"
    run = page.deck.recording
    qtbot.waitUntil(lambda: run is not None and run.folder is not None, timeout=WAIT)
    qtbot.mouseClick(named(page, QPushButton, "operators-stop"), Qt.MouseButton.LeftButton)
    idle = [OperatorState.IDLE] * 2
    qtbot.waitUntil(lambda: [o.player.state for o in page.deck.operators] == idle, timeout=WAIT)


@pytest.mark.usefixtures("plays_here")
def test_a_script_opens_runs_and_goes_to_results(window: MainWindow, tmp_path: Path, qtbot: Any):
    path = tmp_path / "experiment.json"
    operator = {"id": "a", "task": "CartPole-v1", "workers": {"agent": {"type": "random"}}}
    path.write_text(json.dumps({"operators": [operator], "execution": {"num_episodes": 2}}))
    window.context.go("operators", script=path)
    page = page_of(window)
    run = named(page, PrimaryButton, "operators-run")
    assert (
        not page.manual_mode and not run.isVisible() and not named(page, Inspector, "inspector").isVisible()
    )
    run_button = named(page, QPushButton, "script-run")
    qtbot.waitUntil(lambda: run_button.isEnabled(), timeout=WAIT)
    qtbot.mouseClick(run_button, Qt.MouseButton.LeftButton)
    script = named(page, ScriptExperimentWidget, "script-experiment")
    qtbot.waitUntil(lambda: script.play.job.result is not None and not script.work.busy, timeout=WAIT)
    assert script.play.job.result.status == "completed"
    named(page, SegmentedControl, "operators-mode").chosen.emit("manual")
    assert page.manual_mode and run.isVisible() and not run_button.isVisible()


def test_every_control_has_a_name_and_says_what_it_does(page: OperatorsTab, qtbot: Any):
    from PyQt6.QtWidgets import QAbstractButton

    page.deck.add(baseline("a"), start=False)
    qtbot.waitUntil(lambda: page.findChild(SingleAgentPanel, "single-agent-panel") is not None, timeout=WAIT)
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
    qtbot.waitUntil(
        lambda: ready(page) and page.findChild(SingleAgentPanel, "single-agent-panel") is not None,
        timeout=WAIT,
    )
    named(page, PlayerPicker, "player-agent_0").chosen.emit("noop")
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
    qtbot.mouseClick(named(page, QPushButton, "operators-step"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: operator.player.last_view.step == 1 and not operator.player.stepping, timeout=WAIT
    )
    named(page, ManualOperators, "manual-operators").select(operator)
    qtbot.mouseClick(named(page, QPushButton, "operator-details"), Qt.MouseButton.LeftButton)
    agents = window.findChild(AgentsPage)
    assert (
        agents is not None and agents.isVisible() and named(agents, InlineMessage, "live_message").isVisible()
    )
    qtbot.waitUntil(lambda: agents.model.report is not None, timeout=WAIT)
    session = operator.player.link.session
    assert session is not None
    named(agents, PickerButton, "actor").chosen.emit("noop")
    qtbot.waitUntil(
        lambda: operator.player.config.workers["agent_0"].settings["behavior"] == "noop", timeout=WAIT
    )
    assert (
        operator.player.link.session is session and operator.player.last_view.step == 1
    )  # it goes on where it stood
    apply = named(agents, QPushButton, "apply")
    qtbot.waitUntil(apply.isEnabled, timeout=WAIT)
    qtbot.mouseClick(apply, Qt.MouseButton.LeftButton)
    assert page.isVisible() and tuple(page.deck.operators) == (operator, other)  # changed where it is
    assert operator.player.link.session is session and operator.player.last_view.step == 1


@pytest.mark.usefixtures("plays_here")
def test_plots_come_with_a_click_fill_and_are_remembered(window: MainWindow, qtbot: Any):
    window.context.go("operators", operators=[baseline("a"), baseline("b", "cycle")], seed=3, run=True)
    page = page_of(window)
    page.deck.play.set_pace(60.0, lock_step=False)  # some episodes, not all that the processor can play
    plots = named(page, OperatorPlots, "operator-plots")
    plots_button = named(page, QPushButton, "operators-plots")
    assert not plots.isVisible() and not plots_button.isChecked()
    qtbot.waitUntil(lambda: all(o.player.tally.episodes > 1 for o in page.deck.operators), timeout=WAIT)
    returns = named(plots, ReturnPlot, "returnPlot")
    assert not returns.values("a")  # hidden plots fetch nothing
    qtbot.mouseClick(plots_button, Qt.MouseButton.LeftButton)
    assert plots.isVisible() and plots_button.isChecked()
    rewards = named(plots, RewardPlot, "rewardPlot")
    shares = named(plots, ActionPlot, "actionPlot")
    for plot in (returns, rewards, shares):
        qtbot.waitUntil(lambda plot=plot: plot.drawn, timeout=WAIT)
        assert [one.name for one in plot.series] == ["a", "b"]
    assert returns.values("a")[0] == (1, page.deck.operators[0].player.tally.returns[0][1])
    qtbot.waitUntil(lambda: set(shares.shares("b")) == {"left", "right"}, timeout=WAIT)
    qtbot.waitUntil(lambda: bool(rewards.values("a")), timeout=WAIT)
    assert {reward for _, reward in rewards.values("a")} == {1.0}
    page.deck.play.pause()
    manual = named(page, ManualOperators, "manual-operators")
    of_kind, own = (QColor(color) for color in kind_colors(["baseline", "baseline"]))
    badges = [named(manual.card(o), KindBadge, "kind-badge") for o in page.deck.operators]
    for badge, color, other in zip(badges, (of_kind, own), (own, of_kind), strict=True):
        assert theme.fill_for_white(color).name() in colors_of(badge)  # two of a kind are told apart,
        assert theme.fill_for_white(other).name() not in colors_of(badge)
    assert {of_kind.name(), own.name()} <= colors_of(named(plots, QWidget, "plots-key"))  # and known again
    manual.remove("a")
    assert theme.fill_for_white(of_kind).name() in colors_of(badges[1])
    window.context.commands.run("operators.undo")
    assert theme.fill_for_white(own).name() in colors_of(badges[1])
    manual.remove("b")
    assert [one.id for one in returns.series] == ["a"]
    qtbot.mouseClick(named(plots, QToolButton, "plots-close"), Qt.MouseButton.LeftButton)
    assert not plots.isVisible() and not plots_button.isChecked()
    assert window.context.commands.run("operators.plots")
    assert window.context.layout.value("operators/plots", type=bool) is True


@pytest.mark.parametrize("size", [(1366, 700), (1024, 640), (911, 512)])
def test_pictures_of_eight_are_whole_beside_plots(window: MainWindow, size: tuple[int, int], qtbot: Any):
    """On a small screen, or a large one at 150 %, they are small, and not cut."""
    window.resize(*size)
    window.go("operators")
    page = named(window, OperatorsTab, "page-operators")
    manual = named(page, ManualOperators, "manual-operators")
    manual.set_plots_wanted(True)
    for _ in range(8):
        page.deck.add(random_operator(), start=False)
    cards = [manual.card(operator) for operator in page.deck.operators]
    for card in cards:
        named(card, StageView, "operator-stage").show_frame(np.full((400, 600, 3), 200, np.uint8))

    def whole() -> bool:
        frames = [named(card, FrameView, "frameView") for card in cards]
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
        named(page, PrimaryButton, "operators-run").set_text("Pause", "pause")
        named(page, QuietButton, "operators-speed").set_text("Fastest")
        shown = [
            each for each in named(page, PageBar, "page-bar").findChildren(QPushButton) if each.isVisible()
        ]
        assert len(shown) == 10, "the comparison and the two modes among them"
        wide_enough = lambda: all(b.width() >= b.minimumSizeHint().width() for b in shown)  # noqa: E731
        qtbot.waitUntil(wide_enough, timeout=WAIT)
    finally:
        theme.use_fonts(qapp)


@pytest.mark.usefixtures("plays_here")
def test_a_run_whose_counts_differ_says_so_and_evens_out(page: OperatorsTab, qtbot: Any):
    deck, manual = page.deck, named(page, ManualOperators, "manual-operators")

    def told() -> InlineMessage | None:
        found = manual.findChildren(InlineMessage, "operators-uneven")
        put_away = found and found[-1].testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide)
        return found[-1] if found and not (put_away and found[-1].isHidden()) else None

    page.play([baseline("short"), baseline("long", "cycle")])
    deck.play.set_pace(None, lock_step=True)
    qtbot.waitUntil(lambda: ready(page), timeout=WAIT)
    assert told() is None
    deck.play.run()
    qtbot.waitUntil(lambda: deck.play.catch_up.lacking() >= 2, timeout=WAIT)
    assert told() is None, "nothing is said while they play"
    deck.play.pause()
    message = told()
    assert message is not None and message.text.startswith("Finished episodes differ: short ")
    offer = named(message, QPushButton, "message-action")
    assert offer.text() == f"Play the missing {deck.play.catch_up.lacking()}"
    offer.click()
    message = told()
    assert message is not None and "missing episodes played" in message.text
    assert named(message, QPushButton, "message-action").text() == "Cancel"
    qtbot.waitUntil(lambda: told() is None, timeout=WAIT)
    assert deck.play.catch_up.lacking() == 0 and not deck.play.running
