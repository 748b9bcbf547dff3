"""Runs compressed from the list, and had back as they were: in a thread, a share at a time, to be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Event

from gym_gui.core.errors import MosaicError
from gym_gui.services.run_library import RunEntry
from gym_gui.ui.results.exports import size_in_words
from gym_gui.ui.results.jobs import Job, OnShare, Said

_WHOLE = 1000
"""Parts of a run's progress: its bytes may be more than a bar can count."""

Again = Callable[[Sequence[RunEntry], bool], None]
"""Begins the same work with these runs, the other way round where it is true."""


class _Stopped(Exception):
    """Somebody has stopped it; the file that was being written is gone."""


@dataclass
class _Done:
    """What has become of the runs."""

    changed: list[RunEntry] = field(default_factory=list[RunEntry])
    before: int = 0
    after: int = 0
    refused: list[str] = field(default_factory=list[str])


def packing_title(runs: Sequence[RunEntry], *, undo: bool = False) -> str:
    """What is being done, with an ellipsis."""
    what = "Decompressing" if undo else "Compressing"
    return f"{what} “{runs[0].title}”…" if len(runs) == 1 else f"{what} {len(runs):,} runs…"


def packing_job(runs: Sequence[RunEntry], again: Again, *, undo: bool = False) -> Job:
    """Compresses runs one after the other; one that cannot be does not keep the others from it.

    Args:
        runs: The runs.
        again: Has it undone.
        undo: Decompress them.
    """

    async def job(share: OnShare) -> Said:
        stop, loop = Event(), asyncio.get_running_loop()

        def tell(number: int, part: int) -> None:
            which = packing_title([runs[number]], undo=undo)
            several = f" ({number + 1:,} of {len(runs):,})" if len(runs) > 1 else ""
            loop.call_soon_threadsafe(share, f"{which}{several}", part, _WHOLE)

        work = asyncio.ensure_future(asyncio.to_thread(_each, runs, undo, stop, tell))
        try:
            done = await asyncio.shield(work)
        finally:
            stop.set()
            await asyncio.wait([work])  # until what was half written is gone
        return _said(done, again, undo)

    return job


def _each(runs: Sequence[RunEntry], undo: bool, stop: Event, tell: Callable[[int, int], None]) -> _Done:
    from gym_gui.services.run_packing import compress_run, decompress_run

    act = decompress_run if undo else compress_run
    done = _Done()
    for number, run in enumerate(runs):
        try:
            packing = act(run.path, _watch(stop, partial(tell, number)))
        except MosaicError as error:
            done.refused.append(str(error))
            continue
        except _Stopped:
            break
        if packing.files:
            done.changed.append(run)
            done.before, done.after = done.before + packing.before, done.after + packing.after
    return done


def _watch(stop: Event, tell: Callable[[int], None]) -> Callable[[int, int], None]:
    """Passes on how far a run is, each part once, until it is stopped."""
    told = -1

    def on_bytes(done: int, total: int) -> None:
        nonlocal told
        if stop.is_set():
            raise _Stopped
        part = _WHOLE * done // max(total, 1)
        if part != told:
            told = part
            tell(part)

    return on_bytes


def _said(done: _Done, again: Again, undo: bool) -> Said:
    sentences: list[str] = []
    if done.changed:
        who = f"“{done.changed[0].title}” is" if len(done.changed) == 1 else f"{len(done.changed):,} runs are"
        how = "as they were" if undo else "compressed"
        before, after = size_in_words(done.before), size_in_words(done.after)
        how = how if len(done.changed) > 1 or not undo else "as it was"
        sentences.append(f"{who} {how}: the rows took {before} and take {after} now.")
    elif not done.refused:
        sentences.append("There is nothing to decompress." if undo else "No rows are left to compress.")
    if done.refused:
        more = len(done.refused) - 1
        others = f" {more:,} more {'is' if more == 1 else 'are'} left as well." if more else ""
        sentences.append(f"{done.refused[0].rstrip('.')}.{others}")
    action = None if undo or not done.changed else ("Undo", partial(again, done.changed, True))
    return Said(" ".join(sentences), "warning" if done.refused else "ok", action)
