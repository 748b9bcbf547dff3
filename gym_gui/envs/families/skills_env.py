"""Environment whose episode is one option, for training a controller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import gymnasium
import numpy as np

from gym_gui.core.paradigms import HierarchicalAdapter
from gym_gui.core.paradigms.hierarchical import manager_of
from gym_gui.envs.environment import Environment


class SkillEnv(gymnasium.Env[Mapping[str, Any], int]):
    """Gymnasium environment of a controller's slot.

    A random manager chooses among the options that can start.

    Observations are those of the slot: ``Dict(observation, option)``. An option that reaches its end pays ``1
        - 0.9 * moves / budget`` and terminates the episode, as does solving the task itself. An option whose
        budget is spent truncates the episode. The next episode continues in the same world, whose state is
        one that needs skills, until the world's own episode is over. ``reset(seed=…)`` begins a new world
        episode, and so does ``reset()`` in the middle of an option.

    Args:
        environment: Environment with a manager above its only agent; closing this environment closes it.

    Attributes:
        environment: The given environment.
        agent: The only agent of ``environment``.
        reached: Whether the option of this episode reached its end; ``None`` while the option lasts.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.reached: bool | None = None
        self._adapter = cast("HierarchicalAdapter", environment.adapter)
        (self.agent,) = self._adapter.inner.possible_agents
        self._manager = manager_of(self.agent)
        self._going_on = False
        self._option = np.int64(0)
        self.render_mode = environment.adapter.env.render_mode
        self.observation_space = self._adapter.observation_space(self.agent)
        self.action_space = self._adapter.action_space(self.agent)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Mapping[str, Any], dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.reached = None
        cut_off = self._adapter.running(self.agent) is not None  # an outer limit ended the option
        if seed is not None or not self._going_on or cut_off:
            self._adapter.reset(seed=int(self.np_random.integers(2**31)))
            self._going_on = True
        startable = [number for number, _ in self._adapter.startable(self._manager)]
        self._option = np.int64(self.np_random.choice(startable))
        shown = self._adapter.step({self._manager: int(self._option)})
        return shown.observations[self.agent], self._info()

    def step(self, action: int) -> tuple[Mapping[str, Any], float, bool, bool, dict[str, Any]]:
        option = self._adapter.running(self.agent)
        assert option is not None, "reset() before step()"
        result = self._adapter.step({self.agent: action})
        ended = self._adapter.take_ended().get(self._manager)
        if ended is None:
            return result.observations[self.agent], 0.0, False, False, self._info()
        self._going_on = ended.why != "episode"
        solved = not self._going_on and bool(self.environment.success())
        self.reached = solved or ended.why == "over"
        reward = 1.0 - 0.9 * ended.moves / option.budget if self.reached else 0.0
        died = not self._going_on and result.terminated.get(self.agent, False)
        last = {"observation": self._adapter.behind(self.agent)[1], "option": self._option}
        return last, reward, self.reached or died, not (self.reached or died), {"option": option.name}

    def _info(self) -> dict[str, Any]:
        return dict(self._adapter.info(self.agent))

    def render(self) -> Any:
        return self._adapter.render()

    def close(self) -> None:
        self.environment.close()
