"""Training in the foreground: checked before it is launched, heard while it runs, stopped whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.errors import MissingDependencyError, UnknownNameError, UsageError
from gym_gui.services.trainer import TrainingFailedError, TrainProgress, TrainRequest, carry_out, train
from gym_gui.services.trainer.foreground import resumed
from gym_gui.services.trainer.request import SavedRequest
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.training import search_request, search_trainer

ROOT = Path(__file__).resolve().parents[3]
ENDLESS = {"total_steps": 10**9}


@pytest.fixture
def worker(tmp_path: Path) -> WorkerTypeDefinition:
    folder = tmp_path / "worker"
    folder.mkdir()
    return search_trainer(folder)


def once(action: Callable[[], None], times: int = 1) -> Callable[[TrainProgress], None]:
    """What is done at the first progress of a training that has begun to learn."""
    left = [action] * times

    def on_progress(progress: TrainProgress) -> None:
        if progress.step and left:
            left.pop()()

    return on_progress


def interrupt() -> None:
    raise KeyboardInterrupt


def test_a_training_is_heard_and_its_policy_kept(worker: WorkerTypeDefinition, tmp_path: Path) -> None:
    heard: list[TrainProgress] = []
    with WorkerTypeRegistry.isolated() as registry:
        registry.register(worker)
        result = train(
            "search_trainer",
            algo="Search",
            env="CartPole-v1",
            out=tmp_path / "p",
            settings={"total_steps": 800},
            on_progress=heard.append,
        )
    assert (result.status, result.out) == ("completed", tmp_path / "p")
    assert result.step >= 800
    assert (heard[0].step, heard[0].total_steps, heard[0].mean_return) == (0, 800, None)
    assert (heard[-1].step, heard[-1].paused) == (result.step, False)
    assert heard[-1].episodes > 0
    assert (result.out / "policy.json").is_file()


def test_ctrl_c_keeps_what_was_learnt(worker: WorkerTypeDefinition, tmp_path: Path) -> None:
    request = search_request(worker, tmp_path / "p", **ENDLESS)
    result = carry_out(request, on_progress=once(interrupt))
    assert result.status == "stopped"
    assert result.step > 0
    assert (tmp_path / "p" / "policy.json").is_file()


def test_a_second_ctrl_c_kills_and_the_last_checkpoint_stays(
    worker: WorkerTypeDefinition, tmp_path: Path
) -> None:
    kept = tmp_path / "p" / "policy.json"
    asked: list[bool] = []

    def on_progress(progress: TrainProgress) -> None:
        if kept.exists() and len(asked) < 2:
            asked.append(True)
            interrupt()

    request = search_request(worker, tmp_path / "p", **ENDLESS, step_s=0.01)
    result = carry_out(request, on_progress=on_progress)
    assert result.status == "stopped"
    assert len(asked) == 2


def test_one_that_is_stopped_before_it_kept_anything_has_failed(
    worker: WorkerTypeDefinition, tmp_path: Path
) -> None:
    def on_progress(progress: TrainProgress) -> None:
        interrupt()

    request = search_request(worker, tmp_path / "p", **ENDLESS, step_s=1)
    with pytest.raises(TrainingFailedError, match=r"failed: did not stop within 0\.2 s"):
        carry_out(request, on_progress=on_progress, grace_s=0.2)


@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        (
            {"algo": "serch"},
            UnknownNameError,
            "unknown algorithm of search_trainer 'serch'. Did you mean 'search'",
        ),
        ({"env": "CartPool-v1"}, UnknownNameError, "CartPole-v1"),
        ({"env": "chess_v6"}, UsageError, "cannot train in .*chess_v6: the environment steps SEQUENTIAL"),
        ({"seed": -1}, UsageError, "must not be negative"),
        ({"extra": ["--env_id=X"]}, UsageError, "--env_id=X is not passed on.*once, as --env"),
        ({"extra": ["--no-resume"]}, UsageError, "--no-resume is not passed on.*once, as --resume"),
        ({"settings": {"out": "x"}}, UsageError, "out is not passed on.*once, as --out"),
        ({"settings": {"spred": 1}}, UnknownNameError, "Did you mean 'spread'"),
        ({"settings": {"spread": 0}}, UsageError, "spread must be a number, more than 0, not 0"),
        (
            {"action": "continuous"},
            UsageError,
            "Random search: it learns discrete actions, but here they are",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused_before_launch(
    worker: WorkerTypeDefinition,
    tmp_path: Path,
    request_: dict[str, Any],
    error: type[Exception],
    words: str,
) -> None:
    with pytest.raises(error, match=words):
        TrainRequest.checked(
            worker, **{"algo": "search", "env": "CartPole-v1", "out": tmp_path / "p", **request_}
        )
    assert not (tmp_path / "p").exists()


def test_what_the_worker_refuses_can_be_fixed_too(worker: WorkerTypeDefinition, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="search learns discrete actions, and those of Pendulum-v1 are not"
    ) as e:
        train(worker, algo="search", env="Pendulum-v1", out=tmp_path / "p")
    assert "\n" not in str(e.value)
    assert not (tmp_path / "p").exists()


def test_a_failure_is_told_with_what_is_left(worker: WorkerTypeDefinition, tmp_path: Path) -> None:
    request = search_request(worker, tmp_path / "p", **ENDLESS, fault="nan", step_s=0.004)
    with pytest.raises(
        TrainingFailedError, match=r"CartPole-v1 failed: the return .* Its last checkpoint is in"
    ):
        carry_out(request)


def test_a_worker_that_does_not_train_or_is_not_installed(
    worker: WorkerTypeDefinition, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="does not train"):
        train(replace(worker, train=None), algo="search", env="CartPole-v1", out=tmp_path / "p")
    lacking = replace(worker, pip_dependencies=("no-such-thing",))
    with pytest.raises(
        MissingDependencyError, match=r"\(no-such-thing\) is not installed. Run: mosaic workers install"
    ):
        train(lacking, algo="search", env="CartPole-v1", out=tmp_path / "p")
    assert not (tmp_path / "p").exists()


def test_a_worker_without_a_schema_judges_by_itself(worker: WorkerTypeDefinition, tmp_path: Path) -> None:
    assert worker.train is not None
    bare = replace(worker, train=replace(worker.train, schema=None))
    request = TrainRequest.checked(
        bare,
        algo="search",
        env="CartPole-v1",
        out=tmp_path / "p",
        settings={"spread": 2.0},
        extra=["--total-steps", "300"],
    )
    assert request.arguments()[-3:] == ["--spread=2.0", "--total-steps", "300"]
    assert carry_out(request).status == "completed"
    wrong = replace(request, out=tmp_path / "q", extra=("--no-such-flag",))
    with pytest.raises(UsageError, match="unrecognized arguments: --no-such-flag"):
        carry_out(wrong)


def test_a_training_goes_on_as_its_folder_says(worker: WorkerTypeDefinition, tmp_path: Path) -> None:
    first = carry_out(search_request(worker, tmp_path / "p", spread=0.5, seed=4, title="Mine"))
    with WorkerTypeRegistry.isolated() as registry:
        registry.register(worker)
        request = resumed(tmp_path / "p", {"total_steps": "2000"}, registry)
        assert (request.seed, request.title, request.resume) == (4, "Mine", True)
        assert request.settings == {"spread": 0.5, "total_steps": 2000}
        heard: list[TrainProgress] = []
        result = carry_out(request, on_progress=heard.append)
    assert heard[0].step == first.step
    assert result.step >= 2000
    assert SavedRequest.read(tmp_path / "p").settings["total_steps"] == 2000


def test_a_change_that_is_refused_leaves_what_was_asked_for_before(
    worker: WorkerTypeDefinition, tmp_path: Path
) -> None:
    carry_out(search_request(worker, tmp_path / "p", spread=0.5))
    with WorkerTypeRegistry.isolated() as registry:
        registry.register(worker)
        with pytest.raises(UsageError, match=r"spread was 0\.5 and stays so"):
            carry_out(resumed(tmp_path / "p", {"spread": "2", "total_steps": "2000"}, registry))
        assert SavedRequest.read(tmp_path / "p").given == {"spread": 0.5}
        assert carry_out(resumed(tmp_path / "p", {"total_steps": "2000"}, registry)).step >= 2000


def test_what_was_trained_by_hand_is_known_by_its_policy(tmp_path: Path) -> None:
    kept = SavedRequest.read(ROOT / "docs/examples/checkpoints/ppo_cartpole")
    assert (kept.worker, kept.algorithm, kept.env_id, kept.given) == (
        "cleanrl_worker",
        "ppo",
        "CartPole-v1",
        {},
    )
    (tmp_path / "policy.json").write_text("{")
    with pytest.raises(UsageError, match=r"policy\.json cannot be used"):
        SavedRequest.read(tmp_path)


def test_a_folder_that_says_nothing_usable(worker: WorkerTypeDefinition, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not the run folder of a training"):
        resumed(tmp_path / "nowhere", {}, WorkerTypeRegistry)
    request = search_request(worker, tmp_path / "p")
    carry_out(request)
    path = tmp_path / "p" / "train.json"
    for content, words in (
        (path.read_text()[:-9], r"train\.json: is damaged or was cut off"),
        ('{"run_id": "x"}', r"train\.json is damaged: 'worker' is missing"),
    ):
        path.write_text(content)
        with pytest.raises(UsageError, match=words):
            resumed(tmp_path / "p", {}, WorkerTypeRegistry)
