"""Somebody runs an experiment from a file, and reads who is better."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.window.conftest import EXPERIMENT, Start
from tests.window.program import Program

EPISODES = 8


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """Random actions against doing nothing."""
    path = tmp_path / "two.yaml"
    path.write_text(EXPERIMENT)
    return path


def test_a_file_on_the_command_line(start: Start, experiment: Path) -> None:
    window = start("gui", experiment)
    window.until_page("operators")
    run_to_the_verdict(window, experiment)


@pytest.mark.parametrize("page", ["home", "operators"])
def test_a_file_chosen_with_the_keyboard(window: Program, experiment: Path, page: str) -> None:
    if page == "operators":
        window.press("ctrl+3")
    window.until_page(page)
    window.press("ctrl+o")
    window.until("it asks for a file", lambda state: state["focus"][:1] == ["fileNameEdit"])
    window.type(str(experiment))
    window.until_text("fileNameEdit", lambda text: text == str(experiment), "the path is typed")
    window.press("Return")
    window.until("the dialog is shut", lambda state: not state["dialog"])
    window.until_page("operators")
    run_to_the_verdict(window, experiment)


def run_to_the_verdict(window: Program, experiment: Path) -> None:
    window.until_text("script-name", lambda text: text == experiment.name, "the file is shown")
    window.until_text(
        "script-about", lambda text: "2 operators, 8 episodes each" in text, "it says what it does"
    )
    window.click("script-run")
    window.until_text("message-ok", lambda text: text == "Done: 16 episodes.", "all episodes are played")
    window.click("message-action", within="message-ok")
    window.until_page("results")
    verdict = window.until_text("results-verdict", bool, "there is a verdict")

    assert "Random" in verdict and "Passive" in verdict
    assert "better" in verdict or "not decided" in verdict
    (folder,) = window.run_folders()
    assert '"status": "completed"' in (folder / "run.json").read_text()
    for operator in ("random", "passive"):
        assert sorted(episode["seed"] for episode in window.episodes(operator)) == list(range(EPISODES))
