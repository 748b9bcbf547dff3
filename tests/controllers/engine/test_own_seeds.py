"""A slot's own ``seed`` gives its player numbers of its own; settings that no player reads are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.seeding import policy_seed
from gym_gui.services.policy_mapping import PolicyMappingService
from gym_gui.workers.discovery import discover
from gym_gui.workers.manifest import read_manifest
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.engine import arena, bind_operator, play, player, record_run

SEEDS = (1, 2, 3)


def random(name: str, **settings: Any) -> OperatorConfig:
    worker = WorkerAssignment("operators_worker", "baseline", settings)
    return OperatorConfig(name, "", "", arena("Corridor"), {"agent_0": worker})


async def test_baselines_with_different_seeds_play_different_games(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "none": {},
        "one": {"seed": 1},
        "same": {"seed": 1},
        "two": {"seed": 2},
    }
    folder = await record_run(tmp_path, *((random(n, **s), {}) for n, s in settings.items()), seeds=SEEDS)

    def actions(name: str) -> list[tuple[int, int]]:
        lines = (folder / "operators" / name / "steps.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        return sorted((r["episode_index"] * 100 + r["step_index"], r["action"]) for r in rows)

    played = {name: actions(name) for name in settings}
    assert played["one"] == played["same"]
    assert len({str(games) for games in played.values()}) == 3


async def test_every_policy_gets_the_seed_of_its_slot_and_others_keep_theirs() -> None:
    got: dict[str, list[int]] = {}
    seats = {
        agent: player(lambda s: (got.setdefault(s.agent_id, []).append(s.seed), 0)[1])
        for agent in ("player_0", "player_1")
    }
    bound = await bind_operator("rps_v2", seats, api="parallel")
    bound.policies.bind_agent_policy("player_1", "player_1:object", config={"seed": 7})
    await play(bound, [5], max_steps=1)
    assert got["player_0"] == [policy_seed(5, 0, "player_0")]
    assert got["player_1"] == [policy_seed(5, 0, "player_1", 7)] != [policy_seed(5, 0, "player_1")]


def test_seeds_of_their_own_are_apart_and_without_one_nothing_has_changed() -> None:
    assert policy_seed(7, 3, "agent_0") == 11591193071956559598
    own = [policy_seed(7, 3, "agent_0", n) for n in (None, 0, 1, 2**32, 2**63 - 1)]
    assert len(set(own)) == len(own)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "x", True])
def test_what_is_no_seed_is_refused_before_anything_starts(seed: Any) -> None:
    with pytest.raises(UsageError, match=r"Seed must be a whole number|out of range"):
        resolve_operator(random("op", seed=seed))
    with pytest.raises(UsageError, match="out of range"):
        PolicyMappingService().bind_agent_policy("agent_0", "noop", config={"seed": seed})


def _bundled() -> list[str]:
    discover()
    return [worker.type_id for worker in WorkerTypeRegistry.all() if worker.source == "bundled"]


@pytest.mark.parametrize("worker_id", _bundled())
def test_every_worker_takes_a_seed_and_refuses_what_it_does_not_know(worker_id: str) -> None:
    worker = WorkerTypeRegistry.require(worker_id)
    worker.check_settings({"seed": 7, "gpu": "none"}, "here")
    with pytest.raises(UnknownNameError, match=r"unknown setting of .* 'sede'\. Did you mean 'seed'\?"):
        worker.check_settings({"sede": 7}, "here")


def test_a_setting_that_nobody_reads_is_refused_before_anything_starts() -> None:
    with pytest.raises(UnknownNameError, match=r"'op', agent_0: unknown setting .*Did you mean 'behavior'\?"):
        resolve_operator(random("op", behaviour="noop"))
    with pytest.raises(UsageError, match="Behavior must be random, noop"):
        resolve_operator(random("op", behavior="dance"))


def test_a_worker_that_declares_nothing_is_given_whatever_stands_there(tmp_path: Path) -> None:
    manifest = 'id = "dice_worker"\nkind = "baseline"\n[launch]\nentry = "dice.main:Dice"\n'
    (tmp_path / "worker.toml").write_text(manifest)
    read_manifest(tmp_path / "worker.toml").check_settings({"sede": 7}, "here")
    declared = manifest + '[settings.sides]\ntype = "whole"\n'
    (tmp_path / "worker.toml").write_text(declared)
    worker = read_manifest(tmp_path / "worker.toml")
    worker.check_settings({"sides": 6, "seed": 1}, "here")
    with pytest.raises(UnknownNameError, match="Did you mean 'sides'"):
        worker.check_settings({"side": 6}, "here")
