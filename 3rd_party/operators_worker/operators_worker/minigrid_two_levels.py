"""Two-level control of MiniGrid: a scripted manager and the skills for its options.

The manager's slot (``agent_0/goal``) gets MiniGrid's observation and the mask of options that can start. It
chooses, in this order: what the mission names, a goal, a door, a key, or exploration. It has no memory. The
controller's slot gets ``{"observation": MiniGrid's, "option": number}``, and knows the options by number
(:attr:`Slot.options`). It builds a map of the cells seen in the episode, plans on the map, and takes one step
toward the option's target. Neither of them draws random numbers.

Measured strength of both together, as the share of 100 episodes that are solved within the step limit: 1.0 on
DoorKey-5x5 and -8x8, FourRooms, MultiRoom-N6, KeyCorridorS3R3 and BabyAI-GoToLocal; 0.5 on UnlockPickup,
where a manager without memory picks up the key again that it has dropped for the box.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mosaic_worker.spaces import Space
from mosaic_worker.worker import Batch, LoadError, Slot
from operators_worker.behavior import Behavior, EpisodicBehavior, require
from operators_worker.minigrid_guide import Guide
from operators_worker.minigrid_map import KEY
from operators_worker.minigrid_mission import COLORS, KINDS, MissionObject, Task, Verb, parse_mission

_NAME = re.compile(r"(?P<skill>[a-z ]+?)(?:\((?P<color>\w+) (?P<kind>\w+)\))?")
_VERBS: dict[str, Verb] = {
    "explore": "explore",
    "drop": "drop",
    "go to": "goto",
    "pick up": "pickup",
    "open": "open",
}


def _task(option: str) -> Task | None:
    """Return the task of an option; ``None`` if it is no option of MiniGrid."""
    match = _NAME.fullmatch(option)
    verb = _VERBS.get(match["skill"]) if match is not None else None
    if match is None or verb is None:
        return None
    if match["kind"] is None:
        return Task(verb)
    if match["kind"] == "goal":
        return Task("reach")
    known = match["kind"] in KINDS and match["color"] in COLORS
    return Task(verb, MissionObject(KINDS[match["kind"]], COLORS[match["color"]])) if known else None


def _tasks(options: Sequence[str], behavior: str, needs: str, slot: Slot) -> list[Task]:
    require("explore" in options, behavior, needs, slot)
    tasks = [(option, _task(option)) for option in options]
    unknown = [option for option, task in tasks if task is None]
    if unknown:
        raise LoadError(
            f"behavior {behavior!r} has no skill for the option {unknown[0]!r} of {slot.env_id!r}"
        )
    return [task for _, task in tasks if task is not None]


class MiniGridManager(Behavior):
    """Behavior of a manager, which chooses options."""

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._tasks = _tasks(slot.action_meanings, "minigrid_manager", "a manager's slot of MiniGrid", slot)
        wanted = sorted(range(len(self._tasks)), key=lambda number: _rank(self._tasks[number]))
        self._ranking = [number for number in wanted if _rank(self._tasks[number]) < len(_WANTED)]

    def select(self, batch: Batch) -> list[int]:
        everything = np.ones(len(self._tasks), bool)
        seen = batch.observations
        missions: Any = seen["mission"] if "mission" in self.slot.observation_space.spaces else None
        return [
            self._choose(
                everything if batch.action_masks is None else batch.action_masks[i],
                parse_mission(str(missions[i])) if missions is not None else None,
            )
            for i in range(len(batch))
        ]

    def _choose(self, can: Any, mission: Sequence[Task] | None) -> int:
        for task in mission or ():
            found = [n for n, each in enumerate(self._tasks) if can[n] and _serves(each, task)]
            if found:
                return found[0]
            if task.verb == "pickup" and self._should_drop(can, task):
                return self._tasks.index(Task("drop"))
        return next((number for number in self._ranking if can[number]), self._ranking[-1])

    def _should_drop(self, can: Any, task: Task) -> bool:
        """Return whether the agent can drop an object and sees the one to pick up."""
        drop = Task("drop")
        in_sight = (
            can[n] and each.verb == "goto" and _fits(each, task) for n, each in enumerate(self._tasks)
        )
        return drop in self._tasks and bool(can[self._tasks.index(drop)]) and any(in_sight)


_WANTED = (Task("reach"), Task("open"), Task("pickup"), Task("explore"))


def _rank(task: Task) -> int:
    """Return an option's rank regardless of the mission: 0 has the highest priority; the last rank is never
    chosen.
    """
    if task.verb == "pickup" and KEY not in task.thing.kinds:
        return len(_WANTED)
    return next((rank for rank, each in enumerate(_WANTED) if each.verb == task.verb), len(_WANTED))


def _serves(option: Task, task: Task) -> bool:
    return option.verb == task.verb and _fits(option, task)


def _fits(option: Task, task: Task) -> bool:
    """Return whether an option's object can be the one that the mission means."""
    if task.verb == "reach":
        return True
    return option.thing.kinds <= task.thing.kinds and task.thing.color in (None, option.thing.color)


class _Carrying:
    """State of one episode: the guide with its map, and the current option."""

    def __init__(self) -> None:
        self.guide = Guide([Task("explore")])
        self.option = -1


class MiniGridSkills(EpisodicBehavior[_Carrying]):
    """Behavior of a controller, which executes options."""

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        needs = "the slot of an agent with a manager, in MiniGrid"
        seen = slot.observation_space.spaces.get("observation")
        parts = seen.spaces if seen is not None else dict[str, Space]()
        image = parts.get("image")
        fits = image is not None and len(image.shape) == 3 and image.shape[2] == 3 and "direction" in parts
        require(fits, "minigrid_skills", needs, slot)
        self._tasks = _tasks(slot.options, "minigrid_skills", needs, slot)

    def new_state(self, seed: int, agent_id: str) -> _Carrying:
        return _Carrying()

    def act(self, state: _Carrying, batch: Batch, i: int) -> int:
        seen, option = batch.observations["observation"], int(batch.observations["option"][i])
        if option != state.option:
            state.option = option
            state.guide.pursue([self._tasks[option]])
        return state.guide.act(seen["image"][i], int(seen["direction"][i]))
