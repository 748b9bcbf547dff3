"""Crafter in words, against its world."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs import Environment
from gym_gui.envs.describers.crafter_words import HIDDEN, CrafterDescriber

PART = re.compile(r"(\d+) (left|right|up|down)")
NAMES = {"Zombie": "zombie", "Skeleton": "skeleton", "Cow": "cow"}


@pytest.fixture(scope="module")
def environment() -> Iterator[Environment]:
    made = envs.make("CrafterReward-v1")
    yield made
    made.close()


def place(text: str) -> tuple[int, int]:
    found = {side: int(n) for n, side in PART.findall(text)}
    return found.get("right", 0) - found.get("left", 0), found.get("down", 0) - found.get("up", 0)


def scenes(environment: Environment, worlds: int, each: int) -> Iterator[Any]:
    """The player anywhere in some worlds, at any time of the day, with anything in its bags."""
    from crafter import objects

    rng, game = np.random.default_rng(0), environment.env.game
    for seed in range(worlds):
        environment.adapter.reset(seed=seed)
        world, player = game._world, game._player
        for _ in range(each):
            pos = rng.integers(0, 64, 2)
            while world[pos][1] is not None or world[pos][0] not in ("grass", "sand", "path"):
                pos = rng.integers(0, 64, 2)
            world.move(player, pos)
            player.facing = ((-1, 0), (1, 0), (0, -1), (0, 1))[rng.integers(4)]
            beside = pos + np.array([0, 2])
            if player.is_free(beside):
                kind = rng.integers(3)
                thing = objects.Arrow(world, beside, (1, 0)) if kind else objects.Plant(world, beside)
                if not kind:
                    thing.grown = int(rng.integers(2)) * 400  # pyright: ignore[reportAttributeAccessIssue]
                world.add(thing)
            for item in player.inventory:
                player.inventory[item] = int(rng.integers(10))
            player.sleeping = bool(rng.random() < 0.1)
            world.daylight = float(rng.random())
            yield game


def named(thing: Any) -> str:
    kind = type(thing).__name__
    if kind == "Plant":
        return "ripe plant" if thing.texture == "plant-ripe" else "young plant"
    return f"arrow flying {thing.texture.removeprefix('arrow-')}" if kind == "Arrow" else NAMES[kind]


def expected(game: Any) -> dict[str, list[tuple[int, int]]]:
    """Everything of the picture that its noise leaves to be seen, by name."""
    world, player = game._world, game._player
    found: dict[str, list[tuple[int, int]]] = {}
    for right in range(-4, 5):
        for down in range(-3, 4):
            pos = player.pos + np.array([right, down])
            if not (right or down) or not ((pos >= 0).all() and (pos < 64).all()):
                continue
            # As the package's _noise and _vignette have it.
            share = 1 - np.exp(-((right / 4.5) ** 2 + (down / 3.5) ** 2) / 0.5)
            if max(0.0, 2 * (0.5 - world.daylight)) * share > HIDDEN:
                continue
            material, thing = world[pos]
            found.setdefault(named(thing) if thing else material, []).append((right, down))
    return found


def cells_of_the_world_in_view(game: Any) -> int:
    """All of them but the player's own."""
    x, y = game._player.pos
    return (min(x + 4, 63) - max(x - 4, 0) + 1) * (min(y + 3, 63) - max(y - 3, 0) + 1) - 1


