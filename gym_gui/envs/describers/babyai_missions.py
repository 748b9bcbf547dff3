"""What BabyAI's missions mean, which their words alone do not say (its paper and its verifier do)."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import NamedTuple

_MIXED = ("Synth*", "*BossLevel*")
_PLACED = ("SynthLoc-*", "SynthSeq-*", "*BossLevel*")


class Phrase(NamedTuple):
    """Words of missions with what they mean.

    Attributes:
        words: As missions have them.
        meaning: A full sentence.
        tasks: Patterns of the tasks whose missions have them, without ``BabyAI-``.
    """

    words: str
    meaning: str
    tasks: Sequence[str]


PHRASES = (
    Phrase(
        "go to",
        '"Go to X" is done as soon as X is in the cell directly ahead of you.',
        ("GoTo*", "ActionObjDoor-*", *_MIXED),
    ),
    Phrase(
        "open",
        '"Open X" is done when you open that door (toggle); one that is open already has to be closed first.',
        ("Open*", "Unlock-*", "UnlockLocal*", "KeyInBox-*", "ActionObjDoor-*", *_MIXED),
    ),
    Phrase(
        "next to",
        '"Put X next to Y" is done when you drop X in a cell that shares a side with that of Y.',
        ("PutNext*", "MoveTwoAcross*", *_MIXED),
    ),
    Phrase(
        "after you",
        '"A after you B" means B first, then A.',
        ("GoToSeq*", "OpenDoorsOrder*", "SynthSeq-*", "*BossLevel*"),
    ),
    Phrase(
        "you",
        '"In front of you", "behind you", "on your left" and "on your right" mean from where you stand and '
        "look at the beginning, of things in that room.",
        ("OpenDoor-*", "OpenDoorDebug-*", "OpenDoorLoc-*", "PickupLoc-*", *_PLACED),
    ),
)


def meanings(env_id: str) -> str:
    """Of the words that the missions of an environment have; ``""`` where they need none."""
    task = env_id.removeprefix("BabyAI-")
    if task == env_id:
        return ""
    told = (
        phrase.meaning for phrase in PHRASES if any(fnmatch.fnmatchcase(task, name) for name in phrase.tasks)
    )
    return " ".join(told)
