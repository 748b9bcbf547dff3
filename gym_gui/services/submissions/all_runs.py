"""One list of the runs of several folders: the user's own, and other folders that were opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from gym_gui.services.runs.run_library import RunEntry, RunLibrary
from gym_gui.services.runs.run_titles import RunTitles
from gym_gui.services.submissions.submission_list import SubmissionList
from gym_gui.services.submissions.submission_record import is_submission


class AllRuns:
    """Reads the runs of several folders. Runs with the same title get different suffixes across all folders.

    Args:
        folder: Folder of the user's own runs, which need not exist yet.
        cache: Folder of the cache of read runs; without it, nothing is cached.
    """

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        self.folder, self._cache = folder, cache
        self._own = RunLibrary(folder, cache=cache)
        self._others: dict[Path, RunLibrary] = {}
        self._submissions = {folder: SubmissionList(folder)}
        self._titles = RunTitles()

    def move(self, folder: Path) -> None:
        """Change the folder of the user's own runs."""
        self.folder, self._own = folder, RunLibrary(folder, cache=self._cache)

    @property
    def others(self) -> Sequence[Path]:
        """Other folders that were opened beside the user's own."""
        return tuple(self._others)

    def set_others(self, folders: Sequence[Path]) -> None:
        """Set the other folders. Entries of folders that stay open are kept."""
        self._others = {f: self._others.get(f) or self._opened(f) for f in folders}
        known = self._submissions
        lists = {f: known.get(f) or SubmissionList(f, elsewhere=True) for f in folders}
        self._submissions = {self.folder: known[self.folder], **lists}

    def _opened(self, folder: Path) -> RunLibrary:
        return RunLibrary(folder, elsewhere=True, cache=self._cache)

    def scan(self) -> Iterator[list[RunEntry]]:
        """Yield the entries of all folders in batches, in each folder the newest first."""
        for library in self._libraries():
            yield from library.scan()
        yield [entry for submissions in self._submissions.values() for entry in submissions.scan()]

    def refresh(self) -> list[RunEntry] | None:
        """Return all entries, or ``None`` if a folder was added or removed since :meth:`scan`."""
        found: list[RunEntry] = []
        for library in self._libraries():
            looked = library.refresh()
            if looked is None:
                return None
            found += looked
        found += [entry for submissions in self._submissions.values() for entry in submissions.scan()]
        return self.in_order(found)

    def in_order(self, runs: Sequence[RunEntry]) -> list[RunEntry]:
        """Return the entries, newest first, with titles that differ."""
        mixed = self._others or any(run.submission for run in runs)
        newest = sorted(runs, key=lambda run: run.run_id, reverse=True) if mixed else runs
        return self._titles.distinguish(newest)

    def again(self, known: Sequence[RunEntry], paths: Sequence[Path]) -> list[RunEntry]:
        """Read some runs again, and return the updated list without runs that no longer exist."""
        wanted = set(paths)
        found: list[RunEntry] = []
        for run in known:
            new = self._one(run) if run.path in wanted else run
            found += [new] if new is not None else []
        return self.in_order(found)

    def _one(self, run: RunEntry) -> RunEntry | None:
        if run.submission:
            return self._submissions[run.path.parent.parent].one(run.path)
        return self._library_of(run.path).one(run.path)

    def _library_of(self, run: Path) -> RunLibrary:
        return self._others.get(run.parent, self._own)

    def _libraries(self) -> Sequence[RunLibrary]:
        return (self._own, *self._others.values())


def folder_problem(folder: Path, beside: Sequence[Path]) -> str:
    """Return why a folder cannot be opened beside others, as a sentence; empty if it can."""
    if not folder.is_dir():
        return f"{folder} is not a folder. Choose a folder that contains run folders"
    if not os.access(folder, os.R_OK | os.X_OK):
        return f"You have no permission to read {folder}. Ask its owner for access"
    if is_submission(folder):
        return (
            f"{folder} is a submission itself. Choose the runs folder that it is in: {folder.parent.parent}"
        )
    if (folder / "run.json").is_file():
        return f"{folder} is a run itself. Choose the folder that it is in: {folder.parent}"
    if any(folder.samefile(each) for each in beside if each.is_dir()):
        return f"The runs in {folder} are in the list already"
    return ""