def test_what_is_in_the_picture_is_told(environment: Environment) -> None:
    describer = environment.describer("agent_0")
    assert isinstance(describer, CrafterDescriber) and describer.can_say("agent_0")
    states, kinds, nights = 0, set[str](), 0
    for game in scenes(environment, 3, 100):
        text, player = describer.text("agent_0", None), game._player
        there = expected(game)
        lines = dict(line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("- "))
        assert set(lines) == {kind for kind in there if kind != "grass"} | ({"grass"} & set(lines))
        for kind, line in lines.items():
            told = [place(each) for each in line.partition(" (")[0].split("; ")]
            near = sorted(abs(x) + abs(y) for x, y in there[kind])
            assert set(told) <= set(there[kind]) and len(told) == min(3, len(there[kind]))
            assert [abs(x) + abs(y) for x, y in told] == near[: len(told)]
            many = re.search(r"\((\d+) in all\)", line)
            assert (int(many[1]) if many else len(told)) == len(there[kind])
        if "grass" in there and "grass" not in lines:
            assert any(abs(x) + abs(y) == 1 for x, y in there["grass"])
        has = player.inventory
        assert text.startswith(
            f"Health {has['health']}, food {has['food']}, drink {has['drink']}, energy {has['energy']} (of "
            "9 each)."
        )
        for item, n in has.items():
            if item not in ("health", "food", "drink", "energy"):
                carried = re.search(rf"\b(\d) {item.replace('_', ' ')}(?:,|\.)", text)
                assert (int(carried[1]) if carried else 0) == n
        assert ("You are asleep" in text) is player.sleeping
        assert ("It is night" in text) is (game._world.daylight < 0.5)
        corner = 1 - np.exp(-((4 / 4.5) ** 2 + (3 / 3.5) ** 2) / 0.5)  # the darkest cell
        lost = bool(2 * (0.5 - game._world.daylight) * corner > HIDDEN)
        assert ("lost in the dark" in text) is lost
        assert lost or sum(map(len, there.values())) == cells_of_the_world_in_view(game)
        states, nights = states + 1, nights + (game._world.daylight < 0.1)
        kinds |= set(there)
    assert states == 300 and nights > 10
    assert {"tree", "water", "stone", "coal", "lava", "cow", "zombie", "young plant", "ripe plant"} <= kinds


def test_what_one_looks_at_is_told(environment: Environment) -> None:
    describer, ways = environment.describer("agent_0"), ("left", "right", "up", "down")
    steps, count = dict(zip(ways, ((-1, 0), (1, 0), (0, -1), (0, 1)), strict=True)), 0
    for game in scenes(environment, 1, 60):
        text, player = describer.text("agent_0", None), game._player
        looks = re.search(r"You look (\w+), at (?:an? )?(.+)\.$", text, re.M)
        beside = re.search(r"^Beside you: (.+)\.$", text, re.M)
        assert looks and beside
        told = dict(each.split(" ", 1) for each in beside[1].split(", "))
        told[looks[1]] = looks[2]
        assert steps[looks[1]] == tuple(player.facing) and set(told) == set(ways)
        for way, what in told.items():
            material, thing = game._world[player.pos + np.array(steps[way])]
            assert what == (named(thing) if thing else material or "the edge of the world")
        count += 1
    assert count == 60


def test_recipes_are_the_packages(environment: Environment) -> None:
    from crafter import constants

    words = {each.word: each.meaning for each in environment.describer("agent_0").actions("agent_0")}
    assert tuple(words) == environment.action_meanings("agent_0") and all(words.values())
    for thing, rule in {**constants.place, **constants.make}.items():  # pyright: ignore[reportAttributeAccessIssue]
        meaning = words[f"{'place' if thing in constants.place else 'make'}_{thing}"]  # pyright: ignore[reportAttributeAccessIssue]
        for name, n in rule["uses"].items():
            assert f"{n} {name.replace('_', ' ')}" in meaning
        for name in rule.get("nearby", ()):
            assert f"a {name}" in meaning
    briefing = environment.describer("agent_0").briefing("agent_0")
    assert all(each.replace("_", " ") in briefing for each in constants.achievements)  # pyright: ignore[reportAttributeAccessIssue]


def settled(environment: Environment, **has: int) -> Any:
    """A world at noon with the player alone in it, who has these things."""
    environment.adapter.reset(seed=4)
    game = environment.env.game
    for thing in list(game._world.objects):
        if thing is not game._player:
            game._world.remove(thing)
    game._balance_chunk = lambda *_: None
    game._player.inventory.update(has)
    return game


