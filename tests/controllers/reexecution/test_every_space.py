"""Every Gymnasium space, both ways through a real worker process and back out of the record."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import orjson
import pytest
from gymnasium import spaces

from gym_gui.analysis import open_run
from gym_gui.controllers.reexecution.verification import verify
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.execution import RecordConfig
from tests.support.engine import record_run

SPACES: dict[str, spaces.Space[Any]] = {
    "box": spaces.Box(-1, 1, (2, 3), np.float16),
    "number": spaces.Box(0, 1, (), np.float64),
    "unbounded": spaces.Box(-np.inf, np.inf, (2,), np.float32),
    "pixels": spaces.Box(0, 255, (4, 4, 3), np.uint8),
    "long": spaces.Box(-(2**62), 2**62, (2,), np.int64),
    "discrete": spaces.Discrete(5, start=-2),
    "multi_discrete": spaces.MultiDiscrete(np.array([[2, 3], [4, 5]])),
    "multi_binary": spaces.MultiBinary((2, 2)),
    "text": spaces.Text(8, charset="abcé"),
    "sequence": spaces.Sequence(spaces.Dict({"x": spaces.Discrete(3), "s": spaces.Text(3)})),
    "stacked": spaces.Sequence(spaces.Box(0, 1, (2,)), stack=True),
    "graph": spaces.Graph(spaces.Box(0, 1, (3,)), spaces.Discrete(4)),
    "nodes": spaces.Graph(spaces.Discrete(3), None),
    "one_of": spaces.OneOf((spaces.Discrete(3), spaces.Box(0, 1, (2,)), spaces.Text(4))),
    "tuple": spaces.Tuple((spaces.Discrete(2), spaces.Box(0, 1, (), np.float64))),
}


class Gallery(gym.Env[Any, Any]):
    """Shows a sample of a space, and insists on being answered with a member of it.

    Args:
        name: Of a space in :data:`SPACES`; ``all`` is a mapping of them all.
    """

    def __init__(self, name: str) -> None:
        # A copy: a space draws its samples from a generator of its own.
        space = deepcopy(spaces.Dict(SPACES) if name == "all" else SPACES[name])
        self.observation_space = self.action_space = space
        self._left = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.observation_space.seed(seed)
        self._left = 4
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action):
            raise ValueError(f"{action!r} is not in {self.action_space}")
        self._left -= 1
        return self.observation_space.sample(), 1.0, self._left == 0, False, {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    operators = [
        OperatorConfig(
            name,
            task="tests.controllers.reexecution.test_every_space:Gallery",
            workers={"agent_0": WorkerAssignment(worker_type="random")},
            env_kwargs={"name": name},
        )
        for name in ("all", "text", "graph", "one_of", "sequence", "number")
    ]
    out: Path = tmp_path_factory.mktemp("spaces")
    played = ((operator, {}) for operator in operators)
    return asyncio.run(record_run(out, *played, record=RecordConfig(observations=True)))


async def test_random_acts_in_every_space_and_the_record_plays_it_again(folder: Path) -> None:
    run = open_run(folder)
    episodes = [episode for operator in run.operators.values() for episode in operator.episodes()]
    assert len(episodes) == 18
    assert [episode.error for episode in episodes if episode.status != "completed"] == []
    result = await verify(run)
    assert result.divergences == [] and result.decisions == 18 * 4


def test_the_record_is_strict_json(folder: Path) -> None:
    lines = [line for path in folder.rglob("*.jsonl") for line in path.read_bytes().splitlines()]
    assert len(lines) == 18 * 5
    rows = [orjson.loads(line) for line in lines]  # orjson refuses NaN and Infinity
    assert sum("observation" in row for row in rows) == 18 * 4
