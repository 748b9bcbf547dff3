"""The pages that show what language models are told are those that the script writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.full
def test_a_page_is_written_anew_as_it_stands(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "pages" / "prompts.py"
    done = subprocess.run(
        [sys.executable, str(script), "crafter", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name in ("crafter.md", "index.md"):
        assert (tmp_path / name).read_text("utf-8") == (ROOT / "docs" / "prompts" / name).read_text(
            "utf-8"
        ), f"{name} is not up to date: run scripts/pages/prompts.py and read what changed"


def test_an_unknown_family_is_told_which_there_are() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "pages" / "prompts.py"), "craftr"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 2 and "there are gymnasium, box2d" in done.stderr
