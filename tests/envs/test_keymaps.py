"""Default keys: every action has one, no key means two things, two people do not share any."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms import adapt
from gym_gui.envs import Environment, EnvSpec, KeyScheme, keys, make
from gym_gui.envs.families.custom import CustomFamily
from gym_gui.envs.keymaps import LAYOUTS, Pace, of_actions, of_components
from tests.support.arenas import Corridor

DISCRETE = [
    "CartPole-v1",
    "MountainCar-v0",
    "Acrobot-v1",
    "Blackjack-v1",
    "FrozenLake-v1",
    "CliffWalking-v1",
    "Taxi-v4",
    "MiniGrid-DoorKey-5x5-v0",
    "BabyAI-GoToRedBall-v0",
    "MosaicMultiGrid-S-2v2-IndAgObs-v1",
    "MosaicMultiGrid-C-IndAgObs-v1",
    "MultiGrid-RedBlueDoors-6x6-v0",
    "connect_four_v3",
    "tictactoe_v3",
    "rps_v2",
    "leduc_holdem_v4",
    "texas_holdem_no_limit_v6",
    "hanabi_v5",
    "knights_archers_zombies_v11",
    "cooperative_pong_v6",
    "pursuit_v5",
    "simple_spread_v3",
    "simple_speaker_listener_v4",
    "open_spiel/tic_tac_toe",
    "open_spiel/kuhn_poker",
    "open_spiel/goofspiel",
    "open_spiel/pathfinding",
]


def chords(scheme: KeyScheme) -> list[str]:
    return [*scheme.bindings, *(axis.key for axis in scheme.axes)]


def single(scheme: KeyScheme) -> set[str]:
    return {key for chord in chords(scheme) for key in chord.split("+")}


@pytest.mark.parametrize("task", DISCRETE)
def test_every_discrete_action_has_a_key(task: str) -> None:
    environment = make(task)
    for agent in environment.adapter.possible_agents:
        space = environment.adapter.action_space(agent)
        first, second = (environment.keys(agent, player) for player in (0, 1))
        assert sorted(first.bindings.values()) == list(range(space.n))
        assert second.typed or sorted(second.bindings.values()) == list(range(space.n))
        assert not single(first) & single(second)
        assert not first.axes and first.playable and second.playable
        assert first.idle == (environment.noop_action(agent) if first.realtime else None)


@pytest.mark.parametrize(
    ("task", "keys_and_words"),
    [
        ("CartPole-v1", {"Left": "left", "Right": "right"}),
        ("FrozenLake-v1", {"Left": "left", "Down": "down", "Right": "right", "Up": "up"}),
        ("Taxi-v4", {"Up": "north", "Space": "pickup", "Shift": "dropoff"}),
        (
            "MiniGrid-Empty-8x8-v0",
            {"Left": "left", "Right": "right", "Up": "forward", "Space": "pickup", "Shift": "toggle"},
        ),
        ("MosaicMultiGrid-S-2v2-IndAgObs-v1", {"N": "noop", "Space": "pickup", "Down": "drop"}),
        ("simple_spread_v3", {"Up": "up", "Down": "down", "N": "noop"}),
        ("knights_archers_zombies_v11", {"Left": "turn left", "Space": "attack", "Up": "forward"}),
        ("connect_four_v3", {"1": "column 1", "7": "column 7"}),
        ("tictactoe_v3", {"1": "column 1 row 1", "3": "column 3 row 1", "7": "column 1 row 3"}),
    ],
)
def test_keys_mean_what_one_expects(task: str, keys_and_words: dict[str, str]) -> None:
    environment = make(task)
    agent = environment.adapter.possible_agents[0]
    words, scheme = environment.action_meanings(agent), environment.keys(agent)
    assert {key: words[scheme.bindings[key]] for key in keys_and_words} == keys_and_words


def test_left_is_left_in_the_particle_world_too() -> None:
    environment = make("simple_v3")
    environment.adapter.reset(seed=0)
    environment.adapter.step({"agent_0": environment.keys("agent_0").bindings["Left"]})
    assert environment.env.world.agents[0].state.p_vel[0] < 0


@pytest.mark.parametrize(
    ("task", "realtime", "mouse"),
    [
        ("CartPole-v1", True, False),
        ("Pendulum-v1", True, False),
        ("simple_spread_v3", True, False),
        ("pistonball_v6", True, False),
        ("FrozenLake-v1", False, False),
        ("MiniGrid-Empty-8x8-v0", False, False),
        ("MosaicMultiGrid-S-2v2-IndAgObs-v1", False, False),
        ("chess_v6", False, True),
        ("go_v5", False, True),
        ("connect_four_v3", False, True),
        ("open_spiel/checkers", False, True),
        ("leduc_holdem_v4", False, False),
    ],
)
def test_who_waits_and_who_has_a_mouse(task: str, realtime: bool, mouse: bool) -> None:
    scheme = keys(task)
    assert (scheme.realtime, scheme.mouse) == (realtime, mouse)
    assert 1 <= scheme.rate <= 60


def test_cartpole_goes_on_with_the_last_push_and_mountain_car_coasts() -> None:
    assert keys("CartPole-v1").idle is None
    assert keys("MountainCar-v0").idle == 1


@pytest.mark.parametrize("task", ["Pendulum-v1", "MountainCarContinuous-v0", "pistonball_v6"])
def test_continuous_actions_are_pushed(task: str) -> None:
    environment = make(task)
    agent = environment.adapter.possible_agents[0]
    space = environment.adapter.action_space(agent)
    first, second = environment.keys(agent, 0), environment.keys(agent, 1)
    assert not first.bindings and not single(first) & single(second)
    for axis in first.axes:
        action = np.zeros(space.shape, space.dtype)
        action[axis.component] = axis.value
        assert space.contains(action) and axis.word
    assert {(axis.component, np.sign(axis.value)) for axis in first.axes} == {(0, -1), (0, 1)}


def test_the_pendulum_turns_the_way_the_key_points() -> None:
    environment = make("Pendulum-v1")
    (left,) = [axis for axis in environment.keys("agent_0").axes if axis.key == "Left"]
    environment.adapter.reset(seed=0)
    environment.env.state = np.zeros(2)
    environment.adapter.step({"agent_0": np.array([left.value], np.float32)})
    assert environment.env.state[0] > 0, "angles grow against the clock"


class Own(Corridor):
    """A user's own environment, with the action space it is given."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        super().__init__()
        self.action_space = space


