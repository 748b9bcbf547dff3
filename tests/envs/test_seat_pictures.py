"""A seat's picture shows what that seat may see: what others alone know does not change a byte of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.core.errors import ObservationError
from gym_gui.core.experiment.prompt_inputs import FRAMES, PromptInputs
from gym_gui.core.paradigms import SimultaneousAdapter
from gym_gui.envs import Environment, make
from gym_gui.envs.families.custom import CustomFamily
from gym_gui.envs.spec import EnvSpec

Change = Callable[[Any], None]


@pytest.fixture
def opened() -> Iterator[Callable[..., Environment]]:
    """Environments that draw, after a reset; closed at the end."""
    made: list[Environment] = []

    def open_one(task: str, **kwargs: Any) -> Environment:
        made.append(make(task, render_mode="rgb_array", env_kwargs=kwargs))
        made[-1].adapter.reset(seed=3)
        return made[-1]

    yield open_one
    for environment in made:
        environment.close()


def observed(environment: Environment, agent: str) -> Any:
    """What an agent sees at this moment, read from the environment itself."""
    env = environment.env
    if hasattr(env, "gen_obs"):
        seen = env.gen_obs()
        return (
            seen if environment.adapter.possible_agents == ("agent_0",) else seen[_index(environment, agent)]
        )
    seen = env.observe(agent)
    return seen["observation"] if isinstance(seen, dict) else seen


def _index(environment: Environment, agent: str) -> int:
    return environment.adapter.possible_agents.index(agent)


def picture(environment: Environment, agent: str) -> bytes:
    drawn = environment.seat_picture(agent, observed(environment, agent))
    assert drawn is not None and drawn.dtype == np.uint8 and drawn.ndim == 3
    return drawn.tobytes()


def whole(environment: Environment) -> bytes:
    drawn = environment.picture()
    assert drawn is not None
    return drawn.tobytes()


def other_hand(env: Any) -> None:
    """Another hand for the second player."""
    game = env.env.game
    hand, first = game.players[1].hand, game.players[0].hand
    held = {card.get_index() for card in (first if isinstance(first, list) else [first])}
    now = {card.get_index() for card in (hand if isinstance(hand, list) else [hand])}
    rest = [card for card in game.dealer.deck if card.get_index() not in held | now]
    game.players[1].hand = rest[: len(hand)] if isinstance(hand, list) else rest[0]


def other_target(env: Any) -> None:
    """Adversary's other landmark is the one."""
    old, new = sorted(env.world.landmarks, key=lambda each: each is env.world.agents[0].goal_a)[::-1]
    old.color, new.color = new.color, old.color
    for agent in env.world.agents:
        agent.goal_a = new


def other_color(env: Any) -> None:
    """What only others are told of the first agent's target is drawn in another colour."""
    env.world.agents[0].color = np.array([0.9, 0.1, 0.1])
    env.world.agents[1].goal_b = env.world.landmarks[
        (env.world.landmarks.index(env.world.agents[1].goal_b) + 1) % 3
    ]


def pushed_elsewhere(env: Any) -> None:
    """In Push the good agent wears the colour of its target."""
    env.world.agents[1].color = env.world.agents[1].color[[0, 2, 1]]


def line_mate_moved(env: Any) -> None:
    env.world.agents[1].state.p_pos = np.array([0.3, -0.4])


def ball_moved(env: Any) -> None:
    """Move soccer's ball from one place that the first agent does not see to another."""
    things = [(x, y) for x in range(env.width) for y in range(env.height) if _is_ball(env.grid.get(x, y))]
    ((x, y),) = things
    ball = env.grid.get(x, y)
    far = [
        (i, j)
        for i in range(2, env.width - 2)
        for j in range(2, env.height - 2)
        if env.grid.get(i, j) is None
        and all(max(abs(i - p[0]), abs(j - p[1])) > 4 for p in (a.state.pos for a in env.agents[:1]))
        and (i, j) not in {tuple(a.state.pos) for a in env.agents}
    ]
    env.grid.set(x, y, None)
    env.grid.set(*far[-1], ball)


def _is_ball(thing: Any) -> bool:
    return thing is not None and thing.type == "ball"


def far_evader_moved(env: Any) -> None:
    """An evader that the first pursuer does not see."""
    field = env.env
    x, y = field.pursuer_layer.get_position(0)
    layer = field.evader_layer
    far = next(
        i
        for i in range(layer.n_agents())
        if max(abs(layer.get_position(i)[0] - x), abs(layer.get_position(i)[1] - y)) > 5
    )
    taken = {tuple(layer.get_position(i)) for i in range(layer.n_agents())}
    place = next(
        (i, j)
        for i in range(field.x_size)
        for j in range(field.y_size)
        if max(abs(i - x), abs(j - y)) > 5 and (i, j) not in taken and field.model_state[0][i][j] == 0
    )
    layer.set_position(far, *place)
    field.model_state[2] = layer.get_state_matrix()


def cell_behind_painted(env: Any) -> None:
    """MiniGrid's cell that lies behind the agent, out of its view."""
    from minigrid.core.world_object import Ball

    behind = env.agent_pos - env.dir_vec
    env.grid.set(*behind, Ball("purple"))


