"""The pages that show what language models are told are written when the documentation is built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "pages" / "prompts.py"


def written(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=240, check=False
    )


@pytest.mark.full
def test_a_page_shows_the_briefing_three_decisions_and_the_whole_prompt(tmp_path: Path) -> None:
    pages: list[str] = []
    for name in ("one", "two"):
        done = written("crafter", "--out", str(tmp_path / name))
        assert (done.returncode, done.stdout) == (0, "crafter.md\n"), done.stderr
        pages.append((tmp_path / name / "crafter.md").read_text("utf-8"))
    assert pages[0] == pages[1], "a change of the page is a change of the words"
    heads = [line for line in pages[0].splitlines() if line.endswith(":") and line[:2] in {"To", "At", "Th"}]
    assert heads[:5] == [
        "Told once:",
        "At its decision 1:",
        "At its decision 6:",
        "At its decision 21:",
        "The whole prompt, coordination level 1:",
    ]


def test_an_unknown_family_is_told_which_there_are() -> None:
    done = written("craftr")
    assert done.returncode == 2 and "there are gymnasium, box2d" in done.stderr
