"""What agents see as ground facts: the same as is told in words, and in a form that programs read."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from gym_gui import envs
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.envs import Environment
from gym_gui.envs.facts import Fact, atom, fact, written
from tests.envs.describers.test_grid_words import MINIGRIDS, SPORTS, told, walk

FACTS = PromptInputs(facts=True)
KINDS = {"door", "key", "ball", "box", "goal", "lava", "floor", "agent", "teammate", "switch", "end_zone"}


def seen_first(task: str, seed: int = 3) -> tuple[Environment, str, Any]:
    """An environment after its reset, who is asked first, and what that agent sees."""
    environment = envs.make(task)
    observations = environment.adapter.reset(seed=seed)
    agent = environment.adapter.get_current_agents()[0]
    seen = observations[agent]
    if isinstance(seen, dict) and "action_mask" in seen:
        seen = seen["observation"]
    return environment, agent, seen


def facts(task: str, seed: int = 3) -> set[str]:
    environment, agent, seen = seen_first(task, seed)
    try:
        assert environment.describer(agent).can_state(agent)
        return set(environment.show(agent, seen, FACTS).facts)
    finally:
        environment.close()


def as_words(stated: Fact) -> tuple[str, int, int]:
    """A thing of a grid as its text names it, with its place."""
    *terms, ahead, right = stated.terms
    match stated.predicate:
        case "door":
            name = f"{terms[1]} {terms[0]} door"
        case "agent":
            ball = " with the ball" if terms[2] == "ball" else ""
            name = f"{terms[0]} agent looking {terms[1]}{ball}"
        case "end_zone":
            name = f"{terms[0]} end zone"
        case kind:
            name = " ".join([*map(str, terms), kind])
    return name, int(ahead), int(right)


@pytest.mark.parametrize("task", [*MINIGRIDS[:4], "MiniGrid-Playground-v0", "BabyAI-BossLevel-v0"])
def test_a_grid_is_stated_as_it_is_told(task: str) -> None:
    _agree(task)


@pytest.mark.parametrize("game", SPORTS)
def test_a_field_is_stated_as_it_is_told(game: str) -> None:
    _agree(f"MosaicMultiGrid-{game}-IndAgObs-v1")


def _agree(task: str) -> None:
    environment = envs.make(task)
    compared = 0
    try:
        for observations in walk(environment, seeds=3, steps=25):
            for agent, seen in observations.items():
                describer = environment.describer(agent)
                stated = describer.facts(agent, seen)
                things = Counter(as_words(each) for each in stated if each.predicate in KINDS)
                assert things == told(describer.text(agent, seen))
                compared += len(things)
    finally:
        environment.close()
    assert compared


def test_team_mates_in_view_are_named_where_that_is_wanted() -> None:
    environment = envs.make("MosaicMultiGrid-S-2v2-IndAgObs-v1")
    named = 0
    try:
        for observations in walk(environment, seeds=8, steps=25):
            for agent, seen in observations.items():
                describer = environment.describer(agent)
                stated = describer.facts(agent, seen, "visible_teammates")
                mates = [each for each in stated if each.predicate == "teammate"]
                text = describer.text(agent, seen, "visible_teammates")
                assert len(mates) == text.count("your team-mate, looking")
                named += len(mates)
    finally:
        environment.close()
    assert named


def test_small_worlds_are_stated() -> None:
    lake = facts("FrozenLake-v1")
    assert {"at(1, 1)", "goal(4, 4)", "hole(2, 2)", "next(up, edge)", "next(right, ice)"} <= lake
    taxi = facts("Taxi-v4")
    assert {"stand(r, 1, 1)", "stand(b, 5, 4)"} <= taxi
    assert sum(each.startswith("passenger(") for each in taxi) == 1
    assert {"goal(4, 12)", "next(right, cliff)"} <= facts("CliffWalking-v1")
    assert any(each.startswith("dealer_shows(") for each in facts("Blackjack-v1"))


def test_the_numbers_of_a_vector_are_stated_by_name_with_their_bounds() -> None:
    environment, agent, seen = seen_first("CartPole-v1")
    try:
        stated = {each.predicate: each.terms for each in environment.describer(agent).facts(agent, seen)}
    finally:
        environment.close()
    assert stated["cart_position"][0] == pytest.approx(float(seen[0]), rel=1e-5)
    assert stated["pole_angular_velocity"][0] == pytest.approx(float(seen[3]), rel=1e-5)
    assert "bounds(cart_position, -4.8, 4.8)" in facts("CartPole-v1")


def test_a_board_is_stated_with_its_legal_moves_beside_it() -> None:
    environment, agent, seen = seen_first("classic/chess_v6")
    try:
        shown = environment.show(agent, seen, FACTS)
    finally:
        environment.close()
    assert {"me(white)", 'piece("N", 7, 1)', "piece(k, 5, 8)"} <= set(shown.facts)
    assert "e2e4" in {choice.word for choice in shown.choices}


def test_crafter_states_needs_ground_and_what_it_looks_at() -> None:
    stated = facts("CrafterReward-v1")
    assert {"have(health, 9)", "have(wood, 0)", "day"} <= stated
    assert sum(each.startswith("facing(") for each in stated) == 1
    assert any(each.startswith("grass(") for each in stated)


def test_facts_are_atoms_numbers_and_quoted_text() -> None:
    assert str(fact("door", "yellow", "locked", 2, -1)) == "door(yellow, locked, 2, -1)"
    assert str(fact("mission", 'say "hi"\n')) == 'mission("say \\"hi\\"\\n")'
    assert str(fact("piece", "N", 1)) == 'piece("N", 1)'
    assert str(fact("asleep")) == "asleep"
    assert (atom("Cart Position"), atom("2 left"), atom("x = cos(theta)")) == (
        "cart_position",
        "n2_left",
        "x_cos_theta",
    )
    assert written([fact("a"), fact("b"), fact("a")]) == ("a", "b")
    with pytest.raises(ValueError, match="not a number"):
        str(fact("speed", float("nan")))