def own(space: spaces.Space[Any], player: int = 0) -> KeyScheme:
    spec = EnvSpec("my/Own-v0", "custom", "gymnasium", ("gymnasium",), "tests", entry_point=Own)
    return Environment(spec, adapt(Own(space)), CustomFamily()).keys("agent_0", player)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("n", range(1, 24))
def test_any_number_of_actions_is_playable(n: int, player: int) -> None:
    scheme = own(spaces.Discrete(n), player)
    assert scheme.playable
    assert scheme.typed or sorted(scheme.bindings.values()) == list(range(n))
    assert scheme.typed == (n > len(LAYOUTS[player].many))
    assert not single(scheme) & single(own(spaces.Discrete(n), 1 - player))


def test_actions_may_begin_elsewhere_than_at_zero() -> None:
    assert own(spaces.Discrete(3, start=5)).bindings == {"1": 5, "2": 6, "3": 7}


def test_more_actions_than_keys_are_typed() -> None:
    scheme = own(spaces.Discrete(4672))
    assert scheme == KeyScheme(typed=True)


def test_bounds_say_which_pushes_there_are() -> None:
    space = spaces.Box(np.array([-np.inf, 0, -3], np.float32), np.array([np.inf, 2, 0], np.float32))
    pushes = [(axis.key, axis.component, axis.value) for axis in own(space).axes]
    assert pushes == [("Left", 0, -1.0), ("Right", 0, 1.0), ("Up", 1, 2.0), ("J", 2, -3.0)]


def test_the_first_components_of_many_have_keys() -> None:
    scheme = of_components([-1.0] * 17, [1.0] * 17, 0)
    assert {axis.component for axis in scheme.axes} == set(range(6))
    assert len({axis.key for axis in scheme.axes}) == 12


@pytest.mark.parametrize("space", [spaces.MultiDiscrete([2, 3]), spaces.Tuple([spaces.Discrete(2)])])
def test_actions_of_several_parts_have_no_keys(space: spaces.Space[Any]) -> None:
    assert not own(space).playable


def test_words_of_the_atari_console_are_chords() -> None:
    words = ("NOOP", "FIRE", "UP", "UPRIGHT", "DOWNLEFTFIRE")
    scheme = of_actions(words, 0, Pace(True, 15), idle=0)
    assert scheme.bindings == {"N": 0, "Space": 1, "Up": 2, "Up+Right": 3, "Down+Left+Space": 4}
    assert scheme.idle == 0
    assert set(of_actions(words, 1).bindings) == {"Q", "E", "W", "W+D", "S+A+E"}


def test_a_word_that_comes_twice_has_one_key_and_the_other_a_number() -> None:
    assert of_actions(("left", "left", "jump"), 0).bindings == {"Left": 0, "1": 1, "2": 2}


def test_a_manager_chooses_by_number() -> None:
    environment = make("MiniGrid-DoorKey-5x5-v0").with_manager()
    assert list(environment.keys("agent_0/goal").bindings)[:6] == ["1", "2", "3", "4", "5", "6"]
    assert environment.keys("agent_0").bindings["Left"] == 0


def test_keys_by_name() -> None:
    assert keys("mpe2/simple_tag_v3", "agent_0", 1).bindings["W"] == 4
    with pytest.raises(UsageError, match="simple_tag_v3 has no agent 'nobody'"):
        keys("mpe2/simple_tag_v3", "nobody")


def test_schemes_travel_between_processes() -> None:
    for scheme in (keys("Taxi-v4"), keys("Pendulum-v1")):
        assert pickle.loads(pickle.dumps(scheme)) == scheme


def test_the_halves_of_the_keyboard_are_apart() -> None:
    first, second = LAYOUTS
    assert not set(first.roles.values()) & set(second.roles.values())
    assert not {key for pair in first.pairs for key in pair} & {key for pair in second.pairs for key in pair}
    for keys_of in (first.few, first.many, first.square, second.few, second.many, second.square):
        assert len(set(keys_of)) == len(keys_of)
    assert not set(first.few) & set(second.few)
    assert not set(first.many) & set(second.many)


def test_options_are_numbered_one_after_the_other() -> None:
    words = ("explore", "go to(yellow key)", "pick up(yellow key)", "drop")
    assert of_actions(words, 0).bindings == {"1": 0, "2": 1, "3": 2, "4": 3}
    assert of_actions(("left", "drop"), 0).bindings != {"1": 0, "2": 1}
