"""One keyboard per player, read from the kernel (Linux, extra ``[evdev]``).

A window cannot tell two keyboards apart; ``/dev/input`` can. The devices belong to the
group ``input``, so the sentences here say how to be let in. Keys count only while the
window is in front: unlike the window's own, these arrive wherever the keyboard points.
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
"""Kernel names that Qt writes otherwise (of a US layout: the kernel knows places, not letters)."""


class KeyboardSource(Protocol):
    """What is used of an ``evdev.InputDevice``."""

    @property
    def path(self) -> str:
        """Device file."""
        ...

    @property
    def name(self) -> str:
        """What the keyboard calls itself."""
        ...

    @property
    def fd(self) -> int:
        """Readable when there are events."""
        ...

    def read(self) -> Iterable[InputEvent]:
        """What has happened since."""
        ...

    def grab(self) -> None:
        """Keep its keys from everybody else."""
        ...

    def ungrab(self) -> None:
        """Let others have them again."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


@dataclass(frozen=True, slots=True)
class Keyboard:
    """A keyboard that can be given to a player.

    Attributes:
        path: Its device file; names it.
        name: What it calls itself.
    """

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Keyboards:
    """What there is.

    Attributes:
        found: Keyboards that can be read.
        problem: Why there are none, or not all: a sentence with the way out; else empty.
    """

    found: tuple[Keyboard, ...] = ()
    problem: str = ""


def find_keyboards(
    paths: Callable[[], Iterable[str]] | None = None, open_device: Callable[[str], Any] | None = None
) -> Keyboards:
    """The keyboards of this machine; touches files, so call it off the GUI thread.

    Args:
        paths: Lists device files; those of ``/dev/input`` by default.
        open_device: Opens one; ``evdev.InputDevice`` by default.
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
    """The package, which is an extra."""
    import evdev

    return evdev


def _event_files() -> list[str]:
    return [str(path) for path in Path("/dev/input").glob("event*")]


def _is_keyboard(device: Any) -> bool:
    """Whether it has letters and arrows; power buttons and mice have keys as well."""
    ecodes = _evdev().ecodes
    keys = device.capabilities().get(ecodes.EV_KEY, ())
    return ecodes.KEY_A in keys and ecodes.KEY_SPACE in keys


def key_name_of(code: int) -> str:
    """A scheme's name for a kernel key code; empty for keys without one."""
    names: Any = _evdev().ecodes.KEY.get(code, "")
    name = names if isinstance(names, str) else names[0]
    name = name.removeprefix("KEY_")
    if len(name) == 1 or (name.startswith("F") and name[1:].isdigit()):
        return name
    if name.startswith("KP") and name[2:].isdigit():
        return name[2:]
    return _NAMES.get(name, "")


class EvdevInput(QObject):
    """Reads keyboards and says which key went down on which.

    Args:
        open_device: Opens a device file; ``evdev.InputDevice`` by default.
        parent: Qt parent.
    """

    pressed = pyqtSignal(str, str)
    """Key and device."""
    released = pyqtSignal(str, str)
    lost = pyqtSignal(str, str)
    """A keyboard went away: its device, and a sentence."""

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
        """Keyboards that are read."""
        return tuple(self._devices)

    def open(self, path: str, *, grab: bool = False) -> str:
        """Begin to read a keyboard.

        Args:
            path: Device file.
            grab: Keep its keys from everybody else, this window's shortcuts included.

        Returns:
            Why it cannot be, as a sentence with the way out; empty when it is so.
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
        """Keep a keyboard's keys to the game, or not; returns as :meth:`open`."""
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
        """Read a keyboard no more."""
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
        except OSError as error:  # it is gone already
            _log.info("%s: %s", path, error)

    def close_all(self) -> None:
        """Read nothing any more."""
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
