"""What is said of rules and rewards in MiniGrid and BabyAI, against games that are played."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs import Environment

AGENT = "agent_0"
_STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))


class Played:
    """An environment at the beginning of a game, what is said of it, and what its actions bring."""

    def __init__(self, task: str, seed: int = 1, **env_kwargs: Any) -> None:
        self.environment: Environment = envs.make(task, env_kwargs=env_kwargs)
        self.environment.adapter.reset(seed=seed)
        self.game = self.environment.env
        self.said = self.environment.describer(AGENT).briefing(AGENT)

    def do(self, word: str) -> tuple[float, bool]:
        """The reward of an action, and whether it ended the game (not by the limit)."""
        action = self.environment.action_meanings(AGENT).index(word)
        step = self.environment.adapter.step({AGENT: action})
        return step.rewards[AGENT], step.terminated[AGENT]

    def stand(self, x: int, y: int, *, facing: bool = True) -> None:
        """Stand on a free cell beside (x, y), looking at it or to the right of it."""
        for direction, (right, down) in enumerate(_STEPS):
            at = x - right, y - down
            inside = 0 < at[0] < self.game.width - 1 and 0 < at[1] < self.game.height - 1
            if inside and self.game.grid.get(*at) is None:
                self.game.agent_pos, self.game.agent_dir = at, (direction + (not facing)) % 4
                return
        raise AssertionError("no free cell beside it")

    def places(self, kind: str) -> Iterator[tuple[int, int]]:
        """Where there are things of a kind."""
        for x in range(self.game.width):
            for y in range(self.game.height):
                thing = self.game.grid.get(x, y)
                if thing is not None and thing.type == kind:
                    yield x, y


@pytest.mark.parametrize("kind", ["ball", "wall"])
def test_going_into_a_ball_or_wall_costs_one_and_the_game(kind: str) -> None:
    played = Played("MiniGrid-Dynamic-Obstacles-8x8-v0", n_obstacles=2)
    x, y = next(played.places("ball")) if kind == "ball" else (0, 3)
    played.stand(x, y)
    assert played.do("forward") == (-1, True)
    assert (
        "Going forward with a ball or a wall directly ahead of you ends the game with a reward of -1."
        in played.said
    )
    assert (
        "2 balls move" in played.said
        and "3 balls move" in Played(played.environment.spec.id, n_obstacles=3).said
    )
    assert "6 cells ahead and 3 to each side, also through walls" in played.said


@pytest.mark.parametrize("task", ["MiniGrid-GoToDoor-5x5-v0", "MiniGrid-GoToObject-6x6-N2-v0"])
def test_done_and_toggle_end_the_game_of_going_somewhere(task: str) -> None:
    for word, facing in (("done", True), ("done", False), ("toggle", True)):
        played = Played(task)
        played.stand(*played.game.target_pos, facing=facing)
        reward, over = played.do(word)
        assert over and (reward > 0) is (word == "done")
    far = Played(task)
    assert '"done" and "toggle" end the game' in far.said and "whichever way you look" in far.said
    assert "- toggle: end the game without reward" in far.said
    assert "- done: do nothing" not in far.said
    assert "- done: do nothing" in Played("MiniGrid-DoorKey-8x8-v0").said


def has_lava(task: str) -> tuple[bool, str]:
    played = Played(task)
    found = any(list(played.places("lava")))
    if found:
        x, y = next(cell for cell in played.places("lava") if cell[0] > 1)
        played.game.agent_pos, played.game.agent_dir = (x - 1, y), 0
        assert played.do("forward") == (0, True)
    played.environment.close()
    return found, played.said


@pytest.mark.parametrize(
    "task",
    [
        *("MiniGrid-DistShift1-v0", "MiniGrid-LavaGapS5-v0", "MiniGrid-LavaCrossingS9N1-v0"),
        *("MiniGrid-SimpleCrossingS9N1-v0", "MiniGrid-Empty-5x5-v0", "MiniGrid-DoorKey-5x5-v0"),
    ],
)
def test_lava_is_told_where_there_is_some_and_only_there(task: str) -> None:
    found, said = has_lava(task)
    assert found is ("Stepping onto lava ends the game without reward." in said)


def test_the_reward_is_the_one_that_is_told_and_follows_the_limit() -> None:
    for limit in (10, 40):
        played = Played("MiniGrid-Empty-5x5-v0", max_steps=limit)
        assert f"The reward is 1 - 0.9 x steps / {limit}." in played.said
        x, y = next(played.places("goal"))
        played.do("left")
        played.stand(x, y)
        assert played.do("forward") == (pytest.approx(1 - 0.9 * 2 / limit), True)


def test_babyai_gives_each_mission_the_time_that_is_told() -> None:
    for task in ("BabyAI-GoToRedBall-v0", "BabyAI-GoTo-v0", "BabyAI-PutNextLocal-v0"):
        played = Played(task)
        game = played.game
        assert (
            f"which are {game.max_steps // game.num_navs_needed(game.instrs)} for each thing" in played.said
        ), task


def test_what_is_seen_is_told_with_its_range_and_whether_through_walls() -> None:
    for task, size in (("MiniGrid-DoorKey-8x8-v0", 5), ("MiniGrid-Empty-8x8-v0", 9)):
        played = Played(task, agent_view_size=size)
        through = played.game.see_through_walls
        _, visible = played.game.gen_obs_grid()
        assert visible.shape == (size, size) and bool(np.all(visible)) is through
        words = "also through" if through else "but not through"
        assert f"You see {size - 1} cells ahead and {size // 2} to each side, {words} walls" in played.said


def test_taking_another_thing_ends_fetching() -> None:
    played = Played("MiniGrid-Fetch-8x8-N3-v0")
    game, ends = played.game, set[bool]()
    for seed in range(8):
        played.environment.adapter.reset(seed=seed)
        for x, y in (*played.places("key"), *played.places("ball")):
            thing = game.grid.get(x, y)
            right = (thing.type, thing.color) == (game.targetType, game.targetColor)
            played.stand(x, y)
            reward, over = played.do("pickup")
            assert over and (reward > 0) is right
            ends.add(right)
            break
    assert ends == {True, False}
    assert "Picking up anything ends the game, without reward if it is something else." in played.said


def test_near_is_also_across_a_corner_and_any_other_drop_ends_the_game() -> None:
    rewarded = set[bool]()
    for seed in range(12):
        played = Played("MiniGrid-PutNear-8x8-N3-v0", seed)
        game = played.game
        x, y = next(
            cell
            for kind in ("key", "ball", "box")
            for cell in played.places(kind)
            if (game.grid.get(*cell).type, game.grid.get(*cell).color) == (game.move_type, game.moveColor)
        )
        game.carrying = game.grid.get(x, y)
        game.grid.set(x, y, None)
        tx, ty = game.target_pos
        corner = bool(seed % 2)
        cells = ((a, b) for a in range(1, 7) for b in range(1, 7) if game.grid.get(a, b) is None)
        for a, b in cells:
            if (abs(a - tx) == 1 == abs(b - ty)) if corner else max(abs(a - tx), abs(b - ty)) > 1:
                try:
                    played.stand(a, b)
                except AssertionError:
                    continue
                reward, over = played.do("drop")
                assert over and (reward > 0) is corner
                rewarded.add(corner)
                break
        assert '"Near" is any of the eight cells around.' in played.said
        assert '"drop" with the object in your hands anywhere else' in played.said
    assert rewarded == {True, False}


def test_the_blue_door_ends_the_game_of_two_doors() -> None:
    for first in (True, False):
        played = Played("MiniGrid-RedBlueDoors-8x8-v0")
        played.game.red_door.is_open = first
        blue = played.game.blue_door
        played.stand(*next(cell for cell in played.places("door") if played.game.grid.get(*cell) is blue))
        reward, over = played.do("toggle")
        assert over and (reward > 0) is first
    assert "The game ends when the blue door is open" in played.said


def test_the_wrong_end_of_the_hallway_ends_the_game_of_memory() -> None:
    for right in (True, False):
        played = Played("MiniGrid-MemoryS7-v0")
        x, y = played.game.success_pos if right else played.game.failure_pos
        played.game.agent_pos = (x, y - 1 if played.game.grid.get(x, y - 1) is None else y + 1)
        played.game.agent_dir = 1 if played.game.agent_pos[1] < y else 3
        reward, over = played.do("forward")
        assert over and (reward > 0) is right
    assert "stepping onto the cell next to one of the two objects ends the game" in played.said
    assert "- pickup: of no use here" in played.said


def test_strict_missions_say_what_ends_them() -> None:
    sentence = "Toggling a door other than the one that is due ends the game without reward."
    played = Played("BabyAI-OpenDoorDebug-v0")
    wanted = played.game.instrs.desc.obj_set[0]
    other = next(place for place in played.places("door") if played.game.grid.get(*place) is not wanted)
    played.stand(*other)
    assert played.do("toggle") == (0, True)
    assert sentence in played.said
    for task in ("BabyAI-OpenRedBlueDoorsDebug-v0", "BabyAI-OpenDoorsOrderN2Debug-v0"):
        assert sentence in Played(task).said
    assert "Picking up something else ends the game" in Played("BabyAI-PickupDistDebug-v0").said
    for task in ("BabyAI-OpenDoor-v0", "BabyAI-OpenRedBlueDoors-v0", "BabyAI-PickupDist-v0"):
        assert "without reward" not in Played(task).said


def test_an_opened_box_is_gone_and_says_so() -> None:
    played = Played("MiniGrid-PutNear-8x8-N3-v0", 3)
    x, y = next(played.places("box"))
    played.stand(x, y)
    played.do("toggle")
    assert played.game.grid.get(x, y) is None
    assert "open a box, which is gone then" in played.said


def test_only_the_playground_rewards_nothing() -> None:
    quiet: list[str] = []
    for spec in envs.list_specs("minigrid"):
        if "wfc" in str(spec.entry_point):
            continue  # needs packages of its own
        environment = envs.make(spec.id)
        if "Nothing is rewarded." in environment.describer(AGENT).game(AGENT):
            quiet.append(spec.id)
        environment.close()
    assert quiet == ["MiniGrid-Playground-v0"]


def test_the_goal_is_told_to_be_walked_on_and_is() -> None:
    played = Played("MiniGrid-Empty-5x5-v0")
    forward = next(line for line in played.said.splitlines() if line.startswith("- forward"))
    assert "open doors and the goal" in forward
    x, y = next(played.places("goal"))
    played.stand(x, y)
    played.do("forward")
    assert tuple(played.game.agent_pos) == (x, y)
