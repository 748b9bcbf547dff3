"""Who plays with a person: policies that fit, one that knows the game first; and people's clocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui import envs
from gym_gui.controllers.engine.bound_operator import read_slots
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, OfferedPolicy
from gym_gui.controllers.setup.play_setup import (
    Clock,
    game,
    hands,
    is_person,
    opponent,
    others,
    people,
    person,
    with_clock,
)
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.policy_files import PolicyFile, find_policy_files
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from gym_gui.workers.status import WorkerStatus

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples" / "checkpoints"


def offered(
    task: str,
    agent: str = "agent_0",
    files: list[PolicyFile] | None = None,
    statuses: list[WorkerStatus] | None = None,
) -> dict[str, OfferedPolicy]:
    """Whom Play offers for a slot, by policy."""
    if not WorkerTypeRegistry.all():
        discover()
    environment = envs.make(task)
    slot = read_slots(environment)[agent]
    environment.close()
    checks = ConfigurationChecks(WorkerTypeRegistry.all(), statuses or [], files or [])
    return {offer.policy.policy_id: offer for offer in others(checks.offers(slot), environment.spec.id)}


def test_who_knows_the_game_sits_there_first() -> None:
    found = offered("classic/connect_four_v3", "player_1")
    assert not found["connect_four_one_ply"].reason
    assert "soccer_chaser" not in found, "made for another game"
    assert all(offer.policy.worker_id != "human_worker" for offer in found.values())
    chosen = opponent(list(found.values()), "classic/connect_four_v3")
    assert chosen is not None and chosen.policy_id == "connect_four_one_ply"
    assert chosen.assignment().worker_type == "baseline"


def test_nobody_is_taken_for_an_expert_of_a_game_of_ones_own() -> None:
    """Its name says nothing, so no policy is refused for it, and the first opponent plays at random."""
    task = "tests.support.own_games:pole"
    found = offered(task)
    assert not found["soccer_chaser"].reason and "made for" not in found["stockfish"].reason
    chosen = opponent(list(found.values()), task)
    assert chosen is not None and chosen.policy_id == "random"


def test_trained_policies_are_offered_where_their_spaces_fit() -> None:
    files = find_policy_files([EXAMPLES])
    (policy,) = [o.policy for o in offered("CartPole-v1", files=files).values() if o.policy.file]
    assert policy.title == "ppo_cartpole" and policy.kind == "rl"
    elsewhere = offered("Acrobot-v1", files=files).values()
    assert not [o for o in elsewhere if o.policy.file]
    assert {o.policy.takes for o in elsewhere if o.policy.takes} == {"checkpoint"}


def test_who_is_not_installed_stays_in_the_list_with_the_line() -> None:
    missing = WorkerStatus(
        "operators_worker", "missing", "numpy is not there", "pip install numpy", ("numpy",)
    )
    found = offered("CartPole-v1", statuses=[missing])
    assert "pip install numpy" in found["random"].reason and "soccer_chaser" not in found
    chosen = opponent(list(found.values()), "CartPole-v1")
    assert chosen is None or chosen.worker_id != "operators_worker"


def test_people_and_the_clock() -> None:
    waits, runs = Clock(False, 5.0), Clock(True, 10.0)
    assert person(waits).deadline_s is None
    hurried = person(runs)
    assert hurried.deadline_s is not None and hurried.deadline_s < 0.1
    assert hurried.on_invalid.then == "noop"
    config = game(
        "classic/connect_four_v3", {"player_0": person(waits), "player_1": WorkerAssignment("", "random")}
    )
    assert people(config) == ("player_0",)
    faster = with_clock(config, runs)
    assert faster.workers["player_0"] == hurried
    assert faster.workers["player_1"] == config.workers["player_1"]
    assert not is_person(WorkerAssignment("human", "human", {"script": [0, 1]}))


@pytest.mark.parametrize(
    ("keys", "mouse", "typed", "words"),
    [
        (["Left", "Right"], False, False, "arrow keys"),
        (["W", "A", "S", "D", "E"], False, False, "W A S D"),
        (["1", "2"], True, False, "mouse"),
        ([], False, True, "typed numbers"),
        (["1", "2", "3", "4", "5"], False, False, "keys 1 2 3 4 …"),
    ],
)
def test_hands(keys: list[str], mouse: bool, typed: bool, words: str) -> None:
    assert hands(keys, mouse=mouse, typed=typed) == words
