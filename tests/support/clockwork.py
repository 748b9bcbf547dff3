"""An event loop whose time passes only while everything in it waits: however busy the machine is."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """Says at once what there is; where there is nothing, the time that was to be waited is over."""

    def __init__(self, pass_time: Callable[[float], None]) -> None:
        super().__init__()
        self._pass_time = pass_time

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if not ready:
            self._pass_time(timeout)
        return ready


class Clockwork(asyncio.SelectorEventLoop):
    """For what waits for the loop's own timers alone: no threads, no processes."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_Selector(self.pass_time))

    def time(self) -> float:
        return self._now

    def pass_time(self, seconds: float) -> None:
        """Move the time on by so many seconds: for a callback that keeps the loop busy."""
        self._now += max(0.0, seconds)


def by_clockwork(play: Callable[[Clockwork], Coroutine[Any, Any, _T]]) -> _T:
    """What a coroutine returns that is given the loop it runs in."""
    loop = Clockwork()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(play(loop))
