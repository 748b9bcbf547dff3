"""Turns keys, buttons and mouse of people at this window into answers to a session's questions.

The Play page and the operators' cards share :class:`HumanInput`. They attach it to the widget that has the
keyboard focus during play, pass it the questions, and send on the chosen actions.
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
"""Modifiers that make a key a command of the window instead of a move."""


class HumanInput(QObject):
    """Answers the questions to all slots that people play at this window.

    Keys count while the attached widget, or a child of it, has the keyboard focus. When it loses the focus,
    all keys count as released. If a person also plays with the mouse in real time, a click grabs the mouse
    until Escape is pressed. Separate keyboards (:mod:`gym_gui.ui.input.evdev_input`) call :meth:`press` and
    :meth:`release`.
    """

    chosen = pyqtSignal(object, object)
    """Emitted with a question and the chosen action as plain JSON data."""
    refused = pyqtSignal(str)
    """Emitted with a sentence that says why a key or button did nothing."""
    key_pressed = pyqtSignal(str)
    """Emitted when a key of some slot is pressed, whether or not a question is open."""
    held_changed = pyqtSignal()
    questions_changed = pyqtSignal()
    listening_changed = pyqtSignal(bool)
    """Emitted with whether the attached widget has the keyboard focus."""

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
        self._names: dict[int, str] = {}  # by scan code: a key keeps its name while held

    # -- seats -----------------------------------------------------------------------

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
        """Handle a widget's keys for some slots; replaces the widget attached before.

        Args:
            widget: Widget with the keyboard focus during play.
            schemes: Key scheme of each slot that a person plays.
            realtime: Whether the environment runs in real time; by default each scheme says so.
            devices: Keyboard of a slot, if it is not the window's.
            words: Names of a slot's action numbers.
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
        """Handle keys while a picture is visible but no person has a seat yet.

        The first key press is replayed as soon as people have seats.
        """
        self.attach(widget)
        self._early = _EarlyKey()

    def extend(self, window: QWidget | None) -> None:
        """Handle the keys of a picture's separate window, too; ``None`` if the picture is back in place."""
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
        """Replace the seats (who plays with which keys); open questions stay open."""
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
        """Stop handling keys and mouse."""
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
        """Whether keys count now."""
        return self._holds(QApplication.focusWidget())

    def _holds(self, focus: QWidget | None) -> bool:
        places = (self._widget, self._apart) if self._widget is not None else ()
        return focus is not None and any(
            place is not None and (focus is place or place.isAncestorOf(focus)) for place in places
        )

    # -- questions -------------------------------------------------------------------

    @property
    def questions(self) -> tuple[HumanQuestion, ...]:
        """Questions that wait for a person's answer."""
        return self.seats.questions

    def offer(self, question: HumanQuestion) -> None:
        """Ask a person a session's question; ``chosen`` follows with the answer, perhaps at once."""
        seat = self.seats.seat(question.slot)
        if seat is not None and _plays_with_mouse(seat):
            self.mouse.use(True)
        self._tell(self.seats.offer(question))
        self.questions_changed.emit()

    def withdraw(self, question_id: int) -> None:
        """Drop a question whose answer the session no longer waits for."""
        self.seats.withdraw(question_id)
        self.questions_changed.emit()

    def forget(self) -> None:
        """Drop all questions at the end of an episode."""
        self.mouse.give_back()
        self.seats.forget()
        self.questions_changed.emit()

    def choose(self, slot: str, action: Any) -> None:
        """Answer a slot's question with an action from a button or a click on a board."""
        self._tell(self.seats.choose(slot, action))
        self.questions_changed.emit()

    # -- keys ------------------------------------------------------------------------

    def press(self, key: str, device: str = KEYBOARD) -> None:
        """Handle a key press on a keyboard."""
        if not any(seat.device == device and seat.knows(key) for seat in self.seats):
            return
        self.key_pressed.emit(key)
        for reaction in self.seats.press(key, device):
            self._tell(reaction)
        self.held_changed.emit()
        self.questions_changed.emit()

    def release(self, key: str, device: str = KEYBOARD) -> None:
        """Handle a key release on a keyboard."""
        self.seats.release(key, device)
        self.held_changed.emit()

    def release_all(self, device: str | None = None) -> None:
        """Release all keys of one keyboard, or of all keyboards by default."""
        if device in (None, KEYBOARD):
            self._names.clear()
        self.seats.release_all(device)
        self.held_changed.emit()

    @property
    def held(self) -> frozenset[str]:
        """Keys that are held down."""
        return frozenset(key for seat in self.seats for key in seat.held)

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Handle the attached widget's keys that some slot uses; pass on all others."""
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
        """Return whether a key press is an auto-repeat of a held key.

        X11 reports a repetition as a release and a press with the same timestamp. Qt does not
        recognize the repetition if it reads the two events one by one.
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
    """First key pressed before a person had a seat, and whether it is still held."""

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
