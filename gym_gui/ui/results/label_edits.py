"""Labels that the user gives to runs (name, tags, group, star, notes), with undo."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QObject

from gym_gui.analysis.words import wording
from gym_gui.core.run_labels import LabelsError, RunLabels, change_labels
from gym_gui.services.runs.run_library import RunEntry
from gym_gui.ui.context import AppContext
from gym_gui.ui.numbers import count, local
from gym_gui.ui.results.library_reader import LibraryReader
from gym_gui.ui.results.undo_history import RunHistory, UndoStep

Changes = Mapping[Path, Mapping[str, Any]]
"""New label values by label name, for each run folder."""


class LabelEdits(QObject):
    """Writer of labels into run folders, which works in a thread and then updates the list of runs.

    Args:
        context: Runs background tasks and reports labels that cannot be written.
        reader: Reads the changed runs again.
        history: Stores the changes for undo.
        parent: Qt owner.
    """

    def __init__(
        self, context: AppContext, reader: LibraryReader, history: RunHistory, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._context, self._reader, self._history = context, reader, history

    def change(self, runs: Sequence[RunEntry], changes: Mapping[str, Any]) -> None:
        """Set the given labels of runs, with undo; other labels keep their values."""
        self._apply({run.path: changes for run in runs}, _words(runs, changes))

    def retag(self, runs: Sequence[RunEntry], add: Sequence[str], remove: Sequence[str]) -> None:
        """Add tags to runs and remove tags from runs, with undo."""
        self._apply({run.path: {} for run in runs}, _words(runs, ["tags"]), add, remove)

    def _apply(
        self, changes: Changes, text: str, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> None:
        if changes:
            self._context.spawn(self._change(changes, text, add, remove), "Labeling runs")

    async def _change(self, changes: Changes, text: str, add: Sequence[str], remove: Sequence[str]) -> None:
        async with self._history.order:  # Changes are written in the order in which they were requested.
            done, refused = await asyncio.to_thread(_write, changes, add, remove)
            if done:
                tags = {"tags"} if add or remove else set[str]()
                before = {path: _only({*changes[path], *tags}, was) for path, (was, _) in done.items()}
                after = {path: _only({*changes[path], *tags}, now) for path, (_, now) in done.items()}
                back, again = partial(self._write_again, before), partial(self._write_again, after)
                self._history.push(UndoStep(text, back, again))
        await self._report(changes, refused)

    async def _write_again(self, changes: Changes) -> None:
        _, refused = await asyncio.to_thread(_write, changes)
        await self._report(changes, refused)

    async def _report(self, changes: Changes, refused: Sequence[LabelsError]) -> None:
        if refused:
            more = len(refused) - 1
            others = f" {count(more, 'more run')} cannot be labeled either." if more else ""
            self._context.notify(f"{refused[0].sentence}.{others}".replace("..", "."), "warning")
        await self._reader.read_again(list(changes))


def _write(
    changes: Changes, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> tuple[dict[Path, tuple[RunLabels, RunLabels]], list[LabelsError]]:
    """Write labels and return the labels before and after for each changed run folder, and the errors."""
    done: dict[Path, tuple[RunLabels, RunLabels]] = {}
    refused: list[LabelsError] = []
    for path, wanted in changes.items():
        try:
            before, after = change_labels(path, wanted, add=add, remove=remove)
        except LabelsError as error:
            refused.append(error)
            continue
        if before != after:
            done[path] = before, after
    return done, refused


def _only(names: Iterable[str], labels: RunLabels) -> dict[str, Any]:
    return {name: getattr(labels, name) for name in names}


def _words(runs: Sequence[RunEntry], names: Iterable[str]) -> str:
    what = wording.names([*names])
    return (
        f"the {what} of “{runs[0].title}”" if len(runs) == 1 else f"the {what} of {local(len(runs)):,} runs"
    )
