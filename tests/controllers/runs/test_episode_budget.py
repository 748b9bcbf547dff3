"""What a run is taken to have spent where it was cut off, by its ledger and its calls."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.engine.resolved_operator import unchecked_operator
from gym_gui.controllers.runs.episode_budget import EpisodeBudget
from gym_gui.controllers.runs.operator_execution import OperatorExecution
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.spending import Amount
from gym_gui.services.runs.budget_ledger import NAME, BudgetLedger

MOST = {"tokens": 100, "usd": 0.0}
RESERVED = 5_000
BUDGET = 20_000


def reserved(**more: Any) -> dict[str, Any]:
    return {"reserve": "a/0", "amounts": {"run": {"tokens": RESERVED, "usd": 0.0}}, **more}


def announced(tokens: int) -> dict[str, Any]:
    return {"announce": "a/0", "amounts": {"agent_0": {"tokens": tokens, "usd": 0.0}}}


def settled(tokens: int) -> dict[str, Any]:
    return {"settle": "a/0", "amounts": {"run": {"tokens": tokens, "usd": 0.0}}}


def call(tokens: int, announced: int, **more: Any) -> dict[str, Any]:
    about = {"agent": "agent_0", "episode": 0, "most": MOST, "announced": announced, **more}
    return {**about, "tokens": {"input": tokens, "output": 0}}


def resumed(
    folder: Path, samples: int, ledger: Sequence[Mapping[str, Any]], calls: Sequence[Mapping[str, Any]]
) -> BudgetLedger:
    """The ledger of a run of one operator once it goes on."""
    for path, rows in ((folder / NAME, ledger), (folder / "operators/a/calls.jsonl", calls)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    settings = {"model_id": "any", "samples": samples, "temperature": 0.5}
    player = WorkerAssignment("mosaic_llm_worker", "llm", settings)
    config = OperatorConfig("a", task="CartPole-v1", workers={"agent_0": player})
    run = OperatorExecution(
        unchecked_operator(config), 2, deque([EpisodePlan(0, 0, 0), EpisodePlan(1, 1, 0)])
    )
    execution = ExecutionConfig(2, [0, 1], token_budget=BUDGET)
    budget = EpisodeBudget(Experiment([config], execution), [run])
    budget.open(folder)
    return BudgetLedger(folder / NAME, {"run": Amount(BUDGET)})


ANNOUNCING = {"announcing": ["agent_0"]}


@pytest.mark.parametrize(
    ("ledger", "calls", "spent"),
    [
        ([reserved(**ANNOUNCING)], [], 0),
        ([reserved(**ANNOUNCING), announced(100)], [], 100),
        ([reserved(**ANNOUNCING), announced(100), announced(100)], [call(30, 2)], 30),
        ([reserved(**ANNOUNCING), announced(100), announced(250)], [call(30, 1)], 30 + 250),
        # An attempt that was settled when its worker was lost, its request among it, then another one.
        (
            [reserved(**ANNOUNCING), announced(100), settled(100), reserved(**ANNOUNCING), announced(100)],
            [],
            200,
        ),
        # What was paid before the kill is told again by the run that goes on, which is killed in its turn.
        (
            [reserved(**ANNOUNCING), announced(100), settled(30), reserved(**ANNOUNCING), announced(100)],
            [call(30, 1), call(30, 1, replayed=True)],
            30 + 100,
        ),
    ],
    ids=["nothing", "one", "a call", "the call before", "a lost worker", "replayed"],
)
def test_what_was_announced_and_not_told_of_counts_at_its_most(
    tmp_path: Path, ledger: list[dict[str, Any]], calls: list[dict[str, Any]], spent: int
) -> None:
    after = resumed(tmp_path, 5, ledger, calls)
    assert after.spent("run").tokens == spent and not after.reserved()


@pytest.mark.parametrize("samples", [1, 5])
def test_of_a_slot_that_announces_nothing_two_requests_are_taken_to_be_unseen(
    tmp_path: Path, samples: int
) -> None:
    after = resumed(tmp_path, samples, [reserved()], [call(30, 0)])
    assert after.spent("run").tokens == 30 + 2 * samples * 100 and not after.reserved()


def test_of_which_nothing_at_all_is_known_all_that_was_put_aside_is_gone(tmp_path: Path) -> None:
    after = resumed(tmp_path, 1, [reserved()], [])
    assert after.spent("run").tokens == RESERVED and not after.reserved()


def test_what_was_guessed_and_was_too_much_is_not_given_back(tmp_path: Path) -> None:
    """A line of the ledger with less than nothing would be damage."""
    after = resumed(tmp_path, 1, [reserved(), settled(900), reserved()], [call(30, 0)])
    assert after.spent("run").tokens == 900 and not after.reserved()
