"""Folders: few enough modules to look through, no circle of neighbors, no name that means two things.

    python scripts/checks/folders.py [FOLDER ...]

Reads the packages in FOLDER (gym_gui and those below 3rd_party, if none is named) without importing them.
Three rules, and exit status 1 where one is broken:

- A folder has at most 30 modules. Families and describers of environments may have more: one file for each.
- Folders that lie side by side do not import each other, nor in a longer circle. A folder and the one that
  it lies in may.
- Two modules of a package have one name only where a folder says what its modules are: a command, a page, a
  chart and so on of the thing that has the name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from import_cycles import Edges, asked_for, cycles, imports  # beside this file

MOST = 30
ONE_FILE_EACH = frozenset({"gym_gui.envs.families", "gym_gui.envs.describers"})
"""Folders with a module for each family of environments."""
SHOWS = (
    "gym_gui.cli",  # the command
    "gym_gui.ui.pages",  # the page
    "gym_gui.analysis.charts",  # the chart
    "gym_gui.controllers.child_jobs",  # the same, played in a process of its own
    "gym_gui.envs.boards",  # the boards of a family
    "gym_gui.envs.describers",  # the words of a family
    "cleanrl_worker.config",  # the settings of an algorithm
)
"""Folders whose modules have the name of what they show or run."""
ONE_MEANING = {
    "__main__": "what ``python -m`` starts",
    "check": "the contract test: of environments, of workers",
    "training": "the life of a training",
}
"""Names that mean one thing wherever they stand."""


def folder_of(name: str, is_package: bool) -> str:
    """The folder that a module lies in; a package's ``__init__`` lies in its own."""
    return name if is_package else name.rpartition(".")[0]


def too_full(known: Mapping[str, Path]) -> Iterator[str]:
    """A line for each folder with too many modules."""
    count: dict[str, int] = {}
    for name, path in known.items():
        if path.name != "__init__.py":
            folder = folder_of(name, False)
            count[folder] = count.get(folder, 0) + 1
    for folder, number in sorted(count.items()):
        if number > MOST and folder not in ONE_FILE_EACH:
            yield f"{folder} has {number} modules, more than {MOST}"


def circles(known: Mapping[str, Path]) -> Iterator[str]:
    """A line for each group of folders side by side that import each other."""
    graph: dict[str, Edges] = {}
    for name, path in known.items():
        here = folder_of(name, path.name == "__init__.py").split(".")
        for target, place in imports(name, path, known).items():
            there = folder_of(target, known[target].name == "__init__.py").split(".")
            at = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), None)
            if at is not None:
                beside = ".".join(there[: at + 1])
                graph.setdefault(".".join(here[: at + 1]), {}).setdefault(beside, f"{place} ({target})")
                graph.setdefault(beside, {})
    for group in cycles(graph):
        yield f"{', '.join(group)} import each other:"
        for folder in group:
            for target in sorted(graph[folder].keys() & set(group)):
                yield f"  {folder} -> {target}: {graph[folder][target]}"


def twins(known: Mapping[str, Path]) -> Iterator[str]:
    """A line for each name that several modules of a package have."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, path in known.items():
        leaf = name.rpartition(".")[2]
        shows = any(name.startswith(f"{folder}.") for folder in SHOWS)
        if path.name != "__init__.py" and leaf not in ONE_MEANING and not shows:
            found.setdefault((name.partition(".")[0], leaf), []).append(name)
    for (_, leaf), names in sorted(found.items()):
        if len(names) > 1:
            yield f"{leaf} is the name of {len(names)} modules: {', '.join(names)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what breaks a rule; 0 where nothing does."""
    known = asked_for(arguments, "Rules of folders.")
    found = [*too_full(known), *circles(known), *twins(known)]
    print(*found, sep="\n" if found else "", end="\n" if found else "")
    count = len({folder_of(name, path.name == "__init__.py") for name, path in known.items()})
    print(f"{count} folders: {'rules are broken' if found else 'none breaks a rule'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
