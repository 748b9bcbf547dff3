"""Put the keys of experiment files and of worker.toml into the pages of docs that list them.

    python scripts/pages/key_tables.py [--check]

Each table stands between its marks (``<!-- keys: NAME -->`` and ``<!-- end -->``) and is written anew as a
whole from where its keys are declared. With ``--check`` nothing is written, and the exit status
is 1 where a page differs.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gym_gui.core.config import FOLDER, OperatorConfig
from gym_gui.core.declared_keys import Key, keys_of, table
from gym_gui.core.experiment import matrix, tournament
from gym_gui.core.experiment.assignment import LinkGroup, WorkerAssignment
from gym_gui.core.experiment.execution import ExecutionConfig
from gym_gui.workers.manifest_keys import FILE, OPTION, SECTIONS, SETTING, TOP

_EXECUTION = replace(tournament.FILE["execution"], within=None)
"""Its keys stand in the page that it names."""
DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES: Mapping[str, Mapping[str, Mapping[str, Key[Any]]]] = {
    "experiment_format.md": {
        "operator": {**keys_of(OperatorConfig), "folder": FOLDER},
        "slot": keys_of(WorkerAssignment),
        "execution": keys_of(ExecutionConfig),
    },
    "experiment_format/several_agents.md": {"link group": keys_of(LinkGroup)},
    "matrix.md": {"matrix": matrix.KEYS},
    "tournaments.md": {"tournament": {**tournament.FILE, "execution": _EXECUTION}},
    "workers/manifest.md": {"worker.toml": TOP, **SECTIONS, "files.NAME": FILE},
    "workers/settings.md": {"settings.NAME": SETTING, "options": OPTION},
}
"""By page, its tables by name."""


def with_tables(page: str, tables: Mapping[str, Mapping[str, Key[Any]]]) -> str:
    """The text of a page with its tables as they are declared.

    Raises:
        ValueError: The page has not exactly one place for a table.
    """
    for name, listed in tables.items():
        begin = f"<!-- keys: {name} -->"
        if page.count(begin) != 1:
            raise ValueError(f"{page.count(begin)} places are marked {begin}")
        rows = "\n".join(table(listed))
        made = f"{begin}\n\n{rows}\n\n<!-- end -->"
        page = re.sub(f"{re.escape(begin)}.*?<!-- end -->", lambda _, made=made: made, page, flags=re.DOTALL)
    return page


def main(arguments: Sequence[str] | None = None, docs: Path = DOCS) -> int:
    """Write the tables; 1 where ``--check`` finds one that differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="say which pages differ, write nothing")
    only_look = parser.parse_args(arguments).check
    differing = 0
    for name, tables in PAGES.items():
        path = docs / name
        before = path.read_text("utf-8")
        after = with_tables(before, tables)
        if after != before:
            differing += 1
            print(f"docs/{name} {'differs from the declared keys' if only_look else 'is written anew'}")
            if not only_look:
                path.write_text(after, "utf-8")
    return int(only_look and differing > 0)


if __name__ == "__main__":
    sys.exit(main())
