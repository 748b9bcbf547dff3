"""What a shard says of itself: the identity of the experiment, and of what plays in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.shard_plan import ShardPlan, plan_shard
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.shards import Shard
from tests.support.engine import player

SLOT = "agent_0"


def programs(folder: Path, *texts: str) -> list[Path]:
    """Files of programs."""
    folder.mkdir()
    files = [folder / f"{i}.asl" for i in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return files


def planned(files: list[Path], shard: str, **execution: int) -> ShardPlan:
    """A part of an experiment in which each operator plays a program."""
    operators = [
        OperatorConfig(
            f"op_{i}", task="CartPole-v1", workers={SLOT: WorkerAssignment("", "bdi", {"program": str(f)})}
        )
        for i, f in enumerate(files)
    ]
    experiment = Experiment(operators, ExecutionConfig(2, 0, **execution))
    return plan_shard(experiment, [resolve_operator(each) for each in operators], Shard.parse(shard))


def test_the_same_elsewhere_is_the_same(tmp_path: Path) -> None:
    here = planned(programs(tmp_path / "here", "+!a.", "+!b."), "1/2", concurrency=1)
    there = planned(programs(tmp_path / "there", "+!a.", "+!b."), "1/2", processes=2)
    assert here.record == there.record, "where files lie, and how fast it is done, says nothing"
    assert here.only == {"op_0": range(2)}
    slower = planned(programs(tmp_path / "slower", "+!a.", "+!b."), "1/2", max_steps=7)
    assert slower.record["experiment_sha256"] != here.record["experiment_sha256"]


def test_other_content_is_not_the_same(tmp_path: Path) -> None:
    files = programs(tmp_path / "one", "+!a.", "+!b.")
    before = [planned(files, shard).record["contents"] for shard in ("1/2", "2/2")]
    files[1].write_text("+!c.")
    after = [planned(files, shard).record["contents"] for shard in ("1/2", "2/2")]
    named = "program of agent_0 of op_1 (1.asl)"
    assert before[0] == after[0] and named not in before[0], "a part says what plays in it, and no more"
    assert before[1][named] != after[1][named]


def test_a_file_goes_by_one_name_in_all_parts(tmp_path: Path) -> None:
    (file,) = programs(tmp_path / "one", "+!a.")
    parts = [planned([file, file], shard).record["contents"] for shard in ("1/2", "2/2")]
    assert parts[0] == parts[1] and "program of agent_0 of op_0 (0.asl)" in parts[0]


def test_seatings_of_a_seed_stay_together() -> None:
    operator = OperatorConfig("op", task="tictactoe_v3", workers={}, seats="swap")
    resolved = resolve_operator(operator, {"player_1": player(), "player_2": player()})
    plan = plan_shard(Experiment([operator], ExecutionConfig(6, 0)), [resolved], Shard(2, 3))
    assert plan.only == {"op": range(2, 4)} and plan.record["seatings"] == {"op": 2}
    with pytest.raises(UsageError, match="need 3 seeds"):
        plan_shard(Experiment([operator], ExecutionConfig(6, [1, 2])), [resolved], Shard(2, 3))


def test_the_budget_of_a_slot_has_no_parts() -> None:
    settings = {"provider": "fake", "model": "m", "token_budget": 100}
    asking = OperatorConfig("op", task="CartPole-v1", workers={SLOT: WorkerAssignment("", "llm", settings)})
    with pytest.raises(UsageError, match="the budget of agent_0 of operator 'op' holds for the whole run"):
        plan_shard(Experiment([asking], ExecutionConfig(2, 0)), [], Shard(1, 2))
