"""What is wanted in NetHack's and MiniHack's tasks, which their packages say in their papers."""

from __future__ import annotations

from collections.abc import Mapping

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


def aim(env_id: str) -> str:
    """One sentence on what is wanted; the longest name that fits counts."""
    for head, table in (("MiniHack-", _MINIHACK), ("", _NETHACK)):
        if env_id.startswith(head):
            rest = env_id.removeprefix(head)
            found = [name for name in table if rest.startswith(name)]
            if found:
                return table[max(found, key=len)]
    return ""
