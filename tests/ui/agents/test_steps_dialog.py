"""What a slot's policy is shown: the steps are chosen, ordered, tried on the slot's space, and undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6 import sip
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QAbstractSpinBox, QLabel, QLineEdit, QPushButton, QWidget

from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.ui.agents.advanced_config import AdvancedConfigTab
from gym_gui.ui.agents.slot_panel import SlotPanel
from gym_gui.ui.agents.steps_dialog import StepsDialog
from tests.support.joint import SPREAD
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

Wait = Callable[[], None]
RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
GRID = "MiniGrid-Empty-5x5-v0"

pytestmark = pytest.mark.usefixtures("looks_here")


class Steps:
    """The dialog, as a person has it."""

    def __init__(self, dialog: StepsDialog, qtbot: Any) -> None:
        self.dialog, self._qtbot = dialog, qtbot
        self.settle()

    def settle(self) -> None:
        """Until the steps, as they are, have been tried."""
        self._qtbot.waitUntil(lambda: self.dialog.settled, timeout=PATIENCE_MS)

    def add(self, name: str) -> None:
        """Choose a step in the menu."""
        named(self.dialog, QAction, f"step_{name}").trigger()
        self.settle()

    def set(self, option: str, text: str) -> None:
        """Type an option of the step that is selected."""
        field = named(self.dialog, QWidget, f"setting_{option}")
        line = field.lineEdit() if isinstance(field, QAbstractSpinBox) else field
        assert isinstance(line, QLineEdit)
        line.clear()
        self._qtbot.keyClicks(line, text)
        self.settle()

    def press(self, name: str) -> None:
        """Press a button."""
        self._qtbot.mouseClick(named(self.dialog, QPushButton, name), Qt.MouseButton.LeftButton)

    @property
    def problem(self) -> str:
        """What is said to be wrong."""
        return named(self.dialog, QLabel, "steps_problem").text()

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What each step is, and what it gives."""
        return [(row.words, row.gives) for row in self.dialog.model.rows]


@pytest.fixture
def open_steps(tab: AdvancedConfigTab, qtbot: Any) -> Iterator[Callable[[str], Steps]]:
    """Opens the dialog from the slot's own row."""
    opened: list[StepsDialog] = []

    def run(agent: str) -> Steps:
        panel = named(tab.window(), SlotPanel, "slot_panel")
        panel.show_slot(agent)
        qtbot.mouseClick(named(panel, QPushButton, "preprocess"), Qt.MouseButton.LeftButton)
        dialog = [each for each in tab.window().findChildren(StepsDialog) if each.isVisible()][-1]
        opened.append(dialog)
        return Steps(dialog, qtbot)

    yield run
    for dialog in opened:
        if not sip.isdeleted(dialog):
            dialog.reject()


def shown(tab: AdvancedConfigTab) -> str:
    return named(named(tab.window(), SlotPanel, "slot_panel"), QLabel, "shown").text()


def with_policy(tab: AdvancedConfigTab, checked: Wait, task: str, agent: str, file: Path) -> None:
    row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(file)})
    others = dict.fromkeys([f"agent_{i}" for i in range(3) if f"agent_{i}" != agent], RANDOM)
    players = {agent: row, **others}
    tab.model.open_config(OperatorConfig.multi_agent(operator_id="it", task=task, player_workers=players))
    checked()


def test_steps_are_tried_on_the_slots_own_space(
    tab: AdvancedConfigTab, choose: Callable[[str], None], checked: Wait, open_steps: Callable[[str], Steps]
) -> None:
    choose(GRID)
    (agent,) = tab.model.draft.rows
    row = WorkerAssignment("cleanrl_worker", "rl", {})
    tab.model.set_row(agent, row, "a policy")
    checked()
    assert shown(tab) == "as is"
    steps = open_steps(agent)
    assert steps.rows == []
    empty = named(steps.dialog, QWidget, "steps_empty")
    assert not empty.isHidden(), "why there is nothing, and what to do"
    steps.add("select")
    assert "needs 'key'" in steps.problem and empty.isHidden()
    steps.set("key", "image")
    steps.add("frame_stack")
    assert "needs 'size'" in steps.problem
    steps.set("size", "3")
    assert [words for words, _ in steps.rows] == ["select image", "frame_stack 3"]
    assert "7, 7, 3" in steps.rows[0][1] and "3, 7, 7, 3" in steps.rows[1][1]
    # In the other order the stack is of mappings, of which nothing can be selected.
    steps.press("steps_up")
    steps.settle()
    steps.press("steps_down")
    steps.settle()
    assert [words for words, _ in steps.rows] == ["select image", "frame_stack 3"]
    steps.press("steps_accept")
    checked()
    written = [{"step": "select", "key": "image"}, {"step": "frame_stack", "size": 3}]
    assert list(tab.model.draft.rows[agent].preprocess) == written
    assert shown(tab) == "select image, frame_stack 3"
    tab.model.undo_stack.undo()
    checked()
    assert tab.model.draft.rows[agent].preprocess == () and shown(tab) == "as is"


def test_a_step_that_does_not_fit_is_named_and_not_taken(
    tab: AdvancedConfigTab, choose: Callable[[str], None], checked: Wait, open_steps: Callable[[str], Steps]
) -> None:
    choose("CartPole-v1")
    (agent,) = tab.model.draft.rows
    tab.model.set_row(agent, WorkerAssignment("cleanrl_worker", "rl", {}), "a policy")
    checked()
    steps = open_steps(agent)
    steps.add("grayscale")
    assert "step 1 (grayscale) does not fit" in steps.problem
    assert not named(steps.dialog, QPushButton, "steps_accept").isEnabled()
    steps.press("steps_remove")
    assert steps.rows == []


def test_it_begins_with_the_policys_own_steps_and_goes_back_to_them(
    tab: AdvancedConfigTab, checked: Wait, open_steps: Callable[[str], Steps], joint_policy: Path
) -> None:
    with_policy(tab, checked, SPREAD, "agent_0", joint_policy)
    steps = open_steps("agent_0")
    (own,) = [words for words, _ in steps.rows]
    assert own.startswith("append") and shown(tab) == own
    steps.add("frame_stack")
    steps.set("size", "2")
    unfit = named(steps.dialog, QLabel, "steps_unfit").text()
    assert steps.problem == "" and "does not fit" in unfit  # the policy was not trained on two
    assert named(steps.dialog, QPushButton, "steps_accept").isEnabled()
    steps.press("steps_own")
    steps.settle()
    assert [words for words, _ in steps.rows] == [own]
    steps.press("steps_accept")
    checked()
    assert tab.model.draft.rows["agent_0"].preprocess == ()


def test_people_are_not_asked(tab: AdvancedConfigTab, choose: Callable[[str], None], checked: Wait) -> None:
    choose("CartPole-v1")
    (agent,) = tab.model.draft.rows
    tab.model.set_row(agent, WorkerAssignment("human_worker", "human", {}), "a person")
    checked()
    panel = named(tab.window(), SlotPanel, "slot_panel")
    panel.show_slot(agent)
    assert panel.findChildren(QPushButton, "preprocess") == []
