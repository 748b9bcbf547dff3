"""A user without a mouse, from the start to a finished comparison and its report; and after a crash."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.window.conftest import EXPERIMENT, Start
from tests.window.program import Program
from tests.window.test_script import choose, until_shown

pytestmark = pytest.mark.full


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "two.yaml"
    path.write_text(EXPERIMENT)
    return path


def test_from_the_start_to_the_report(window: Program, experiment: Path) -> None:
    choose(window, experiment)
    window.until_page("operators")
    until_shown(window, experiment)
    window.ready("script-run")
    window.press("ctrl+r")
    window.until_text("message-ok", lambda text: text == "Done: 16 episodes.", "all episodes are played")
    window.tab_to("message-action")
    window.press("space")
    window.until_page("results")
    verdict = window.until_text("results-verdict", bool, "there is a verdict")
    assert "Random" in verdict and "Passive" in verdict
    run_command(window, "report", "Write the report")
    (folder,) = window.run_folders()
    window.wait(lambda: (folder / "report.html").exists(), "the report is written")
    assert "Passive" in (folder / "report.html").read_text()
    assert window.quit() == 0


def run_command(window: Program, words: str, title: str) -> None:
    """Run a command by what it is called."""
    window.press("ctrl+shift+p")
    window.until("one can search", lambda s: s["focus"][:1] == ["palette-search"])
    window.type(words)
    window.wait(lambda: window.current_row("palette-list") == title, f"{title} is found")
    window.press("Return")


def test_a_killed_window_has_everything_again_and_the_run_goes_on(start: Start, experiment: Path) -> None:
    many = experiment.read_text().replace("num_episodes: 8", "num_episodes: 1500")
    experiment.write_text(many.replace("seeds: [0, 1, 2, 3, 4, 5, 6, 7]", 'seeds: "range(0, 1500)"'))
    window = start()
    choose(window, experiment)
    window.until_text("script-name", lambda text: text == experiment.name, "the file is shown")
    window.ready("script-run")
    window.press("ctrl+r")
    window.until_recorded(20)
    window.kill()
    window.offspring.assert_none(20.0)
    (folder,) = window.run_folders()
    kept = len(window.episodes())

    again = start()
    again.until_page("operators")
    again.until_text("script-name", lambda text: text == experiment.name, "its file is there again")
    again.press("ctrl+6")
    again.until_page("results")
    again.tab_to("run-table")
    assert again.run_folders() == [folder] and len(again.episodes()) >= kept
    assert again.quit() == 0
    subprocess.run([sys.executable, "-m", "gym_gui", "run", "--resume", str(folder)], check=True)
    played = [(e["operator_id"], e["seed"]) for e in again.episodes()]
    assert len(played) == len(set(played)) == 3000, "each episode once, also those from before"
