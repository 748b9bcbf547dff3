"""Reads one keyboard per player from the Linux kernel (extra ``[evdev]``).

A window cannot distinguish two keyboards; ``/dev/input`` can. Its devices belong to the group ``input``, so
messages say how to get access. The kernel also reports keys while another window has the focus, so keys are
ignored unless this window is active.
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
"""Qt's key names for kernel names that differ, for a US layout: the kernel reports positions, not letters."""


class KeyboardSource(Protocol):
    """Protocol with the methods of ``evdev.InputDevice`` that MOSAIC uses."""

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
        """File descriptor, which is readable when there are events."""
        ...

    def read(self) -> Iterable[InputEvent]:
        """Return the events since the last call."""
        ...

    def grab(self) -> None:
        """Grab the keyboard, so that other programs do not get its events."""
        ...

    def ungrab(self) -> None:
        """Release the grab, so that other programs get the events again."""
        ...

    def close(self) -> None:
        """Close the device file."""
        ...


@dataclass(frozen=True, slots=True)
class Keyboard:
    """A keyboard that can be assigned to a person.

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
        problem: Sentence that says why no keyboard was found and what to do; empty if one was found.
    """

    found: tuple[Keyboard, ...] = ()
    problem: str = ""


def find_keyboards(
    paths: Callable[[], Iterable[str]] | None = None, open_device: Callable[[str], Any] | None = None
) -> Keyboards:
    """Return the keyboards of this machine; the search opens files, so call it outside the GUI thread.

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
            problem="You have no permission to read the keyboards in /dev/input. "
            f"Join the group input and log in again: {LET_IN}"
        )
    if not found:
        return Keyboards(problem="No keyboard was found in /dev/input; connect one and search again")
    return Keyboards(tuple(found))


def _evdev() -> Any:
    """Import and return the package ``evdev``, which is an optional extra."""
    import evdev

    return evdev


def _event_files() -> list[str]:
    return [str(path) for path in Path("/dev/input").glob("event*")]


def _is_keyboard(device: Any) -> bool:
    """Return whether a device has letter keys and a space bar, unlike power buttons and mice."""
    ecodes = _evdev().ecodes
    keys = device.capabilities().get(ecodes.EV_KEY, ())
    return ecodes.KEY_A in keys and ecodes.KEY_SPACE in keys


def key_name_of(code: int) -> str:
    """Return the name of a kernel key code in key schemes, or ``""`` if it has none."""
    names: Any = _evdev().ecodes.KEY.get(code, "")
    name = names if isinstance(names, str) else names[0]
    name = name.removeprefix("KEY_")
    if len(name) == 1 or (name.startswith("F") and name[1:].isdigit()):
        return name
    if name.startswith("KP") and name[2:].isdigit():
        return name[2:]
    return _NAMES.get(name, "")


class EvdevInput(QObject):
    """Reads keyboards and emits each press and release of a key with its device.

    Args:
        open_device: Opens a device file; ``evdev.InputDevice`` by default.
        parent: Qt parent.
    """

    pressed = pyqtSignal(str, str)
    """Emits a key and its device when the key is pressed."""
    released = pyqtSignal(str, str)
    lost = pyqtSignal(str, str)
    """Emits the device and a sentence when a keyboard is disconnected."""

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
        """Device files of the keyboards that are being read."""
        return tuple(self._devices)

    def open(self, path: str, *, grab: bool = False) -> str:
        """Start to read a keyboard.

        Args:
            path: Device file.
            grab: Whether to grab the keyboard, so that no program and no shortcut of this window gets its
                keys.

        Returns:
            Sentence that says why the keyboard cannot be read and what to do; empty on success.
        """
        if path not in self._devices:
            try:
                device = self._open(path)
            except OSError as error:
                return _sentence(path, error)
            self._devices[path] = device
            watch = QSocketNotifier(sip.voidptr(device.fd), QSocketNotifier.Type.Read, self)
            watch.activated.connect(self._on_readable)
            self._watches[path], self._by_fd[device.fd] = watch, path
        return self.set_grabbed(path, grab)

    def set_grabbed(self, path: str, grab: bool) -> str:
        """Grab a keyboard exclusively or release the grab; return an error sentence as :meth:`open` does."""
        device = self._devices.get(path)
        if device is None or grab == (path in self._grabbed):
            return ""
        try:
            (device.grab if grab else device.ungrab)()
        except OSError as error:
            if error.errno == errno.EBUSY:
                return (
                    f"another program has grabbed {device.name}; close that "
                    "program, or play without grabbing the keyboard"
                )
            return _sentence(path, error)
        (self._grabbed.add if grab else self._grabbed.discard)(path)
        return ""

    def close(self, path: str) -> None:
        """Stop reading a keyboard and close its device."""
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

    def _open(self, path: str) -> KeyboardSource:
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
                path, f"{name} is disconnected ({error.strerror or error}); connect it and choose it again"
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
        return f"You have no permission to read {path}. Join the group input and log in again: {LET_IN}"
    return f"{path} cannot be read: {error.strerror or error}. Choose another keyboard"
