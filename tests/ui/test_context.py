"""Background work, notices and commands of the shared context."""

from __future__ import annotations

import asyncio

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.core.errors import UsageError
from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext, Notice


class TestSpawn:
    def test_it_runs_and_is_forgotten(self, context: AppContext, qtbot: QtBot) -> None:
        async def work() -> int:
            await asyncio.sleep(0.01)
            return 7

        task = context.spawn(work(), "Counting")
        assert context.busy == ("Counting",)
        qtbot.waitUntil(task.done)
        assert task.result() == 7
        qtbot.waitUntil(lambda: context.busy == ())

    def test_an_error_of_ours_is_told_as_it_is(self, context: AppContext, qtbot: QtBot) -> None:
        async def work() -> None:
            raise UsageError("there is no such file", fix="Choose another one")

        with qtbot.waitSignal(context.noticed) as told:
            context.spawn(work(), "Opening the file")
        assert told.args == [Notice("There is no such file. Choose another one", "error")]

    def test_any_other_error_names_the_work(
        self, context: AppContext, qtbot: QtBot, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def work() -> None:
            raise ZeroDivisionError("by zero")

        with qtbot.waitSignal(context.noticed) as told:
            context.spawn(work(), "Dividing")
        assert told.args is not None
        assert told.args[0].text.startswith("Dividing failed: by zero")
        assert "ZeroDivisionError" in caplog.text

    def test_closing_cancels_and_waits(self, context: AppContext, qtbot: QtBot, finish: object) -> None:
        ended: list[str] = []

        async def work() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                await asyncio.sleep(0.01)
                ended.append("cleaned up")

        context.spawn(work(), "Waiting")
        qtbot.wait(20)
        finish(context.close())  # type: ignore[operator]
        assert ended == ["cleaned up"]
        assert context.busy == ()


def test_commands_run_when_they_are_enabled(context: AppContext) -> None:
    done: list[str] = []
    allowed = [False]
    context.commands.add(Command("a.b", "Do it", lambda: done.append("b"), enabled=lambda: allowed[0]))
    assert not context.commands.run("a.b")
    allowed[0] = True
    assert context.commands.run("a.b")
    assert done == ["b"]
    context.commands.remove(["a.b", "unknown"])
    assert not context.commands.run("a.b")
