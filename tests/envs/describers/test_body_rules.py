"""What is said of rewards in MuJoCo, against what they pay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.types import StepResult

pytest.importorskip("mujoco")
AGENT = "agent_0"


@pytest.mark.parametrize("weights", [(1.0, 0.1), (2.5, 0.4)])
def test_a_step_of_the_cheetah_pays_what_is_told(weights: tuple[float, float]) -> None:
    forward, force = weights
    environment = envs.make(
        "HalfCheetah-v5", env_kwargs={"forward_reward_weight": forward, "ctrl_cost_weight": force}
    )
    said = environment.describer(AGENT).game(AGENT)
    environment.adapter.reset(seed=1)
    action = np.array([0.5, -1.0, 0.0, 0.2, 0.0, 0.0], np.float32)
    step = environment.adapter.step({AGENT: action})
    speed = step.infos[AGENT]["x_velocity"]
    assert step.rewards[AGENT] == pytest.approx(forward * speed - force * float(np.sum(action**2)), abs=1e-4)
    assert f"pays {forward:g} x the speed along the x-axis and costs {force:g} x the squares" in said
    environment.close()


def test_what_a_hopper_is_paid_for_standing_is_told() -> None:
    environment = envs.make("Hopper-v5", env_kwargs={"healthy_reward": 3.0})
    assert "Every step that the game goes on pays 3." in environment.describer(AGENT).game(AGENT)
    environment.close()


def told(environment: envs.Environment, before: str, after: str = "") -> float:
    """The number that is told between two texts."""
    said = environment.describer(AGENT).briefing(AGENT)
    found = re.search(f"{re.escape(before)}([-+.e0-9]+?){re.escape(after)}", said)
    assert found, said
    return float(found[1])


@contextmanager
def played(
    task: str, **env_kwargs: float
) -> Iterator[tuple[envs.Environment, Callable[[float], StepResult]]]:
    """An environment and steps in it whose action is one number again and again."""
    environment = envs.make(task, env_kwargs=env_kwargs)
    environment.adapter.reset(seed=1)
    space = environment.adapter.action_space(AGENT)

    def step(size: float) -> StepResult:
        action = np.full(space.shape, size * float(space.high[0]), np.float32)
        return environment.adapter.step({AGENT: action})

    yield environment, step
    environment.close()


@pytest.mark.parametrize(
    ("task", "weights"),
    [
        ("HumanoidStandup-v4", {}),
        ("HumanoidStandup-v5", {}),
        ("HumanoidStandup-v5", {"ctrl_cost_weight": 3.0, "impact_cost_weight": 0.5, "frame_skip": 2}),
    ],
)
def test_a_step_of_standing_up_pays_what_is_told(task: str, weights: dict[str, float]) -> None:
    with played(task, **weights) as (environment, step):
        for size in (0.3, -1.0, 0.0, 1.0):
            result, data = step(size), environment.env.data
            touch = (
                told(environment, " and ", " x those of forces from outside") * np.square(data.cfrc_ext).sum()
            )
            paid = 1 + data.qpos[2] / told(environment, "in metres divided by ", " and costs")
            paid -= told(environment, "costs ", " x the squares of the forces") * np.square(data.ctrl).sum()
            paid -= min(touch, told(environment, "(at most ", " in all)"))
            assert result.rewards[AGENT] == pytest.approx(paid, rel=1e-6)


@pytest.mark.parametrize(
    ("task", "weights"),
    [("InvertedDoublePendulum-v4", {}), ("InvertedDoublePendulum-v5", {"healthy_reward": 7.0})],
)
def test_a_step_of_two_poles_pays_what_is_told_until_they_are_down(
    task: str, weights: dict[str, float]
) -> None:
    with played(task, **weights) as (environment, step):
        over, lows = False, list[float]()
        while not over:
            result, data = step(1.0), environment.env.data
            over = result.terminated[AGENT]
            x, _, height = data.site_xpos[0]
            lower, upper = data.qvel[1:3]
            last = over and "the step that ends it pays nothing" in environment.describer(AGENT).game(AGENT)
            paid = 0 if last else told(environment, "Each step pays ", " and costs")
            paid -= told(environment, "costs ", " x the square of how far the upper end") * x**2
            paid -= (height - told(environment, "how far its height is from ", " (both")) ** 2
            paid -= told(environment, "in metres), ", " x the square of the speed of the lower") * lower**2
            paid -= told(environment, "lower joint and ", " x that of the upper") * upper**2
            assert result.rewards[AGENT] == pytest.approx(paid)
            lows.append(height)
        limit = told(environment, "the upper end is no more than ", " m high")
        assert lows[-1] <= limit < min(lows[:-1])


@pytest.mark.parametrize("task", ["InvertedPendulum-v4", "InvertedPendulum-v5"])
def test_a_step_of_a_pole_pays_what_is_told_until_it_is_down(task: str) -> None:
    with played(task) as (environment, step):
        said, pays = environment.describer(AGENT).game(AGENT), told(environment, "Each step pays ", ".")
        limit, over = told(environment, "leans more than ", " rad"), False
        while not over:
            result = step(1.0)
            over = result.terminated[AGENT]
            last = over and "the step that ends it pays nothing" in said
            assert result.rewards[AGENT] == (0 if last else pays)
            assert (abs(float(result.observations[AGENT][1])) > limit) is over


@pytest.mark.parametrize(
    ("task", "weights"),
    [
        ("Pusher-v5", {}),
        ("Pusher-v5", {"reward_near_weight": 2.0, "reward_dist_weight": 3.0, "reward_control_weight": 0.7}),
        ("Reacher-v4", {}),
        ("Reacher-v5", {}),
        ("Reacher-v5", {"reward_dist_weight": 3.0, "reward_control_weight": 0.7}),
    ],
)
def test_a_step_of_an_arm_pays_what_is_told(task: str, weights: dict[str, float]) -> None:
    pusher = task.startswith("Pusher")
    parts = [("object", "goal"), ("tips_arm", "object")] if pusher else [("fingertip", "target")]
    words = ["how far the object is from its goal", "how far the fingertip is from the object"]
    if not pusher:
        words = ["how far the fingertip is from the target"]
    with played(task, **weights) as (environment, step):

        def apart() -> list[float]:
            of = environment.env.get_body_com
            return [float(np.linalg.norm(of(one) - of(other))) for one, other in parts]

        factors = [told(environment, "", f" x {said}") for said in words]
        force = told(environment, "and ", " x the squares of the forces")
        high = float(environment.adapter.action_space(AGENT).high[0])
        many = environment.adapter.action_space(AGENT).shape[0]
        for size in (0.5, -1.0, 0.0):
            before = apart()
            result = step(size)
            far = before if task.endswith("v4") else apart()
            costs = float(np.dot(factors, far)) + force * many * (size * high) ** 2
            assert result.rewards[AGENT] == pytest.approx(-costs)


@pytest.mark.parametrize(
    "task",
    ["HumanoidStandup-v5", "InvertedDoublePendulum-v5", "InvertedPendulum-v5", "Pusher-v5", "Reacher-v5"],
)
def test_the_longest_game_is_as_long_as_is_told(task: str) -> None:
    with played(task) as (environment, step):
        steps = int(told(environment, "A game ends after ", " steps"))
        taken = 0
        if "Nothing ends the game before its last step" in environment.describer(AGENT).game(AGENT):
            over = False
            while not over:
                result, taken = step(0.0), taken + 1
                over = result.terminated[AGENT] or result.truncated[AGENT]
            assert taken == steps and not result.terminated[AGENT]
        assert steps == environment.max_episode_steps


def test_numbers_without_a_name_are_told_of_in_their_order() -> None:
    with played("HumanoidStandup-v5", include_cvel_in_observation=False) as (environment, step):
        result, data = step(0.7), environment.env.data
        describer = environment.describer(AGENT)
        named = describer.text(AGENT, result.observations[AGENT]).splitlines()[:-1]
        rest = result.observations[AGENT][len(named) :]
        said = describer.reading(AGENT)
        sizes = [int(each) for each in re.findall(r"\((\d+)\)", said)]
        kinds = np.split(rest, np.cumsum(sizes)[:-1])
        assert "mass and inertia" in said and "velocities" not in said
        assert sum(sizes) == len(rest)
        for kind, real in zip(
            kinds, (data.cinert[1:], data.qfrc_actuator[6:], data.cfrc_ext[1:]), strict=True
        ):
            assert np.allclose(kind, real.ravel(), atol=1e-4)


def test_forces_that_cost_nothing_are_not_told_of() -> None:
    with played("Ant-v4") as (environment, step):
        result = step(0.3)
        assert "forces from outside" not in environment.describer(AGENT).game(AGENT)
        assert result.rewards[AGENT] == pytest.approx(
            1 + result.infos[AGENT]["x_velocity"] - 0.5 * 8 * 0.3**2, abs=1e-5
        )
