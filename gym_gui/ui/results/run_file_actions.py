"""Actions on the files of runs: compress, merge, delete and restore."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

from gym_gui.analysis.words import wording
from gym_gui.core.errors import MosaicError, RunFormatError, UsageError
from gym_gui.services.runs.run_library import RunEntry
from gym_gui.services.submissions.submission_record import SENT, open_submission
from gym_gui.services.trash import TrashError, move_to_trash, put_back
from gym_gui.ui.context import AppContext
from gym_gui.ui.numbers import count, local, screen
from gym_gui.ui.results.jobs import Job, JobResult, JobStrip, ProgressCallback
from gym_gui.ui.results.library_reader import LibraryReader
from gym_gui.ui.results.submissions.submission_jobs import merge_parts_job
from gym_gui.ui.results.undo_history import RunHistory, UndoStep


class RunFileActions:
    """Actions that compress, merge and delete one or several runs.

    Args:
        context: Runs background tasks and shows messages about their results.
        reader: Reads the list of runs again after a change.
        jobs: Shows long jobs above the list.
        history: Stores deletions for undo.
        show: Called to show the list of runs.
        removed: Called with the runs that were deleted.
    """

    def __init__(
        self,
        context: AppContext,
        reader: LibraryReader,
        jobs: JobStrip,
        history: RunHistory,
        *,
        show: Callable[[], object],
        removed: Callable[[Sequence[RunEntry]], object],
    ) -> None:
        self._context, self._reader, self._jobs, self._history = context, reader, jobs, history
        self._show, self._removed = show, removed

    def pack(self, runs: Sequence[RunEntry], undo: bool) -> None:
        """Compress runs, or decompress them if ``undo`` is true; refuse while another job is running."""
        self._show()
        if not (runs := [run for run in runs if not run.submission]):
            self._context.notify(
                "A submission can be compressed after its shards are merged into a run", "info"
            )
            return
        if self._jobs.busy:
            self._context.notify("Another job is running. Wait until it ends, or cancel it", "info")
            return
        self._jobs.run(packing_title(runs, undo=undo), packing_job(runs, self.pack, undo=undo))

    def merge(self, parts: Sequence[RunEntry], show: Callable[[Path], object], partly: bool = False) -> None:
        """Merge parts of an experiment into one run in the user's runs folder.

        Args:
            parts: Runs that are parts (shards) of one experiment.
            show: Called with the folder of the new run.
            partly: Whether to merge even if some parts are missing.
        """
        again = partial(self.merge, parts, show, True)
        paths = [part.path for part in parts]
        job = merge_parts_job(paths, self._reader.folder, show, partly=partly, again=again)
        self._jobs.run(f"Merging {count(len(parts), 'part')}…", job)

    def remove(self, runs: Sequence[RunEntry]) -> None:
        """Move runs to the trash."""
        self._context.spawn(self._remove(runs), "Moving runs to the trash")

    async def _remove(self, runs: Sequence[RunEntry]) -> None:
        async with self._history.order:
            trashed = _Trashed()
            try:
                await self._throw_away(runs, trashed)
            finally:
                if trashed.runs:
                    self._remember(trashed)

    async def _throw_away(self, runs: Sequence[RunEntry], trashed: _Trashed) -> None:
        try:
            # A job on a deleted run would continue in a folder that is gone, or create the folder
            # again.
            await self._jobs.end_about([run.path for run in runs])
            for run in runs:
                if run.submission:
                    await asyncio.to_thread(_see_ended, run.path)
                place = await asyncio.to_thread(move_to_trash, run.path)
                trashed.runs[run.path] = run, place
        finally:
            if trashed.runs:
                self._removed([run for run, _ in trashed.runs.values()])
                self._reader.refresh()

    def _remember(self, trashed: _Trashed) -> None:
        gone = [run for run, _ in trashed.runs.values()]
        who = wording.names([f"“{run.title}”" for run in gone])
        what = f"the deletion of {who}"
        step = UndoStep(what, partial(self._restore, trashed), partial(self._throw_away, gone, trashed))
        self._history.push(step)
        be = "is" if len(gone) == 1 else "are"
        undo = ("Undo", partial(self._history.undo_step, step))
        self._context.notify(f"{who} {be} in the trash", "info", undo)

    async def _restore(self, trashed: _Trashed) -> None:
        try:
            for folder, (run, place) in list(trashed.runs.items()):
                if place is None:
                    raise TrashError(
                        f"the system does not report where “{run.title}” is in its trash",
                        fix="Restore it from the trash there",
                    )
                await asyncio.to_thread(put_back, place, folder)
                del trashed.runs[folder]
        finally:
            self._reader.refresh()


@dataclass
class _Trashed:
    """Deleted runs by their former folder, each with its path in the trash, or ``None`` if the system does
    not report the path.
    """

    runs: dict[Path, tuple[RunEntry, Path | None]] = field(default_factory=dict[Path, Any])


def _see_ended(folder: Path) -> None:
    """Check that no shard of a submission may still be running.

    Raises:
        UsageError: Some shards may still be running.
    """
    try:
        left = open_submission(folder).numbers(SENT)
    except RunFormatError:
        return  # A damaged submission cannot be read.
    if left:
        raise UsageError(
            f"{count(len(left), 'shard')} of {folder.name} may still run", fix="Stop the submission first"
        )


# -- compressing and decompressing runs ----------------------------------------------------


_WHOLE = 1000
"""Maximum of the progress bar, since the bytes of a run may exceed Qt's ``int``."""

