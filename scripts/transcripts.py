"""Writes what commands print today into the pages that show it.

    python scripts/transcripts.py [PAGE ...]

Follows README.md, docs and the workers' pages as ``tests/docs`` does (which holds them against each other),
and puts what is printed where a page shows something else. Ids of runs stay as the page has them, and so
does a line ``…``, for which anything may stand. Without PAGE all are followed, which takes some minutes.
Look at the difference before you commit it: a page may say in words what the numbers were.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def tests_of(page: str) -> list[str]:
    """The tests that follow a page."""
    alone = {
        "README.md": "test_readme.py::test_readme[full]",
        "docs/getting_started.md": "test_getting_started.py::test_getting_started[full]",
        "docs/python_api.md": "test_python_api.py",
    }
    if page in alone:
        return [f"tests/docs/{alone[page]}"]
    return [f"tests/docs/test_every_page.py::test_what_it_shows_happens[{page}]"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrite the pages; returns the status of the tests that follow them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="path from the root of the checkout")
    pages = parser.parse_args(arguments).pages
    chosen = [test for page in pages for test in tests_of(page)] or ["tests/docs"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "full or not full", *chosen]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "MOSAIC_REWRITE_TRANSCRIPTS": "1"}, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
