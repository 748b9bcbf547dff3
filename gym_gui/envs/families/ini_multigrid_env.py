"""INI MultiGrid as a PettingZoo Parallel environment, with corrections of the package."""

# The package has no type annotations, so its objects are Any.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import importlib
import re
import string
from typing import Any

import numpy as np
from gymnasium import spaces

from gym_gui.envs.families.multigrid_aec import MultiGridParallel

_ENUM = re.compile(r"\b(?:Color|Type)\.(?=\w)")
_DONE = 6
_MISSION = 200
"""Maximum length of a mission text in characters."""


class IniMultiGridParallel(MultiGridParallel):
    """PettingZoo Parallel environment around a game of the package, with missions as text.

    It corrects version 0.1.0 of the package. The package generates rooms with a random generator that ignores
    seeds; ``reset(seed=…)`` sets that generator. In BlockedUnlockPickup, observations contain another mission
    than the game; they get the game's. The package requires actions of ended agents; missing ones become
    ``done``.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._mixin: Any = importlib.import_module("multigrid.utils.random").RandomMixin

    def observation_space(self, agent: int) -> Any:
        space = super().observation_space(agent)
        mission = spaces.Text(_MISSION, min_length=0, charset=string.printable)
        return spaces.Dict({**space.spaces, "mission": mission})

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            (drawn,) = np.random.SeedSequence(seed).spawn(1)
            self._mixin.__init__(self.unwrapped, np.random.default_rng(drawn))
        observations, infos = super().reset(seed, options)
        return self._copied(observations), infos

    def step(self, actions: dict[int, Any]) -> Any:
        ended = dict.fromkeys(set(self.possible_agents) - set(actions), _DONE)
        observations, *rest = super().step({**actions, **ended})
        return self._copied(observations), *rest

    def _copied(self, observations: dict[int, Any]) -> dict[int, Any]:
        """Return copies of all observations, because the package's pictures share one array."""
        mission = _ENUM.sub("", str(self.unwrapped.mission))
        return {
            agent: {**seen, "image": seen["image"].copy(), "mission": mission}
            for agent, seen in observations.items()
        }
