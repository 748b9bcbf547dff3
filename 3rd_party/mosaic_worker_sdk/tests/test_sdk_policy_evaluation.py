"""A worker's own policies at play: in the environment each is for, by the masks there are, on film."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mosaic_worker.checkpoint import PolicyDescription, PolicyPart
from mosaic_worker.learning.evaluation import EVALUATION_SEEDS
from mosaic_worker.learning.film import CannotFilm
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation, mask_in_info
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.playing.checkpoint_worker import Choices
from mosaic_worker.playing.joint_policy import JointPolicy
from mosaic_worker.spaces import Space


class Three:
    """Three steps, which pay what is played; the last allows action 0 alone."""

    spec = None

    def reset(self, seed: int) -> tuple[Any, dict[str, Any]]:
        self.left = 3
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        info = {"action_mask": [1, 0, 0]} if self.left == 1 else {}
        return np.zeros(1, np.float32), float(action), self.left == 0, False, info

    def render(self) -> Any:
        return np.full((4, 6, 3), 80 * self.left, np.uint8)

    def close(self) -> None: ...


class Counting:
    """Plays how often it was asked in this episode, or the last legal action below that."""

    memory = 1

    def __init__(self, description: Any) -> None:
        self.description = description
        self.played: list[int] = []

    def choose(self, observations: Any, masks: Any = None, draws: Any = None, memory: Any = None) -> Choices:
        before = np.zeros((len(observations), 1), np.float32) if memory is None else memory
        actions = before[:, 0].astype(int)
        if masks is not None:
            actions = np.array([np.flatnonzero(m[: a + 1])[-1] for m, a in zip(masks, actions)])
        self.played += actions.tolist()
        return Choices(actions, None, np.ones(len(actions), bool), before + 1)


def test_a_mask_is_told_in_the_info_or_every_action_is_legal() -> None:
    assert mask_in_info(None, {}) is None
    mask = mask_in_info(None, {"action_mask": [0, 1]})
    assert mask is not None and mask.dtype == bool and mask.tolist() == [False, True]


def test_who_is_of_one_agent_plays_in_what_it_was_trained_for() -> None:
    made: list[Any] = []

    def make(*asked: Any) -> Three:
        made.append(asked)
        return Three()

    policy = Counting(SimpleNamespace(preprocessing=("flatten",)))
    policies = PolicyEvaluation(make)
    assert policies.episode_returns(policy, "E", [1, 2]) == [1.0, 1.0], "0, 1, and the one that is legal"
    assert made == [("E", ("flatten",), None)] * 2
    assert policies.mean_return(policy, "E") == 1.0
    assert len(made) == 2 + len(EVALUATION_SEEDS)
    endless = PolicyEvaluation(make, mask_of=lambda *_: None, max_steps=2)
    assert endless.episode_returns(policy, "E", [1]) == [1.0], "cut off before its third step"


def test_a_team_plays_in_what_has_all_its_agents() -> None:
    steps = {"a": ({"step": "flatten"},), "b": ()}
    box, two = Space("Box", "float32", (1,)), Space("Discrete", "int64", n=2)
    parts = [PolicyPart((agent,), box, two, {}, steps[agent], weights=agent) for agent in steps]
    about = PolicyDescription.joint(parts, worker="w", algorithm="x", env_id="E")
    made: list[Any] = []
    policies = PolicyEvaluation(lambda *_: pytest.fail("one agent"), lambda *asked: made.append(asked))
    team = JointPolicy(about, lambda part: Counting(part))
    policies.environment_of(team, "E", "rgb_array")
    assert made == [("E", steps, "rgb_array")]


def test_a_film_shows_what_it_plays_by_masks_and_memory(tmp_path: Path) -> None:
    policy = Counting(SimpleNamespace(preprocessing=()))
    file = PolicyEvaluation(lambda *_: Three()).film(policy, "E", tmp_path, 7, 1)
    assert file.parent == tmp_path / "videos" and file.stem == "step-000000007"
    assert policy.played == [0, 1, 0]


def test_what_cannot_be_made_cannot_be_filmed(tmp_path: Path) -> None:
    def make(*_: Any) -> Any:
        raise ConfigError("there is none")

    policy = Counting(SimpleNamespace(preprocessing=()))
    with pytest.raises(CannotFilm, match="there is none"):
        PolicyEvaluation(make).film(policy, "E", tmp_path, 7, 1)
