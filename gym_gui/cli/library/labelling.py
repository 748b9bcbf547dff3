"""Implements ``mosaic runs label``: changes and prints names, tags, groups, notes and stars of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gym_gui.analysis.records.reader import open_run
from gym_gui.cli.errors import DONE, USAGE, print_error
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.core.paths import find_run
from gym_gui.core.run_labels import RunLabels, change_labels


def label_runs(
    runs: Sequence[Path],
    changes: Mapping[str, object],
    *,
    add: Sequence[str],
    remove: Sequence[str],
    as_json: bool,
) -> int:
    """Label runs one after the other; a run that cannot be labeled does not stop the others.

    Args:
        runs: The run folders, or their names.
        changes: New values of ``name``, ``group``, ``notes`` and ``star``; empty text removes one.
        add: Tags to add.
        remove: Tags to remove.
        as_json: Whether to print a list with an object for each labeled run, instead of lines.

    Returns:
        Exit status: 0 if all runs were labeled, 2 if one cannot be labeled.

    Raises:
        UsageError: Several runs would get the same name.
    """
    if changes.get("name") and len(runs) > 1:
        raise UsageError("a name is for one run", fix="Give one run folder, or use --group for several")
    failed = False
    done: list[dict[str, object]] = []
    for run in runs:
        folder = find_run(run)
        try:
            open_run(folder)
            labels = change_labels(folder, changes, add=add, remove=remove)[1]
        except UsageError as error:
            print_error(error, as_json=as_json)
            failed = True
            continue
        done.append({"run": str(folder), **labels.to_data()})
        if not as_json:
            write_line(f"{folder}: {labels_in_words(labels) or 'no labels'}")
    if as_json:
        write_json(done)
    return USAGE if failed else DONE


def labels_in_words(labels: RunLabels, *, notes: bool = True) -> str:
    """Return labels as text, such as ``★ “Baseline”; group sweep; tags paper, final``; may be empty."""
    parts = [
        f"“{labels.name}”" if labels.name else "",
        f"group {labels.group}" if labels.group else "",
        f"{'tag' if len(labels.tags) == 1 else 'tags'} {', '.join(labels.tags)}" if labels.tags else "",
        f"notes: {' '.join(labels.notes.split())}" if notes and labels.notes else "",
    ]
    words = "; ".join(filter(None, parts))
    return f"★ {words}".strip() if labels.star else words