@pytest.mark.parametrize(
    ("task", "agent", "change"),
    [
        ("leduc_holdem_v4", "player_0", other_hand),
        ("texas_holdem_v4", "player_0", other_hand),
        ("texas_holdem_no_limit_v6", "player_0", other_hand),
        ("mpe2/simple_adversary_v3", "adversary_0", other_target),
        ("mpe2/simple_reference_v3", "agent_0", other_color),
        (
            "mpe2/simple_speaker_listener_v4",
            "listener_0",
            lambda env: setattr(env.world.agents[1], "color", np.zeros(3)),
        ),
        ("mpe2/simple_push_v3", "adversary_0", pushed_elsewhere),
        ("mpe2/simple_line_v1", "agent_0", line_mate_moved),
        ("MosaicMultiGrid-S-2v2-IndAgObs-v1", "green_0", ball_moved),
        ("pursuit_v5", "pursuer_0", far_evader_moved),
        ("MiniGrid-Empty-Random-6x6-v0", "agent_0", cell_behind_painted),
    ],
)
def test_what_a_seat_may_not_know_does_not_change_its_picture(
    opened: Callable[..., Environment], task: str, agent: str, change: Change
) -> None:
    environment = opened(task)
    if task.startswith("MiniGrid"):
        environment.env.agent_pos, environment.env.agent_dir = (3, 3), 0
        environment.env.grid.set(3, 3, None)
    assert environment.pictures(agent) == ("egocentric",)
    own, everything = picture(environment, agent), whole(environment)
    change(environment.env)
    assert whole(environment) != everything, "the change is one that can be seen"
    assert picture(environment, agent) == own


def test_a_choice_that_is_made_at_once_is_seen_by_nobody(opened: Callable[..., Environment]) -> None:
    pictures: list[bytes] = []
    for choice in (0, 1):
        environment = opened("rps_v2")
        environment.adapter.step({"player_0": choice})
        before = whole(environment)
        pictures.append(picture(environment, "player_1"))
        assert whole(environment) == before, "a look changes nothing"
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize(
    ("task", "one", "other"),
    [
        ("leduc_holdem_v4", "player_0", "player_1"),
        ("mpe2/simple_adversary_v3", "adversary_0", "agent_0"),
        ("MosaicMultiGrid-S-2v2-IndAgObs-v1", "green_0", "blue_0"),
        ("pursuit_v5", "pursuer_0", "pursuer_1"),
        ("pistonball_v6", "piston_0", "piston_9"),
        ("knights_archers_zombies_v11", "archer_0", "knight_0"),
        ("cooperative_pong_v6", "paddle_0", "paddle_1"),
    ],
)
def test_seats_that_see_differently_are_shown_different_pictures(
    opened: Callable[..., Environment], task: str, one: str, other: str
) -> None:
    environment = opened(task)
    everything = whole(environment)
    assert picture(environment, one) != picture(environment, other)
    assert whole(environment) == everything, "a look changes nothing"
    assert environment.briefing(one, PromptInputs(image=True)) != environment.describer(one).briefing(one)


@pytest.mark.parametrize(
    ("task", "agent", "pictures"),
    [
        ("CartPole-v1", "agent_0", ("egocentric", "whole")),
        ("chess_v6", "player_0", ("egocentric", "whole")),
        ("MiniHack-Room-5x5-v0", "agent_0", ("egocentric", "whole")),
        ("mpe2/simple_crypto_v3", "eve_0", ()),
        ("mpe2/simple_speaker_listener_v4", "speaker_0", ()),
        ("open_spiel/kuhn_poker", "player_0", ()),
    ],
)
def test_which_pictures_there_are_for_a_seat(task: str, agent: str, pictures: tuple[str, ...]) -> None:
    environment = make(task)
    assert environment.pictures(agent) == pictures
    environment.close()


def test_a_walker_is_told_that_there_is_no_picture_for_it_and_no_reward(
    opened: Callable[..., Environment],
) -> None:
    pytest.importorskip("Box2D")
    environment = opened("multiwalker_v9")
    assert environment.pictures("walker_0") == () and not environment.tells_rewards(PromptInputs())
    seen = observed(environment, "walker_0")
    for frame in FRAMES:
        with pytest.raises(ObservationError, match="there is no picture of its observation"):
            environment.show("walker_0", seen, PromptInputs(image=True, frame=frame))


def test_a_whole_picture_is_not_drawn_for_a_seat_from_which_something_is_hidden(
    opened: Callable[..., Environment],
) -> None:
    environment = opened("leduc_holdem_v4")
    seen = observed(environment, "player_0")
    with pytest.raises(ObservationError, match="player_0 may not see"):
        environment.show("player_0", seen, PromptInputs(image=True, frame="whole"))
    assert environment.show("player_0", seen, PromptInputs(image=True)).image.startswith(b"\x89PNG")


def test_a_manager_is_shown_what_its_own_agent_may_see(opened: Callable[..., Environment]) -> None:
    environment = opened("MiniGrid-Empty-8x8-v0").with_manager()
    seen = environment.adapter.reset(seed=3)
    (manager,) = seen
    assert environment.pictures(manager) == ("egocentric",)
    drawn = environment.seat_picture(manager, seen[manager])
    assert drawn is not None
    assert drawn.tobytes() == environment.env.get_pov_render(32).tobytes()


class _Pair(gym.Env[Any, Any]):
    """Two agents, of which each sees a picture of its own."""

    observation_space = gym.spaces.Dict(dict.fromkeys("ab", gym.spaces.Box(0, 255, (24, 24, 3), np.uint8)))
    action_space = gym.spaces.Dict(dict.fromkeys("ab", gym.spaces.Discrete(2)))

    def render(self) -> Any:
        return np.zeros((24, 24, 3), np.uint8)


def test_of_an_own_environment_a_seat_is_shown_what_it_observes() -> None:
    family = CustomFamily()
    spec = EnvSpec("mine", family.name, "parallel", ("parallel",), _Pair)
    environment = Environment(spec, SimultaneousAdapter(_Pair()), family)
    assert environment.pictures("a") == ("egocentric",)
    seen = np.full((24, 24, 3), 7, np.uint8)
    drawn = environment.seat_picture("a", seen)
    assert drawn is not None and (drawn == seen).all()
