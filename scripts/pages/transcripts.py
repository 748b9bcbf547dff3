"""Write what commands print into the pages that show it, wherever a page shows something else.

    python scripts/pages/transcripts.py [WORDS]

Each page is followed as its tests do (``tests/docs``), in a folder of its own; ids of runs stay as they are
on the page, and ``…`` goes on standing for what it stands for. WORDS choose pages, as ``pytest -k`` does. It
takes minutes: what the long tests alone compare is done too. Look at the difference before committing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLLOWED = (
    *("test_cookbook.py", "test_every_page.py", "test_readme.py", "test_getting_started.py"),
    "test_python_api.py",
)
WRITES = "MOSAIC_WRITE_TRANSCRIPTS"


def main() -> int:
    """Follow the pages; 1 where one cannot be followed to its end."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="?", default="", help="pages whose tests are named so")
    asked = parser.parse_args()
    tests = [str(ROOT / "tests" / "docs" / name) for name in FOLLOWED]
    which = ["-k", asked.words] if asked.words else []
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-m", "full or not full", *which, *tests]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, WRITES: "1"}, check=False)
    subprocess.run(["git", "--no-pager", "diff", "--stat", "--", "*.md"], cwd=ROOT, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
