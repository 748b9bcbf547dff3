"""Tables of keys in the docs are those of the declarations."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLED = (
    "experiment_format.md",
    "experiment_format/several_agents.md",
    "matrix.md",
    "tournaments.md",
    "workers/manifest.md",
    "workers/settings.md",
)
"""Pages of docs with tables of keys."""
PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import key_tables
sys.exit(key_tables.main(sys.argv[3:], Path(sys.argv[2])))
"""


def tables(docs: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, str(ROOT / "scripts" / "pages"), str(docs), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_table_is_as_declared() -> None:
    looked = tables(ROOT / "docs", "--check")
    assert looked.returncode == 0, f"{looked.stdout}{looked.stderr}run python scripts/pages/key_tables.py"


@pytest.mark.parametrize(
    ("page", "cell"),
    [
        ("experiment_format.md", "| number of session processes |"),
        ("experiment_format/several_agents.md", "| the other agents of the group |"),
        ("matrix.md", "| names of policies that fill all slots |"),
        ("tournaments.md", "| team → its agents |"),
        ("workers/manifest.md", "| One sentence. |"),
        ("workers/settings.md", "| Values of a `choice`. |"),
    ],
)
def test_a_table_that_differs_is_named_and_written_anew(tmp_path: Path, page: str, cell: str) -> None:
    for name in TABLED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "docs" / name, tmp_path / name)
    before = (tmp_path / page).read_text("utf-8")
    assert cell in before
    (tmp_path / page).write_text(before.replace(cell, "| something else |"), "utf-8")
    looked = tables(tmp_path, "--check")
    assert (looked.returncode, looked.stdout) == (1, f"docs/{page} differs from the declared keys\n")
    assert tables(tmp_path).returncode == 0
    assert (tmp_path / page).read_text("utf-8") == before
