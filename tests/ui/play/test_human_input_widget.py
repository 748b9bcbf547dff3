"""Keys as the window gets them: focus, auto-repeat, shortcuts, other people's keys."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PyQt6.QtCore import QEvent, QPoint, Qt
from PyQt6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QShortcut
from PyQt6.QtWidgets import QApplication, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.controllers.human.human_input import HumanSeat
from gym_gui.core.live import HumanQuestion
from gym_gui.envs.keymaps import Axis, KeyScheme
from gym_gui.ui.input.human_answers import HumanInput

SPACE = {"kind": "Discrete", "n": 4, "start": 0}
KEYS = KeyScheme({"Left": 0, "Right": 1, "Space": 2, "Shift": 3})


class Table:
    """A widget that is played on, beside a text field."""

    def __init__(self, qtbot: QtBot) -> None:
        self.window = QWidget()
        self.stage = QWidget(self.window)
        self.stage.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.inner = QWidget(self.stage)
        self.inner.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.field = QLineEdit(self.window)
        self.button = QPushButton("b", self.window)
        layout = QVBoxLayout(self.window)
        for widget in (self.stage, self.field, self.button):
            layout.addWidget(widget)
        self.input = HumanInput(self.window)
        self.chosen: list[tuple[str, object]] = []
        self.input.chosen.connect(lambda q, a: self.chosen.append((q.slot, a)))
        self.window.show()
        qtbot.waitExposed(self.window)
        self.window.activateWindow()
        self.stage.setFocus()
        qtbot.waitUntil(lambda: QApplication.focusWidget() is self.stage)

    def ask(self, number: int = 1, slot: str = "a", legal: tuple[int, ...] | None = None) -> None:
        self.input.offer(HumanQuestion(number, 0, 0, slot, slot, legal=legal, space=SPACE))


@pytest.fixture
def table(qtbot: QtBot) -> Iterator[Table]:
    result = Table(qtbot)
    result.input.attach(result.stage, {"a": KEYS}, words={"a": {2: "jump"}})
    yield result
    result.input.detach()
    result.window.close()
    result.window.deleteLater()


def test_a_key_answers(table: Table, qtbot: QtBot) -> None:
    table.ask()
    qtbot.keyClick(table.stage, Qt.Key.Key_Right)
    assert table.chosen == [("a", 1)]
    assert table.input.questions == ()


def test_a_key_pressed_in_a_child_counts(table: Table, qtbot: QtBot) -> None:
    table.ask()
    table.inner.setFocus()
    qtbot.keyClick(table.inner, Qt.Key.Key_Left)
    assert table.chosen == [("a", 0)]


def test_a_key_typed_elsewhere_does_not(table: Table, qtbot: QtBot) -> None:
    table.ask()
    table.field.setFocus()
    qtbot.keyClick(table.field, Qt.Key.Key_Space)
    assert table.chosen == [] and table.field.text() == " "
    assert not table.input.listening


def test_auto_repeat_is_ignored(table: Table) -> None:
    table.ask(1)
    for repeat in (False, True, True):
        press = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier, "", repeat)
        QApplication.sendEvent(table.stage, press)
        table.ask(2)
    assert table.chosen == [("a", 0)]
    assert table.input.keys_down == {"Left"}


class At(QKeyEvent):
    """The left key at a moment; PyQt cannot set an event's own."""

    def __init__(self, kind: QEvent.Type, moment: int) -> None:
        super().__init__(kind, Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier)
        self._moment = moment

    def timestamp(self) -> int:
        return self._moment


def test_a_repetition_that_qt_did_not_recognize(table: Table) -> None:
    """X11 sends a release and a press of one moment; a person needs longer."""
    moments = [
        (QEvent.Type.KeyPress, 1000),
        (QEvent.Type.KeyRelease, 1040),
        (QEvent.Type.KeyPress, 1040),
        (QEvent.Type.KeyRelease, 1080),
        (QEvent.Type.KeyPress, 1080),
    ]
    for number, (kind, moment) in enumerate(moments):
        table.ask(number)
        QApplication.sendEvent(table.stage, At(kind, moment))
    assert table.chosen == [("a", 0)] and table.input.keys_down == {"Left"}
    QApplication.sendEvent(table.stage, At(QEvent.Type.KeyRelease, 1100))
    QApplication.sendEvent(table.stage, At(QEvent.Type.KeyPress, 1130))
    assert table.chosen == [("a", 0), ("a", 0)]


