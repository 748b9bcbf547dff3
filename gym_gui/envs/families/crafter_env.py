"""Crafter with today's Gymnasium interface, and episodes that their seed repeats."""

# Crafter is untyped: what comes from it is Any.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

import crafter
import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
_SEEDS = 2**31 - 1


class _Game(crafter.Env):
    """Crafter, whose creatures come and go in an order that does not depend on where they lie in memory.

    Its chunks are sets of objects, and a random one of them is removed: with the same seed another in
    each process.
    """

    def _balance_object(self, chunk: Any, objs: Any, *rules: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super()._balance_object(chunk, sorted(objs, key=self._number), *rules)

    def _number(self, thing: Any) -> int:
        """Which object of the world it is, counted from the first."""
        return int(self._world._obj_map[tuple(thing.pos)])


class CrafterEnv(gymnasium.Env[Pixels, int]):
    """A world of 64 x 64 cells, of which the agent sees 9 x 7 around it and what it carries.

    The agent has to eat, drink, sleep and fight to live on, and can gather things, build tools and
    reach what is further: 22 achievements in all. The first time of each is worth 1; each point of
    health that is lost or won 0.1 (Hafner, "Benchmarking the Spectrum of Agent Capabilities", 2021).
    It ends when health is gone.

    Args:
        reward: Whether there are rewards.
        area: Cells of the world.
        view: Cells of the picture, of which the last two rows show what is carried.
        size: Pixels of what the agent observes.
        length: Steps of an episode at most.
        render_mode: ``"rgb_array"`` or ``None``.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}  # noqa: RUF012

    def __init__(
        self,
        reward: bool = True,
        area: tuple[int, int] = (64, 64),
        view: tuple[int, int] = (9, 9),
        size: tuple[int, int] = (64, 64),
        length: int = 10_000,
        render_mode: str | None = None,
    ) -> None:
        self.game: Any = _Game(tuple(area), tuple(view), tuple(size), reward, length, seed=0)
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(len(self.game.action_names))  # pyright: ignore[reportAttributeAccessIssue]
        self.observation_space = spaces.Box(0, 255, (size[1], size[0], 3), np.uint8)
        self._large = tuple(int(cells) * max(1, 432 // int(max(view))) for cells in view)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Pixels, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.game._seed, self.game._episode = int(self.np_random.integers(_SEEDS)), 0
        return self.game.reset(), {}

    def step(self, action: int) -> tuple[Pixels, float, bool, bool, dict[str, Any]]:
        seen, reward, over, told = self.game.step(int(action))
        died = bool(self.game._player.health <= 0)
        info = {"inventory": told["inventory"], "achievements": told["achievements"]}
        return seen, float(reward), died, bool(over) and not died, info

    def render(self) -> Any:
        """A larger picture of what the agent sees.

        At night Crafter draws noise with the world's own random numbers; they are given back, so that a
        look changes nothing.
        """
        if self.render_mode != "rgb_array":
            return None
        random = self.game._world.random
        state = random.get_state()
        try:
            return self.game.render(self._large)
        finally:
            random.set_state(state)
