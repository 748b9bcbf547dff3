"""What episodes mean: teams, scores, winners, success, action names."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from minigrid.core.world_object import Lava

from gym_gui.core.enums import Outcome
from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms import SimultaneousAdapter
from gym_gui.envs import Environment, make, resolve
from gym_gui.envs.environment_registry import family_of
from gym_gui.envs.families.custom import CustomFamily, registered
from gym_gui.envs.family import ranked
from gym_gui.envs.spec import EnvSpec

WIN, DRAW, LOSS = Outcome.WIN, Outcome.DRAW, Outcome.LOSS


def play(environment: Environment, actions: Any, seed: int = 0) -> dict[str, float]:
    """Play a list of actions, one per turn; returns by agent."""
    adapter = environment.adapter
    adapter.reset(seed=seed)
    returns: dict[str, float] = dict.fromkeys(adapter.possible_agents, 0.0)
    for action in actions:
        agents = adapter.get_current_agents()
        for agent, reward in adapter.step(dict.fromkeys(agents, action)).rewards.items():
            returns[agent] += reward
    return returns


@pytest.mark.parametrize(
    ("task", "teams"),
    [
        ("CartPole-v1", {"agent": ("agent_0",)}),
        ("chess_v6", {"player_0": ("player_0",), "player_1": ("player_1",)}),
        ("hanabi_v5", {"team": ("player_0", "player_1")}),
        ("simple_spread_v3", {"team": ("agent_0", "agent_1", "agent_2")}),
        (
            "simple_tag_v3",
            {"adversaries": ("adversary_0", "adversary_1", "adversary_2"), "good": ("agent_0",)},
        ),
        ("simple_crypto_v3", {"adversaries": ("eve_0",), "good": ("bob_0", "alice_0")}),
        ("open_spiel/tic_tac_toe", {"player_0": ("player_0",), "player_1": ("player_1",)}),
        ("open_spiel/2048", {"agent": ("player_0",)}),
        ("open_spiel/tiny_hanabi", {"team": ("player_0", "player_1")}),
        (
            "MosaicMultiGrid-S-2v2-IndAgObs-v1",
            {"green": ("green_0", "green_1"), "blue": ("blue_0", "blue_1")},
        ),
        ("MosaicMultiGrid-S-1v2-IndAgObs-v1", {"green": ("green_0",), "blue": ("blue_0", "blue_1")}),
        ("MosaicMultiGrid-S-B-0v2-IndAgObs-v1", {"blue": ("blue_0", "blue_1")}),
        (
            "MosaicMultiGrid-C-IndAgObs-v1",
            {"green": ("green_0",), "blue": ("blue_0",), "purple": ("purple_0",)},
        ),
    ],
)
def test_teams(task: str, teams: dict[str, tuple[str, ...]]) -> None:
    assert dict(make(task).teams) == teams


@pytest.mark.parametrize(
    ("task", "hidden"),
    [
        ("CartPole-v1", False),
        ("chess_v6", False),
        ("open_spiel/tic_tac_toe", False),
        ("mpe2/simple_v3", False),
        ("leduc_holdem_v4", True),
        ("rps_v2", True),
        ("open_spiel/kuhn_poker", True),
        ("mpe2/simple_adversary_v3", True),
        ("MosaicMultiGrid-S-2v2-IndAgObs-v1", True),
    ],
)
def test_who_hides_things_from_seats(task: str, hidden: bool) -> None:
    spec = resolve(task)
    assert family_of(spec).hidden_information(spec) is hidden


def test_an_own_environment_for_several_hides_things_unless_it_says_otherwise() -> None:
    class Silent(gym.Env[Any, Any]):
        metadata: ClassVar[dict[str, Any]] = {}
        observation_space = action_space = gym.spaces.Dict(dict.fromkeys("ab", gym.spaces.Discrete(2)))

    class Open(Silent):
        metadata: ClassVar[dict[str, Any]] = {"hidden_information": False}

    family = CustomFamily()
    spec = EnvSpec("mine", family.name, "parallel", ("parallel",), "mine")
    for kind, hidden in ((Silent, True), (Open, False)):
        environment = Environment(spec, SimultaneousAdapter(kind()), family)
        assert environment.adapter.possible_agents == ("a", "b")
        assert environment.hidden_information is hidden


def test_the_same_slots_under_both_interfaces() -> None:
    task = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
    parallel, turns = make(task, api="parallel"), make(task, api="aec")
    assert parallel.adapter.possible_agents == turns.adapter.possible_agents
    assert parallel.teams == turns.teams


@pytest.mark.parametrize(
    ("task", "agent", "meanings", "noop"),
    [
        ("CartPole-v1", "agent_0", ("left", "right"), None),
        ("MountainCar-v0", "agent_0", ("left", "noop", "right"), 1),
        ("Pendulum-v1", "agent_0", (), None),
        ("Taxi-v4", "agent_0", ("south", "north", "east", "west", "pickup", "dropoff"), None),
        (
            "MiniGrid-Empty-8x8-v0",
            "agent_0",
            ("left", "right", "forward", "pickup", "drop", "toggle", "done"),
            6,
        ),
        ("simple_spread_v3", "agent_1", ("noop", "left", "right", "down", "up"), 0),
        (
            "simple_reference_v3",
            "agent_0",
            tuple(f"{m}, say {c}" for c in "ABCDEFGHIJ" for m in ("noop", "left", "right", "down", "up")),
            None,
        ),
        ("simple_crypto_v3", "bob_0", ("say A", "say B", "say C", "say D"), None),
        ("rps_v2", "player_0", ("rock", "paper", "scissors"), None),
        ("connect_four_v3", "player_1", tuple(f"column {i + 1}" for i in range(7)), None),
        (
            "MosaicMultiGrid-S-2v2-IndAgObs-v1",
            "blue_1",
            ("noop", "left", "right", "forward", "pickup", "drop", "toggle", "done"),
            0,
        ),
    ],
)
def test_action_names_and_the_noop(
    task: str, agent: str, meanings: tuple[str, ...], noop: int | None
) -> None:
    environment = make(task)
    assert environment.action_meanings(agent) == meanings
    assert environment.noop_action(agent) == noop


def test_done_is_no_noop_where_the_task_listens_for_it() -> None:
    assert make("MiniGrid-GoToDoor-5x5-v0").noop_action("agent_0") is None


@pytest.mark.parametrize(
    "task", ["MiniGrid-Empty-8x8-v0", "BabyAI-GoToRedBall-v0", "MiniGrid-DoorKey-5x5-v0"]
)
def test_the_noop_of_minigrid_does_nothing(task: str) -> None:
    adapter = make(task).adapter
    first = adapter.reset(seed=1)["agent_0"]
    result = adapter.step({"agent_0": make(task).noop_action("agent_0")})
    np.testing.assert_array_equal(result.observations["agent_0"]["image"], first["image"])
    assert not any(result.dones.values())


def test_meanings_fit_the_moves_they_name() -> None:
    environment = make("simple_spread_v3")
    meanings = environment.action_meanings("agent_0")
    for word, (axis, sign) in {"left": (0, -1), "right": (0, 1), "down": (1, -1), "up": (1, 1)}.items():
        environment.adapter.reset(seed=0)
        environment.adapter.step(
            {a: meanings.index(word) if a == "agent_0" else 0 for a in environment.adapter.possible_agents}
        )
        moved = environment.env.world.agents[0].state.p_vel
        assert np.sign(moved[axis]) == sign and moved[1 - axis] == 0


def test_a_board_game_is_won_lost_or_drawn() -> None:
    environment = make("tictactoe_v3")
    first_wins = play(environment, [0, 1, 3, 4, 6])
    assert environment.outcome(first_wins) == {"player_1": WIN, "player_2": LOSS}
    drawn = play(environment, [0, 1, 2, 4, 3, 5, 7, 6, 8])
    assert environment.outcome(drawn) == {"player_1": DRAW, "player_2": DRAW}
    assert environment.scores(drawn) is None and environment.success() is None


def test_an_openspiel_game_is_won_with_plus_and_minus_one() -> None:
    environment = make("open_spiel/tic_tac_toe")
    returns = play(environment, [0, 1, 3, 4, 6])
    assert returns == {"player_0": 1.0, "player_1": -1.0}
    assert environment.outcome(returns) == {"player_0": WIN, "player_1": LOSS}


@pytest.mark.parametrize("game", ["tictactoe_v3", "open_spiel/tic_tac_toe"])
def test_a_game_that_was_cut_off_is_no_draw(game: str) -> None:
    environment = make(game)
    assert environment.outcome(play(environment, [0, 1, 3])) is None


def test_particles_have_no_winner() -> None:
    environment = make("simple_tag_v3", env_kwargs={"max_cycles": 3})
    returns = play(environment, [0, 0, 0])
    assert environment.outcome(returns) is None and environment.scores(returns) is None


def test_goals_are_read_from_the_field() -> None:
    environment = make("MosaicMultiGrid-S-2v2-IndAgObs-v1")
    returns = play(environment, [0])
    assert environment.scores(returns) == {"green": 0.0, "blue": 0.0}
    assert environment.outcome(returns) == {"green": DRAW, "blue": DRAW}
    environment.env.team_scores[2] += 1
    assert environment.scores(returns) == {"green": 0.0, "blue": 1.0}
    assert environment.outcome(returns) == {"green": LOSS, "blue": WIN}
    assert environment.success() is None


def test_a_goal_scored_in_play_counts() -> None:
    """The ball is laid before the goal of the other side and carried in."""
    environment = make("MosaicMultiGrid-S-2v2-IndAgObs-v1")
    adapter, field = environment.adapter, environment.env
    adapter.reset(seed=0)
    carrier = field.agents[0]
    ball = next(
        o
        for x in range(field.width)
        for y in range(field.height)
        if (o := field.grid.get(x, y)) and o.type.value == "ball"
    )
    field.grid.set(*field._find_loose_ball_pos(), None)
    carrier.state.carrying = ball
    goal = field._target_goal_pos(carrier)
    carrier.state.pos, carrier.state.dir = (goal[0] - 1, goal[1]), 0
    result = adapter.step({"green_0": 3, "green_1": 0, "blue_0": 0, "blue_1": 0})
    if field.team_scores[1] == 0:  # where walking in is not allowed, dropping it is
        result = adapter.step({"green_0": 5, "green_1": 0, "blue_0": 0, "blue_1": 0})
    assert environment.scores({}) == {"green": 1.0, "blue": 0.0}
    assert result.rewards["green_1"] > 1 > result.rewards["blue_0"]


def test_a_team_alone_succeeds_by_goals() -> None:
    environment = make("MosaicMultiGrid-S-G-1v0-v1")
    returns = play(environment, [0])
    assert environment.outcome(returns) is None
    assert environment.success() is False
    environment.env.team_scores[1] = environment.env.goals_to_win
    assert environment.success() is True


def test_ball_collecting_is_decided_by_returns() -> None:
    environment = make("MosaicMultiGrid-C-1v1-IndAgObs-v1")
    environment.adapter.reset(seed=0)
    assert environment.scores({}) is None
    assert environment.outcome({"green_0": 2.0, "blue_0": 1.0}) == {"green": WIN, "blue": LOSS}


def test_teams_of_an_experiment_have_their_colors_goals() -> None:
    environment = make("MosaicMultiGrid-S-2v2-IndAgObs-v1")
    returns = play(environment, [0])
    environment.env.team_scores[2] += 1
    environment.teams = {"us": ("green_0", "green_1"), "them": ("blue_0", "blue_1")}
    assert environment.scores(returns) == {"us": 0.0, "them": 1.0}
    assert environment.outcome(returns) == {"us": LOSS, "them": WIN}
    environment.teams = {"green": ("green_0", "blue_0"), "blue": ("green_1", "blue_1")}
    assert environment.scores(returns) is None
    assert environment.outcome({**returns, "blue_1": 1.0}) == {"green": LOSS, "blue": WIN}


@pytest.mark.parametrize(
    ("task", "good", "bad"),
    [
        ("FrozenLake-v1", [2, 2, 1, 1, 1, 2], [2, 1]),
        ("CliffWalking-v1", [0, *[1] * 11, 2], [0, 1]),
    ],
)
def test_success_in_toy_text(task: str, good: list[int], bad: list[int]) -> None:
    kwargs = {"is_slippery": False} if task.startswith("Frozen") else {}
    if task.startswith("Frozen"):
        good = [1, 1, 2, 1, 2, 2]
    environment = make(task, env_kwargs=kwargs)
    play(environment, good)
    assert environment.adapter.is_episode_done() and environment.success() is True
    play(environment, bad)
    assert environment.success() is False


def test_success_in_minigrid() -> None:
    environment = make("MiniGrid-Empty-5x5-v0")
    play(environment, [2, 2, 1, 2, 2])
    assert environment.adapter.is_episode_done() and environment.success() is True
    play(environment, [2])
    assert environment.success() is False


def test_an_end_in_lava_is_no_success() -> None:
    environment = make("MiniGrid-Empty-5x5-v0")
    environment.adapter.reset(seed=0)
    environment.env.put_obj(Lava(), *environment.env.front_pos)
    assert environment.adapter.step({"agent_0": 2}).terminated == {"agent_0": True}
    assert environment.success() is False


def test_cartpole_has_no_word_for_success() -> None:
    environment = make("CartPole-v1")
    play(environment, [0])
    assert environment.success() is None


class Door(gym.Env[int, int]):
    """Solved by action 1, and says so."""

    observation_space = gym.spaces.Discrete(1)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return 0, 0.0, True, False, {"is_success": bool(action)}


def test_an_own_environment_says_success_in_its_info() -> None:
    registered.add(
        EnvSpec("my/Door-v0", "custom", "gymnasium", ("gymnasium",), __name__, entry_point=Door), None
    )
    try:
        environment = make("my/Door-v0")
    finally:
        registered.remove("my/Door-v0")
    play(environment, [1])
    assert environment.success() is True
    play(environment, [0])
    assert environment.success() is False


def test_bumping_in_a_taxi_is_legal() -> None:
    environment = make("Taxi-v4")
    environment.adapter.reset(seed=0)
    assert environment.adapter.action_mask("agent_0") is None


def test_ranks() -> None:
    assert ranked({"a": 1.0}) is None
    assert ranked({"a": 1.0, "b": 0.0, "c": 1.0}) == {"a": DRAW, "b": LOSS, "c": DRAW}


def test_managers_stay_out_of_teams() -> None:
    environment = make("MiniGrid-Empty-8x8-v0").with_manager()
    assert environment.adapter.possible_agents == ("agent_0", "agent_0/goal")
    assert dict(environment.teams) == {"agent": ("agent_0",)}
    assert environment.action_meanings("agent_0/goal") == ("explore", "go to(green goal)")
    assert environment.noop_action("agent_0/goal") is None
    assert environment.noop_action("agent_0") == 6


def test_a_family_without_options_says_so() -> None:
    with pytest.raises(UsageError, match="Acrobot-v1 has no options of its own"):
        make("Acrobot-v1").with_manager()
