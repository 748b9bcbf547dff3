"""A person's keys, buttons and mouse as answers to a session's questions.

Shared by the Play page and the operators' cards: attach it to the widget that has the
keyboard while it is played, hand it the questions, pass on what was chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from PyQt6.QtCore import QEvent, QObject, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QApplication, QWidget

from gym_gui.controllers.human.human_input import KEYBOARD, Answered, HumanSeat, HumanSeats, Reaction
from gym_gui.core.live import HumanQuestion
from gym_gui.envs.keymaps import MOTIONS, KeyScheme
from gym_gui.ui.input.key_names import key_name
from gym_gui.ui.input.mouse_look import MouseLook

_WITH = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)
"""With one of these a key is a command of the window, not a move."""


class HumanInput(QObject):
    """Answers for all slots that people play at this window.

    Keys count while the attached widget, or something in it, has the keyboard; when it
    loses it, nothing is held any more. Where a person also plays with the mouse in real time, a click catches
    it there until Escape is pressed. Other keyboards (:mod:`gym_gui.ui.input.evdev_input`)
    report through :meth:`press` and :meth:`release`.
    """

    chosen = pyqtSignal(object, object)
    """The question, and plain JSON data of the action."""
    refused = pyqtSignal(str)
    """Why a key or button did nothing: a sentence."""
    key_pressed = pyqtSignal(str)
    """A key that means something went down, whether a question was open or not."""
    held_changed = pyqtSignal()
    questions_changed = pyqtSignal()
    listening_changed = pyqtSignal(bool)
    """Whether the attached widget has the keyboard."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.seats = HumanSeats()
        self.mouse = MouseLook(self)
        self.mouse.moved.connect(self._on_mouse_moved)
        self.mouse.pressed.connect(self.press)
        self.mouse.released.connect(self.release)
        self._widget: QWidget | None = None
        self._apart: QWidget | None = None
        self._early: _EarlyKey | None = None
        self._released = ("", 0)
        self._names: dict[int, str] = {}  # by scan code: a key keeps its name while it is down

    # -- who plays -------------------------------------------------------------------

    def attach(
        self,
        widget: QWidget,
        schemes: Mapping[str, KeyScheme] | None = None,
        *,
        realtime: bool | None = None,
        devices: Mapping[str, str] | None = None,
        words: Mapping[str, Mapping[int, str]] | None = None,
        repeat: bool = True,
    ) -> None:
        """Listen to a widget's keys for some slots; replaces what was attached before.

        Args:
            widget: Has the keyboard while it is played.
            schemes: Keys of each slot that a person plays.
            realtime: Whether time runs; as the schemes say by default.
            devices: Keyboard of a slot, where it is not the window's.
            words: Words for the action numbers of a slot.
            repeat: Whether a held key acts at every step in real time.
        """
        self.detach()
        self._widget = widget
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
            widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        widget.installEventFilter(self)
        widget.destroyed.connect(self._on_widget_destroyed)
        if self._apart is not None:
            self._apart.installEventFilter(self)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._on_focus_changed)
        self.set_seats(
            HumanSeat(
                slot,
                scheme,
                realtime=realtime,
                device=(devices or {}).get(slot, KEYBOARD),
                words=(words or {}).get(slot),
                repeat=repeat,
            )
            for slot, scheme in (schemes or {}).items()
        )

    def attach_early(self, widget: QWidget) -> None:
        """Listen while a picture is seen and it is not yet known who plays with which keys.

        The first key that is pressed counts as soon as people are seated, as if it had been pressed then.
        """
        self.attach(widget)
        self._early = _EarlyKey()

    def extend(self, window: QWidget | None) -> None:
        """The picture is in a window of its own, whose keys count too; ``None``: it is back."""
        before, self._apart = self._apart, window
        if self._widget is None or before is window:
            return
        self.mouse.give_back()
        self.release_all()
        if before is not None:
            before.removeEventFilter(self)
        if window is not None:
            window.installEventFilter(self)

    def set_seats(self, seats: Iterable[HumanSeat]) -> None:
        """Change who plays with which keys; a question that is open stays open."""
        before, early = self.seats, self._early
        self.seats = HumanSeats(seats)
        for question in before.questions:
            seat = self.seats.seat(question.slot)
            if seat is not None:
                seat.question = question
        self.questions_changed.emit()
        if early is not None and tuple(self.seats):
            self._early = None
            self.press(early.name)
            if not early.held:
                self.release(early.name)

    def detach(self) -> None:
        """Listen to nothing any more."""
        widget, self._widget = self._widget, None
        self.mouse.give_back()
        if widget is not None:
            widget.removeEventFilter(self)
            if self._apart is not None:
                self._apart.removeEventFilter(self)
            widget.destroyed.disconnect(self._on_widget_destroyed)
            app = QApplication.instance()
            if isinstance(app, QApplication):
                app.focusChanged.disconnect(self._on_focus_changed)
        self.release_all()

    @property
    def listening(self) -> bool:
        """Whether keys would count now."""
        return self._holds(QApplication.focusWidget())

    def _holds(self, focus: QWidget | None) -> bool:
        places = (self._widget, self._apart) if self._widget is not None else ()
        return focus is not None and any(
            place is not None and (focus is place or place.isAncestorOf(focus)) for place in places
        )

    # -- questions -------------------------------------------------------------------

    @property
    def questions(self) -> tuple[HumanQuestion, ...]:
        """What people are being asked."""
        return self.seats.questions

    def offer(self, question: HumanQuestion) -> None:
        """A session asks; ``chosen`` follows when there is an answer, perhaps at once."""
        seat = self.seats.seat(question.slot)
        if seat is not None and _plays_with_mouse(seat):
            self.mouse.use(True)
        self._tell(self.seats.offer(question))
        self.questions_changed.emit()

    def withdraw(self, question_id: int) -> None:
        """The session does not wait for an answer any more."""
        self.seats.withdraw(question_id)
        self.questions_changed.emit()

    def forget(self) -> None:
        """The episode is over."""
        self.mouse.give_back()
        self.seats.forget()
        self.questions_changed.emit()

    def choose(self, slot: str, action: Any) -> None:
        """A button, or the mouse on a board."""
        self._tell(self.seats.choose(slot, action))
        self.questions_changed.emit()

    # -- keys ------------------------------------------------------------------------

    def press(self, key: str, device: str = KEYBOARD) -> None:
        """A key went down, on whatever keyboard."""
        if not any(seat.device == device and seat.knows(key) for seat in self.seats):
            return
        self.key_pressed.emit(key)
        for reaction in self.seats.press(key, device):
            self._tell(reaction)
        self.held_changed.emit()
        self.questions_changed.emit()

    def release(self, key: str, device: str = KEYBOARD) -> None:
        """A key went up."""
        self.seats.release(key, device)
        self.held_changed.emit()

    def release_all(self, device: str | None = None) -> None:
        """Nothing is held any more; on one keyboard, or on all."""
        if device in (None, KEYBOARD):
            self._names.clear()
        self.seats.release_all(device)
        self.held_changed.emit()

    @property
    def held(self) -> frozenset[str]:
        """Keys that are down."""
        return frozenset(key for seat in self.seats for key in seat.held)

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Take the attached widget's keys that mean something; all others go on."""
        if a1 is None or not isinstance(a0, QWidget) or a0 not in (self._widget, self._apart):
            return False
        if a1.type() == QEvent.Type.WindowDeactivate:
            self.mouse.give_back()
            self.release_all()
        if self.mouse.take(a0, a1):
            return True
        return self._on_key(a1.type(), a1) if isinstance(a1, QKeyEvent) else False

    def _on_key(self, kind: QEvent.Type, event: QKeyEvent) -> bool:
        if self._early is not None and not event.isAutoRepeat() and not event.modifiers() & _WITH:
            self._early.note(kind, key_name(event))
        if kind == QEvent.Type.KeyRelease:
            name = self._names.get(event.nativeScanCode(), "") or key_name(event)
            known = self._knows(name)
            if known and not event.isAutoRepeat():
                self._released = (name, event.timestamp())
                self._names.pop(event.nativeScanCode(), None)
                self.release(name)
            return known
        name = key_name(event)
        if event.modifiers() & _WITH or not self._knows(name):
            return False
        if kind == QEvent.Type.ShortcutOverride:
            event.accept()  # a key of the game is not a shortcut of the window
            return True
        if kind == QEvent.Type.KeyPress and self._repeats(name, event):
            self.seats.hold(name)
        elif kind == QEvent.Type.KeyPress:
            if event.nativeScanCode():
                self._names[event.nativeScanCode()] = name
            self.press(name)
        return True

    def _repeats(self, name: str, event: QKeyEvent) -> bool:
        """Whether a press is the keyboard's repetition of a key that has been down all along.

        X11 says a repetition as a release and a press of one moment, which Qt does not
        recognize where it reads them one by one.
        """
        return event.isAutoRepeat() or (
            bool(event.timestamp()) and self._released == (name, event.timestamp())
        )

    def _knows(self, name: str) -> bool:
        return bool(name) and any(seat.device == KEYBOARD and seat.knows(name) for seat in self.seats)

    def _tell(self, reaction: Reaction | None) -> None:
        if isinstance(reaction, Answered):
            self.chosen.emit(reaction.question, reaction.action)
        elif reaction is not None:
            self.refused.emit(f"{reaction.reason}.")

    def _on_focus_changed(self, before: QWidget | None, now: QWidget | None) -> None:
        listens = self._holds(now)
        if not listens and self._early is not None:
            self._early = _EarlyKey()
        if not listens:
            self.mouse.give_back()
            self.release_all(KEYBOARD)
        if listens != self._holds(before):
            self.listening_changed.emit(listens)

    def _on_mouse_moved(self, right: int, down: int) -> None:
        for motion, pixels in zip(MOTIONS, (right, down), strict=True):
            for reaction in self.seats.move(motion, pixels) if pixels else ():
                self._tell(reaction)
        self.questions_changed.emit()

    def _on_widget_destroyed(self) -> None:
        self._widget = None


class _EarlyKey:
    """The first key that was pressed before a person was seated, and whether it is still down."""

    def __init__(self) -> None:
        self.name = ""
        self.held = False

    def note(self, kind: QEvent.Type, name: str) -> None:
        if kind == QEvent.Type.KeyPress and not self.name:
            self.name, self.held = name, True
        elif kind == QEvent.Type.KeyRelease and name == self.name:
            self.held = False


def _plays_with_mouse(seat: HumanSeat) -> bool:
    return seat.realtime and bool(seat.scheme.pointer) and seat.device == KEYBOARD
