"""Names of older scripts are understood; a worker with a manifest needs no type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.core.config import LinkGroup, OperatorConfig
from gym_gui.core.errors import UnknownNameError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.workers.discovery import discover
from gym_gui.workers.manifest import parse_manifest
from gym_gui.workers.registry import WorkerTypeRegistry

SOCCER = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
MANIFEST = 'id = "dice_worker"\nkind = "planner"\naliases = ["dice"]\n[launch]\nentry = "dice.main:Dice"\n'


@pytest.mark.parametrize("name", ["dice_worker", "dice"])
def test_a_worker_with_a_manifest_needs_no_type(name: str, tmp_path: Path) -> None:
    data: dict[str, Any] = {
        "operators": [{"id": "op", "task": "CartPole-v1", "workers": {"agent": {"worker_id": name}}}],
        "execution": {"num_episodes": 1, "seeds": 1},
    }
    with WorkerTypeRegistry.isolated() as registry:
        discover(registry)
        registry.register(parse_manifest(MANIFEST, tmp_path / "worker.toml"))
        (slot,) = experiment_from_data(data).operators[0].workers.values()
        assert slot.worker_type == "planner" and WorkerAssignment(name).worker_type == "planner"


def test_older_worker_names_are_understood() -> None:
    assert WorkerAssignment("barlog_worker").worker_id == "balrog_worker"
    assert WorkerAssignment("stockfish_worker").worker_type == "baseline"


def test_numbered_agents_are_the_slots_in_their_order() -> None:
    chaser = WorkerAssignment("operators_worker", settings={"behavior": "soccer_chaser"})
    random = WorkerAssignment(worker_type="random")
    workers = {"agent_0": chaser, "agent_1": random, "agent_2": random, "agent_3": random}
    resolved = resolve_operator(
        OperatorConfig(
            "op",
            "",
            "",
            SOCCER,
            workers,
            teams={"us": ["agent_0", "agent_1"], "them": ["agent_2", "agent_3"]},
        )
    )
    assert list(resolved.assignments) == list(resolved.slots)
    assert resolved.assignments[next(iter(resolved.slots))].settings["behavior"] == "soccer_chaser"
    assert {agent for team in (resolved.config.teams or {}).values() for agent in team} == set(resolved.slots)
    group = LinkGroup("agent_2", ["agent_3"], policy_path="x", worker_type="baseline")
    with pytest.raises(UnknownNameError, match="unknown setting of operators_worker 'checkpoint'"):
        resolve_operator(OperatorConfig("op", "", "", SOCCER, {**workers}, link_groups=[group]))


def test_a_number_that_is_no_slot_is_still_unknown() -> None:
    random = WorkerAssignment(worker_type="random")
    with pytest.raises(UnknownNameError, match="unknown agent 'agent_0'"):
        resolve_operator(OperatorConfig("op", "", "", SOCCER, {"agent_0": random, "agent_9": random}))


@pytest.mark.parametrize("env_name", ["multigrid", ""])
def test_rooms_of_ini_multigrid_have_the_agents_that_older_scripts_name(env_name: str) -> None:
    random = WorkerAssignment(worker_type="random")
    workers = {"agent_0": random, "agent_1": WorkerAssignment(worker_type="baseline")}
    resolved = resolve_operator(OperatorConfig("op", "", env_name, "MultiGrid-RedBlueDoors-6x6-v0", workers))
    assert list(resolved.assignments) == list(resolved.slots) == ["agent_0", "agent_1"]
