"""The examples that the four cards of the Home page start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.errors import UsageError
from gym_gui.ui.operators.examples import trained_against_random

SEED: Final = 42


@dataclass(frozen=True, slots=True)
class Starter:
    """An example that a card of the Home page starts.

    Attributes:
        name: Name of the card's picture file, ``assets/home-<name>.png``.
        title: Title of the card.
        text: Instruction, in a few words.
        page: Page that the card opens.
        request: Returns the arguments with which the page opens; called on the click. Raises
            :class:`~gym_gui.core.errors.UsageError` if a file of the example is not installed.
    """

    name: str
    title: str
    text: str
    page: str
    request: Callable[[], Mapping[str, object]]


def soccer_teams() -> OperatorConfig:
    """Return a soccer operator: a ball chaser and a random player against two random players."""
    chaser = WorkerAssignment("operators_worker", "baseline", {"behavior": "soccer_chaser"})
    wanderer = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
    operator = OperatorConfig.multi_agent(
        operator_id="soccer",
        display_name="Chaser and random against two random",
        env_name="multigrid",
        task="MosaicMultiGrid-S-2v2-IndAgObs-v1",
        player_workers={"green_0": chaser, "green_1": wanderer, "blue_0": wanderer, "blue_1": wanderer},
    )
    return replace(operator, named=False)


def connect_four() -> OperatorConfig:
    """Return a connect four operator: a person against a policy that looks one move ahead."""
    person = WorkerAssignment("human_worker", "human")
    heuristic = WorkerAssignment("operators_worker", "baseline", {"behavior": "connect_four_one_ply"})
    operator = OperatorConfig.multi_agent(
        operator_id="connect_four",
        display_name="You against one move ahead",
        env_name="pettingzoo",
        task="classic/connect_four_v3",
        player_workers={"player_0": person, "player_1": heuristic},
    )
    return replace(operator, named=False)


def _play_cartpole() -> Mapping[str, object]:
    return {"task": "CartPole-v1"}


def _compare_policies() -> Mapping[str, object]:
    operators = trained_against_random()
    if not operators:
        raise UsageError(
            "the trained policy that comes with MOSAIC is not in this installation",
            fix="Install mosaic-gym-gui again, or train one: mosaic train --help",
        )
    return {"operators": operators, "seed": SEED, "run": True}


def _play_soccer() -> Mapping[str, object]:
    return {"operators": [soccer_teams()], "seed": SEED, "run": True}


def _play_connect_four() -> Mapping[str, object]:
    return {"operator": connect_four(), "seed": SEED}


HOME_EXAMPLES: Final = (
    Starter("cartpole", "Play CartPole", "Arrow keys keep the pole up.", "play", _play_cartpole),
    Starter("duel", "PPO against random", "Same seeds, side by side.", "operators", _compare_policies),
    Starter("soccer", "Soccer 2v2, mixed teams", "A chaser and three others.", "operators", _play_soccer),
    Starter(
        "connect_four",
        "Connect four: you against a policy",
        "Click a column.",
        "play",
        _play_connect_four,
    ),
)
