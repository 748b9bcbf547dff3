"""The options of grids: what tasks can hold, where options start, how they end, and the contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gym_gui.core.paradigms import HierarchicalAdapter
from gym_gui.core.paradigms.check import check_environment
from gym_gui.envs import Environment, make

BOSS, AGENT = "agent_0/goal", "agent_0"
DOORKEY = (
    "explore",
    "go to(yellow key)",
    "go to(yellow door)",
    "go to(green goal)",
    "pick up(yellow key)",
    "open(yellow door)",
    "drop",
)
LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE = range(6)


def managed(task: str, **kwargs: Any) -> tuple[Environment, HierarchicalAdapter]:
    environment = make(task, **kwargs).with_manager()
    assert isinstance(environment.adapter, HierarchicalAdapter)
    return environment, environment.adapter


def startable(adapter: HierarchicalAdapter) -> set[str]:
    return {option.name for _, option in adapter.startable(BOSS)}


def choose(environment: Environment, name: str) -> None:
    environment.adapter.step({BOSS: environment.action_meanings(BOSS).index(name)})


def play(adapter: HierarchicalAdapter, moves: Sequence[int]) -> list[str]:
    """How options ended with moves that are played while one lasts."""
    ends: list[str] = []
    for move in moves:
        if list(adapter.get_current_agents()) != [AGENT]:
            break
        adapter.step({AGENT: move})
        ends += [end.why for end in adapter.take_ended().values()]
    return ends


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("MiniGrid-DoorKey-8x8-v0", DOORKEY),
        ("MiniGrid-DoorKey-16x16-v0", DOORKEY),
        ("MiniGrid-Empty-5x5-v0", ("explore", "go to(green goal)")),
        (
            "MiniGrid-RedBlueDoors-6x6-v0",
            ("explore", "go to(red door)", "go to(blue door)", "open(red door)", "open(blue door)"),
        ),
    ],
)
def test_a_manager_chooses_from_what_the_task_can_hold(task: str, names: tuple[str, ...]) -> None:
    environment, _ = managed(task)
    assert environment.action_meanings(BOSS) == names == environment.option_names(AGENT)
    assert environment.option_names(BOSS) == ()


@pytest.mark.parametrize(
    "task",
    [
        "MiniGrid-Fetch-8x8-N3-v0",
        "MiniGrid-KeyCorridorS3R3-v0",
        "BabyAI-GoToObj-v0",
        "MiniGrid-Playground-v0",
    ],
)
def test_whatever_an_episode_holds_has_its_option(task: str) -> None:
    environment, adapter = managed(task)
    names = set(environment.action_meanings(BOSS))
    for seed in range(10):
        adapter.reset(seed=seed)
        for cell in environment.env.grid.grid:
            if cell is not None and cell.type in ("key", "ball", "box", "door"):
                assert f"go to({cell.color} {cell.type})" in names
                assert (f"pick up({cell.color} {cell.type})" in names) == (cell.type != "door")


def test_options_start_where_what_they_are_about_is_in_view() -> None:
    environment, adapter = managed("MiniGrid-DoorKey-6x6-v0")
    starts: set[str] = set()
    for seed in range(20):
        seen = adapter.reset(seed=seed)[BOSS]
        can = startable(adapter)
        kinds = set(seen["image"][..., 0].ravel().tolist())
        assert ("pick up(yellow key)" in can) == (5 in kinds)
        assert "open(yellow door)" not in can  # it is locked, and the agent does not hold the key
        assert "drop" not in can
        starts |= can
    assert {"explore", "pick up(yellow key)", "go to(yellow door)"} <= starts
    environment.close()


def test_the_key_is_taken_the_door_opened_the_key_put_down() -> None:
    environment, adapter = managed("MiniGrid-DoorKey-5x5-v0")
    adapter.reset(seed=0)
    game = environment.env
    from minigrid.core.world_object import Door, Key

    for x, y in [(x, y) for x in range(1, 4) for y in range(1, 4)]:
        game.grid.set(x, y, None)
    game.grid.set(2, 1, Key("yellow"))
    game.grid.set(3, 2, Door("yellow", is_locked=True))
    game.agent_pos, game.agent_dir = (1, 1), 0
    # What the world is now is seen after a move.
    choose(environment, "explore")
    adapter.step({AGENT: DROP})
    assert adapter.take_ended() or list(adapter.get_current_agents()) == [AGENT]
    while list(adapter.get_current_agents()) == [AGENT]:
        adapter.step({AGENT: DROP})
    adapter.take_ended()
    assert startable(adapter) >= {"pick up(yellow key)", "go to(yellow door)"}
    assert "go to(yellow key)" not in startable(adapter)  # it is directly ahead
    choose(environment, "pick up(yellow key)")
    assert play(adapter, [PICKUP]) == ["over"]
    assert {"open(yellow door)", "drop"} <= startable(adapter)
    assert "pick up(yellow key)" not in startable(adapter)
    choose(environment, "explore")
    assert play(adapter, [DROP, PICKUP] * 5) == ["budget"]  # nor a key for having been put down
    choose(environment, "go to(yellow door)")
    assert play(adapter, [RIGHT, FORWARD, LEFT, FORWARD]) == ["over"]
    choose(environment, "open(yellow door)")
    assert play(adapter, [TOGGLE]) == ["over"]
    assert "open(yellow door)" not in startable(adapter)
    choose(environment, "explore")
    assert play(adapter, [TOGGLE] * 10) == ["budget"]  # a door is nothing new for having been shut
    choose(environment, "drop")
    assert play(adapter, [LEFT, DROP]) == ["over"]
    environment.close()


def test_exploring_ends_with_something_new_in_view_or_its_budget() -> None:
    environment, adapter = managed("MiniGrid-DoorKey-8x8-v0")
    ends: dict[str, int] = {}
    for seed in range(10):
        adapter.reset(seed=seed)
        before = {each.said for each in view(environment, adapter)}
        choose(environment, "explore")
        (why,) = play(adapter, [RIGHT] * 10)
        now = {each.said for each in view(environment, adapter)}
        assert (why == "over") == bool(now - before)
        ends[why] = ends.get(why, 0) + 1
    assert set(ends) == {"over", "budget"}


def view(environment: Environment, adapter: HierarchicalAdapter) -> Sequence[Any]:
    from gym_gui.envs.describers.minigrid import MiniGridDescriber

    seen = MiniGridDescriber(environment).grid_view(adapter.behind(AGENT)[1])
    assert seen is not None
    return [each for each in seen.things if each.said[0] != "lava"]


def test_a_picture_tells_where_options_lead() -> None:
    environment, adapter = managed("MiniGrid-DoorKey-8x8-v0")
    names = environment.action_meanings(BOSS)
    for seed in range(10):
        adapter.reset(seed=seed)
        found = {(names[number], place) for number, place in adapter.places(BOSS)}
        seen = {f"go to({each.said[1]} {each.said[0]})" for each in view(environment, adapter)}
        assert {name for name, _ in found if name.startswith("go to")} == seen & startable(adapter)
    assert {name.partition("(")[0] for name, _ in found} <= {"go to", "pick up", "open"}


@pytest.mark.parametrize(
    "task", ["MiniGrid-DoorKey-5x5-v0", "BabyAI-UnlockLocal-v0", "MultiGrid-LockedHallway-2Rooms-v0"]
)
def test_with_a_manager_the_contract_is_kept(task: str) -> None:
    report = check_environment(lambda: make(task).with_manager().adapter, steps=80)
    assert report.ok, "\n".join(report.lines())


@pytest.mark.parametrize("task", ["MiniGrid-DoorKey-8x8-v0", "MultiGrid-BlockedUnlockPickup-v0"])
def test_each_option_is_pointed_at_where_its_thing_is(task: str) -> None:
    environment, adapter = managed(task)
    found = 0
    for seed in range(8):
        adapter.reset(seed=seed)
        pointing = environment.pointing(BOSS)
        if pointing is None:
            continue
        game = environment.env
        assert (pointing.rows, pointing.columns) == (game.height, game.width)
        for move in pointing.moves:
            row, column = move.target
            thing = game.grid.get(column, row)
            color, kind = (str(getattr(word, "value", word)) for word in (thing.color, thing.type))
            assert move.label.partition("(")[2] == f"{color} {kind})"
            assert environment.action_meanings(BOSS)[move.action] == move.label
            found += 1
    assert found > 8 and environment.pointing(AGENT) is None


@pytest.mark.parametrize("task", ["MiniGrid-DoorKey-8x8-v0", "MultiGrid-BlockedUnlockPickup-v0"])
def test_in_the_agents_own_picture_it_is_pointed_at_where_that_shows_it(task: str) -> None:
    environment, adapter = managed(task)
    found = 0
    for seed in range(8):
        seen = adapter.reset(seed=seed)[BOSS]
        whole, own = environment.pointing(BOSS), environment.pointing(BOSS, "egocentric")
        if own is None:
            assert whole is None
            continue
        # The observation is the picture's own grid, by column and row.
        cells = np.asarray(seen["image"])
        assert (own.columns, own.rows) == cells.shape[:2] and whole is not None
        assert [move.label for move in own.moves] == [move.label for move in whole.moves]
        game = environment.env
        for there, here in zip(whole.moves, own.moves, strict=True):
            thing = game.grid.get(there.target[1], there.target[0])
            assert tuple(cells[here.target[1], here.target[0]]) == tuple(np.asarray(thing.encode()))
            found += 1
    assert found > 8
