"""Trainings that differ in their seed alone are found, wherever they lie, and told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.services.store import Store
from gym_gui.services.trainer.recovery import recover_runs
from gym_gui.services.trainer.trainer_messages import record_message, record_of
from gym_gui.services.trainer.training_folder import EPISODES, REQUEST
from gym_gui.services.trainer.training_records import record_from_data, record_to_data
from gym_gui.services.trainings.training_groups import TrainingGroups, group_of, is_group_folder, read_member
from gym_gui.services.trainings.training_scores import learning_curve, scores_of
from tests.support.groups import group, member


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data", tmp_path / "runs", tmp_path / "cache")


def test_trainings_of_both_places_are_one_group(store: Store) -> None:
    group(store.runs, [100.0, 120.0])
    member(store.data / "training" / "01RUN", 3, 80.0)
    member(store.runs / "dqn_CartPole-v1" / "seed1", 1, label="dqn")
    found = {each.name: each for each in TrainingGroups(store).all()}
    assert list(found) == ["dqn_CartPole-v1", "ppo_CartPole-v1"]
    assert found["ppo_CartPole-v1"].seeds == (1, 2, 3)
    assert [m.score for m in found["ppo_CartPole-v1"].members] == [100.0, 120.0, 80.0]
    # By its name, with or without its prefix, and by its folder.
    groups = TrainingGroups(store)
    assert groups.find("group:ppo_CartPole-v1") == groups.find("ppo_CartPole-v1")
    assert groups.find(store.runs / "dqn_CartPole-v1").label == "dqn"
    assert group_of(store.data / "training" / "01RUN") == "ppo_CartPole-v1"


def test_each_training_says_how_it_stands(store: Store, tmp_path: Path) -> None:
    place = store.runs / "ppo_CartPole-v1"
    member(place / "seed1", 1)
    member(place / "seed2", 2, state="failed")
    member(place / "seed3", 3, state="waiting")
    member(place / "seed4", 4, state="stopped", score=None)
    damaged = member(place / "seed5", 5)
    (damaged / "runner.json").write_text("{")
    found = TrainingGroups(store).find("ppo_CartPole-v1")
    assert [m.state for m in found.members] == ["completed", "failed", "waiting", "stopped", "damaged"]
    assert found.members[1].reason == "the return is not a finite number"
    scores = scores_of(found)
    assert dict(scores.scores) == {1: 100.0}
    assert [missing.seed for missing in scores.missing] == [2, 3, 4, 5]
    assert (scores.algorithm, scores.steps) == ("ppo", 1024)
    assert read_member(tmp_path) is None


def test_a_training_that_was_begun_again_counts_once(store: Store) -> None:
    member(store.data / "training" / "01", 1, state="failed")
    member(store.data / "training" / "02", 1, 90.0)
    (found,) = TrainingGroups(store).all()
    assert [(m.seed, m.score) for m in found.members] == [(1, 90.0)]


def test_other_settings_are_no_group(store: Store) -> None:
    place = store.runs / "ppo_CartPole-v1"
    member(place / "seed1", 1, gamma=0.9)
    member(place / "seed2", 2, gamma=0.99)
    with pytest.raises(UsageError, match=r"seed 2: gamma 0\.99 in place of 0\.9"):
        TrainingGroups(store).find("ppo_CartPole-v1")


def test_what_is_no_group_is_refused_by_name(store: Store, tmp_path: Path) -> None:
    group(store.runs, [1.0])
    with pytest.raises(UnknownNameError, match="ppo_CartPole-v1"):
        TrainingGroups(store).find("ppo_CartPole")
    both = tmp_path / "both"
    member(both / "a", 1)
    member(both / "b", 1, label="dqn")
    with pytest.raises(UsageError, match="contains several groups"):
        TrainingGroups(store).find(both)
    assert not is_group_folder(both / "a")
    lone = member(tmp_path / "lone", 1, label="")
    assert (group_of(lone), is_group_folder(tmp_path / "runs")) == ("", False)


def test_links_lead_to_no_training(store: Store, tmp_path: Path) -> None:
    elsewhere = member(tmp_path / "elsewhere", 1)
    place = store.runs / "ppo_CartPole-v1" / "seed1"
    place.mkdir(parents=True)
    (place / REQUEST).symlink_to(elsewhere / REQUEST)
    (store.runs / "seed2").symlink_to(elsewhere)
    (store.runs / "beside").symlink_to(tmp_path)
    assert TrainingGroups(store).all() == []


def test_episodes_that_came_again_take_the_place_of_the_earlier(tmp_path: Path) -> None:
    folder = member(tmp_path / "seed1", 1)
    rows = [(10, 1.0), (20, 2.0), (30, 3.0), (20, 9.0), (40, 4.0)]
    lines = [json.dumps({"step": step, "return": value}) for step, value in rows]
    lines += ['{"step": 50, "return": null}', "no json", '{"step": 60']
    (folder / EPISODES).write_text("\n".join(lines))
    curve = learning_curve(folder)
    assert list(curve.steps) == [10, 20, 20, 40]
    assert list(curve.returns) == [1.0, 2.0, 9.0, 4.0]


def test_a_run_that_is_found_again_is_of_its_group(store: Store) -> None:
    member(store.data / "training" / "01", 1)
    ((record, _),) = recover_runs(store.data / "training", (), "the registry was lost")
    assert record.group == "ppo"
    assert record_of(record_message(record)).group == "ppo"
    assert record_from_data(record_to_data(record)).group == "ppo"
