"""A person plays with the keyboard; the record says that a person chose these actions."""

from __future__ import annotations

import re

import pytest

from tests.window.program import Program

MOST_STEPS = 100
"""FrozenLake's own limit."""
MOST_ROUNDS = 5


def taken(window: Program) -> int:
    """Steps of the episode that is shown."""
    said = re.match(r"step (\d+)", window.text("stage-facts"))
    return int(said[1]) if said else 0


def over(window: Program) -> str:
    """How the episode ended; empty while it goes on."""
    return window.text("result-headline")


def test_two_games(window: Program) -> None:
    cartpole_from_the_card_on_home(window)
    cartpole_in_a_window_of_its_own(window)
    frozen_lake_chosen_by_typing_its_name(window)


def cartpole_from_the_card_on_home(window: Program) -> None:
    """Played with a key that is held; it ends with the pole."""
    window.until_page("home")
    window.tab_to("start-cartpole")
    window.press("Return")
    window.until_page("play")
    window.until_text("prompt", lambda text: "to begin" in text, "it waits for the first key")
    hold_until_one_counts(window)


def cartpole_in_a_window_of_its_own(window: Program) -> None:
    """The same keys, while the picture is on a second screen and its window has the keyboard."""
    window.press("ctrl+F11")
    window.ready("stageView", within="own-window")
    window.press("Return")
    window.until_text("prompt", lambda text: "to begin" in text, "it waits for the first key")
    hold_until_one_counts(window)
    window.press("ctrl+F11")
    window.ready("stageView", within="stage-card")


def hold_until_one_counts(window: Program) -> None:
    """Hold a key until the pole falls, again until a step of it was in time."""
    before = len(window.episodes())
    for played in range(before + 1, before + MOST_ROUNDS + 1):
        window.desktop.hold("Right")
        window.wait(lambda: over(window), "the pole has fallen")
        window.desktop.release("Right")
        episode = window.until_recorded(played)[-1]
        steps = window.steps()[-episode["length"] :]
        assert episode["status"] == "completed" and episode["terminated"]
        assert episode["agents"]["agent_0"]["worker_type"] == "human"
        assert len(steps) == episode["length"] == episode["total_reward"]
        # Where the machine is busy a key comes too late for steps of 1/15 s: recorded as such.
        assert {step["action_source"] for step in steps} <= {"human", "noop"}
        mine = [step for step in steps if step["action_source"] == "human"]
        assert {step["action"] for step in mine} <= {1}
        if mine:
            return
        window.press("Return")
        window.until_text("prompt", lambda text: "to begin" in text, "it waits for the first key")
    raise AssertionError(f"none of {MOST_ROUNDS} games had a step of the person who held the key")


def frozen_lake_chosen_by_typing_its_name(window: Program) -> None:
    """Played move by move, on the same page; and once more."""
    games, rows = len(window.episodes()), len(window.steps())
    window.choose("environment-picker", "frozenlake", "FrozenLake")
    window.until_text("prompt", lambda text: "Your move" in text, "it waits for a move")

    for number in range(MOST_STEPS):
        if over(window):
            break
        window.press("Right" if number % 2 else "Down")
        window.wait(lambda n=number: over(window) or taken(window) > n, f"move {number + 1} is made")
    assert "olved" in over(window) or "over" in over(window)

    episode = window.until_recorded(games + 1)[-1]
    steps = window.steps()[rows:]
    assert episode["status"] == "completed"
    assert len(steps) == episode["length"] >= 2
    assert [step["action"] for step in steps] == [2 if n % 2 else 1 for n in range(len(steps))]
    assert {step["action_source"] for step in steps} == {"human"}
    folder = window.run_folders()[-1]
    assert '"task": "FrozenLake-v1"' in (folder / "run.json").read_text()

    window.press("Return")  # plays again, the next seed
    window.until_text("seed", lambda text: text == str(episode["seed"] + 1), "the next seed is played")
    window.wait(lambda: not over(window) and taken(window) == 0, "a new episode begins")


@pytest.mark.full
def test_a_key_pressed_before_anything_is_asked_is_the_first_move(window: Program) -> None:
    window.press("ctrl+2")
    window.until_page("play")
    window.choose("environment-picker", "frozenlake", "FrozenLake")
    window.wait(lambda: window.text("stage-facts").startswith("step 0"), "the lake is seen")
    window.press("Down")
    for number in range(1, MOST_STEPS):
        window.wait(lambda n=number: over(window) or taken(window) >= n, f"move {number} is made")
        if over(window):
            break
        window.press("Right")
    window.until_recorded()
    steps = window.steps()
    assert [step["action"] for step in steps] == [1, *[2] * (len(steps) - 1)]
    assert {step["action_source"] for step in steps} == {"human"}


@pytest.mark.full
@pytest.mark.parametrize(("typed", "found"), [("lunar", "LunarLander"), ("halfcheetah", "HalfCheetah")])
def test_an_environment_is_found_by_part_of_its_name(window: Program, typed: str, found: str) -> None:
    """Whether its family is installed or not."""
    window.press("ctrl+2")
    window.until_page("play")
    window.click("environment-picker")
    window.until("the list is open", lambda s: s["popup"] == "picker-popup")
    window.until("one can type", lambda s: s["focus"][:1] == ["picker-search"])
    window.type(typed)
    window.wait(lambda: found in window.current_row("picker-list").replace(" ", ""), f"{found} is found")
    window.press("Escape")
