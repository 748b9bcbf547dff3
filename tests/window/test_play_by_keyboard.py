"""Somebody plays with the keyboard; what they did is recorded as theirs."""

from __future__ import annotations

import re

import pytest

from tests.window.program import Program

MOST_STEPS = 100
"""FrozenLake's own limit."""


def taken(window: Program) -> int:
    """Steps of the episode that is shown."""
    said = re.match(r"step (\d+)", window.text("stage-facts"))
    return int(said[1]) if said else 0


def over(window: Program) -> str:
    """How the episode ended; empty while it goes on."""
    return window.text("result-headline")


@pytest.mark.parametrize("way", ["click", "Enter"])
def test_cartpole_from_the_card_on_home(window: Program, way: str) -> None:
    window.until_page("home")
    if way == "click":
        window.click("start-cartpole")
    else:
        window.tab_to("start-cartpole")
        window.press("Return")
    window.until_page("play")
    window.until_text("prompt", lambda text: "to begin" in text, "it waits for the first key")

    window.desktop.hold("Right")
    window.wait(lambda: over(window), "the pole has fallen")
    window.desktop.release("Right")

    (episode,) = window.until_recorded()
    steps = window.steps()
    assert episode["status"] == "completed" and episode["terminated"]
    assert episode["agents"]["agent_0"]["worker_type"] == "human"
    assert len(steps) == episode["length"] == episode["total_reward"]
    mine = [step for step in steps if step["action_source"] == "human"]
    assert {step["action"] for step in mine} == {1}
    # Where the machine is busy a key comes too late for steps of 1/15 s: recorded as such.
    assert {step["action_source"] for step in steps} <= {"human", "noop"}


def test_frozen_lake_chosen_by_typing_its_name(window: Program) -> None:
    window.press("ctrl+2")
    window.until_page("play")
    window.choose("environment-picker", "frozenlake", "FrozenLake-v1")
    window.until_text("prompt", lambda text: "Your move" in text, "it waits for a move")

    for number in range(MOST_STEPS):
        if over(window):
            break
        window.press("Right" if number % 2 else "Down")
        window.wait(lambda n=number: over(window) or taken(window) > n, f"move {number + 1} is made")
    assert "olved" in over(window) or "over" in over(window)

    (episode,) = window.until_recorded()
    steps = window.steps()
    assert episode["status"] == "completed"
    assert len(steps) == episode["length"] >= 2
    assert [step["action"] for step in steps] == [2 if n % 2 else 1 for n in range(len(steps))]
    assert {step["action_source"] for step in steps} == {"human"}
    (folder,) = window.run_folders()
    assert '"task": "FrozenLake-v1"' in (folder / "run.json").read_text()

    window.press("Return")  # plays again, the next seed
    window.until_text("seed", lambda text: text == str(episode["seed"] + 1), "the next seed is played")
    window.wait(lambda: not over(window) and taken(window) == 0, "a new episode begins")
