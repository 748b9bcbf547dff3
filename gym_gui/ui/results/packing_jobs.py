"""Runs compressed from the list, and had back as they were: in a thread, a share at a time, to be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Event

from gym_gui.analysis.words import wording
from gym_gui.core.errors import MosaicError
from gym_gui.services.runs.run_library import RunEntry
from gym_gui.ui.numbers import local, screen
from gym_gui.ui.results.jobs import Job, OnShare, Said

_WHOLE = 1000
"""Parts of a run's progress: its bytes may be more than a bar can count."""

Again = Callable[[Sequence[RunEntry], bool], None]
"""Begins the same work with these runs, the other way round where it is true."""


@dataclass
class _Done:
    """What has become of the runs; ``partly`` the one at which it was stopped, where some of it is done."""

    changed: list[RunEntry] = field(default_factory=list[RunEntry])
    partly: RunEntry | None = None
    stopped: bool = False
    before: int = 0
    after: int = 0
    refused: list[str] = field(default_factory=list[str])


def packing_title(runs: Sequence[RunEntry], *, undo: bool = False) -> str:
    """What is being done, with an ellipsis."""
    what = "Decompressing" if undo else "Compressing"
    return f"{what} “{runs[0].title}”…" if len(runs) == 1 else f"{what} {local(len(runs)):,} runs…"


def packing_job(runs: Sequence[RunEntry], again: Again, *, undo: bool = False) -> Job:
    """Compresses runs one after the other; one that cannot be does not keep the others from it.

    Cancelled, it says what is done already, where anything is.

    Args:
        runs: The runs.
        again: Has it undone.
        undo: Decompress them.
    """

    async def job(share: OnShare) -> Said:
        stop, loop = Event(), asyncio.get_running_loop()

        def tell(number: int, part: int) -> None:
            which = packing_title([runs[number]], undo=undo)
            several = f" ({local(number + 1):,} of {local(len(runs)):,})" if len(runs) > 1 else ""
            loop.call_soon_threadsafe(share, f"{which}{several}", part, _WHOLE)

        work = asyncio.ensure_future(asyncio.to_thread(_each, runs, undo, stop, tell))
        try:
            done = await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([work])  # until what was half written is gone
            done = work.result()
            if not (done.changed or done.partly):
                raise
        return _said(done, len(runs), again, undo)

    return job


def _each(runs: Sequence[RunEntry], undo: bool, stop: Event, tell: Callable[[int, int], None]) -> _Done:
    from gym_gui.services.runs.run_packing import PackingStoppedError, compress_run, decompress_run

    act = decompress_run if undo else compress_run
    done = _Done()
    for number, run in enumerate(runs):
        try:
            packing = act(run.path, _watch(stop, partial(tell, number)))
            done.changed += [run] if packing.files else []
        except PackingStoppedError as error:
            packing, done.stopped = error.packing, True
            done.partly = run if packing.files else None
        except MosaicError as error:
            done.refused.append(error.sentence)
            continue
        done.before, done.after = done.before + packing.before, done.after + packing.after
        if done.stopped:
            break
    return done


def _watch(stop: Event, tell: Callable[[int], None]) -> Callable[[int, int], None]:
    """Passes on how far a run is, each part once, until it is stopped."""
    from gym_gui.services.runs.run_packing import StopPacking

    told = -1

    def on_bytes(done: int, total: int) -> None:
        nonlocal told
        if stop.is_set():
            raise StopPacking
        part = _WHOLE * done // max(total, 1)
        if part != told:
            told = part
            tell(part)

    return on_bytes


def _said(done: _Done, total: int, again: Again, undo: bool) -> Said:
    sentences: list[str] = []
    if done.changed or done.partly:
        before, after = wording.size(done.before, screen()), wording.size(done.after, screen())
        begin = "Cancelled: " if done.stopped else ""
        how_far = f"{begin}{_how_far(done, total, undo)}"
        sentences.append(f"{how_far}: the rows took {before} and take {after} now.")
    elif not done.refused:
        sentences.append("There is nothing to decompress." if undo else "No rows are left to compress.")
    if done.refused:
        more = len(done.refused) - 1
        others = f" {local(more):,} more {'is' if more == 1 else 'are'} left as well." if more else ""
        sentences.append(f"{done.refused[0].rstrip('.')}.{others}")
    changed = [*done.changed, *([done.partly] if done.partly else [])]
    action = None if undo or not changed else ("Undo", partial(again, changed, True))
    kind = "warning" if done.refused else "info" if done.stopped else "ok"
    return Said(" ".join(sentences), kind, action)


def _how_far(done: _Done, total: int, undo: bool) -> str:
    """Which runs are compressed, as a sentence without its full stop."""
    some, partly = len(done.changed), done.partly
    one, many = ("as it was", "as they were") if undo else ("compressed", "compressed")
    if not some and partly:
        return f"“{partly.title}” is {'decompressed' if undo else 'compressed'} in part"
    if done.stopped:
        rest = ", and one more in part" if partly else ""
        return f"{local(some):,} of {local(total):,} runs {f'is {one}' if some == 1 else f'are {many}'}{rest}"
    return f"“{done.changed[0].title}” is {one}" if some == 1 else f"{local(some):,} runs are {many}"
