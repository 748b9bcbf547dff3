"""Vectors in words, against the state of what they come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from gym_gui import envs
from gym_gui.core.paradigms import adapt
from gym_gui.envs import Environment
from gym_gui.envs.describers.vectors import Component, table_of
from gym_gui.envs.documents import source
from gym_gui.envs.families.gymnasium import Box2DFamily, MuJoCoFamily

AGENT = "agent_0"
SIGNS = {"left": -1, "right": 1, "clockwise": -1, "counterclockwise": 1}


@contextmanager
def made(task: str, **kwargs: Any) -> Iterator[Environment]:
    environment = envs.make(task, **kwargs)
    try:
        environment.adapter.reset(seed=1)
        yield environment
    finally:
        environment.close()


def signed(said: str, before: str, after: str = "") -> float:
    """The number behind ``before``, by the side that follows ``after``; 0 where it is at rest."""
    found = re.search(rf"{before}([-\d.e]+){after} (left|right|clockwise|counterclockwise)", said)
    assert found, said
    return float(found[1]) * SIGNS[found[2]]


def speed(said: str, verb: str) -> float:
    found = re.search(rf"{verb} (left|right|clockwise|counterclockwise) at ([\d.e-]+)", said)
    return float(found[2]) * SIGNS[found[1]] if found else 0.0


def test_the_cart_and_its_pole() -> None:
    rng = np.random.default_rng(1)
    with made("CartPole-v1") as environment:
        describer = environment.describer(AGENT)
        for state in rng.uniform(-1, 1, (300, 4)) * (2.4, 3, 0.21, 3):
            environment.env.state = tuple(state)
            cart, pole = describer.text(AGENT, np.array(state, np.float32)).splitlines()
            real = (
                signed(cart, "Cart: ", " m"),
                speed(cart, "moving"),
                np.radians(signed(pole, "leaning ", " degrees")),
                np.radians(speed(pole, "rotating")),
            )
            assert np.allclose(real, environment.env.state, rtol=0.006)
        middle = describer.text(AGENT, np.zeros(4, np.float32))
        assert middle.startswith("Cart: at the centre, at rest.")
        assert "more than 12 degrees or the cart is more than 2.4 m" in describer.briefing(AGENT)


@pytest.mark.parametrize("task", ["MountainCar-v0", "MountainCarContinuous-v0"])
def test_the_car_in_the_valley(task: str) -> None:
    rng = np.random.default_rng(1)
    with made(task) as environment:
        describer, goal = environment.describer(AGENT), environment.env.goal_position
        for x, moves in rng.uniform((-1.2, -0.07), (0.6, 0.07), (200, 2)):
            text = describer.text(AGENT, np.array([x, moves], np.float32))
            at = re.search(r"at ([-\d.]+),", text)
            assert at and np.isclose(float(at[1]), x, atol=0.006)
            assert np.isclose(signed(text, ", "), x + np.pi / 6, atol=0.006)
            assert np.isclose(speed(text, "moving"), moves, rtol=0.006)
        assert f"on the right hill at {goal:g}" in describer.briefing(AGENT)


def test_the_pendulum() -> None:
    rng = np.random.default_rng(1)
    with made("Pendulum-v1") as environment:
        env, describer = environment.env, environment.describer(AGENT)
        for angle, turns in rng.uniform((-np.pi, -8), (np.pi, 8), (200, 2)):
            env.state = np.array([angle, turns])
            text = describer.text(AGENT, env._get_obs())
            assert np.isclose(np.radians(signed(text, "Pendulum: ", " degrees")), angle, atol=0.01)
            assert np.isclose(speed(text, "turning"), turns, rtol=0.006)
        assert "1. torque: more than 0 turns it counterclockwise, in N m" in describer.briefing(AGENT)


def test_the_acrobot() -> None:
    rng = np.random.default_rng(1)
    high = 0
    with made("Acrobot-v1") as environment:
        env, describer = environment.env, environment.describer(AGENT)
        for state in rng.uniform(-1, 1, (300, 4)) * (np.pi, np.pi, 12, 28):
            env.state = state
            first, second, tip = describer.text(AGENT, env._get_ob()).splitlines()
            assert np.isclose(np.radians(signed(first, "First link: ", " degrees")), state[0], atol=0.01)
            assert np.isclose(np.radians(signed(second, "Second link: ", " degrees")), state[1], atol=0.01)
            assert np.isclose(speed(first, "turning"), state[2], rtol=0.006)
            assert np.isclose(speed(second, "turning against it"), state[3], rtol=0.006)
            height = float(tip.removeprefix("Height of the tip: ").rstrip("."))
            if abs(height - 1) > 0.01:
                assert (height > 1) == env._terminal()
            high += height > 1
    assert high > 30


def darkest_side(picture: Any, color: Callable[[Any], Any]) -> str:
    """The half of a picture in which a colour is."""
    columns = np.flatnonzero(color(picture.astype(int)).any(axis=0))
    return "left" if columns.mean() < picture.shape[1] / 2 else "right"


def test_sides_are_those_of_the_picture() -> None:
    with made("Pendulum-v1", render_mode="rgb_array") as environment:
        environment.env.state, environment.env.last_u = np.array([np.pi / 2, 0]), None
        text = environment.describer(AGENT).text(AGENT, environment.env._get_obs())
        assert "90 degrees counterclockwise of upright" in text
        red = darkest_side(environment.picture(), lambda rgb: (rgb[..., 0] > 180) & (rgb[..., 1] < 120))
        assert red == "left"
    with made("Acrobot-v1", render_mode="rgb_array") as environment:
        environment.env.state = np.array([np.pi / 2, 0, 0, 0])
        text = environment.describer(AGENT).text(AGENT, environment.env._get_ob())
        assert "90 degrees counterclockwise of straight down" in text
        cyan = darkest_side(environment.picture(), lambda rgb: (rgb[..., 0] < 50) & (rgb[..., 1] > 180))
        assert cyan == "right"


def test_torques_turn_the_way_that_is_said() -> None:
    with made("Pendulum-v1") as environment:
        environment.env.state = np.array([0.0, 0.0])
        seen = environment.adapter.step({AGENT: np.array([2.0], np.float32)}).observations[AGENT]
        assert speed(environment.describer(AGENT).text(AGENT, seen), "turning") > 0
    with made("Acrobot-v1") as environment:
        words = environment.action_meanings(AGENT)
        for word, sign in (("torque -1", -1), ("torque +1", 1)):
            environment.adapter.reset(seed=1)
            environment.env.state = np.zeros(4)
            seen = environment.adapter.step({AGENT: words.index(word)}).observations[AGENT]
            second = environment.describer(AGENT).text(AGENT, seen).splitlines()[1]
            assert np.sign(speed(second, "turning against it")) == sign


def play(environment: Environment, decide: Callable[[str], Any], seed: int) -> tuple[int, bool]:
    """Steps of a game that is decided by what is read, and whether it was solved."""
    adapter, describer = environment.adapter, environment.describer(AGENT)
    words, steps = environment.action_meanings(AGENT), 0
    seen = adapter.reset(seed=seed)
    while adapter.get_current_agents():
        word = decide(describer.text(AGENT, seen[AGENT]))
        step = adapter.step({AGENT: words.index(word) if words else np.array([word], np.float32)})
        seen, steps = step.observations, steps + 1
    return steps, bool(environment.success())


def test_the_pole_is_balanced_by_reading_alone() -> None:
    def push(text: str) -> str:
        cart, pole = text.splitlines()
        where = 0.0 if "at the centre" in cart else signed(cart, "Cart: ", " m")
        lean, turns = signed(pole, "leaning ", " degrees"), speed(pole, "rotating")
        return "right" if lean + 0.4 * turns + 0.5 * where + 2 * speed(cart, "moving") > 0 else "left"

    with made("CartPole-v1") as environment:
        assert [play(environment, push, seed)[0] for seed in range(3)] == [500] * 3


def test_hills_are_climbed_by_reading_alone() -> None:
    with made("MountainCar-v0") as environment:
        steps, solved = play(environment, lambda text: "right" if "moving right" in text else "left", 1)
        assert solved and steps < 200
    with made("MountainCarContinuous-v0") as environment:
        assert play(environment, lambda text: 1.0 if "moving right" in text else -1.0, 1)[1]
    with made("Acrobot-v1") as environment:

        def pump(text: str) -> str:
            return "torque +1" if speed(text.splitlines()[0], "turning") < 0 else "torque -1"

        steps, solved = play(environment, pump, 1)
        assert solved and steps < 400


# What cannot be installed everywhere is described from Gymnasium's documentation: here its
# observations come from an environment that has the same spaces.
SIZES = {
    "Ant-v5": (105, 27, 8),
    "HalfCheetah-v5": (17, 17, 6),
    "Hopper-v5": (11, 11, 3),
    "Hopper-v4": (11, 11, 3),
    "Humanoid-v5": (348, 45, 17),
    "HumanoidStandup-v5": (348, 45, 17),
    "InvertedDoublePendulum-v5": (9, 9, 1),
    "InvertedPendulum-v5": (4, 4, 1),
    "Pusher-v5": (23, 23, 7),
    "Reacher-v5": (10, 10, 2),
    "Swimmer-v5": (8, 8, 2),
    "Walker2d-v4": (17, 17, 6),
    "Walker2d-v5": (17, 17, 6),
    "LunarLander-v3": (8, 8, 2),
    "BipedalWalker-v3": (24, 24, 4),
}


class Plain(gymnasium.Env[Any, Any]):
    """Numbers of a given size, and actions."""

    def __init__(self, size: int, actions: int, **attributes: Any) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.action_space = spaces.Box(-1, 1, (actions,), np.float32)
        self.model = SimpleNamespace(opt=SimpleNamespace(timestep=0.003))
        vars(self).update(attributes)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return self.np_random.normal(size=self.observation_space.shape), {}


def standing_in(task: str, size: int, actions: int, **attributes: Any) -> Environment:
    known = [(family, spec) for family in (MuJoCoFamily(), Box2DFamily()) for spec in family.specs()]
    family, spec = next((family, spec) for family, spec in known if spec.id == task)
    return Environment(spec, adapt(Plain(size, actions, **attributes)), family)


@pytest.mark.parametrize("task", SIZES)
def test_documented_vectors_are_named_to_the_last_of_their_names(task: str) -> None:
    size, named, actions = SIZES[task]
    environment = standing_in(task, size, actions)
    describer = environment.describer(AGENT)
    seen = environment.adapter.reset(seed=1)[AGENT]
    lines = describer.text(AGENT, seen).splitlines()
    assert len(lines) == named + (size > named), lines
    switches = [line for line in lines if line.endswith((": yes", ": no"))]
    for line, value in zip(lines[:named], seen, strict=False):
        if line not in switches:
            assert np.isclose(float(line.split(": ")[-1].split()[0]), value, rtol=0.006), line
    assert (f"{size - named} more numbers: " in lines[-1]) == (size > named)
    assert describer.can_say(AGENT)
    form = describer.briefing(AGENT).rsplit("Your action is ", 1)[1]
    assert form.startswith(f"a list of {actions} number") and f"\n{actions}. " in form


def test_units_are_those_of_the_tables() -> None:
    environment = standing_in("Ant-v5", 105, 8)
    lines = environment.describer(AGENT).text(AGENT, np.ones(105)).splitlines()
    assert lines[0] == "z-coordinate of the torso (centre): 1 m"
    assert lines[5] == "angle between torso and first link on front left: 1 rad"
    assert lines[13] == "x-coordinate velocity of the torso: 1 m/s"
    assert lines[19] == "angular velocity of angle between torso and front left link: 1 rad/s"


def test_places_that_are_usually_left_out_come_first() -> None:
    option = {"_exclude_current_positions_from_observation": False}
    environment = standing_in("Swimmer-v5", 10, 2, **option)
    lines = environment.describer(AGENT).text(AGENT, np.arange(10.0)).splitlines()
    assert lines[:3] == [
        "position of the tip along the x-axis: 0 m",
        "position of the tip along the y-axis: 1 m",
        "angle of the front tip: 2 rad",
    ]
    assert len(lines) == 10


def test_what_ends_a_game_is_what_it_was_made_with() -> None:
    usual = standing_in("Hopper-v5", 11, 3).describer(AGENT).briefing(AGENT)
    assert (
        "the height of the torso is not at least 0.7 m or the angle of the torso is not between -0.2 and 0.2"
        in usual
    )
    wider = standing_in("Walker2d-v5", 17, 6, _healthy_z_range=(0.5, 3.0), _healthy_angle_range=(-2, 2))
    briefing = wider.describer(AGENT).briefing(AGENT)
    assert "between 0.5 and 3 m" in briefing and "between -2 and 2 rad" in briefing
    never = standing_in("Ant-v5", 105, 8, _terminate_when_unhealthy=False).describer(AGENT)
    assert "The game ends" not in never.briefing(AGENT)


def test_a_vector_of_another_size_keeps_its_numbers() -> None:
    environment = standing_in("Hopper-v5", 5, 3)
    text = environment.describer(AGENT).text(AGENT, np.arange(5.0))
    assert text.splitlines()[2] == "3: 2"


def test_a_lander_says_yes_and_no() -> None:
    environment = standing_in("LunarLander-v3", 8, 2)
    text = environment.describer(AGENT).text(AGENT, np.array([0, 0.5, 0, -0.2, 0, 0, 1, 0]))
    assert text.splitlines()[-2:] == ["first leg on the ground: yes", "second leg on the ground: no"]


def test_who_drives_by_pictures_is_told_what_the_numbers_of_an_action_are() -> None:
    briefing = standing_in("CarRacing-v3", 3, 3).describer(AGENT).briefing(AGENT)
    assert "1. steering: -1 is left, 1 is right\n2. gas" in briefing and "with 1000 for the whole" in briefing


class Boiler(gymnasium.Env[Any, Any]):
    """A boiler.

    ## Observation Space

    | Num | Observation   | Min  | Max | Unit            |
    |-----|---------------|------|-----|-----------------|
    | 0   | `temperature` | 0    | 120 | temperature (C) |
    | 1   | pressure      | -Inf | Inf | pressure (bar)  |

    ## Arguments

    | Num | Observation |
    |-----|-------------|
    | 0   | not this    |
    """

    observation_space = spaces.Box(np.array([0, -np.inf]), np.array([120, np.inf]), dtype=np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return np.array([20.5, 1.0]), {}


def test_an_environment_of_ones_own_is_named_by_its_own_table() -> None:
    gymnasium.register("tests/Boiler-v0", entry_point=Boiler, max_episode_steps=9)
    try:
        with made("tests/Boiler-v0") as environment:
            describer = environment.describer(AGENT)
            assert describer.text(AGENT, np.array([20.5, 1.0])) == "temperature: 20.5 C\npressure: 1 bar"
            briefing = describer.briefing(AGENT)
            assert "Bounds: temperature between 0 and 120." in briefing
            assert "A game ends after 9 steps at the latest." in briefing
    finally:
        del gymnasium.registry["tests/Boiler-v0"]


def test_it_is_so_without_registration_too() -> None:
    with made(f"{__name__}:Boiler") as environment:
        text = environment.describer(AGENT).text(AGENT, np.array([99.0, 2.0]))
        assert text == "temperature: 99 C\npressure: 2 bar"


def test_tables_of_classic_control() -> None:
    found = source.find("gymnasium.envs.classic_control.cartpole:CartPoleEnv")
    assert found is not None
    assert table_of(found.text, "Observation").named == (
        Component("Cart Position"),
        Component("Cart Velocity"),
        Component("Pole Angle", "rad"),
        Component("Pole Angular Velocity"),
    )
    assert table_of("no table", "Observation").named == ()
    several = "| Num | Observation |\n|---|---|\n| 0-3 | joints |\n| 4 | height |"
    assert table_of(several, "Observation").named == ()
