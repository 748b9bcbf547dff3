"""Where plans go, in the picture: only where it is asked for, only what can be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.errors import MissingDependencyError
from gym_gui.envs.environment import Environment

pytest.importorskip("mujoco")
WAY = [[0.0, 0.0, 1.2], [0.3, 0.0, 1.3], [0.6, 0.0, 1.1]]


@pytest.fixture
def hopper() -> Any:
    try:
        made = envs.make("Hopper-v5", render_mode="rgb_array")
    except MissingDependencyError as error:
        pytest.skip(str(error))
    made.adapter.reset(seed=0)
    yield made
    made.close()


def pixels(environment: Environment, *plans: Any) -> Any:
    picture = environment.picture(plans)
    assert picture is not None
    return np.asarray(picture).astype(int)


def test_a_plan_is_a_line_in_one_picture(hopper: Environment) -> None:
    plain = pixels(hopper)
    drawn = pixels(hopper, WAY)
    changed = (drawn != plain).any(-1)
    assert 100 < changed.sum() < 0.05 * changed.size
    red, _, blue = drawn[changed].mean(0)
    assert red > blue, "it is of its own colour"
    np.testing.assert_array_equal(pixels(hopper), plain)


def test_what_is_no_way_is_not_drawn(hopper: Environment) -> None:
    plain = pixels(hopper)
    for nothing in ([], [[1.0, 2.0]], [[1, 2, 3], [4]], ["no"], [[float("nan"), 0, 0]] * 2):
        np.testing.assert_array_equal(pixels(hopper, nothing), plain, err_msg=str(nothing))


def test_where_the_family_draws_no_plans_the_picture_is_as_it_was() -> None:
    environment = envs.make("CartPole-v1", render_mode="rgb_array")
    environment.adapter.reset(seed=0)
    np.testing.assert_array_equal(pixels(environment, WAY), pixels(environment))
    environment.close()


def test_a_record_with_endless_plans_leaves_the_picture_as_it_is(hopper: Environment) -> None:
    plain = pixels(hopper)
    assert (pixels(hopper, *[[[i / 50, 0.0, 1.2] for i in range(5000)]] * 50) != plain).any()
    np.testing.assert_array_equal(pixels(hopper), plain)
    np.testing.assert_array_equal(pixels(hopper, {"a": 1}), plain)  # type: ignore[arg-type]
