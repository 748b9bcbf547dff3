"""NetHack and MiniHack in words, against the screen and the glyphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs import Environment
from gym_gui.envs.describers.nethack_actions import words
from gym_gui.envs.describers.nethack_words import PLAIN

TASKS = (
    "NetHackScore-v0",
    "MiniHack-Room-Monster-15x15-v0",
    "MiniHack-KeyRoom-S5-v0",
    "MiniHack-Quest-Easy-v0",
)
WAY = re.compile(r"(\d+) (east|west|south|north)")


def states(task: str, seeds: int, steps: int) -> Iterator[tuple[Environment, dict[str, Any]]]:
    environment, rng = envs.make(task), np.random.default_rng(0)
    adapter = environment.adapter
    try:
        for seed in range(seeds):
            seen = adapter.reset(seed=seed)
            for _ in range(steps):
                if not adapter.get_current_agents():
                    break
                yield environment, seen["agent_0"]
                seen = adapter.step(
                    {"agent_0": int(rng.integers(adapter.action_space("agent_0").n))}
                ).observations
    finally:
        environment.close()


def place(text: str) -> tuple[int, int]:
    found = {side: int(n) for n, side in WAY.findall(text)}
    return found.get("east", 0) - found.get("west", 0), found.get("south", 0) - found.get("north", 0)


def screen(environment: Environment) -> list[str]:
    game = environment.env
    rows = game.last_observation[game._observation_keys.index("tty_chars")]
    return [bytes(row).decode("latin-1") for row in rows]


@pytest.mark.parametrize("task", TASKS)
def test_what_the_screen_shows_is_told(task: str) -> None:
    """Names of monsters and features by their glyphs, which the describer does not read for them."""
    from nle import nethack

    count = monsters = 0
    for environment, seen in states(task, 4, 40):
        text = environment.describer("agent_0").text("agent_0", seen)
        lines = dict(line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("- "))
        x, y = int(seen["blstats"][0]), int(seen["blstats"][1])
        features: dict[str, set[tuple[int, int]]] = {}
        for row, column in np.argwhere(seen["chars"] != ord(" ")).tolist():
            glyph, away = int(seen["glyphs"][row, column]), (column - x, row - y)
            if away == (0, 0):
                continue
            if nethack.glyph_is_cmap(glyph):  # pyright: ignore[reportAttributeAccessIssue]
                name = nethack.symdef.from_idx(nethack.glyph_to_cmap(glyph)).explanation  # pyright: ignore[reportAttributeAccessIssue]
                if name not in PLAIN:
                    features.setdefault(name, set()).add(away)
            elif nethack.glyph_is_normal_monster(glyph) or nethack.glyph_is_pet(glyph):  # pyright: ignore[reportAttributeAccessIssue]
                name = nethack.permonst(nethack.glyph_to_mon(glyph)).mname  # pyright: ignore[reportAttributeAccessIssue]
                told = [kind for kind in lines if re.search(rf"\b{name}\b", kind)]
                assert told, (name, text)
                near = {place(each) for kind in told for each in lines[kind].split("; ")}
                assert away in near
                monsters += 1
        for name, places in features.items():
            told_places = [place(each) for each in lines[name].split("; ")]
            assert set(told_places) == places
            nearest = sorted(max(abs(a), abs(b)) for a, b in places)
            assert [max(abs(a), abs(b)) for a, b in told_places] == nearest
        count += 1
    assert count >= 40 and (monsters or "KeyRoom" in task)


@pytest.mark.parametrize("task", TASKS[:2])
def test_map_status_message_and_inventory_are_the_screens(task: str) -> None:
    count = 0
    for environment, seen in states(task, 3, 25):
        text, shown = environment.describer("agent_0").text("agent_0", seen), screen(environment)
        drawn = text.partition("north is up):\n")[2]
        drawn = drawn.partition("\nIn sight:")[0].partition("\nNothing else")[0].splitlines()
        rows = [line.rstrip() for line in shown[1:22]]
        first = next(i for i, line in enumerate(rows) if line.strip())
        margin = min(len(line) - len(line.lstrip()) for line in rows if line.strip())
        # A message may lie over the map's first rows on the screen, so the map is compared cell by cell.
        cells = [bytes(line).decode("latin-1").rstrip() for line in seen["chars"]]
        kept = [line for line in cells if line.strip()]
        assert len(drawn) >= len(kept) and all(any(line.strip() in each for each in cells) for line in drawn)
        assert sum(line.count("@") for line in drawn) >= 1 and margin >= 0 and first >= 0
        if status := re.search(r"HP:(\d+)\((\d+)\) Pw:(\d+)\((\d+)\) AC:(-?\d+) Xp:(\d+)", shown[23]):
            hp, most, power, full, armour, level = status.groups()
            assert (
                f"Health {hp} of {most}, magic {power} of {full}, armour class {armour}, level {level}"
                in text
            )
            count += 1
        message = bytes(seen["message"]).partition(b"\0")[0].decode().strip()
        assert ("Message: " in text) is bool(message) and message in text
        for letter, line in zip(seen["inv_letters"], seen["inv_strs"], strict=True):
            if letter:
                assert f"{chr(letter)}: {bytes(line).partition(bytes(1))[0].decode()}" in text
    assert count >= 30


def test_every_command_has_a_word_of_its_own() -> None:
    from nle import nethack

    said = words(nethack.ACTIONS)
    assert len(set(said)) == len(said) == len(nethack.ACTIONS)
    environment = envs.make("MiniHack-Eat-v0")
    try:
        environment.adapter.reset(seed=1)
        actions = {each.word: each.meaning for each in environment.describer("agent_0").actions("agent_0")}
        assert actions["eat"] == "eat something [e]" and actions["far north"].endswith("[K]")
        briefing = environment.describer("agent_0").briefing("agent_0")
        assert "Your aim: Eat the apple." in briefing and "[k]" in briefing
    finally:
        environment.close()


def test_an_apple_is_eaten_by_the_words_alone() -> None:
    """The question that eating asks is answered with the letter in the brackets."""
    environment = envs.make("MiniHack-Eat-Fixed-v0")
    adapter, describer = environment.adapter, environment.describer("agent_0")
    try:
        actions = {each.word: i for i, each in enumerate(describer.actions("agent_0"))}
        seen = adapter.reset(seed=1)["agent_0"]

        def do(word: str) -> str:
            nonlocal seen
            seen = adapter.step({"agent_0": actions[word]}).observations["agent_0"]
            return describer.text("agent_0", seen) if adapter.get_current_agents() else ""

        text = describer.text("agent_0", seen)
        for _ in range(12):
            where = re.search(r"^- (?:an |some )?apples?: (.+)$", text, re.M)
            if where is None:
                break
            east, south = place(where[1].partition(";")[0])
            vertical = {1: "south", -1: "north", 0: ""}[int(np.sign(south))]
            text = do(vertical + {1: "east", -1: "west", 0: ""}[int(np.sign(east))])
        keys = {
            each.meaning[-2]: each.word for each in describer.actions("agent_0") if each.meaning.endswith("]")
        }
        text = do("eat")
        if "There is an apple here; eat it? [ynq]" in text:
            do(keys["y"])
        else:
            letter = re.search(r"([a-zA-Z]): [^;]*apple", text)
            assert "What do you want to eat?" in text and letter, text
            do(keys[letter[1]])
        while adapter.get_current_agents() and not environment.success():
            do("more" if "more" in actions else "search")
        assert environment.success() is True
    finally:
        environment.close()
