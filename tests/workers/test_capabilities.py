"""Capabilities compare words; they limit training, not playing."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.core.enums import SteppingParadigm
from gym_gui.workers.capabilities import WorkerCapabilities, action_kind, observation_kinds

RLLIB = WorkerCapabilities(
    worker_type="rllib",
    paradigm=SteppingParadigm.SIMULTANEOUS,
    supported_paradigms=[SteppingParadigm.SINGLE_AGENT, SteppingParadigm.SIMULTANEOUS],
    env_types=["gymnasium", "rllib_multi_agent"],
    action_spaces=["discrete", "continuous", "multi_discrete"],
    observation_spaces=["box", "dict"],
    max_agents=100,
    supports_self_play=True,
    supports_population=True,
    requires_gpu=True,
    gpu_memory_mb=4096,
    cpu_cores=8,
)


def test_lists_become_tuples_so_that_nobody_changes_them():
    assert RLLIB.env_types == ("gymnasium", "rllib_multi_agent")
    assert hash(RLLIB) == hash(RLLIB)


def test_primary_paradigm_is_supported_by_default():
    assert WorkerCapabilities("x").supported_paradigms == (SteppingParadigm.SINGLE_AGENT,)


@pytest.mark.parametrize(
    "wrong",
    [
        {"paradigm": SteppingParadigm.SEQUENTIAL, "supported_paradigms": [SteppingParadigm.SINGLE_AGENT]},
        {"max_agents": 0},
        {"cpu_cores": -1},
        {"gpu_memory_mb": -1},
    ],
)
def test_nonsense_is_refused(wrong: dict[str, object]):
    with pytest.raises(ValueError):
        WorkerCapabilities("x", **wrong)  # type: ignore[arg-type]


def test_what_is_not_asked_is_not_compared():
    assert RLLIB.incompatibilities() == []
    assert (
        RLLIB.incompatibilities(paradigm=SteppingParadigm.SIMULTANEOUS, env_type="gymnasium", agents=100)
        == []
    )


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"paradigm": SteppingParadigm.SEQUENTIAL}, "steps SEQUENTIAL, the worker supports SINGLE_AGENT"),
        ({"env_type": "pettingzoo"}, "environment type is pettingzoo"),
        ({"action_space": "text"}, "action space is text"),
        ({"observation_space": "image"}, "observation space is image"),
        ({"agents": 101}, "101 agents, the worker trains at most 100"),
    ],
)
def test_each_mismatch_is_a_sentence(asked: dict[str, object], words: str):
    (sentence,) = RLLIB.incompatibilities(**asked)  # type: ignore[arg-type]
    assert words in sentence


def test_any_matches_everything():
    anything = WorkerCapabilities("x", env_types=["any"], action_spaces=["any"], observation_spaces=["any"])
    assert anything.incompatibilities(env_type="mars", action_space="graph", observation_space="text") == []


class OddSpace(gym.Space):  # type: ignore[type-arg]
    """A space of an unknown kind."""


class Named(gym.spaces.Discrete):
    """A subclass is what its base is."""


class Missions(gym.spaces.MultiDiscrete):
    """Unless it holds other values than its base, as MultiGrid's missions do."""

    def contains(self, x: object) -> bool:
        return isinstance(x, str)


@pytest.mark.parametrize(
    ("space", "action", "observation"),
    [
        (gym.spaces.Discrete(3), "discrete", ("discrete",)),
        (Named(3), "discrete", ("discrete",)),
        (gym.spaces.Box(-1, 1, (2,)), "continuous", ("box",)),
        (gym.spaces.Box(0, 255, (8, 8, 3), np.uint8), "continuous", ("image", "box")),
        (gym.spaces.Box(0, 255, (3, 8, 8), np.uint8), "continuous", ("box",)),
        (gym.spaces.MultiDiscrete([2, 3]), "multi_discrete", ("multi_discrete",)),
        (gym.spaces.MultiBinary(4), "multi_binary", ("multi_binary",)),
        (gym.spaces.Dict(a=gym.spaces.Discrete(2)), "dict", ("dict",)),
        (gym.spaces.Tuple([gym.spaces.Discrete(2)]), "tuple", ("tuple",)),
        (gym.spaces.Text(5), "text", ("text",)),
        (gym.spaces.Sequence(gym.spaces.Discrete(2)), "sequence", ("sequence",)),
        (Missions([2, 3]), "custom", ("custom",)),
        (OddSpace(), "custom", ("custom",)),
    ],
)
def test_spaces_have_names(space: object, action: str, observation: tuple[str, ...]):
    assert action_kind(space) == action
    assert observation_kinds(space) == observation
