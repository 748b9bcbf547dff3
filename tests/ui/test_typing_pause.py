"""Work that follows what is typed: once the typing has paused, one piece at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from PyQt6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from gym_gui.ui.context import AppContext
from gym_gui.ui.typing_pause import TypingPause

LONG_MS = 600_000


class Work:
    """Counts how often it was begun; each time it waits to be let through."""

    def __init__(self) -> None:
        self.begun = self.ended = 0
        self.gate = asyncio.Event()

    async def __call__(self) -> None:
        self.begun += 1
        await self.gate.wait()
        self.gate.clear()
        self.ended += 1


@pytest.fixture
def owner(qtbot: QtBot) -> QObject:
    return QObject()


def soon(qtbot: QtBot) -> None:
    """Let whatever is due at once happen."""
    passed: list[bool] = []
    QTimer.singleShot(0, lambda: passed.append(True))
    qtbot.waitUntil(lambda: bool(passed))


def test_it_is_done_once_the_typing_has_paused(context: AppContext, owner: QObject, qtbot: QtBot) -> None:
    work = Work()
    after = TypingPause(context.spawn, work, "Working", 1, owner)
    for _ in range(3):
        after.typed()
    assert work.begun == 0
    qtbot.waitUntil(lambda: work.begun == 1)
    work.gate.set()
    qtbot.waitUntil(lambda: work.ended == 1 and not context.busy)
    assert work.begun == 1


def test_what_is_due_meanwhile_is_done_once_more(context: AppContext, owner: QObject, qtbot: QtBot) -> None:
    work = Work()
    after = TypingPause(context.spawn, work, "Working", LONG_MS, owner)
    after.run_now()
    qtbot.waitUntil(lambda: work.begun == 1)
    after.run_now()
    after.run_now()
    work.gate.set()
    qtbot.waitUntil(lambda: work.begun == 2)
    work.gate.set()
    qtbot.waitUntil(lambda: work.ended == 2 and not context.busy)
    assert work.begun == 2


@pytest.mark.parametrize("begin", [TypingPause.typed, TypingPause.run_now])
def test_the_pause_stays_as_long_after_a_second_time(
    context: AppContext, owner: QObject, qtbot: QtBot, begin: Callable[[TypingPause], None]
) -> None:
    work = Work()
    after = TypingPause(context.spawn, work, "Working", LONG_MS, owner)
    after.run_now()
    begin(after)
    after.run_now()
    work.gate.set()
    qtbot.waitUntil(lambda: work.begun == 2)
    work.gate.set()
    qtbot.waitUntil(lambda: work.ended == 2 and not context.busy)
    after.typed()
    soon(qtbot)
    assert work.begun == 2, "typing has not paused yet"
    after.cancel()


def test_nothing_is_begun_or_gone_on_with_once_it_is_let_go(
    context: AppContext, owner: QObject, qtbot: QtBot
) -> None:
    work = Work()
    after = TypingPause(context.spawn, work, "Working", 1, owner)
    after.run_now()
    qtbot.waitUntil(lambda: work.begun == 1)
    after.typed()
    after.cancel()
    qtbot.waitUntil(lambda: not context.busy)
    soon(qtbot)
    assert (work.begun, work.ended) == (1, 0)
