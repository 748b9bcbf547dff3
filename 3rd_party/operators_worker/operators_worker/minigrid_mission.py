"""Parses the missions of MiniGrid and BabyAI.

The grammar is BabyAI's (Chevalier-Boisvert et al., "BabyAI: A Platform to Study the Sample Efficiency of
Grounded Language Learning", ICLR 2019, figure 3), with the fixed sentences of the MiniGrid environments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from operators_worker.minigrid_map import BALL, BOX, DOOR, KEY

Verb = Literal["reach", "goto", "pickup", "open", "put", "explore", "drop"]

COLORS = {"red": 0, "green": 1, "blue": 2, "purple": 3, "yellow": 4, "grey": 5}
KINDS = {
    "ball": frozenset((BALL,)),
    "box": frozenset((BOX,)),
    "key": frozenset((KEY,)),
    "door": frozenset((DOOR,)),
    "object": frozenset((BALL, BOX, KEY, DOOR)),
}
VERBS: dict[str, Verb] = {
    "go to": "goto",
    "pick up": "pickup",
    "open": "open",
    "get": "pickup",
    "go get": "pickup",
    "fetch": "pickup",
    "go fetch": "pickup",
}
PLACES = {
    "in front of you": "front",
    "behind you": "behind",
    "on your left": "left",
    "on your right": "right",
}

_THING = rf"(?:the |an? )?(?:({'|'.join(COLORS)}) )?({'|'.join(KINDS)})(?: ({'|'.join(PLACES)}))?"
_VERBS = "|".join(sorted(VERBS, key=len, reverse=True))
_CLAUSE = re.compile(rf"(?:you must )?(?:({_VERBS}) )?{_THING}")
_PUT = re.compile(rf"put {_THING} (?:next to|near) {_THING}")


@dataclass(frozen=True)
class MissionObject:
    """A described object.

    Attributes:
        kinds: Possible object numbers.
        color: Color number, or ``None`` for any.
        place: Side of the start pose: ``front``, ``behind``, ``left`` or ``right``; empty for any.
    """

    kinds: frozenset[int] = frozenset()
    color: int | None = None
    place: str = ""


@dataclass(frozen=True)
class Task:
    """A task of a mission; ``beside`` is the object next to which ``thing`` is to be put."""

    verb: Verb
    thing: MissionObject = MissionObject()
    beside: MissionObject | None = None


def parse_mission(mission: str) -> list[Task] | None:
    """Split ``mission`` into tasks in the order to do them; ``None`` if it is not understood."""
    text = " ".join(mission.lower().split())
    if "goal" in text:
        return [Task("reach")]
    if " after you " in text:
        later, _, first = text.partition(" after you ")
        clauses = [first, later]
    else:
        clauses = re.split(r",? then ", text)
    tasks: list[Task] = []
    for clause in (part for whole in clauses for part in whole.split(" and ")):
        task = _clause(clause, tasks[-1].verb if tasks else None)
        if task is None:
            return None
        tasks.append(task)
    return tasks


def _clause(text: str, verb_before: Verb | None) -> Task | None:
    if put := _PUT.fullmatch(text):
        return Task("put", _thing(*put.groups()[:3]), _thing(*put.groups()[3:]))
    match = _CLAUSE.fullmatch(text)
    if match is None:
        return None
    verb = VERBS[match[1]] if match[1] else verb_before
    if verb is None or verb == "put":
        return None
    thing = _thing(match[2], match[3], match[4])
    if verb == "pickup":
        thing = replace(thing, kinds=thing.kinds - {DOOR})
    return Task(verb, thing)


def _thing(color: str | None, kind: str, place: str | None) -> MissionObject:
    return MissionObject(KINDS[kind], COLORS[color] if color else None, PLACES[place] if place else "")
