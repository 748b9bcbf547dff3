"""Melting Pot's substrates with PettingZoo's Parallel interface.

https://github.com/google-deepmind/meltingpot draws the seed of an episode with Python's global random
generator. This module seeds that generator and NumPy's while an episode begins, and restores both afterward.
"""

# Values returned by the package are untyped.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import functools
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from mosaic_env_server.shims.global_random import GlobalRandom
from mosaic_env_server.shims.shapes import box, discrete
from mosaic_worker.spaces import Space

_WORLD = "WORLD.RGB"
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_MOVES = {1: "forward", 2: "step right", 3: "backward", 4: "step left"}
_TURNS = {-1: "turn left", 1: "turn right"}
_PAINTERS = ("red", "blue")
"""Teams of paintball substrates; the players belong to the two teams alternately."""
_OF_ROLES = ("predator_prey", "hidden_agenda")
"""Substrates whose roles are teams."""


class MeltingPot:
    """A substrate of Melting Pot in which all roles are played.

    Args:
        substrate: Name of the substrate, for example ``clean_up``.
        render_mode: ``rgb_array``, or ``None`` for no rendering.
        roles: Role of each player; by default those of the substrate.
    """

    def __init__(
        self, substrate: str, render_mode: Optional[str] = None, roles: Optional[Sequence[str]] = None
    ) -> None:
        config, factory, permitted = _substrate(substrate)
        self.render_mode = render_mode
        self._factory = factory
        self._roles = list(roles or config.default_player_roles)
        self.possible_agents = [f"player_{i}" for i in range(len(self._roles))]
        self.agents: List[str] = []
        specs = factory.timestep_spec().observation
        self._seen = [name for name in specs if name in permitted]
        self._sees = Space("Dict", spaces={name: _space(specs[name]) for name in self._seen})
        words = [action_word(action) for action in config.action_set]
        self._does = discrete(len(words))
        self.metadata: Mapping[str, Any] = {
            "render_modes": ["rgb_array"],
            "render_fps": 8,
            "action_meanings": words,
            "teams": self._teams(substrate),
        }
        self._env: Any = None
        self._step: Any = None

    def _teams(self, substrate: str) -> Mapping[str, Sequence[str]]:
        agents = self.possible_agents
        if substrate.startswith("paintball"):
            return {team: agents[i::2] for i, team in enumerate(_PAINTERS)}
        if substrate.startswith(_OF_ROLES):
            named = dict.fromkeys(self._roles)
            return {role: [a for a, each in zip(agents, self._roles) if each == role] for role in named}
        return {"team": agents}

    def observation_space(self, agent: str) -> Space:
        """Return the observation space, which is the same for all agents."""
        return self._sees

    def action_space(self, agent: str) -> Space:
        """Return the action space, which is the same for all agents."""
        return self._does

    def reset(
        self, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Begin an episode; without a seed, a random one."""
        self.close()
        with GlobalRandom(seed).in_force():
            self._env = self._factory.build(self._roles)
            self._step = self._env.reset()
        self.agents = list(self.possible_agents)
        return self._shown(), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> Tuple[Dict[str, Any], ...]:
        """Move all players simultaneously; the episode ends for all of them together."""
        self._step = self._env.step([int(actions[agent]) for agent in self.possible_agents])
        agents, over = self.possible_agents, bool(self._step.last())
        ended = over and not self._step.discount
        if over:
            self.agents = []
        return (
            self._shown(),
            {agent: float(reward) for agent, reward in zip(agents, self._step.reward)},
            dict.fromkeys(agents, ended),
            dict.fromkeys(agents, over and not ended),
            {agent: {} for agent in agents},
        )

    def _shown(self) -> Dict[str, Any]:
        told = zip(self.possible_agents, self._step.observation)
        return {agent: {name: np.asarray(seen[name]) for name in self._seen} for agent, seen in told}

    def render(self) -> Any:
        """Return an image of the whole environment, which no player observes."""
        return None if self._step is None else np.asarray(self._step.observation[0][_WORLD])

    def close(self) -> None:
        """End the simulation."""
        if self._env is not None:
            self._env.close()
            self._env = None


@functools.lru_cache(maxsize=None)
def _substrate(name: str) -> Any:
    """Return the configuration of a substrate, its factory, and the permitted observations."""
    from meltingpot import scenario, substrate

    config = substrate.get_config(name)
    # Observations that Melting Pot's authors permit for policies, without the sum of all rewards.
    permitted = scenario.PERMITTED_OBSERVATIONS - {"COLLECTIVE_REWARD"}
    return config, substrate.get_factory_from_config(config), permitted


def _space(spec: Any) -> Space:
    shape, dtype = tuple(spec.shape), np.dtype(spec.dtype)
    low, high = (0, 255) if dtype == np.uint8 else (-np.inf, np.inf)
    if dtype.kind == "i":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return box(shape, dtype, low, high)


def action_word(action: Mapping[str, int]) -> str:
    """Return the word of an action, made from its parts that are not 0."""
    words: List[str] = []
    for part, value in action.items():
        if part == "move" and value:
            words.append(_MOVES[value])
        elif part == "turn" and value:
            words.append(_TURNS[value])
        elif value:
            name = _HUMP.sub(" ", part).lower()
            words.append(name if value == 1 else f"{name} {value}")
    return ", ".join(words) or "noop"
