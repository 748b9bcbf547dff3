"""What the orchestrator chooses is trained, beside others, and ends when it is told to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gym_gui
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.trainer import TrainingDispatcher, TrainProgress
from gym_gui.services.worker_orchestrator import UnifiedRunConfig, WorkerOrchestrator
from gym_gui.workers.manifest import read_manifest
from gym_gui.workers.registry import WorkerTypeRegistry

CLEANRL = read_manifest(Path(gym_gui.__file__).resolve().parents[1] / "3rd_party/cleanrl_worker/worker.toml")
SMALL = {"total_steps": 2048, "num_envs": 4, "hidden": 16}


@pytest.fixture
def dispatcher(tmp_path: Path):
    with WorkerTypeRegistry.isolated() as registry:
        registry.register(CLEANRL)
        ours = TrainingDispatcher(tmp_path)
        yield ours
        ours.close()


def config(**settings: Any) -> UnifiedRunConfig:
    return UnifiedRunConfig("CartPole-v1", action_space="discrete", agents=1, settings={**SMALL, **settings})


async def test_two_runs_are_trained_side_by_side(dispatcher: TrainingDispatcher, tmp_path: Path) -> None:
    orchestrator = WorkerOrchestrator(WorkerTypeRegistry, dispatcher)
    heard: list[TrainProgress] = []
    endless = await orchestrator.submit_run(config(total_steps=10**9))
    short = await orchestrator.submit_run(config())
    assert set(dispatcher.running) == {endless, short}
    result = await dispatcher.wait(short, heard.append)
    assert (result.status, result.step) == ("completed", 2048) and heard
    assert result.out == tmp_path / short and (result.out / "policy.json").is_file()
    assert dispatcher.running == (endless,)
    dispatcher.close()
    assert dispatcher.running == ()
    with pytest.raises(UnknownNameError, match="training run"):
        dispatcher.stop(endless)


async def test_what_cannot_be_trained_is_refused_before_anything_starts(
    dispatcher: TrainingDispatcher,
) -> None:
    orchestrator = WorkerOrchestrator(WorkerTypeRegistry, dispatcher)
    for wrong in (config(layers=[64, 64]), UnifiedRunConfig("chess_v6", worker_type="cleanrl_worker")):
        with pytest.raises(UsageError):
            await orchestrator.submit_run(wrong)
    assert dispatcher.running == ()


def test_the_services_come_with_one() -> None:
    services = bootstrap_default_services()
    assert isinstance(services.orchestrator, WorkerOrchestrator)
    assert services.orchestrator.select_worker(config()).type_id == "cleanrl_worker"
