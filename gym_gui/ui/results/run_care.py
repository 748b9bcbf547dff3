"""What is done with runs of the list: they are compressed, and thrown away, and had back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gym_gui.analysis.words import wording
from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.services.runs.run_library import RunEntry
from gym_gui.services.submissions.submission_record import SENT, open_submission
from gym_gui.services.trash import TrashError, put_back, throw_away
from gym_gui.ui.context import AppContext
from gym_gui.ui.numbers import count
from gym_gui.ui.results.history import RunHistory, Step
from gym_gui.ui.results.jobs import JobStrip
from gym_gui.ui.results.library_reader import LibraryReader
from gym_gui.ui.results.packing_jobs import packing_job, packing_title
from gym_gui.ui.results.submissions.submission_jobs import merge_parts_job


class RunCare:
    """Works on several runs at a time.

    Args:
        context: For work in the background, and to tell what came of it.
        reader: Reads the list anew.
        jobs: Shows the work that takes long, above the list.
        history: Remembers what was thrown away.
        show: Shows the list.
        removed: Told of runs that are gone.
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
        """Compress runs, or decompress them; one lot at a time."""
        self._show()
        if not (runs := [run for run in runs if not run.submission]):
            self._context.notify("A submission is compressed once it is a run", "info")
            return
        if self._jobs.busy:
            self._context.notify("Wait until the runs before these are done, or cancel that", "info")
            return
        self._jobs.run(packing_title(runs, undo=undo), packing_job(runs, self.pack, undo=undo))

    def merge(self, parts: Sequence[RunEntry], show: Callable[[Path], object], partly: bool = False) -> None:
        """Make one run of parts of an experiment, among one's own runs.

        Args:
            parts: Runs that are parts.
            show: Shows the run.
            partly: Also where some are missing.
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
            # A job on a run that goes would go on in a folder that is not there, or write it anew.
            await self._jobs.end_about([run.path for run in runs])
            for run in runs:
                if run.submission:
                    await asyncio.to_thread(_see_ended, run.path)
                place = await asyncio.to_thread(throw_away, run.path)
                trashed.runs[run.path] = run, place
        finally:
            if trashed.runs:
                self._removed([run for run, _ in trashed.runs.values()])
                self._reader.refresh()

    def _remember(self, trashed: _Trashed) -> None:
        gone = [run for run, _ in trashed.runs.values()]
        who = wording.names([f"“{run.title}”" for run in gone])
        what = f"the deletion of {who}"
        step = Step(what, partial(self._restore, trashed), partial(self._throw_away, gone, trashed))
        self._history.push(step)
        be = "is" if len(gone) == 1 else "are"
        undo = ("Undo", partial(self._history.take_back, step))
        self._context.notify(f"{who} {be} in the trash", "info", undo)

    async def _restore(self, trashed: _Trashed) -> None:
        try:
            for folder, (run, place) in list(trashed.runs.items()):
                if place is None:
                    raise TrashError(
                        f"the system does not say where it keeps “{run.title}”", fix="Look into its trash"
                    )
                await asyncio.to_thread(put_back, place, folder)
                del trashed.runs[folder]
        finally:
            self._reader.refresh()


@dataclass
class _Trashed:
    """Runs that lie in the trash, by where they were: each with its place there, where the system says it."""

    runs: dict[Path, tuple[RunEntry, Path | None]] = field(default_factory=dict[Path, Any])


def _see_ended(folder: Path) -> None:
    """Refuse to throw away what says where shards are played.

    Raises:
        UsageError: Some are, as far as is known.
    """
    try:
        left = open_submission(folder).numbers(SENT)
    except RunFormatError:
        return  # it is damaged, and says nothing any more
    if left:
        raise UsageError(f"{count(len(left), 'shard')} of {folder.name} may be played", fix="Stop it first")