def test_losing_the_keyboard_lets_go_of_all_keys(table: Table, qtbot: QtBot) -> None:
    heard: list[bool] = []
    table.input.listening_changed.connect(heard.append)
    qtbot.keyPress(table.stage, Qt.Key.Key_Left)
    assert table.input.keys_down == {"Left"}
    table.button.setFocus()
    assert table.input.keys_down == frozenset() and heard == [False]
    table.stage.setFocus()
    assert heard == [False, True]
    qtbot.keyRelease(table.stage, Qt.Key.Key_Left)


def test_a_key_of_the_game_is_no_shortcut(table: Table, qtbot: QtBot) -> None:
    ran: list[int] = []
    shortcut = QShortcut(QKeySequence("Space"), table.window)
    shortcut.activated.connect(lambda: ran.append(1))
    table.ask()
    qtbot.keyClick(table.stage, Qt.Key.Key_Space)
    assert table.chosen == [("a", 2)] and not ran
    table.button.setFocus()  # elsewhere it is
    qtbot.keyClick(table.field, Qt.Key.Key_Left)
    assert table.chosen == [("a", 2)]


def test_a_command_of_the_window_is_no_move(table: Table, qtbot: QtBot) -> None:
    table.ask()
    qtbot.keyClick(table.stage, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert table.chosen == []


def test_shift_is_a_key_of_its_own(table: Table, qtbot: QtBot) -> None:
    table.ask()
    qtbot.keyPress(table.stage, Qt.Key.Key_Shift)
    assert table.chosen == [("a", 3)]
    qtbot.keyRelease(table.stage, Qt.Key.Key_Shift)


def test_an_impossible_move_is_said(table: Table, qtbot: QtBot) -> None:
    table.ask(legal=(0, 1))
    with qtbot.waitSignal(table.input.refused) as told:
        qtbot.keyClick(table.stage, Qt.Key.Key_Space)
    assert told.args == ["Jump is not possible now."]
    assert len(table.input.questions) == 1


def test_buttons_answer_too(table: Table) -> None:
    table.ask()
    table.input.choose("a", 3)
    assert table.chosen == [("a", 3)]


def test_two_people(table: Table, qtbot: QtBot) -> None:
    other = KeyScheme({"A": 0, "D": 1})
    table.input.attach(table.stage, {"a": KEYS, "b": other})
    table.ask(1, "a")
    table.ask(2, "b")
    qtbot.keyClick(table.stage, Qt.Key.Key_D)
    qtbot.keyClick(table.stage, Qt.Key.Key_Right)
    assert table.chosen == [("b", 1), ("a", 1)]


def test_new_keys_for_a_question_that_is_open(table: Table, qtbot: QtBot) -> None:
    from gym_gui.controllers.human.human_input import HumanSeat

    table.ask()
    table.input.set_seats([HumanSeat("a", KeyScheme({"J": 0}))])
    qtbot.keyClick(table.stage, Qt.Key.Key_J)
    assert table.chosen == [("a", 0)]


def test_withdrawn(table: Table, qtbot: QtBot) -> None:
    table.ask(5)
    table.input.withdraw(5)
    table.input.choose("a", 1)
    assert table.chosen == []


def test_a_widget_that_goes(qtbot: QtBot, table: Table) -> None:
    stage = QWidget()
    table.input.attach(stage, {"a": KEYS})
    with qtbot.waitSignal(stage.destroyed):
        stage.deleteLater()
    assert not table.input.listening
    table.input.attach(table.stage, {"a": KEYS})


LOOK = KeyScheme(
    axes=(Axis("Space", 0, 1.0),),
    pointer=(Axis("MouseLeft", 0, 1.0), Axis("MouseX", 1, 0.5)),
    realtime=True,
)
LOOK_SPACE = {
    "kind": "Dict",
    "spaces": [["a", {"kind": "MultiBinary", "shape": [1]}], ["b", {"kind": "Box", "shape": [1]}]],
}


@pytest.fixture
def looking(table: Table) -> Table:
    table.stage.resize(400, 300)
    table.input.attach(table.stage, {"a": LOOK})
    return table


def ask_who_looks(table: Table, number: int = 1) -> None:
    table.input.offer(HumanQuestion(number, 0, 0, "a", "a", space=LOOK_SPACE))


def at(table: Table, x: int, y: int = 0) -> QPoint:
    return table.stage.rect().center() + QPoint(x, y)


def move(table: Table, x: int) -> None:
    point = at(table, x).toPointF()
    none = Qt.MouseButton.NoButton
    where = table.stage.mapToGlobal(point)
    moved = QMouseEvent(QEvent.Type.MouseMove, point, where, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(table.stage, moved)


def test_a_click_catches_the_mouse_that_turns_and_shoots_until_escape(looking: Table, qtbot: QtBot) -> None:
    caught = list[bool]()
    looking.input.mouse.caught_changed.connect(caught.append)
    qtbot.mouseClick(looking.stage, Qt.MouseButton.LeftButton)
    assert not caught  # no person is asked
    ask_who_looks(looking)
    qtbot.mouseClick(looking.stage, Qt.MouseButton.LeftButton, pos=at(looking, 0))
    assert caught == [True] and looking.chosen == []
    move(looking, 8)
    assert looking.chosen.pop() == ("a", {"a": [0], "b": [4.0]})
    ask_who_looks(looking, 2)
    qtbot.mousePress(looking.stage, Qt.MouseButton.LeftButton, pos=at(looking, 8))
    assert looking.chosen == [("a", {"a": [1], "b": [0.0]})] and looking.input.keys_down == {"MouseLeft"}
    qtbot.keyClick(looking.stage, Qt.Key.Key_Escape)
    assert caught == [True, False] and not looking.input.keys_down
    assert QWidget.mouseGrabber() is None


def test_the_mouse_is_given_back_when_the_episode_is_over_or_the_keyboard_goes(
    looking: Table, qtbot: QtBot
) -> None:
    for ends in (looking.input.forget, looking.field.setFocus):
        looking.stage.setFocus()
        ask_who_looks(looking)
        qtbot.mouseClick(looking.stage, Qt.MouseButton.LeftButton)
        assert looking.input.mouse.caught
        ends()
        assert not looking.input.mouse.caught and QWidget.mouseGrabber() is None


def test_whoever_is_not_asked_any_more_has_the_mouse_back(looking: Table, qtbot: QtBot) -> None:
    ask_who_looks(looking)
    qtbot.mouseClick(looking.stage, Qt.MouseButton.LeftButton)
    assert looking.input.mouse.caught
    qtbot.waitUntil(lambda: not looking.input.mouse.caught)


def test_keys_alone_leave_the_mouse_alone(table: Table, qtbot: QtBot) -> None:
    table.ask()
    qtbot.mouseClick(table.stage, Qt.MouseButton.LeftButton)
    assert not table.input.mouse.caught


class TestTheFirstKey:
    """Pressed when there is a picture to see, and before it is known who plays with which keys."""

    @pytest.fixture
    def early(self, qtbot: QtBot) -> Iterator[Table]:
        result = Table(qtbot)
        result.input.attach_early(result.stage)
        yield result
        result.input.detach()
        result.window.close()
        result.window.deleteLater()

    def seat(self, table: Table, *, realtime: bool = False) -> None:
        table.input.attach(table.stage)
        table.input.set_seats([HumanSeat("a", KEYS, realtime=realtime)])

    def test_counts_once_people_are_seated(self, early: Table, qtbot: QtBot) -> None:
        qtbot.keyClick(early.stage, Qt.Key.Key_Right)
        qtbot.keyClick(early.stage, Qt.Key.Key_Right)  # once more, as nothing was seen of it
        self.seat(early)
        early.ask()
        assert early.chosen == [("a", 1)] and early.input.keys_down == frozenset()
        early.ask(2)
        assert early.input.questions, "one key is one move"

    def test_lets_time_begin_and_is_held_while_it_is_down(self, early: Table, qtbot: QtBot) -> None:
        began: list[str] = []
        early.input.key_pressed.connect(began.append)
        qtbot.keyPress(early.stage, Qt.Key.Key_Left)
        self.seat(early, realtime=True)
        assert began == ["Left"] and early.input.keys_down == {"Left"}
        early.ask()
        assert early.chosen == [("a", 0)]
        qtbot.keyRelease(early.stage, Qt.Key.Key_Left)
        assert early.input.keys_down == frozenset()

    def test_is_forgotten_where_the_keyboard_goes_elsewhere(self, early: Table, qtbot: QtBot) -> None:
        qtbot.keyClick(early.stage, Qt.Key.Key_Right)
        early.field.setFocus()
        early.stage.setFocus()
        self.seat(early)
        early.ask()
        assert early.chosen == []