def do(environment: Environment, word: str) -> Any:
    return environment.adapter.step({"agent_0": environment.action_meanings("agent_0").index(word)})


def put(game: Any, kind: str) -> Any:
    """A creature where the player looks, which does not move by itself."""
    from crafter import objects

    player = game._player
    place = player.pos + np.array(player.facing)
    game._world[place] = "grass"
    more = (player,) if kind in ("Zombie", "Skeleton") else ()
    thing = getattr(objects, kind)(game._world, place, *more)
    game._world.add(thing)
    return thing


def test_nothing_is_done_while_asleep_and_that_is_told(environment: Environment) -> None:
    game, describer = settled(environment, energy=8), environment.describer("agent_0")
    do(environment, "sleep")
    assert "You are asleep: whatever you choose, you sleep on." in describer.text("agent_0", None)
    facing = tuple(game._player.facing)
    for word in ("move_left", "move_right", "move_up"):
        do(environment, word)
    assert tuple(game._player.facing) == facing and game._player.sleeping
    game._player.inventory["energy"] = 9
    assert "You are asleep, and wake up with your next action." in describer.text("agent_0", None)
    assert do(environment, "move_left").rewards["agent_0"] == pytest.approx(1)
    assert tuple(game._player.facing) == (-1, 0) and not game._player.sleeping
    briefing = describer.briefing("agent_0")
    assert "until then none of your actions is carried out" in briefing
    assert "- sleep: fall asleep, if your energy is not full" in briefing
    do(environment, "sleep")
    assert not game._player.sleeping


def test_several_achievements_of_a_step_are_worth_one(environment: Environment) -> None:
    game = settled(environment, energy=9)
    game._player.achievements["collect_wood"] = game._player.achievements["eat_cow"] = 1
    assert do(environment, "noop").rewards["agent_0"] == pytest.approx(1)
    assert "is worth 1, however many they are" in environment.describer("agent_0").game("agent_0")


def test_what_hits_and_food_are_worth_is_so(environment: Environment) -> None:
    from crafter import objects

    said = environment.describer("agent_0").game("agent_0")
    swords = {"": 1, "wood": 2, "stone": 3, "iron": 5}
    assert "a hit of yours takes 1, with a sword of wood 2, of stone 3, of iron 5" in said
    for sword, damage in swords.items():
        game = settled(environment, **({f"{sword}_sword": 1} if sword else {}))
        zombie = put(game, "Zombie")
        assert zombie.health == 5
        game._player._do_object(zombie)
        assert zombie.health == 5 - damage
    assert "Cows and skeletons have 3 health, zombies 5" in said
    game = settled(environment, food=1, drink=1)
    skeleton, cow = objects.Skeleton(game._world, (0, 0), game._player), put(game, "Cow")
    assert cow.health == skeleton.health == 3
    for _ in range(3):
        game._player._do_object(cow)
    game._world.remove(cow)
    assert game._player.inventory["food"] == 1 + 6
    plant = put(game, "Plant")
    plant.grown = 301
    game._player.inventory["food"] = 1
    game._player._do_object(plant)
    assert game._player.inventory["food"] == 1 + 4 and "a ripe plant 4" in said
    for asleep, loss in ((False, 2), (True, 7)):
        game = settled(environment, health=9, energy=3)
        zombie = put(game, "Zombie")
        game._player.sleeping = asleep
        zombie.update()
        assert game._player.inventory["health"] == 9 - loss
    assert "take 2 health when they are beside you, 7 when you sleep" in said


def test_the_limit_that_is_told_is_the_environments() -> None:
    for length, told in (
        (50, "health is 0. A game ends after 50 steps at the latest.\n"),
        (0, "health is 0.\n"),
    ):
        short = envs.make("CrafterReward-v1", env_kwargs={"length": length})
        assert told in short.describer("agent_0").briefing("agent_0")
        short.close()
