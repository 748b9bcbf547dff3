"""Play, Agents and the engine give the same answer to who can play where."""

from __future__ import annotations

import functools
import json

import pytest

from gym_gui import envs
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks
from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.play_setup import others
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.backends import SlotInfo
from gym_gui.services.worker_orchestrator import UnifiedRunConfig, WorkerOrchestrator
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from gym_gui.workers.status import check_installed

RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
TRAINED = {"cleanrl_worker", "sb3_worker"}
CHESS = {"stockfish_worker", "chess_worker"}
GAMES = {*CHESS, "openspiel_worker", "mujoco_mpc_worker"}
OTHERS = {*GAMES, "control_worker"}
"""Made for games and tasks of their own."""

REFUSED = {
    "CartPole-v1": GAMES,
    "FrozenLake-v1": OTHERS,
    "Pendulum-v1": GAMES,
    "MiniGrid-Empty-5x5-v0": OTHERS,
    "MosaicMultiGrid-S-2v2-IndAgObs-v1": OTHERS,
    "classic/chess_v6": {"control_worker", "mujoco_mpc_worker"},
    "classic/connect_four_v3": {*CHESS, "control_worker", "mujoco_mpc_worker"},
    "leduc_holdem_v4": {*OTHERS, "spade_bdi_worker"},
    "mpe2/simple_crypto_v3": {*OTHERS, "spade_bdi_worker", "vlm_worker"},
}
"""Who cannot play the last slot of each environment."""

BUNDLED = {
    *TRAINED,
    *OTHERS,
    "human_worker",
    "operators_worker",
    "mosaic_llm_worker",
    "vlm_worker",
    "spade_bdi_worker",
}
"""Who is held against that. Where a worker that comes later can play, its own tests say."""


@functools.cache
def bundled() -> ConfigurationChecks:
    with WorkerTypeRegistry.isolated():
        discover()
        workers = [worker for worker in WorkerTypeRegistry.all() if worker.type_id != "test_worker"]
    return ConfigurationChecks(workers)


@functools.cache
def sheet_of(task: str) -> EnvironmentInfo:
    """As a window has it: plain data that has come from another process."""
    environment = envs.make(task)
    try:
        return EnvironmentInfo.from_json(json.loads(json.dumps(EnvironmentInfo.of(environment).to_json())))
    finally:
        environment.close()


@pytest.mark.parametrize("worker_id", sorted(bundled().workers))
@pytest.mark.parametrize("task", sorted(REFUSED))
def test_the_answer_is_the_same_everywhere(task: str, worker_id: str) -> None:
    sheet, checks = sheet_of(task), bundled()
    agent = sheet.agents[-1]
    rows = dict.fromkeys(sheet.agents, RANDOM)
    report = checks.check(Draft(task, rows=rows), sheet)
    (worker,) = [o for o in report.workers[agent] if o.worker.type_id == worker_id]
    if worker_id in BUNDLED:
        assert bool(worker.reason) == (worker_id in REFUSED[task]), worker.reason

    in_agents = {o.policy.policy_id: o for o in report.policies[agent] if o.policy.worker_id == worker_id}
    in_play = {
        o.policy.policy_id: o
        for o in others(checks.offers(sheet.slots[agent]), sheet.env_id)
        if o.policy.worker_id == worker_id
    }
    if worker_id != "human_worker":  # in Play a person is always there
        assert {name for name, o in in_play.items() if not o.reason} == {
            name for name, o in in_agents.items() if not o.reason
        }
    assert all(in_agents[name].reason == o.reason for name, o in in_play.items())

    complete = [offer for offer in in_agents.values() if not offer.policy.takes]
    for offer in {bool(offer.reason): offer for offer in complete}.values():
        # One that fits and one that does not: the engine makes the environment each time.
        config = OperatorConfig("o", task=task, workers={**rows, agent: offer.policy.assignment()})
        if offer.reason:
            with pytest.raises(UsageError) as refused:
                resolve_operator(config)
            assert offer.reason in str(refused.value)
        elif check_installed(worker.worker).state != "installed":
            with pytest.raises(MissingDependencyError):
                resolve_operator(config)
        else:
            assert resolve_operator(config).workers[agent].type_id == worker_id


def test_a_trainer_that_is_made_for_other_environments_is_not_chosen() -> None:
    """Trainings ask for the same patterns."""
    with WorkerTypeRegistry.isolated(empty=False) as registry:
        before = {worker.type_id: worker.capabilities.environments for worker in registry.all()}
        for worker in registry.all():
            if worker.train is not None:
                object.__setattr__(worker.capabilities, "environments", ("minigrid-*",))
        chooser = WorkerOrchestrator(registry, is_installed=lambda _: True)
        try:
            assert chooser.select_worker(UnifiedRunConfig("MiniGrid-Empty-5x5-v0")).train is not None
            with pytest.raises(UsageError, match=r"made for minigrid-\*, not for CartPole-v1"):
                chooser.select_worker(UnifiedRunConfig("CartPole-v1"))
        finally:
            for worker in registry.all():
                object.__setattr__(worker.capabilities, "environments", before[worker.type_id])


@pytest.mark.parametrize(
    "task", ["MiniGrid-DoorKey-5x5-v0", "MosaicMultiGrid-S-2v2-IndAgObs-v1", "classic/connect_four_v3"]
)
def test_a_controller_is_offered_where_numbers_with_names_are_measured(task: str):
    offered = {title for slot in sheet_of(task).slots.values() for title in titles_offered(slot)}
    assert not {"PID", "State feedback", "LQR"} & offered
    assert {"PID", "State feedback", "LQR"} <= titles_offered(sheet_of("CartPole-v1").slots["agent_0"])


def test_skills_are_offered_to_slots_that_have_a_manager():
    task = "MiniGrid-DoorKey-5x5-v0"
    assert "MiniGrid skills" not in titles_offered(sheet_of(task).slots["agent_0"])
    environment = envs.make(task).with_manager(agents=["agent_0"])
    try:
        slots = EnvironmentInfo.of(environment).slots
    finally:
        environment.close()
    assert "MiniGrid skills" in titles_offered(slots["agent_0"])


def test_skills_without_a_manager_are_refused_by_the_engine_and_said_on_the_page():
    task = "MiniGrid-DoorKey-5x5-v0"
    skills = WorkerAssignment("operators_worker", "baseline", {"behavior": "minigrid_skills"})
    config = OperatorConfig("a", task=task, workers={"agent_0": skills})
    with pytest.raises(UsageError, match="needs a manager"):
        resolve_operator(config)
    report = bundled().check(Draft.of(config), sheet_of(task))
    assert report.config is None and any("needs a manager" in each.text for each in report.of("agent_0"))


def titles_offered(slot: SlotInfo) -> set[str]:
    return {offer.policy.title for offer in bundled().offers(slot) if not offer.reason}
