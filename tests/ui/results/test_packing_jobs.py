"""What is said of runs whose compressing was cancelled: what is done already, and nothing else."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from threading import Event, get_ident
from typing import Any

import pytest

from gym_gui.analysis.records import packed_rows
from gym_gui.services.runs.run_library import RunEntry, RunLibrary
from gym_gui.ui.results.jobs import JobResult
from gym_gui.ui.results.run_file_actions import packing_job

FILES = 6
"""Of each run: steps and episodes of three operators."""


@pytest.fixture
async def in_step() -> AsyncIterator[None]:
    """Threads wait until what they tell the loop has been heard there, with all that follows from it.

    So a job is cancelled where its progress says, not where its thread has got to meanwhile.
    """
    loop, here = asyncio.get_running_loop(), get_ident()
    tell = loop.call_soon_threadsafe

    def tell_and_wait(callback: Callable[..., object], *args: Any, **keywords: Any) -> asyncio.Handle:
        told = tell(callback, *args, **keywords)
        if get_ident() != here:
            heard = Event()
            tell(loop.call_soon, heard.set)  # behind what the callback has set going
            assert heard.wait(60)
        return told

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "call_soon_threadsafe", tell_and_wait)
        yield


@pytest.fixture
def runs(run: Path, monkeypatch: pytest.MonkeyPatch) -> list[RunEntry]:
    """Three, each of which tells of its bytes often."""
    monkeypatch.setattr(packed_rows, "FRAME", 256)
    for name in ("01SECOND", "01THIRD"):
        shutil.copytree(run, run.with_name(name))
    return sorted(RunLibrary(run.parent).all(), key=lambda entry: entry.path.name)


async def cancelled(
    runs: Sequence[RunEntry],
    number: int = 4,
    part: int = 0,
    *,
    undo: bool = False,
    again: Callable[[Sequence[RunEntry], bool], None] = lambda *_: None,
) -> JobResult | None:
    """What the job says where it is canceled at so much (of 1000) of a run; by default it is not canceled."""

    def share(what: str, done: int, _total: int) -> None:
        if what.endswith(f"({number} of 3)") and done >= part:
            line.cancel()

    line = asyncio.ensure_future(packing_job(runs, again, undo=undo)(share))
    try:
        return await line
    except asyncio.CancelledError:
        return None


def packed(runs: Sequence[RunEntry]) -> list[int]:
    """How many files of each run are compressed."""
    return [len(list(run.path.glob("operators/*/*.zst"))) for run in runs]


@pytest.mark.usefixtures("in_step")
async def test_nothing_is_said_where_nothing_is_done(runs: list[RunEntry]) -> None:
    assert await cancelled(runs, 1, 0) is None and packed(runs) == [0, 0, 0]


@pytest.mark.usefixtures("in_step")
async def test_what_is_compressed_already_is_said_and_can_be_undone(runs: list[RunEntry]) -> None:
    undone: list[tuple[Sequence[RunEntry], bool]] = []

    def again(runs: Sequence[RunEntry], undo: bool) -> None:
        undone.append((runs, undo))

    said = await cancelled(runs, 2, 0, again=again)
    assert said is not None and packed(runs) == [FILES, 0, 0]
    assert said.text.startswith("Canceled: 1 of 3 runs is compressed: ")
    assert said.kind == "info" and said.action is not None and said.action[0] == "Undo"
    said.action[1]()
    assert undone.pop() == ([runs[0]], True)

    said = await cancelled(runs, 3, 990, again=again)
    assert said is not None and said.action is not None
    whole, second, third = packed(runs)
    assert (whole, second) == (FILES, FILES) and 0 < third < FILES
    # The first was compressed before; it is none of those that are compressed now.
    assert said.text.startswith("Canceled: 1 of 3 runs is compressed, and one more in part: ")
    said.action[1]()
    assert undone.pop() == ([runs[1], runs[2]], True)


@pytest.mark.usefixtures("in_step")
async def test_of_a_single_run_it_is_said_that_it_is_compressed_in_part(runs: list[RunEntry]) -> None:
    said = await cancelled(runs, 1, 990)
    assert said is not None and 0 < packed(runs)[0] < FILES
    assert said.text.startswith(f"Canceled: “{runs[0].title}” is compressed in part: ")


@pytest.mark.usefixtures("in_step")
async def test_undoing_is_cancelled_likewise(runs: list[RunEntry]) -> None:
    said = await cancelled(runs)
    assert said is not None and packed(runs) == [FILES] * 3
    assert said.text.startswith("3 runs are compressed: ") and said.kind == "ok"
    said = await cancelled(runs, 3, 0, undo=True)
    assert said is not None and packed(runs) == [0, 0, FILES]
    assert said.text.startswith("Canceled: 2 of 3 runs are decompressed: ")
    assert said.kind == "info" and said.action is None
    said = await cancelled(runs, undo=True)
    assert said is not None and said.text.startswith(f"“{runs[2].title}” is decompressed: ")
    assert packed(runs) == [0, 0, 0]
