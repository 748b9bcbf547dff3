"""Reads one keyboard per player from the kernel (Linux, extra ``[evdev]``).

A window cannot tell two keyboards apart; ``/dev/input`` can. The devices belong to the group ``input``, so
the messages here say how to get access. Key presses count only while the window is in front: the kernel
reports them even if another window has the focus.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from PyQt6 import sip
from PyQt6.QtCore import QObject, QSocketNotifier, pyqtSignal

if TYPE_CHECKING:
    from evdev import InputEvent

_log = logging.getLogger(__name__)

INSTALL: Final = "mosaic install evdev"
LET_IN: Final = "sudo usermod -aG input $USER"
_DOWN, _UP = 1, 0

_NAMES: Final = {
    "ENTER": "Return",
    "KPENTER": "Enter",
    "ESC": "Esc",
    "SPACE": "Space",
    "TAB": "Tab",
    "BACKSPACE": "Backspace",
    "DELETE": "Del",
    "INSERT": "Ins",
    "PAGEUP": "PgUp",
    "PAGEDOWN": "PgDown",
    "HOME": "Home",
    "END": "End",
    "UP": "Up",
    "DOWN": "Down",
    "LEFT": "Left",
    "RIGHT": "Right",
    "LEFTSHIFT": "Shift",
    "RIGHTSHIFT": "Shift",
    "LEFTCTRL": "Ctrl",
    "RIGHTCTRL": "Ctrl",
    "LEFTALT": "Alt",
    "RIGHTALT": "AltGr",
    "COMMA": ",",
    "DOT": ".",
    "SLASH": "/",
    "SEMICOLON": ";",
    "APOSTROPHE": "'",
    "MINUS": "-",
    "EQUAL": "=",
    "LEFTBRACE": "[",
    "RIGHTBRACE": "]",
    "BACKSLASH": "\\",
    "GRAVE": "`",
}
"""Qt's key names for kernel names that differ (US layout: the kernel knows positions, not letters)."""


class KeyboardSource(Protocol):
    """The part of ``evdev.InputDevice`` that is used here."""

    @property
    def path(self) -> str:
        """Path of the device file."""
        ...

    @property
    def name(self) -> str:
        """Name that the keyboard reports."""
        ...

    @property
    def fd(self) -> int:
        """File descriptor; it is readable when there are events."""
        ...

    def read(self) -> Iterable[InputEvent]:
        """Return the events since the last call."""
        ...

    def grab(self) -> None:
        """Take the keyboard's events exclusively."""
        ...

    def ungrab(self) -> None:
        """Share the keyboard's events again."""
        ...

    def close(self) -> None:
        """Close the device."""
        ...


@dataclass(frozen=True, slots=True)
class Keyboard:
    """A keyboard that can be assigned to a player.

    Attributes:
        path: Device file, which identifies the keyboard.
        name: Name that the keyboard reports.
    """

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Keyboards:
    """Result of a search for keyboards.

    Attributes:
        found: Keyboards that can be read.
        problem: Sentence that says why no keyboard was found and what to do; else empty.
    """

    found: tuple[Keyboard, ...] = ()
    problem: str = ""


def find_keyboards(
    paths: Callable[[], Iterable[str]] | None = None, open_device: Callable[[str], Any] | None = None
) -> Keyboards:
    """Return the keyboards of this machine; it opens files, so call it off the GUI thread.

    Args:
        paths: Lists device files; those of ``/dev/input`` by default.
        open_device: Opens a device file; ``evdev.InputDevice`` by default.
    """
    if find_spec("evdev") is None:
        return Keyboards(problem=f"One keyboard per player needs the package evdev. Run: {INSTALL}")
    found: list[Keyboard] = []
    refused = 0
    for path in sorted((paths or _event_files)()):
        try:
            device = (open_device or _evdev().InputDevice)(path)
        except PermissionError:
            refused += 1
            continue
        except OSError as error:
            _log.info("%s cannot be opened: %s", path, error)
            continue
        try:
            if _is_keyboard(device):
                found.append(Keyboard(str(device.path), str(device.name)))
        finally:
            device.close()
    if refused and not found:
        return Keyboards(
            problem="The keyboards in /dev/input may not be read by you. "
            f"Join the group input and log in again: {LET_IN}"
        )
    if not found:
        return Keyboards(problem="No keyboard was found in /dev/input; plug one in and look again")
    return Keyboards(tuple(found))


def _evdev() -> Any:
    """Import and return the package ``evdev``, which is an extra."""
    import evdev

    return evdev


def _event_files() -> list[str]:
    return [str(path) for path in Path("/dev/input").glob("event*")]


