"""Played in shards until it is decided: the same looks, the same end, the same episodes as in one run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.controllers.runs.shard_plan import plan_shard
from gym_gui.controllers.runs.shard_rounds import Batches, shards_for
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import ExecutionConfig, Experiment
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.shards import MOST_SHARDS, Shard
from gym_gui.services.runs.recorder import read_header
from gym_gui.services.shards.run_merge import merge_shards
from gym_gui.services.shards.shard_set import UnmergeableError
from tests.controllers.runs.test_interim_looks import PLAYERS, ids

SEATINGS = dict.fromkeys(("good", "fair", "fair_too"), 1)


def experiment(**execution: Any) -> Experiment:
    return Experiment(ids(PLAYERS), ExecutionConfig(60, until="decided", **execution))


def resolved(whole: Experiment) -> list[ResolvedOperator]:
    players = zip(whole.operators, PLAYERS.values(), strict=True)
    return [resolve_operator(config, {"agent_0": policy}) for config, policy in players]


async def played(out: Path, whole: Experiment, shard: Shard | None = None) -> Path:
    """The experiment, or a shard of it, played here; its run folder."""

    def open_session(which: Any, settings: SessionSettings, on_event: Any) -> LocalSession:
        return LocalSession(which, settings, on_event)

    operators = resolved(whole)
    plan = plan_shard(whole, operators, shard, coordinated=True) if shard is not None else None
    how: dict[str, Any] = {} if plan is None else {"only": plan.only, "header": plan.header, "tried": ()}
    result = await OperatorScriptExecutionManager(whole, operators, open_session, out, **how).run()
    assert result.status == "completed"
    return result.folder


async def in_batches(folder: Path, whole: Experiment, of: int) -> tuple[Path, list[int]]:
    """The experiment played in batches of shards; its run, and the shards that were played."""
    shards, due = folder / "shards", list[int]()
    more = Batches(whole, SEATINGS, of).first()
    while more:
        due += more
        for number in more:
            await played(shards, whole, Shard(number, of))
        for looked_at in ("killed", str(len(due))):  # who comes after one that was killed sees the same
            batches = Batches(whole, SEATINGS, of)
            run = merge_shards([shards], folder / looked_at, planned=batches.planned(due)).folder
            seen, more = more, await batches.take_interim_looks(run)
            assert looked_at == "killed" or seen == more
    return run, due


@pytest.mark.parametrize("compress", [False, pytest.param(True, marks=pytest.mark.full)])
async def test_it_is_what_one_run_is(tmp_path: Path, compress: bool) -> None:
    whole = experiment(batch=15)
    whole = replace(
        whole, execution=replace(whole.execution, record=replace(whole.execution.record, compress=compress))
    )
    one = await played(tmp_path / "one", whole)
    of = shards_for(whole.execution, SEATINGS, 6)
    run, due = await in_batches(tmp_path, whole, of)
    assert compare_runs(one, run) is None
    there, here = read_header(run), read_header(one)
    assert [there[key] for key in ("status", "looks", "episodes")] == [
        here[key] for key in ("status", "looks", "episodes")
    ]
    assert of == 24 and len(due) < of, "who is decided about plays no more"


async def test_what_was_not_looked_at_is_no_run_of_its_own(tmp_path: Path) -> None:
    whole = experiment()
    of = shards_for(whole.execution, SEATINGS, 3)
    batches = Batches(whole, SEATINGS, of)
    for number in batches.first():
        await played(tmp_path / "shards", whole, Shard(number, of))
    with pytest.raises(UnmergeableError, match="until it is decided, which shards do not record"):
        merge_shards([tmp_path / "shards"], tmp_path)
    part = merge_shards([tmp_path / "shards"], tmp_path, partial=True)
    assert (part.status, part.episodes) == ("stopped", 18)
    missing = batches.planned(range(1, 7))
    with pytest.raises(UnmergeableError, match=r"shards 4, 5 and 6 of 30 are missing"):
        merge_shards([tmp_path / "shards"], tmp_path, planned=missing)


def test_nobody_plays_a_part_without_who_looks() -> None:
    whole = experiment()
    with pytest.raises(UsageError, match=r"cannot be played 'until: decided'.* --executor"):
        plan_shard(whole, resolved(whole), Shard(1, 2))


def test_more_shards_than_seeds_are_none() -> None:
    whole = experiment(batch=6)
    assert shards_for(whole.execution, SEATINGS, MOST_SHARDS) == 3 * 10 * 6
