"""A world whose agents appear while it runs, and that names none of them beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv


class Colony(ParallelEnv[Any, Any, Any]):
    """Two ants at first; bees hatch in steps 2 and 5, an ant dies in step 4. It lists no agents.

    Args:
        grows: Later bees see more than the first.
    """

    metadata = {"name": "colony", "render_modes": []}  # noqa: RUF012

    def __init__(self, grows: bool = False) -> None:
        self.grows, self.render_mode = grows, None

    def observation_space(self, agent: Any) -> Any:
        size = 1 if agent.startswith("ant") else 3 if self.grows and agent == "bee_1" else 2
        return spaces.Box(0, 1, (size,), np.float32)

    def action_space(self, agent: Any) -> Any:
        return spaces.Discrete(2 if agent.startswith("ant") else 4)

    def see(self) -> dict[str, Any]:
        return {a: self.rng.random(self.observation_space(a).shape).astype(np.float32) for a in self.agents}

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.rng, self.t = np.random.default_rng(seed), 0
        self.agents = ["ant_0", "ant_1"]
        return self.see(), {a: {} for a in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        assert set(actions) == set(self.agents)
        self.t += 1
        over = self.t == 8
        ended = {a: over or (a == "ant_0" and self.t == 4) for a in self.agents}
        rewards = {a: float(action) for a, action in actions.items()}
        if self.t in (2, 5):
            hatched = "bee_0" if self.t == 2 else "bee_1"
            self.agents = [*self.agents, hatched]
            ended[hatched], rewards[hatched] = False, 0.0
        seen = self.see()
        no = dict.fromkeys(ended, False)
        self.agents = [a for a in self.agents if not ended[a]]
        return seen, rewards, ended, no, {a: {} for a in seen}


class PaintedColony(Colony):
    """The same, with a picture in which every agent may see all."""

    metadata = {"name": "colony", "render_modes": ["rgb_array"], "hidden_information": False}  # noqa: RUF012

    def __init__(self, grows: bool = False, render_mode: str | None = None) -> None:
        super().__init__(grows)
        self.render_mode = render_mode

    def render(self) -> Any:
        picture = np.zeros((24, 24, 3), np.uint8)
        picture[:, : 3 * self.t] = 255
        return picture
