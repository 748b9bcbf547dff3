"""Two-level control of MosaicMultiGrid soccer: a scripted manager and the skills for its options.

The manager's slot (``green_0/goal``) gets the player's observation and the mask of options that can start; it
has no memory. With the ball it scores, or passes if a player is directly ahead. Without the ball it fetches a
ball that can be fetched, defends if a visible teammate has the ball, and searches otherwise. The controller's
slot gets ``{"observation": …, "option": number}`` and knows the options by number (:attr:`Slot.options`); it
executes them with the memory and the moves of the chaser. Neither of them draws random numbers.

Measured strength, 2v2, two such players, 100 matches per side: 200 of 200 won against two random players, 399
goals to 1 (two flat chasers: 200 of 200); 103 of 200 against two flat chasers, 251 goals to 241, which is no
significant difference. A manager decides once in 11 or 12 moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mosaic_worker.worker import Batch, LoadError, Slot
from operators_worker.behavior import Behavior, require
from operators_worker.soccer_field import AGENT, CARRYING
from operators_worker.soccer_player import Match, SoccerPlayer, SoccerView

SKILLS = ("fetch", "pass", "score", "defend", "search")


def _skills(options: Sequence[str], behavior: str, slot: Slot) -> list[str]:
    """Return the skill that each option names, without its arguments."""
    require("fetch" in options, behavior, "a slot with a manager of MosaicMultiGrid soccer", slot)
    skills = [option.partition("(")[0] for option in options]
    for option, skill in zip(options, skills, strict=True):
        if skill not in SKILLS:
            raise LoadError(
                f"behavior {behavior!r} has no skill for the option {option!r} of {slot.env_id!r}"
            )
    return skills


class SoccerManager(Behavior):
    """Behavior of a manager, which chooses options."""

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._skills = _skills(slot.action_meanings, "soccer_manager", slot)
        image = slot.observation_space.spaces.get("image")
        require(
            image is not None and len(image.shape) == 3, "soccer_manager", "a manager's slot of soccer", slot
        )

    def select(self, batch: Batch) -> list[int]:
        masks = batch.action_masks
        everything = np.ones(len(self._skills), bool)
        return [
            self._choose(everything if masks is None else masks[i], batch.observations["image"][i])
            for i in range(len(batch))
        ]

    def _choose(self, can: Any, image: Any) -> int:
        size = image.shape[0]
        ahead = image[size // 2, size - 2]
        blocked = int(ahead[0]) == AGENT
        for wanted in ("pass",) * blocked + ("score", "fetch"):
            for number, skill in enumerate(self._skills):
                if skill == wanted and can[number]:
                    return number
        mate = (image[..., 0] == AGENT) & (image[..., 2] >= CARRYING)
        return self._skills.index("defend" if mate.any() else "search")


class SoccerSkills(SoccerPlayer):
    """Behavior of a controller, which executes options."""

    def __init__(self, slot: Slot) -> None:
        self._skills = _skills(slot.options, "soccer_skills", slot)
        super().__init__(slot, "soccer_skills", slot.observation_space.spaces.get("observation"))

    def seen(self, batch: Batch) -> Mapping[str, Any]:
        return batch.observations["observation"]

    def choose(self, state: Match, sight: SoccerView, batch: Batch, i: int) -> int:
        skill = self._skills[int(batch.observations["option"][i])]
        if skill == "score":
            return self.score(state, sight)
        if skill == "pass":
            return self.pass_on()
        if skill == "defend":
            return self.defend(state, sight)
        action = self.fetch(state, sight) if skill == "fetch" else None
        return self.search(state, sight) if action is None else action
