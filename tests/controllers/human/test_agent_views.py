"""What an agent sees, shown to people who watch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.controllers.engine.resolved_operator import make_environment
from gym_gui.controllers.human.agent_views import observation_of
from gym_gui.core.drawing.packed_picture import unpack
from gym_gui.core.spaces import to_space
from gym_gui.core.types import Decision
from gym_gui.envs import Environment
from gym_gui.workers.observation_streams import PreprocessedObservation
from tests.controllers.engine.test_resolved_operator import operator


@pytest.fixture
def environment() -> Iterator[Environment]:
    made = make_environment(operator("CartPole-v1"))
    yield made
    made.close()


def question(observation: Any, mask: Any = None) -> Decision:
    return Decision(1, 0, 4, "agent_0", "agent_0", 0, observation, (), mask)


def box(shape: tuple[int, ...], high: float = 255, dtype: Any = np.uint8) -> gym.spaces.Box:
    return gym.spaces.Box(0, high, shape, dtype)


@pytest.mark.parametrize(
    ("space", "shape"),
    [
        (box((84, 60, 3)), (84, 60, 3)),  # colors last, as Gymnasium's
        (box((3, 84, 60)), (84, 60, 3)),  # colors first, as networks'
        (box((84, 60)), (84, 60, 3)),  # grey
        (box((4, 84, 60)), (84, 4 * 60 + 3 * 4, 3)),  # a stack of grey frames, side by side
        (box((2, 84, 60, 3)), (84, 2 * 60 + 4, 3)),  # of colored ones
        (box((84, 60), 1.0, np.float32), (84, 60, 3)),  # numbers between 0 and 1
        (gym.spaces.Dict({"at": box((2,)), "eyes": box((30, 30))}), (30, 30, 3)),  # among others
    ],
)
def test_an_observation_that_is_a_picture_is_shown_as_the_policy_gets_it(
    environment: Environment, space: gym.Space[Any], shape: tuple[int, ...]
) -> None:
    fed = PreprocessedObservation(to_space(space), space.sample(), "resize")
    observed = observation_of(environment, question(np.zeros(4, np.float32)), fed=fed)
    assert observed.picture is not None and observed.caption == "Observed picture"
    picture = unpack(observed.picture)
    assert picture.shape == shape and picture.dtype == np.uint8 and picture.max() > 128
    assert observed.preprocessing == "resize" and observed.step == 4


def test_numbers_are_told_in_words_and_what_is_legal_where_not_all_is(environment: Environment) -> None:
    observed = observation_of(environment, question(np.array([0.5, 0, 0, 0], np.float32), np.array([0, 1])))
    assert "0.5" in observed.text and len(observed.legal) == 1 and "right" in observed.legal[0]
    assert observed.picture is None  # the whole is what it sees, and stands beside it
