"""The recurrent PPO remembers, and what it remembers belongs to its episode alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import probes  # noqa: F401  # registers the environments
import pytest
import trainings

from cleanrl_worker.environments import EVALUATION
from cleanrl_worker.main import CleanRLWorker
from cleanrl_worker.policy import Policy
from cleanrl_worker.train import main
from mosaic_worker.worker import Actions, Batch, EpisodeEnd, EpisodeStart, Slot

SETTINGS = [
    "--num-envs=16", "--num-steps=24", "--hidden", "16", "--lstm-size=16", "--learning-rate=5e-3",
]  # fmt: skip


_KEPT: list[Path] = []


@pytest.fixture
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that was trained once for all tests here."""
    if _KEPT:
        return _KEPT[0]
    out = tmp_path_factory.mktemp("lstm")
    args = ["--algo=ppo_lstm", "--env-id=Recall-v0", f"--out={out}", "--total-steps=6144", *SETTINGS]
    assert main(args) == 0
    _KEPT.append(out)
    return out


def test_what_was_seen_three_steps_ago_decides(remembering: Path) -> None:
    policy = Policy.load(remembering)
    assert policy.memory == 32
    assert np.mean(EVALUATION.episode_returns(policy, "Recall-v0", range(40))) == 1.0


@pytest.mark.full
def test_one_seed_gives_equal_bits() -> None:
    settings = {"env_id": "Recall-v0", "num_envs": 4, "num_steps": 8, "total_steps": 320, "hidden": (8,)}
    first, second = (trainings.learn("ppo_lstm", settings).model.state_dict() for _ in range(2))
    assert all((first[name] == second[name]).all() for name in first)


def slot_of(folder: Path, deterministic: bool | None) -> Slot:
    description = Policy.load(folder).description
    return Slot(
        0, "agent_0", "Recall-v0", description.shown_space, description.action_space,
        {"checkpoint": str(folder)}, deterministic=deterministic,
    )  # fmt: skip


def ask(worker: CleanRLWorker, slot: Slot, step: int, episodes: Any, seen: Any, attempt: int = 0) -> Actions:
    numbers = [int(e) for e in episodes]
    return worker.select_actions(
        Batch(
            slot,
            numbers,
            numbers,
            [step] * len(numbers),
            np.array(numbers, np.uint64),
            seen[step][episodes],
            attempts=[attempt] * len(numbers),
        )
    )


@pytest.mark.parametrize("deterministic", [None, False])
def test_any_make_up_of_batches_gives_equal_bits(remembering: Path, deterministic: bool | None) -> None:
    slot, count, steps = slot_of(remembering, deterministic), 150, 4
    rng = np.random.default_rng(3)
    seen = rng.normal(size=(steps, count, 1)).astype(np.float32)
    everyone = np.arange(count)

    def play(worker: CleanRLWorker, largest: int) -> list[Any]:
        worker.load(slot)
        worker.reset(slot, [EpisodeStart(int(e), int(e)) for e in everyone])
        told: list[Any] = []
        for step in range(steps):
            actions, values = np.zeros(count, np.int64), np.zeros(count)
            order = rng.permutation(count)
            for begin in range(0, count, largest):
                part = order[begin : begin + largest]
                answer = ask(worker, slot, step, part, seen)
                if begin == 0:  # who is asked again answers the same
                    again = ask(worker, slot, step, part, seen, attempt=1)
                    np.testing.assert_array_equal(again.actions, answer.actions)
                actions[part], values[part] = answer.actions, answer.values
            told += [actions, values.tobytes()]
        return told

    whole = play(CleanRLWorker(), count)
    for largest in (1, 7, 64):
        for one, other in zip(play(CleanRLWorker(), largest), whole, strict=True):
            np.testing.assert_array_equal(one, other)


def test_an_episode_that_begins_has_forgotten_the_one_before(remembering: Path) -> None:
    slot, worker = slot_of(remembering, None), CleanRLWorker()
    worker.load(slot)
    seen = np.array([[[1.0]], [[0.0]], [[0.0]]], np.float32)
    first = [ask(worker, slot, step, np.array([0]), seen).values[0] for step in range(3)]
    worker.on_episode_end(slot, [EpisodeEnd(0, 1.0, 3, "completed")])
    assert ask(worker, slot, 2, np.array([0]), seen).values[0] != first[2]
    worker.on_episode_end(slot, [EpisodeEnd(0, 1.0, 1, "completed")])
    assert [ask(worker, slot, step, np.array([0]), seen).values[0] for step in range(3)] == first
    worker.reset(slot, [EpisodeStart(0, 0)])
    assert ask(worker, slot, 2, np.array([0]), seen).values[0] != first[2]


def test_a_decision_that_came_to_nothing_is_not_remembered(remembering: Path) -> None:
    slot, worker, other = slot_of(remembering, None), CleanRLWorker(), CleanRLWorker()
    seen = np.array([[[1.0]], [[np.nan]], [[0.0]]], np.float32)
    for each in (worker, other):
        each.load(slot)
        ask(each, slot, 0, np.array([0]), seen)
    ask(worker, slot, 1, np.array([0]), seen)
    after, expected = (ask(each, slot, 2, np.array([0]), seen) for each in (worker, other))
    assert after.values[0] == expected.values[0]


def test_learning_remembers_what_playing_remembered() -> None:
    """Played again before any gradient step, every action has the probability it was drawn with."""
    settings = {
        "env_id": "TwoSteps-v0", "num_envs": 4, "num_steps": 7, "total_steps": 28 * 4, "num_minibatches": 1,
        "update_epochs": 1, "learning_rate": 0.5, "anneal_lr": False, "frame_stack": 2,
    }  # fmt: skip
    told = trainings.learn("ppo_lstm", settings).told
    assert len(told) == 4
    assert all(abs(values["losses/approx_kl"]) < 1e-6 for _, values in told)
    assert all(values["losses/clip_fraction"] == 0.0 for _, values in told)
