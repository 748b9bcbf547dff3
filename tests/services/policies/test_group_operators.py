"""An operator that names a group of trainings plays as each of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_gui.core.errors import ExperimentError, MosaicError
from gym_gui.core.experiment.named_training_groups import TrainingOf
from gym_gui.services.experiment_file import load_experiment, load_tournament
from tests.support.groups import group, member


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MOSAIC_RUNS_DIR", str(tmp_path / "runs"))
    group(tmp_path / "runs", [480.0, 500.0, 470.0])
    return tmp_path


def written(place: Path, checkpoint: str, **execution: object) -> Path:
    """An experiment with a group beside a random player."""
    slot = {"worker_id": "cleanrl_worker", "checkpoint": checkpoint}
    operators = [
        {"id": "ppo", "name": "PPO", "task": "CartPole-v1", "workers": {"agent": slot}},
        {"id": "random", "task": "CartPole-v1", "type": "random"},
    ]
    path = place / "experiment.json"
    path.write_text(json.dumps({"operators": operators, "execution": {"num_episodes": 10, **execution}}))
    return path


def test_each_training_is_an_operator_of_its_own(place: Path) -> None:
    experiment = load_experiment(written(place, "group:ppo_CartPole-v1"), allow_code=False)
    assert [o.operator_id for o in experiment.operators] == ["ppo_seed1", "ppo_seed2", "ppo_seed3", "random"]
    third = experiment.operators[2]
    assert (third.display_name, third.group) == ("PPO (seed 3)", TrainingOf("PPO", 3))
    checkpoint = third.workers["agent_0"].settings["checkpoint"]
    assert checkpoint == str(place / "runs/ppo_CartPole-v1/seed3")
    assert experiment.operators[3].group is None
    # As the run records it, it reads back the same, and asks for no group again.
    record = place / "again.json"
    record.write_text(json.dumps(experiment.to_record()))
    assert load_experiment(record, allow_code=False) == experiment


@pytest.mark.parametrize(
    ("checkpoint", "words"),
    [
        ("group:ppo_CartPole", "unknown group of trainings 'ppo_CartPole'. Did you mean 'ppo_CartPole-v1'"),
        ("group:half_CartPole-v1", "group half_CartPole-v1 is not complete: seed 2"),
        ("group:bare_CartPole-v1", "group bare_CartPole-v1: seed 2 no longer has a policy"),
    ],
)
def test_a_group_that_cannot_play_is_one_line(place: Path, checkpoint: str, words: str) -> None:
    member(place / "runs/half_CartPole-v1/seed1", 1, label="half")
    member(place / "runs/half_CartPole-v1/seed2", 2, label="half", state="failed")
    (group(place / "runs", [1.0, 2.0], "bare") / "seed2" / "policy.json").unlink()
    with pytest.raises(MosaicError) as refused:
        load_experiment(written(place, checkpoint), allow_code=False)
    assert words in str(refused.value)


def test_playing_until_it_is_decided_is_not_for_groups(place: Path) -> None:
    path = written(place, "group:ppo_CartPole-v1", num_episodes=20, seeds=0, until="decided")
    with pytest.raises(ExperimentError, match="'decided' compares single policies"):
        load_experiment(path, allow_code=False)


def pool(place: Path, **more: object) -> Path:
    """A tournament file whose pool has a group in it."""
    slot = {"worker_id": "cleanrl_worker", "checkpoint": "group:ppo_CartPole-v1"}
    policies = {"ppo": slot, "random": {"type": "random"}}
    path = place / "pool.json"
    path.write_text(json.dumps({"task": "tictactoe_v3", "policies": policies, **more}))
    return path


def test_each_training_of_a_group_is_a_policy_of_a_pool(place: Path) -> None:
    found = load_tournament(pool(place, held_out=["ppo"], schedule=[["ppo", "random"]]))
    members = [f"ppo_seed{seed}" for seed in (1, 2, 3)]
    assert list(found.policies) == [*members, "random"]
    third = found.policies["ppo_seed3"]
    assert third is not None and third.settings["checkpoint"] == str(place / "runs/ppo_CartPole-v1/seed3")  # pyright: ignore[reportAttributeAccessIssue]
    assert found.trainings == {name: TrainingOf("ppo", seed) for seed, name in enumerate(members, 1)}
    assert found.held_out == tuple(members)
    assert found.schedule.games == tuple((name, "random") for name in members)
    record = place / "again.json"
    record.write_text(json.dumps(found.to_record()))
    assert load_tournament(record) == found


def test_a_group_alone_is_a_pool_of_its_trainings(place: Path) -> None:
    slot = {"worker_id": "cleanrl_worker", "checkpoint": "group:ppo_CartPole-v1"}
    assert len(load_tournament(pool(place, policies={"ppo": slot})).policies) == 3
    with pytest.raises(ExperimentError, match="'ppo_seed1' has the name of a training of 'ppo'"):
        load_tournament(pool(place, policies={"ppo": slot, "ppo_seed1": {"type": "random"}}))
