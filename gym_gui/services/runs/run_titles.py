"""Distinguishes runs with the same title by their different settings, or else by a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from gym_gui.services.runs.run_library import RunEntry

MOST_TOLD: Final = 2
"""Largest number of settings that are shown beside a title."""


def differences(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the settings that differ between experiments."""
    names = dict.fromkeys(name for each in settings for name in each)
    return [name for name in names if len({repr(each.get(name)) for each in settings}) > 1]


class RunTitles:
    """Adds distinguishing texts to runs with the same title. Unchanged entries stay the same objects."""

    def __init__(self) -> None:
        self._key: list[tuple[Path, str, int]] = []
        self._apart: dict[Path, str] = {}
        self._told: dict[Path, tuple[RunEntry, RunEntry]] = {}

    def distinguish(self, runs: Sequence[RunEntry]) -> list[RunEntry]:
        """Return the runs, each with the text that distinguishes it from runs of the same title.

        Args:
            runs: Runs, newest first.
        """
        key = [(run.path, run.title, id(run.settings)) for run in runs]
        if key != self._key:
            self._key, self._apart = key, _apart(runs)
        told = {run.path: (run, self._one(run)) for run in runs}
        self._told = told
        return [each for _, each in told.values()]

    def _one(self, run: RunEntry) -> RunEntry:
        apart = self._apart.get(run.path, "")
        known = self._told.get(run.path)
        if known is not None and known[0] is run and known[1].apart == apart:
            return known[1]
        if run.apart == apart:
            return run
        made = replace(run, apart=apart)
        made.prepare()
        return made


def _apart(runs: Sequence[RunEntry]) -> dict[Path, str]:
    groups: dict[tuple[str, Sequence[str]], list[RunEntry]] = {}
    for run in runs:
        groups.setdefault((run.title, run.tasks), []).append(run)
    found: dict[Path, str] = {}
    for group in groups.values():
        if len(group) > 1:
            found |= _apart_in(group)
    return found


def _apart_in(group: Sequence[RunEntry]) -> dict[Path, str]:
    """Return the differing settings of each run. Runs with equal settings are numbered, oldest first."""
    names = differences([run.settings for run in group])
    words = {run.path: _words(run, names) for run in group}
    same = Counter(words.values())
    seen = Counter[str]()
    for run in reversed(group):
        said = words[run.path]
        if same[said] > 1:
            seen[said] += 1
            words[run.path] = f"{said} #{seen[said]}".strip()
    return words


def in_words(setting: str) -> str:
    """Return a setting's name for a title: ``render.width`` becomes "width", ``num_episodes`` "episodes"."""
    return setting.rpartition(".")[2].removeprefix("num_").replace("_", " ")


def _words(run: RunEntry, names: Sequence[str]) -> str:
    """Return the first settings of a run as text, such as ``max steps 100, temperature 0``."""
    told = [f"{in_words(name)} {' and '.join(run.settings[name])}" for name in names if name in run.settings]
    return ", ".join(told[:MOST_TOLD])
