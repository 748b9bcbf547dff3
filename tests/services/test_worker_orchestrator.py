"""A run gets the worker its user names, or the best that fits, or a sentence why not."""

from __future__ import annotations

from typing import Any

import pytest

from gym_gui.core.enums import SteppingParadigm, WorkerKind
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.services.worker_orchestrator import UnifiedRunConfig, WorkerOrchestrator
from gym_gui.workers.capabilities import WorkerCapabilities
from gym_gui.workers.registry import TrainSpec, WorkerTypeDefinition, WorkerTypeRegistry

CARTPOLE = UnifiedRunConfig("CartPole-v1", action_space="discrete", observation_space="box", agents=1)


def worker(
    type_id: str, *algorithms: str, trains: bool = True, pip: tuple[str, ...] = (), **capabilities: Any
) -> WorkerTypeDefinition:
    return WorkerTypeDefinition(
        type_id,
        type_id,
        "",
        WorkerCapabilities(type_id, **capabilities),
        kind=WorkerKind.RL,
        train=TrainSpec("pkg.train", algorithms or ("ppo",)) if trains else None,
        pip_dependencies=pip,
    )


@pytest.fixture(autouse=True)
def registry():
    with WorkerTypeRegistry.isolated() as isolated:
        yield isolated


def orchestrator(*workers: WorkerTypeDefinition, **options: Any) -> WorkerOrchestrator:
    for definition in workers:
        WorkerTypeRegistry.register(definition)
    return WorkerOrchestrator(WorkerTypeRegistry, **options)


@pytest.mark.parametrize(
    ("config", "paradigm"),
    [
        (UnifiedRunConfig("CartPole-v1"), SteppingParadigm.SINGLE_AGENT),
        (UnifiedRunConfig("chess_v6"), SteppingParadigm.SEQUENTIAL),
        (UnifiedRunConfig("pistonball_v6"), SteppingParadigm.SIMULTANEOUS),
        (UnifiedRunConfig("pistonball_v6", api="aec"), SteppingParadigm.SEQUENTIAL),
    ],
)
def test_paradigm_comes_from_the_environment_and_the_api_asked_for(
    config: UnifiedRunConfig, paradigm: SteppingParadigm
):
    assert orchestrator().infer_paradigm(config) is paradigm


def test_unknown_environment_is_refused():
    with pytest.raises(UnknownNameError, match="CartPole-v1"):
        orchestrator(worker("a_worker")).select_worker(UnifiedRunConfig("CartPoel-v1"))


def test_override_is_taken_under_any_accepted_name():
    ours = orchestrator(worker("a_worker"), worker("cleanrl_worker"))
    chosen = ours.select_worker(UnifiedRunConfig("CartPole-v1", worker_type="cleanrl"))
    assert chosen.type_id == "cleanrl_worker"


def test_unknown_override_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'cleanrl_worker'"):
        orchestrator(worker("cleanrl_worker")).select_worker(
            UnifiedRunConfig("CartPole-v1", worker_type="cleanrl_worke")
        )


@pytest.mark.parametrize(
    ("definition", "config", "words"),
    [
        (worker("a_worker"), UnifiedRunConfig("chess_v6", worker_type="a_worker"), "steps SEQUENTIAL"),
        (
            worker("a_worker", trains=False),
            UnifiedRunConfig("CartPole-v1", worker_type="a_worker"),
            "it does not train",
        ),
        (
            worker("a_worker"),
            UnifiedRunConfig("CartPole-v1", worker_type="a_worker", action_space="continuous"),
            "action space is continuous, the worker supports discrete",
        ),
    ],
)
def test_override_that_does_not_fit_says_why(
    definition: WorkerTypeDefinition, config: UnifiedRunConfig, words: str
):
    with pytest.raises(UsageError, match=words):
        orchestrator(definition).select_worker(config)


def test_unknown_algorithm_of_the_override_names_the_nearest():
    config = UnifiedRunConfig("CartPole-v1", worker_type="a_worker", algorithm="pppo")
    with pytest.raises(UnknownNameError, match="Did you mean 'ppo'"):
        orchestrator(worker("a_worker")).select_worker(config)


def test_installed_comes_before_missing_and_then_the_first_by_id():
    ours = orchestrator(
        worker("a_worker", pip=("no-such-distribution",)), worker("c_worker"), worker("b_worker")
    )
    assert ours.select_worker(CARTPOLE).type_id == "b_worker"


@pytest.mark.parametrize(("gpu", "chosen"), [(True, "greedy_worker"), (False, "modest_worker")])
def test_gpu_is_a_preference(gpu: bool, chosen: str):
    ours = orchestrator(
        worker("greedy_worker", requires_gpu=True), worker("modest_worker"), gpu_available=lambda: gpu
    )
    assert ours.select_worker(CARTPOLE).type_id == chosen


def test_worker_that_would_like_a_gpu_is_used_without_one_when_no_other_fits():
    ours = orchestrator(worker("greedy_worker", requires_gpu=True))
    assert ours.select_worker(CARTPOLE).type_id == "greedy_worker"


def test_algorithm_narrows_the_selection():
    ours = orchestrator(worker("a_worker"), worker("b_worker", "dqn", "ppo"))
    assert ours.select_worker(UnifiedRunConfig("CartPole-v1", algorithm="dqn")).type_id == "b_worker"
    teams = worker("teams_worker", "vdn", paradigm=SteppingParadigm.SIMULTANEOUS)
    with pytest.raises(UsageError, match="a_worker: it does not know algorithm 'vdn'"):
        orchestrator(teams).select_worker(UnifiedRunConfig("CartPole-v1", algorithm="vdn"))


def test_a_misspelt_algorithm_is_answered_once_with_the_nearest():
    ours = orchestrator(worker("a_worker"), worker("b_worker", "dqn", "ppo"))
    with pytest.raises(UnknownNameError) as refused:
        ours.select_worker(UnifiedRunConfig("CartPole-v1", algorithm="ppoo"))
    assert str(refused.value) == "unknown algorithm 'ppoo'. Did you mean 'ppo'?"


def test_no_fit_lists_every_reason():
    ours = orchestrator(worker("a_worker"), worker("play_worker", trains=False))
    with pytest.raises(
        UsageError, match=r"no worker trains on classic/chess_v6.*a_worker: .*SEQUENTIAL"
    ) as e:
        ours.select_worker(UnifiedRunConfig("chess_v6"))
    assert "play_worker" not in str(e.value)
    with pytest.raises(UsageError, match="No training worker is installed"):
        WorkerTypeRegistry.unregister("a_worker")
        ours.select_worker(CARTPOLE)


async def test_a_run_that_is_submitted_hands_the_dispatcher_what_was_chosen():
    class Dispatcher:
        async def submit(
            self, config: UnifiedRunConfig, *, title: str = "", priority: int = 0, resume_of: str = ""
        ) -> str:
            return f"{config.worker_type} {config.task} {title} {priority} {resume_of}"

    ours = orchestrator(worker("a_worker"), dispatcher=Dispatcher())
    given = {"title": "first", "priority": 2, "resume_of": "earlier"}
    assert await ours.submit_run(CARTPOLE, **given) == "a_worker CartPole-v1 first 2 earlier"


async def test_submitting_without_dispatcher_is_a_mistake_of_the_program():
    with pytest.raises(RuntimeError, match="without a dispatcher"):
        await orchestrator(worker("a_worker")).submit_run(CARTPOLE)
