"""Keyboards in place of /dev/input: a machine for tests has none."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator

from evdev import InputEvent, ecodes


class FakeKeyboard:
    """A device whose events come through a pipe, as a real one's come through its file."""

    def __init__(self, path: str, name: str = "Keyboard", keys: tuple[int, ...] = ()) -> None:
        self.path, self.name = path, name
        self.fd, self._in = os.pipe()
        os.set_blocking(self.fd, False)
        self._keys = keys or (ecodes.KEY_A, ecodes.KEY_SPACE, ecodes.KEY_UP)
        self.events: list[InputEvent] = []
        self.grabbed = self.closed = self.gone = self.busy = False

    def type(self, *changes: tuple[int, int]) -> None:
        now = time.time()
        for code, value in changes:
            self.events.append(InputEvent(int(now), 0, ecodes.EV_KEY, code, value))
            self.events.append(InputEvent(int(now), 0, ecodes.EV_SYN, 0, 0))
        os.write(self._in, b"x")

    def unplug(self) -> None:
        self.gone = True
        os.write(self._in, b"x")

    def capabilities(self) -> dict[int, list[int]]:
        return {ecodes.EV_KEY: list(self._keys)}

    def read(self) -> Iterator[InputEvent]:
        if self.gone:
            raise OSError(errno.ENODEV, "No such device")
        os.read(self.fd, 1)
        events, self.events = self.events, []
        yield from events

    def grab(self) -> None:
        if self.busy:
            raise OSError(errno.EBUSY, "Device or resource busy")
        self.grabbed = True

    def ungrab(self) -> None:
        self.grabbed = False

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            os.close(self.fd)
            os.close(self._in)
