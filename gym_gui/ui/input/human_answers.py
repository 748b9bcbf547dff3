"""Turns keys, buttons and mouse of people at this window into actions that a session requests.

The Play page and the operators' cards share :class:`HumanInput`. They attach it to the widget with the
keyboard focus, pass it the session's requests, and forward the chosen actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from PyQt6.QtCore import QEvent, QObject, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QApplication, QWidget

from gym_gui.controllers.human.human_input import KEYBOARD, AnsweredQuestion, HumanSeat, HumanSeats, Reaction
from gym_gui.core.live import HumanQuestion
from gym_gui.envs.keymaps import MOTIONS, KeyScheme
from gym_gui.ui.input.key_names import key_name
from gym_gui.ui.input.mouse_look import MouseLook

_SHORTCUT_MODIFIERS = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)
"""Modifiers with which a key is a shortcut of the window instead of a move."""


class HumanInput(QObject):
    """Answers the requests for actions of all slots that people play at this window.

    Keys have an effect while the attached widget or a child of it has the keyboard focus; when it loses the
    focus, all keys are released. If a person also plays with the mouse in real time, a click grabs the mouse
    until Escape is pressed. Separate keyboards (:mod:`gym_gui.ui.input.evdev_input`) call :meth:`press` and
    :meth:`release`.
    """

    chosen = pyqtSignal(object, object)
    """Emits a request and the chosen action as plain JSON data."""
    refused = pyqtSignal(str)
    """Emits a sentence that says why a key or button had no effect."""
    key_pressed = pyqtSignal(str)
    """Emits the name of a pressed key that some slot uses, even without an open request."""
    held_changed = pyqtSignal()
    questions_changed = pyqtSignal()
    listening_changed = pyqtSignal(bool)
    """Emits whether the attached widget has the keyboard focus."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.seats = HumanSeats()
        self.mouse = MouseLook(self)
        self.mouse.moved.connect(self._on_mouse_moved)
        self.mouse.pressed.connect(self.press)
        self.mouse.released.connect(self.release)
        self._widget: QWidget | None = None
        self._picture_window: QWidget | None = None
        self._early_key: _EarlyKey | None = None
        self._released = ("", 0)
        self._names: dict[
            int, str
        ] = {}  # names of held keys by scan code, because modifiers must not change them

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
        """Handle the keys of a widget for some slots, in place of the previous widget.

        Args:
            widget: Widget with the keyboard focus during play.
            schemes: Keys of each slot that a person plays.
            realtime: Whether the environment runs in real time; ``None`` leaves this to each scheme.
            devices: Separate keyboard of a slot, if the slot has one.
            words: Names of a slot's action numbers.
            repeat: Whether a held key acts at every step in real time.
        """
        self.detach()
        self._widget = widget
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
            widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        widget.installEventFilter(self)
        widget.destroyed.connect(self._on_widget_destroyed)
        if self._picture_window is not None:
            self._picture_window.installEventFilter(self)
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
        """Handle keys while a frame is visible but no slot has its keys yet.

        The first key press is repeated as soon as slots have their keys.
        """
        self.attach(widget)
        self._early_key = _EarlyKey()

    def extend(self, window: QWidget | None) -> None:
        """Also handle the keys of the window into which a picture was moved.

        Args:
          window: The picture's own window; ``None`` after the picture has returned.
        """
        before, self._picture_window = self._picture_window, window
        if self._widget is None or before is window:
            return
        self.mouse.release_pointer()
        self.release_all()
        if before is not None:
            before.removeEventFilter(self)
        if window is not None:
            window.installEventFilter(self)

    def set_seats(self, seats: Iterable[HumanSeat]) -> None:
        """Replace the slots that people play and their keys; open requests stay open."""
        before, early = self.seats, self._early_key
        self.seats = HumanSeats(seats)
        for question in before.questions:
            seat = self.seats.seat(question.slot)
            if seat is not None:
                seat.question = question
        self.questions_changed.emit()
        if early is not None and tuple(self.seats):
            self._early_key = None
            self.press(early.name)
            if not early.held:
                self.release(early.name)

    def detach(self) -> None:
        """Stop handling keys and mouse."""
        widget, self._widget = self._widget, None
        self.mouse.release_pointer()
        if widget is not None:
            widget.removeEventFilter(self)
            if self._picture_window is not None:
                self._picture_window.removeEventFilter(self)
            widget.destroyed.disconnect(self._on_widget_destroyed)
            app = QApplication.instance()
            if isinstance(app, QApplication):
                app.focusChanged.disconnect(self._on_focus_changed)
        self.release_all()

    @property
    def listening(self) -> bool:
        """Whether the attached widget has the keyboard focus, so that keys have an effect."""
        return self._has_focus(QApplication.focusWidget())

    def _has_focus(self, focus: QWidget | None) -> bool:
        places = (self._widget, self._picture_window) if self._widget is not None else ()
        return focus is not None and any(
            place is not None and (focus is place or place.isAncestorOf(focus)) for place in places
        )

    # -- questions -------------------------------------------------------------------

    @property
    def questions(self) -> tuple[HumanQuestion, ...]:
        """Requests that wait for a person's action."""
        return self.seats.questions

    def offer(self, question: HumanQuestion) -> None:
        """Pass a session's request to the person of its slot; an earlier key press can answer it at once."""
        seat = self.seats.seat(question.slot)
        if seat is not None and _plays_with_mouse(seat):
            self.mouse.use(True)
        self._emit_reaction(self.seats.offer(question))
        self.questions_changed.emit()

    def withdraw(self, question_id: int) -> None:
        """Drop a request whose answer the session no longer needs."""
        self.seats.withdraw(question_id)
        self.questions_changed.emit()

    def forget(self) -> None:
        """Drop all requests at the end of an episode."""
        self.mouse.release_pointer()
        self.seats.forget()
        self.questions_changed.emit()

    def choose(self, slot: str, action: Any) -> None:
        """Answer a slot's request with an action from a button or a click on a board."""
        self._emit_reaction(self.seats.choose(slot, action))
        self.questions_changed.emit()

    # -- keys ------------------------------------------------------------------------

    def press(self, key: str, device: str = KEYBOARD) -> None:
        """Handle a key press.

        Args:
          key: Name of the key.
          device: The keyboard.
        """
        if not any(seat.device == device and seat.is_bound(key) for seat in self.seats):
            return
        self.key_pressed.emit(key)
        for reaction in self.seats.press(key, device):
            self._emit_reaction(reaction)
        self.held_changed.emit()
        self.questions_changed.emit()

    def release(self, key: str, device: str = KEYBOARD) -> None:
        """Handle a key release.

        Args:
          key: Name of the key.
          device: The keyboard.
        """
        self.seats.release(key, device)
        self.held_changed.emit()

    def release_all(self, device: str | None = None) -> None:
        """Release all keys of one keyboard; ``None`` releases those of all keyboards."""
        if device in (None, KEYBOARD):
            self._names.clear()
        self.seats.release_all(device)
        self.held_changed.emit()

    @property
    def keys_down(self) -> frozenset[str]:
        """Names of the keys that are held down."""
        return frozenset(key for seat in self.seats for key in seat.keys_down)

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Handle the keys that some slot uses, and pass on all other events."""
        if a1 is None or not isinstance(a0, QWidget) or a0 not in (self._widget, self._picture_window):
            return False
        if a1.type() == QEvent.Type.WindowDeactivate:
            self.mouse.release_pointer()
            self.release_all()
        if self.mouse.handle_event(a0, a1):
            return True
        return self._on_key(a1.type(), a1) if isinstance(a1, QKeyEvent) else False

    def _on_key(self, kind: QEvent.Type, event: QKeyEvent) -> bool:
        if (
            self._early_key is not None
            and not event.isAutoRepeat()
            and not event.modifiers() & _SHORTCUT_MODIFIERS
        ):
            self._early_key.note(kind, key_name(event))
        if kind == QEvent.Type.KeyRelease:
            name = self._names.get(event.nativeScanCode(), "") or key_name(event)
            known = self._is_game_key(name)
            if known and not event.isAutoRepeat():
                self._released = (name, event.timestamp())
                self._names.pop(event.nativeScanCode(), None)
                self.release(name)
            return known
        name = key_name(event)
        if event.modifiers() & _SHORTCUT_MODIFIERS or not self._is_game_key(name):
            return False
        if kind == QEvent.Type.ShortcutOverride:
            event.accept()  # a key of the game is not a shortcut of the window
            return True
        if kind == QEvent.Type.KeyPress and self._repeats(name, event):
            self.seats.mark_down_again(name)
        elif kind == QEvent.Type.KeyPress:
            if event.nativeScanCode():
                self._names[event.nativeScanCode()] = name
            self.press(name)
        return True

    def _repeats(self, name: str, event: QKeyEvent) -> bool:
        """Return whether a key press is an automatic repetition of a held key.

        X11 reports a repetition as a release and a press with the same timestamp. Qt does not recognize the
        repetition if it reads the two events one by one.
        """
        return event.isAutoRepeat() or (
            bool(event.timestamp()) and self._released == (name, event.timestamp())
        )

    def _is_game_key(self, name: str) -> bool:
        return bool(name) and any(seat.device == KEYBOARD and seat.is_bound(name) for seat in self.seats)

    def _emit_reaction(self, reaction: Reaction | None) -> None:
        if isinstance(reaction, AnsweredQuestion):
            self.chosen.emit(reaction.question, reaction.action)
        elif reaction is not None:
            self.refused.emit(f"{reaction.reason}.")

    def _on_focus_changed(self, before: QWidget | None, now: QWidget | None) -> None:
        listens = self._has_focus(now)
        if not listens and self._early_key is not None:
            self._early_key = _EarlyKey()
        if not listens:
            self.mouse.release_pointer()
            self.release_all(KEYBOARD)
        if listens != self._has_focus(before):
            self.listening_changed.emit(listens)

    def _on_mouse_moved(self, right: int, down: int) -> None:
        for motion, pixels in zip(MOTIONS, (right, down), strict=True):
            for reaction in self.seats.move(motion, pixels) if pixels else ():
                self._emit_reaction(reaction)
        self.questions_changed.emit()

    def _on_widget_destroyed(self) -> None:
        self._widget = None


class _EarlyKey:
    """The first key that was pressed before slots had their keys, and whether it is still held."""

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
