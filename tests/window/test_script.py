"""A user runs an experiment from a file, reads which operator is better, and sees an episode again."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.window.conftest import EXPERIMENT, Start
from tests.window.program import Program

EPISODES = 8
SEED = 2
"""The bar that is clicked; bars stand in the order of the seeds 0, 1, 2, …"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """Random actions against doing nothing."""
    path = tmp_path / "two.yaml"
    path.write_text(EXPERIMENT)
    return path


def test_a_file_on_the_command_line(start: Start, experiment: Path) -> None:
    window = start("gui", experiment)
    window.until_page("operators")
    until_shown(window, experiment)
    window.ready("script-run")
    assert not window.run_folders(), "nothing is run before the user says so"


@pytest.mark.full
def test_files_chosen_with_the_keyboard(window: Program, experiment: Path) -> None:
    window.until_page("home")
    choose(window, experiment)
    window.until_page("operators")
    until_shown(window, experiment)

    other = experiment.with_name("again.yaml")  # from where one stands now
    other.write_text(experiment.read_text())
    choose(window, other)
    until_shown(window, other)
    run_to_the_verdict(window)

    window.press("ctrl+1")
    window.click(f"run-{window.run_folders()[0].name}")  # among the newest on Home
    window.until_page("results")
    a_bar_leads_to_its_replay(window)


def choose(window: Program, path: Path) -> None:
    """Open a file without the mouse."""
    window.press("ctrl+o")
    window.until("it asks for a file", lambda state: state["focus"][:1] == ["fileNameEdit"])
    pressed = [0.0]

    def shut() -> bool:
        if not window.state["dialog"]:
            return True
        # A list of what fits, open by then, takes the first Return, or leads to a folder that it names.
        if time.monotonic() - pressed[0] > 10:
            # Where Qt has found the file, it is selected in the list, and the field says its name alone.
            if window.text("fileNameEdit") not in (str(path), path.name):
                window.press("ctrl+a")
                window.type(str(path))
                window.until_text("fileNameEdit", lambda text: text in (str(path), path.name), "it is typed")
            window.press("Return")
            pressed[0] = time.monotonic()
        return False

    window.wait(shut, "the dialog is shut")


def until_shown(window: Program, path: Path) -> None:
    """Wait until the page says what the file does."""
    window.until_text("script-name", lambda text: text == path.name, "the file is shown")
    window.until_text(
        "script-about", lambda text: "2 operators, 8 episodes each" in text, "it says what it does"
    )


def run_to_the_verdict(window: Program) -> None:
    """Play all of it, and read what came out."""
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


def a_bar_leads_to_its_replay(window: Program) -> None:
    """From the plot of seeds to the episode, through it, and back."""
    window.until_text("results-verdict", bool, "there is a verdict")
    window.wait(lambda: window.ask("bar", index=SEED).get("seen"), "the plot of seeds is shown")
    window.click_at(window.ask("bar", index=SEED)["rect"])
    window.wait(lambda: ready(window), "the episode is played again")

    recorded = [e for e in window.episodes() if e["seed"] == SEED]
    lengths = {e["operator_id"]: e["length"] for e in recorded}
    last = position(window)[1]
    assert last == max(lengths.values())
    assert f"seed {SEED}" in window.text("replay-episode")

    picture = window.ready("frameView", within="replay-stage").rect
    beginning = window.still_look(picture)
    for keys, place in (
        (["Right"], 1),
        (["Right", "Right"], 3),
        (["Left"], 2),
        (["End"], last),
        (["Home"], 0),
        (["Next"], min(10, last)),
    ):
        window.press(*keys)
        window.wait(lambda at=place: position(window)[0] == at, f"step {place} is shown after {keys}")
    window.press("End")
    window.wait(lambda: position(window)[0] == last, "the end is shown")
    window.wait(lambda: window.desktop.look_of(*picture) != beginning, "the end looks unlike the beginning")

    scrub = window.ready("scrub-bar").rect
    window.click_at((scrub[0], scrub[1], 2, scrub[3]))
    window.wait(lambda: position(window)[0] == 0, "a click on the bar's left end leads to the beginning")
    window.wait(lambda: window.desktop.look_of(*picture) == beginning, "the beginning looks as before")

    window.press("alt+Left")
    window.until_text("results-verdict", bool, "back at the verdict")


def position(window: Program) -> tuple[int, int]:
    """Step that is shown, and the last one."""
    return position_in(window.text("replay-where"))


def position_in(words: str) -> tuple[int, int]:
    """Step and last one that the transport's words say."""
    said = re.match(r"Step ([\d,]+) of ([\d,]+)", words)
    return (int(said[1].replace(",", "")), int(said[2].replace(",", ""))) if said else (-1, -1)


def ready(window: Program) -> bool:
    """Whether the whole episode has been played again."""
    said = window.text("replay-where")  # asked once: from nothing it goes to a part of what there is
    return "ready" not in said and position_in(said)[1] > 0