def _is_keyboard(device: Any) -> bool:
    """Return whether a device has letter keys and a space bar; power buttons and mice have keys, too."""
    ecodes = _evdev().ecodes
    keys = device.capabilities().get(ecodes.EV_KEY, ())
    return ecodes.KEY_A in keys and ecodes.KEY_SPACE in keys


def key_name_of(code: int) -> str:
    """Return a key scheme's name for a kernel key code; empty for keys without one."""
    names: Any = _evdev().ecodes.KEY.get(code, "")
    name = names if isinstance(names, str) else names[0]
    name = name.removeprefix("KEY_")
    if len(name) == 1 or (name.startswith("F") and name[1:].isdigit()):
        return name
    if name.startswith("KP") and name[2:].isdigit():
        return name[2:]
    return _NAMES.get(name, "")


class EvdevInput(QObject):
    """Reads keyboards and reports which key was pressed or released on which device.

    Args:
        open_device: Opens a device file; ``evdev.InputDevice`` by default.
        parent: Qt parent.
    """

    pressed = pyqtSignal(str, str)
    """Emitted with key and device of a key press."""
    released = pyqtSignal(str, str)
    lost = pyqtSignal(str, str)
    """Emitted when a keyboard disappears: its device, and a sentence."""

    def __init__(
        self, open_device: Callable[[str], KeyboardSource] | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._open_device = open_device
        self._devices: dict[str, KeyboardSource] = {}
        self._watches: dict[str, QSocketNotifier] = {}
        self._by_fd: dict[int, str] = {}
        self._grabbed: set[str] = set()
        self.active = True

    @property
    def devices(self) -> tuple[str, ...]:
        """Device files of the keyboards that are read."""
        return tuple(self._devices)

    def open(self, path: str, *, grab: bool = False) -> str:
        """Start to read a keyboard.

        Args:
            path: Device file.
            grab: Take the keyboard's keys exclusively, so that not even this window's shortcuts receive them.

        Returns:
            Sentence that says why it cannot be read and what to do; empty on success.
        """
        if path not in self._devices:
            try:
                device = self._make(path)
            except OSError as error:
                return _sentence(path, error)
            self._devices[path] = device
            watch = QSocketNotifier(sip.voidptr(device.fd), QSocketNotifier.Type.Read, self)
            watch.activated.connect(self._on_readable)
            self._watches[path], self._by_fd[device.fd] = watch, path
        return self.set_grabbed(path, grab)

    def set_grabbed(self, path: str, grab: bool) -> str:
        """Take a keyboard's keys exclusively or share them; returns a problem as :meth:`open` does."""
        device = self._devices.get(path)
        if device is None or grab == (path in self._grabbed):
            return ""
        try:
            (device.grab if grab else device.ungrab)()
        except OSError as error:
            if error.errno == errno.EBUSY:
                return f"{device.name} is kept by another program; close that one, or play without keeping it"
            return _sentence(path, error)
        (self._grabbed.add if grab else self._grabbed.discard)(path)
        return ""

    def close(self, path: str) -> None:
        """Stop reading a keyboard."""
        if path not in self._devices:
            return
        self.set_grabbed(path, False)
        device = self._devices.pop(path)
        self._grabbed.discard(path)
        watch = self._watches.pop(path)
        watch.setEnabled(False)
        watch.deleteLater()
        self._by_fd = {fd: other for fd, other in self._by_fd.items() if other != path}
        try:
            device.close()
        except OSError as error:  # the keyboard is already gone
            _log.info("%s: %s", path, error)

    def close_all(self) -> None:
        """Stop reading all keyboards."""
        for path in self.devices:
            self.close(path)

    def _make(self, path: str) -> KeyboardSource:
        if self._open_device is not None:
            return self._open_device(path)
        device: Any = _evdev().InputDevice(path)
        return device

    def _on_readable(self, descriptor: Any) -> None:
        path = self._by_fd.get(int(descriptor), "")
        device = self._devices.get(path)
        if device is None:
            return
        try:
            events = list(device.read())
        except BlockingIOError:
            return
        except OSError as error:
            name = device.name
            self.close(path)
            self.lost.emit(
                path, f"{name} is gone ({error.strerror or error}); plug it in and choose it again"
            )
            return
        for event in events:
            self._on_event(path, event)

    def _on_event(self, path: str, event: InputEvent) -> None:
        if event.type != _evdev().ecodes.EV_KEY or event.value not in (_DOWN, _UP):  # 2 is auto-repeat
            return
        key = key_name_of(event.code)
        if key and event.value == _UP:
            self.released.emit(key, path)
        elif key and self.active:
            self.pressed.emit(key, path)


def _sentence(path: str, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"{path} may not be read by you. Join the group input and log in again: {LET_IN}"
    return f"{path} cannot be read: {error.strerror or error}. Choose another keyboard"
