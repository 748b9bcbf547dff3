"""Matches on the real field: how often the chaser's team wins, and whether it knows where it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import mosaic_multigrid.envs  # noqa: F401  (registers the environments)
import numpy as np
import pytest

from mosaic_worker.worker import Batch, EpisodeStart, LoadError, Slot
from operators_worker import soccer_chaser
from operators_worker.main import OperatorsWorker
from operators_worker.soccer_chaser import SoccerChaser
from operators_worker.soccer_field import (
    AGENT,
    BALL,
    BLUE,
    FORWARD,
    GOAL,
    GOALS,
    GREEN,
    LEFT,
    PICKUP,
    RIGHT,
    WALL,
    Locator,
)
from operators_worker.soccer_player import Match

ENV_ID = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
NAMES = ("green_0", "green_1", "blue_0", "blue_1")


class Score(NamedTuple):
    """Wins of green, draws, wins of blue; goals of both; decisions whose belief was wrong."""

    wins: tuple[int, int, int]
    goals: tuple[int, int]
    lost: int


@pytest.fixture(autouse=True)
def matches(monkeypatch: pytest.MonkeyPatch) -> dict[int, Match]:
    """What chasers believe, by the seed of the match."""
    begun: dict[int, Match] = {}

    class Watched(SoccerChaser):
        def new_state(self, seed: int, agent_id: str) -> Match:
            return begun.setdefault(seed, super().new_state(seed, agent_id))

    monkeypatch.setattr(soccer_chaser, "SoccerChaser", Watched)
    return begun


def _field() -> Any:
    return gym.make(ENV_ID, disable_env_checker=True).unwrapped


def _seats(env: Any, behaviors: tuple[str, ...], new_seat: Callable[..., Any]) -> list[Any]:
    # The mission is left out here: the chaser does not look at it, and its space is a custom one.
    space = gym.spaces.Dict({k: s for k, s in env.observation_space[0].spaces.items() if k != "mission"})
    actions = env.action_space[0]
    return [
        new_seat(space, actions, behavior, agent_id=name, env_id=ENV_ID)
        for name, behavior in zip(NAMES, behaviors, strict=True)
    ]


def _play(
    behaviors: tuple[str, ...], seeds: range, new_seat: Callable[..., Any], matches: dict[int, Match]
) -> Score:
    env = _field()
    seats = _seats(env, behaviors, new_seat)
    wins, goals, lost = [0, 0, 0], [0, 0], 0
    for seed in seeds:
        seen, _ = env.reset(seed=seed)
        over, step = False, 0
        while not over:
            actions = {}
            for k, seat in enumerate(seats):
                view = {"image": np.asarray(seen[k]["image"]), "direction": int(seen[k]["direction"])}
                actions[k] = int(seat.act(view, seed, step, 4 * seed + k))
                lost += _is_lost(matches.get(4 * seed + k), env.agents[k].state.pos)
            seen, _, terminated, truncated, _ = env.step(actions)
            over, step = all(terminated.values()) or all(truncated.values()), step + 1
        green, blue = env.team_scores[1], env.team_scores[2]
        wins[0 if green > blue else 2 if blue > green else 1] += 1
        goals = [goals[0] + green, goals[1] + blue]
    return Score((wins[0], wins[1], wins[2]), (goals[0], goals[1]), lost)


def _is_lost(match: Match | None, position: Any) -> bool:
    """Whether a chaser has ruled out the place where it stands; who plays at random has no match in mind."""
    return match is not None and not match.possible[tuple(int(c) for c in position)]


@pytest.mark.parametrize("side", ["green", "blue"])
def test_a_chaser_with_a_random_team_mate_beats_two_random_players(
    side: str, new_seat: Callable[..., Any], matches: dict[int, Match]
):
    chaser, other = ("soccer_chaser", "random"), ("random", "random")
    score = _play(chaser + other if side == "green" else other + chaser, range(10), new_seat, matches)
    own, theirs = (0, 2) if side == "green" else (2, 0)
    assert score.wins[own] >= 9 and score.wins[theirs] == 0
    assert score.goals[own // 2] >= 0.8 * sum(score.goals)
    assert score.goals[own // 2] >= 18  # two goals win a match
    assert score.lost == 0 and len(matches) == 10


def test_two_chasers_are_evenly_matched_and_seldom_lost(
    new_seat: Callable[..., Any], matches: dict[int, Match]
):
    score = _play(("soccer_chaser", "random", "soccer_chaser", "random"), range(15), new_seat, matches)
    assert 3 <= score.wins[0] <= 12
    assert score.lost <= 3 and len(matches) == 30


def _view(**cells: tuple[int, int, int]) -> Any:
    """An open view; ``front`` is the cell ahead, ``own`` what is carried."""
    image = np.ones((3, 3, 3), np.int64)
    image[..., 1:] = 0
    for name, cell in cells.items():
        image[{"front": (1, 1), "far": (1, 0), "own": (1, 2)}[name]] = cell
    return {"image": image, "direction": 0}


def _chaser(new_seat: Callable[..., Any]) -> Any:
    return _seats(_field(), ("soccer_chaser", "random", "random", "random"), new_seat)[0]


RIVAL, RIVAL_WITH_BALL = (AGENT, BLUE, 0), (AGENT, BLUE, 102)
MATE, MATE_WITH_BALL = (AGENT, GREEN, 0), (AGENT, GREEN, 102)


@pytest.mark.parametrize(
    ("cell", "action"),
    [
        ((BALL, 0, 0), PICKUP),
        (RIVAL_WITH_BALL, PICKUP),
        (MATE_WITH_BALL, FORWARD),
        (RIVAL, None),
        (MATE, None),
    ],
)
def test_what_stands_ahead(cell: tuple[int, int, int], action: int | None, new_seat: Callable[..., Any]):
    played = _chaser(new_seat).act(_view(front=cell), 0, 0, 1)
    assert played == action if action is not None else played in (FORWARD, LEFT, RIGHT)


def test_after_a_tackle_it_waits_ten_steps_for_the_next(new_seat: Callable[..., Any]):
    seat, ball = _chaser(new_seat), (BALL, 0, 0)
    assert seat.act(_view(front=RIVAL_WITH_BALL), 0, 0, 1) == PICKUP
    assert seat.act(_view(front=RIVAL, own=ball), 0, 1, 1) == FORWARD  # with the ball, to the goal
    replies = [seat.act(_view(front=RIVAL_WITH_BALL), 0, step, 1) for step in range(2, 14)]
    assert PICKUP not in replies[:9]  # it was robbed at step 2
    assert replies[10] == PICKUP


def test_with_the_ball_at_a_team_mate_it_goes_to_the_goal(new_seat: Callable[..., Any]):
    seat = _chaser(new_seat)
    replies = [seat.act(_view(far=MATE_WITH_BALL), 0, 0, 1)]
    replies += [seat.act(_view(), 0, step, 1) for step in range(1, 5)]
    assert replies == [FORWARD] * 5


def test_after_a_goal_the_ball_may_be_anywhere(new_seat: Callable[..., Any], new_batch: Callable[..., Batch]):
    slot = _chaser(new_seat).slot
    behavior = SoccerChaser(slot)
    match = behavior.new_state(0, "green_0")
    match.carrying, match.position = True, GOALS[BLUE][1]
    match.unseen[:] = 1.0
    image = _view()["image"]
    image[0, 2] = image[2, 2] = (GOAL, BLUE, 0)  # to both sides of who stands in the middle of it
    behavior.act(match, new_batch(slot, [{"image": image, "direction": 2}], steps=[9]), 0)
    assert match.position == GOALS[BLUE][1] and not match.carrying
    assert match.unseen[3, 3] > 50.0
    assert match.tackle_from == 0  # a goal is no tackle


@pytest.mark.parametrize(
    ("agent_id", "env_id", "settings", "blue"),
    [
        ("green_0", ENV_ID, {}, False),
        ("blue_1", ENV_ID, {}, True),
        ("agent_1", ENV_ID, {}, False),
        ("agent_2", ENV_ID, {}, True),
        ("1", "MosaicMultiGrid-S-1v3-IndAgObs-v1", {}, True),
        ("green_0", ENV_ID, {"team": "blue"}, True),
    ],
)
def test_the_side_is_read_from_the_name(
    agent_id: str,
    env_id: str,
    settings: dict[str, str],
    blue: bool,
    new_seat: Callable[..., Any],
    matches: dict[int, Match],
):
    env = _field()
    space = gym.spaces.Dict({k: env.observation_space[0][k] for k in ("image", "direction")})
    where = {"agent_id": agent_id, "env_id": env_id}
    seat = new_seat(space, env.action_space[0], "soccer_chaser", **where, **settings)
    seat.act(_view(), 0, 0, 1)
    assert matches[1].goal == (GOALS[GREEN] if blue else GOALS[BLUE])


def test_with_seats_swapped_it_plays_for_the_other_goal(
    new_seat: Callable[..., Any], matches: dict[int, Match]
):
    seat = _chaser(new_seat)
    seat.worker.reset(
        seat.slot, [EpisodeStart(0, 1, "green_0"), EpisodeStart(1, 1, "blue_0"), EpisodeStart(2, 1)]
    )
    for episode in range(3):
        seat.act(_view(), episode, 0, episode)
    assert [matches[seed].goal for seed in range(3)] == [GOALS[BLUE], GOALS[GREEN], GOALS[BLUE]]


@pytest.mark.parametrize(("agent_id", "settings"), [("striker", {}), ("agent_0", {"team": "grean"})])
def test_a_side_that_nothing_tells_is_asked_for(
    agent_id: str, settings: dict[str, str], new_slot: Callable[..., Slot]
):
    env = _field()
    space = gym.spaces.Dict({k: env.observation_space[0][k] for k in ("image", "direction")})
    where = {"agent_id": agent_id, "env_id": ENV_ID}
    slot = new_slot(space, env.action_space[0], "soccer_chaser", **where, **settings)
    with pytest.raises(LoadError, match=re.escape("Set team to green or blue")):
        OperatorsWorker().load(slot)


def test_the_locator_agrees_with_the_field_at_every_place():
    env, locator = _field(), Locator(3)
    env.reset(seed=1)
    for player in env.agents:
        player.state.carrying = None
    for x in range(1, 15):
        for y in range(1, 10):
            for direction in range(4):
                env.agents[0].state.pos, env.agents[0].state.dir = (x, y), direction
                image = env.gen_obs()[0]["image"]
                cell = env.grid.get(x, y)
                if cell is None or cell.type != "ball":
                    assert locator.agree(image, direction)[x, y], (x, y, direction)


def test_a_corner_leaves_one_place():
    locator = Locator(3)
    image = np.ones((3, 3, 3), np.int64)
    image[0, :] = image[:, 0] = image[:, 1] = (WALL, 5, 0)
    image[1, 2] = (1, 0, 0)
    # Looking up with a wall ahead and to the left: the upper left corner.
    assert np.argwhere(locator.agree(image, 3) & locator.everywhere()).tolist() == [[1, 1]]


def test_carried_balls_and_walls_are_told_apart():
    locator = Locator(3)
    image = np.ones((3, 3, 3), np.int64)
    image[1, 2] = (BALL, 0, 0)
    free = locator.agree(image, 0)
    assert free[5, 5] and not free[14, 5]
    assert all(not free[cell[0] - 1, cell[1]] for cell in GOALS[BLUE])