Again = Callable[[Sequence[RunEntry], bool], None]
"""Function that starts the job again for the given runs; it decompresses them if the second argument is
true.
"""


@dataclass
class _Done:
    """Result of a job that compresses or decompresses runs.

    ``partly`` is the run in which the job was canceled, if some of its files were processed.
    """

    changed: list[RunEntry] = field(default_factory=list[RunEntry])
    partly: RunEntry | None = None
    stopped: bool = False
    before: int = 0
    after: int = 0
    refused: list[str] = field(default_factory=list[str])


def packing_title(runs: Sequence[RunEntry], *, undo: bool = False) -> str:
    """Return the title of a job that compresses or decompresses runs."""
    what = "Decompressing" if undo else "Compressing"
    return f"{what} “{runs[0].title}”…" if len(runs) == 1 else f"{what} {local(len(runs)):,} runs…"


def packing_job(runs: Sequence[RunEntry], again: Again, *, undo: bool = False) -> Job:
    """Return a job that compresses runs one after the other and continues after a run that fails.

    A canceled job reports the runs that it has compressed, if any.

    Args:
        runs: The runs.
        again: Starts the opposite job; called by Undo.
        undo: Whether to decompress the runs instead.
    """

    async def job(share: ProgressCallback) -> JobResult:
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
            await asyncio.wait([work])  # Wait until half-written files are removed.
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
    """Return a progress callback that calls ``tell`` once per thousandth of a run.

    The callback raises ``StopPacking`` when ``stop`` is set.
    """
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


def _said(done: _Done, total: int, again: Again, undo: bool) -> JobResult:
    sentences: list[str] = []
    if done.changed or done.partly:
        before, after = wording.size(done.before, screen()), wording.size(done.after, screen())
        begin = "Canceled: " if done.stopped else ""
        how_far = f"{begin}{_how_far(done, total, undo)}"
        sentences.append(f"{how_far}: {before} before, {after} now.")
    elif not done.refused:
        sentences.append("There is nothing to decompress." if undo else "No rows are left to compress.")
    if done.refused:
        more = len(done.refused) - 1
        others = f" {local(more):,} more {'run' if more == 1 else 'runs'} failed as well." if more else ""
        sentences.append(f"{done.refused[0].rstrip('.')}.{others}")
    changed = [*done.changed, *([done.partly] if done.partly else [])]
    action = None if undo or not changed else ("Undo", partial(again, changed, True))
    kind = "warning" if done.refused else "info" if done.stopped else "ok"
    return JobResult(" ".join(sentences), kind, action)


def _how_far(done: _Done, total: int, undo: bool) -> str:
    """Return a sentence without its full stop that says which runs were compressed or decompressed."""
    some, partly = len(done.changed), done.partly
    one, many = ("decompressed", "decompressed") if undo else ("compressed", "compressed")
    if not some and partly:
        return f"“{partly.title}” is {'decompressed' if undo else 'compressed'} in part"
    if done.stopped:
        rest = ", and one more in part" if partly else ""
        return f"{local(some):,} of {local(total):,} runs {f'is {one}' if some == 1 else f'are {many}'}{rest}"
    return f"“{done.changed[0].title}” is {one}" if some == 1 else f"{local(some):,} runs are {many}"
