"""The contract test passes on environments of every family that is installed for tests."""

from __future__ import annotations

import pytest

from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.envs import check, make

PLAIN = [
    "CartPole-v1",
    "FrozenLake-v1",
    "Taxi-v4",
    "Pendulum-v1",
    "MiniGrid-Empty-8x8-v0",
    "BabyAI-GoToRedBall-v0",
    "chess_v6",
    "tictactoe_v3",
    "connect_four_v3",
    "leduc_holdem_v4",
    "rps_v2",
    "mpe2/simple_spread_v3",
    "mpe2/simple_tag_v3",
    "pistonball_v6",
]
CASES = [
    *((task, None) for task in PLAIN),
    ("rps_v2", "parallel"),
    ("mpe2/simple_spread_v3", "aec"),
    ("open_spiel/tic_tac_toe", None),
    ("open_spiel/leduc_poker", None),
    ("open_spiel/goofspiel", None),
    ("MosaicMultiGrid-S-2v2-IndAgObs-v1", "parallel"),
    ("MosaicMultiGrid-S-2v2-IndAgObs-v1", "aec"),
    ("MultiGrid-RedBlueDoors-6x6-v0", "parallel"),
    ("MultiGrid-RedBlueDoors-6x6-v0", "aec"),
]
MASKED = {"chess_v6", "tictactoe_v3", "connect_four_v3", "leduc_holdem_v4"}


@pytest.mark.parametrize(("task", "api"), CASES)
def test_the_contract_is_kept(task: str, api: str | None) -> None:
    report = check(task, api=api, steps=4 if task == "pistonball_v6" else 30)
    assert report.ok, "\n".join(report.lines())
    from_openspiel = task.startswith("open_spiel/")  # Shimmy draws nothing
    assert report["rendering"].status is (CheckStatus.SKIPPED if from_openspiel else CheckStatus.PASSED)
    masked = task in MASKED or from_openspiel
    assert report["masks"].status is (CheckStatus.PASSED if masked else CheckStatus.SKIPPED)


def test_keywords_reach_what_is_checked() -> None:
    report = check("mpe2/simple_spread_v3", env_kwargs={"max_cycles": 3}, steps=10)
    assert report["endings"].status is CheckStatus.PASSED


def test_what_pistonball_observes_does_not_depend_on_rendering() -> None:
    """Its agents see the screen, which PettingZoo leaves black without a render mode."""
    plain = make("pistonball_v6").adapter.reset(seed=0)
    drawn = make("pistonball_v6", render_mode="rgb_array").adapter.reset(seed=0)
    assert plain["piston_0"].std() > 10
    assert all((plain[agent] == drawn[agent]).all() for agent in plain)


def test_knights_archers_zombies_is_caught_remembering() -> None:
    """A library's environment, really broken: its reset() leaves the zombies' clock running."""
    report = check("knights_archers_zombies_v11", steps=40)
    assert [finding.name for finding in report.failed] == ["seeding"]
    assert "after another episode in the same instance" in report["seeding"].detail
