"""A model server for pictures: it reads what a player of MiniGrid sees, says what fits, and why.

It is the server of the tests, so what is photographed is real but for the model itself.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

NAME = "example-model"
_OBSERVATION = re.compile(r"<observation>(.*?)</observation>", re.S)
_THING = re.compile(r"^- (?P<name>[^:\n]+): (?P<where>.+)$", re.M)
_PLACE = re.compile(r"(\d+) (ahead|left|right|behind)")
_FREE = re.compile(r"(Ahead|Left|Right): (\d+) free")
_AFTER_S = 0.15


class Thing(NamedTuple):
    """Something in view: cells ahead, cells to the right (to the left below 0)."""

    name: str
    ahead: int
    right: int


def server() -> Any:
    """The server, to be entered; it is at ``url`` then."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.support.fake_model_server import FakeModelServer, Reply

    def say(request: Any) -> Reply:
        words = decide(request.words)
        tokens = (len(request.words) // 4, len(words) // 4)
        return Reply(words, tokens=tokens, after_s=_AFTER_S + 0.01 * (request.number % 7))

    return FakeModelServer(say, models=(NAME, f"{NAME}-large"))


def decide(prompt: str) -> str:
    """A sentence and an action that fit the observation which the prompt ends with."""
    seen = _OBSERVATION.findall(prompt)[-1]
    free = {side: int(cells) for side, cells in _FREE.findall(seen)}
    carries = "You carry nothing" not in seen
    wanted = _wanted([_thing(m["name"], m["where"]) for m in _THING.finditer(seen)], carries)
    sentence, action = _explore(free) if wanted is None else _approach(wanted, free)
    return f"{sentence} <action>{action}</action>"


def _thing(name: str, where: str) -> Thing:
    cells = {side: int(count) for count, side in _PLACE.findall(where)}
    ahead = cells.get("ahead", 0) - cells.get("behind", 0)
    return Thing(name, ahead, cells.get("right", 0) - cells.get("left", 0))


def _wanted(things: list[Thing], carries: bool) -> Thing | None:
    """The goal where the way is open, else the door with its key, else the key."""
    is_open = not any("door" in thing.name and "open" not in thing.name for thing in things)
    order = ["key"] if not carries else ["goal", "door"] if is_open else ["door"]
    if not carries and not any("key" in thing.name for thing in things) and is_open:
        order = ["goal"]
    return next((thing for word in order for thing in things if word in thing.name), None)


def _approach(thing: Thing, free: dict[str, int]) -> tuple[str, str]:
    name = f"the {thing.name}"
    side = "right" if thing.right > 0 else "left"
    if (thing.ahead, thing.right) == (1, 0):
        if "key" in thing.name:
            return "The key lies directly ahead and my hands are empty, so I pick it up.", "pickup"
        if "door" in thing.name and "open" not in thing.name:
            return f"{name.capitalize()} is directly ahead and I have its key, so I open it.", "toggle"
        return f"{name.capitalize()} is directly ahead, so I go there.", "forward"
    if thing.ahead > 0 and (free.get("Ahead") or not thing.right):
        far = f"{thing.ahead} ahead" + (f" and {abs(thing.right)} to the {side}" if thing.right else "")
        return f"{name.capitalize()} is {far}, so I go on.", "forward"
    if thing.right:
        return f"{name.capitalize()} is to my {side}, so I turn {side}.", side
    return f"{name.capitalize()} is behind me, so I turn round.", "right"


def _explore(free: dict[str, int]) -> tuple[str, str]:
    if free.get("Ahead", 0) > 1:
        return "What I need is not in view and the way ahead is free, so I look further on.", "forward"
    side = "left" if free.get("Left", 0) > free.get("Right", 0) else "right"
    return f"What I need is not in view here, so I turn {side}.", side
