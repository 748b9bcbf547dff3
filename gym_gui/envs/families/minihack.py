"""NetHack (NLE) and MiniHack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gym_gui.envs.environment_source import EnvironmentSource
from gym_gui.envs.families.gymnasium import success_in_info
from gym_gui.envs.families.minigrid import IndexedFamily
from gym_gui.envs.instance import Instance
from gym_gui.envs.spec import EnvSpec, split_version

_HEADS = ("MiniHack-", "NetHack")
_LEFT_OUT = (
    "NetHackChallenge",  # refuses seeds, so that no episode can be repeated
    "MiniHack-Boxoban",  # takes levels that are downloaded, by Python's global random numbers
    "MiniHack-LavaCrossing",  # cannot be made with MiniGrid 3, whose rooms it asks for in a size they refuse
    "MiniHack-SimpleCrossing",
    "MiniHack-Navigation-Custom",  # base classes for levels that users write
    "MiniHack-Skill-Custom",
)
_NETHACK: Mapping[str, str] = {
    "NetHackStaircasePet": "Stand on a staircase down with your pet beside you.",
    "NetHackStaircase": "Find a staircase down and stand on it.",
    "NetHackOracle": "Find the Oracle, some levels down, and stand beside it.",
    "NetHackGold": "Collect as much gold as you can; each piece is worth 1.",
    "NetHackEat": "Keep eating: what eating adds to your nutrition is the reward.",
    "NetHackScout": "See as much of the dungeon as you can: each cell first seen is worth 1.",
    "NetHackScore": "Play NetHack for its score, which grows with monsters killed, gold and depth.",
    "NetHack": "Play NetHack for its score, which grows with monsters killed, gold and depth.",
}
_MINIHACK: Mapping[str, str] = {
    "Room-Dark": "Find the staircase down in a dark room.",
    "Room-Monster": "Get to the staircase down in a room with monsters.",
    "Room-Trap": "Get to the staircase down in a room with hidden teleport traps.",
    "Room-Ultimate": "Get to the staircase down in a dark room with monsters and traps.",
    "Room": "Get to the staircase down in a room.",
    "CorridorBattle": "Fight a horde of rats, best in the corridor, and get to the staircase down.",
    "Corridor": "Find the staircase down through corridors that join some rooms.",
    "KeyRoom": "Take the key, unlock the door of the small room with it, get to the staircase down inside.",
    "MazeWalk": "Find the staircase down in a maze.",
    "MultiRoom": "Go through the rooms and their doors to the staircase down in the last one.",
    "Memento": "Remember the monster that you see at the start: it tells which branch of the fork is right. "
    "Kill the grid bug at its end (1 point); the squeaky board of a wrong one costs 1 point.",
    "River-Lava": "Push boulders into the river to cross it, keep off the lava, get to the staircase down.",
    "River": "Push boulders into the river to cross it, and get to the staircase down.",
    "HideNSeek": "Get to the staircase down while you hide from a monster behind trees and clouds.",
    "Labyrinth": "Find the staircase down in a labyrinth before the minotaur finds you.",
    "ExploreMaze": "Eat the apples of the maze (0.5 points each) and stand on the staircase down.",
    "Eat": "Eat the apple.",
    "Pray": "Pray on the altar.",
    "Sink": "Drink from the sink.",
    "Wield": "Wield the dagger.",
    "Wear": "Put on the robe.",
    "PutOn": "Put on the amulet.",
    "Zap": "Zap the wand.",
    "Read": "Read the scroll.",
    "ClosedDoor": "Open the door and get to the staircase down.",
    "LockedDoor": "Kick the locked door open and get to the staircase down.",
    "WoD-Pro": "Find the wand of death, kill the minotaur with it, get to the staircase.",
    "WoD-Hard": "Find the wand of death, kill the minotaur with it, get to the staircase.",
    "WoD": "Kill the minotaur with the wand of death.",
    "Levitate": "Use what you find (boots, ring or potion) to float in the air.",
    "Freeze": "Freeze something with what you find (a wand or a horn of cold).",
    "LavaCross": "Cross the lava (by floating, or by freezing it) and get to the staircase down.",
    "Quest": "Cross the lava with what you find, fight your way on, and get to the staircase down.",
    "Sokoban": "Push boulders into the pits until the way to the staircase is free; keep out of the pits.",
}


class MiniHackFamily(IndexedFamily):
    """Family of NetHack with several goals (NLE), and of MiniHack's small levels."""

    name: ClassVar[str] = "minihack"
    title: ClassVar[str] = "NetHack and MiniHack"
    extra: ClassVar[str] = "minihack"
    modules: ClassVar[tuple[str, ...]] = ("nle", "minihack")
    registers: ClassVar[str] = "minihack"
    prefixes: ClassVar[tuple[str, ...]] = _HEADS
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"nethack": "NetHack", "nle": "NetHack", "gymnasium": "", "gym": ""}
    described_by: ClassVar[str] = "gym_gui.envs.describers.nethack_words:NetHackDescriber"
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array", "ansi")

    def is_listed(self, env_id: str, entry_point: str) -> bool:
        return env_id.startswith(_HEADS) and not env_id.startswith(_LEFT_OUT)

    def facts_of(self, env_id: str) -> Mapping[str, Any]:
        return {"package": "nle" if env_id.startswith("NetHack") else "minihack"}

    def needs(self, spec: EnvSpec) -> tuple[str, ...]:
        return ("minigrid",) if spec.module == "minihack.envs.minigrid" else ()

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        from gym_gui.envs.families.nethack_env import NetHackEnv

        return NetHackEnv(spec.id, render_mode, env_kwargs)

    def as_source(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> EnvironmentSource | None:
        """Return ``None``: other programs cannot reproduce how MOSAIC derives NetHack's seeds."""
        return None

    def title_of(self, spec: EnvSpec) -> str:
        base = split_version(spec.id)[0]
        return base.removeprefix("MiniHack-").replace("-", " ") if base.startswith("MiniHack-") else base

    def summary(self, spec: EnvSpec) -> str:
        return _aim(spec.id)

    def doc_url(self, spec: EnvSpec) -> str:
        if spec.id.startswith("NetHack"):
            return "https://github.com/heiner/nle"
        return "https://minihack.readthedocs.io/en/latest/envs/index.html"

    def success(self, environment: Instance) -> bool | None:
        return success_in_info(environment)

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        from gym_gui.envs.describers.nethack_actions import words

        return words(environment.env.actions)

    def noop_action(self, environment: Instance, agent: str) -> Any | None:
        """Return the action that waits for a turn, else ``search``, which also waits, else ``None``."""
        meanings = self.action_meanings(environment, agent)
        return next((meanings.index(word) for word in ("wait", "search") if word in meanings), None)


def _aim(env_id: str) -> str:
    """Return one sentence about the goal of an id; the longest matching name decides."""
    for head, table in (("MiniHack-", _MINIHACK), ("", _NETHACK)):
        if env_id.startswith(head):
            rest = env_id.removeprefix(head)
            found = [name for name in table if rest.startswith(name)]
            if found:
                return table[max(found, key=len)]
    return ""
