"""How often the path-finder succeeds, on fixed seeds, against the environment's own word."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gymnasium as gym
import minigrid  # noqa: F401  (registers the environments)
import numpy as np
import pytest

from mosaic_worker.worker import Invalid
from operators_worker.minigrid_map import BALL, EMPTY, FORWARD, WALL, Cell, ObservedMap


def _success(env_id: str, seeds: Iterable[int], new_seat: Callable[..., Any]) -> list[bool]:
    env = gym.make(env_id)
    seat = new_seat(env.observation_space, env.action_space, "minigrid_path", env_id=env_id)
    done: list[bool] = []
    for seed in seeds:
        seen, _ = env.reset(seed=seed)
        over, step, reward = False, 0, 0.0
        while not over:
            action = seat.act(seen, seed, step, seed)
            seen, reward, terminated, truncated, _ = env.step(action)
            over, step = terminated or truncated, step + 1
        done.append(float(reward) > 0)
    return done


@pytest.mark.parametrize(
    ("env_id", "least"),
    [
        ("MiniGrid-Empty-8x8-v0", 0.95),
        ("MiniGrid-Empty-Random-6x6-v0", 0.95),
        ("MiniGrid-FourRooms-v0", 0.9),
        ("MiniGrid-DoorKey-6x6-v0", 0.95),
        ("MiniGrid-LavaGapS7-v0", 0.95),
        ("MiniGrid-GoToDoor-8x8-v0", 0.95),
        ("MiniGrid-BlockedUnlockPickup-v0", 0.95),
        ("BabyAI-GoToRedBall-v0", 0.95),
        ("BabyAI-GoToRedBallGrey-v0", 0.95),
        ("BabyAI-PickupLoc-v0", 0.95),
        ("BabyAI-PutNextLocal-v0", 0.95),
        ("BabyAI-GoToSeqS5R2-v0", 0.9),
    ],
)
def test_it_reaches_the_goal_within_the_step_limit(env_id: str, least: float, new_seat: Callable[..., Any]):
    assert np.mean(_success(env_id, range(20), new_seat)) >= least


@pytest.mark.parametrize(
    ("env_id", "seeds"),
    [
        ("BabyAI-Synth-v0", [3]),  # a ball lifted in a pocket must not be dropped into its only exit
        ("BabyAI-Synth-v0", [24]),  # standing in a doorway is standing before a door
        ("BabyAI-UnblockPickup-v0", [0]),  # a load is put down before plans change
        ("BabyAI-BossLevel-v0", [27]),  # a door that is open already still has to be opened
        ("MiniGrid-RedBlueDoors-8x8-v0", [4, 7, 8]),  # look around before opening the wrong door
        ("MiniGrid-ObstructedMaze-1Dlh-v0", [0, 1]),  # the key is in a box
        ("BabyAI-KeyInBox-v0", [0, 1]),
    ],
)
def test_worlds_that_need_care(env_id: str, seeds: list[int], new_seat: Callable[..., Any]):
    assert all(_success(env_id, seeds, new_seat))


def test_a_mission_it_cannot_read_is_said_so(new_seat: Callable[..., Any]):
    env = gym.make("MiniGrid-MemoryS7-v0")
    seen, _ = env.reset(seed=0)
    answer = new_seat(env.observation_space, env.action_space, "minigrid_path").act(seen, 0, 0, 0)
    assert isinstance(answer, Invalid)
    assert "does not understand the mission 'go to the matching object" in answer.reason


def test_asked_again_it_does_not_think_it_has_moved(new_seat: Callable[..., Any]):
    env = gym.make("MiniGrid-Empty-8x8-v0")
    seen, _ = env.reset(seed=0)
    seat = new_seat(env.observation_space, env.action_space, "minigrid_path")
    once = [seat.act(seen, 0, 0, 0) for _ in range(3)]
    assert once == once[:1] * 3
    assert seat.act(env.step(once[0])[0], 0, 1, 0) == _second_action(env, once[0], new_seat)


def _second_action(env: Any, first: int, new_seat: Callable[..., Any]) -> int:
    """The second action of a player that was asked once per step."""
    seen, _ = env.reset(seed=0)
    seat = new_seat(env.observation_space, env.action_space, "minigrid_path")
    assert seat.act(seen, 0, 0, 0) == first
    return seat.act(env.step(first)[0], 0, 1, 0)


def _view(**cells: tuple[int, int, int]) -> Any:
    image = np.zeros((3, 3, 3), np.uint8)
    for place, cell in cells.items():
        image[int(place[1]), int(place[2])] = cell
    return image


@pytest.mark.parametrize(
    ("direction", "ahead", "left"),
    [(0, (1, 0), (0, -1)), (1, (0, 1), (1, 0)), (2, (-1, 0), (0, 1)), (3, (0, -1), (-1, 0))],
)
def test_the_map_is_drawn_in_compass_directions(direction: int, ahead: Any, left: Any):
    seen = ObservedMap()
    seen.add_observation(_view(c11=(WALL, 5, 0), c02=(BALL, 2, 0), c12=(EMPTY, 0, 0)), direction)
    assert seen.cells[ahead] == Cell(WALL, 5, 0)
    assert seen.cells[left] == Cell(BALL, 2, 0)
    assert len(seen.cells) == 3


def test_only_free_cells_are_walked_into():
    seen = ObservedMap()
    seen.add_observation(_view(c11=(EMPTY, 0, 0), c10=(WALL, 5, 0)), 0)
    seen.moved(FORWARD)
    assert seen.position == (1, 0)
    seen.add_observation(_view(c11=(WALL, 5, 0)), 0)
    seen.moved(FORWARD)
    assert seen.position == (1, 0)
