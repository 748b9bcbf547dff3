"""Crafter with the current Gymnasium interface and reproducible episodes."""

# Crafter has no type annotations, so its objects are Any.
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
    """Crafter game whose order of creatures does not depend on memory addresses.

    Crafter's chunks are sets of objects, and the game removes a random object of a chunk. Without a fixed
    order, the same seed would remove a different object in each process.
    """

    def _balance_object(self, chunk: Any, objs: Any, *rules: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super()._balance_object(chunk, sorted(objs, key=self._number), *rules)

    def _number(self, thing: Any) -> int:
        """Return the index of an object in the world's list of objects."""
        return int(self._world._obj_map[tuple(thing.pos)])


class CrafterEnv(gymnasium.Env[Pixels, int]):
    """Environment of 64 x 64 cells; the agent observes 9 x 7 cells around it and its inventory.

    The agent must eat, drink, sleep and fight to survive, and can collect materials and build tools. There
    are 22 achievements. The first time of each pays 1; each point of health lost or gained pays -0.1 or 0.1
    (Hafner, "Benchmarking the Spectrum of Agent Capabilities", 2021). An episode ends when health is 0.

    Args:
        reward: Whether there are rewards.
        area: Size of the world in cells.
        view: Size of the picture in cells; the last two rows show the inventory.
        size: Size of the observation in pixels.
        length: Maximum number of steps of an episode.
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
        """Return the observation as a larger picture.

        At night Crafter adds noise with the world's own random generator. The generator's state is restored,
        so that rendering does not change the episode.
        """
        if self.render_mode != "rgb_array":
            return None
        random = self.game._world.random
        state = random.get_state()
        try:
            return self.game.render(self._large)
        finally:
            random.set_state(state)
