"""Environment for several agents in which one acts and the others do nothing."""

from __future__ import annotations

from typing import Any

import gymnasium

from gym_gui.core.errors import UsageError
from gym_gui.envs.environment import Environment


class SingleAgentEnv(gymnasium.Env[Any, Any]):
    """Gymnasium environment of the first agent, with the spaces and rewards that its slot has in the task.

    The other agents do nothing. An episode ends when the first agent's episode ends.

    Args:
        environment: Environment with simultaneous agents; closing this environment closes it.

    Attributes:
        environment: The given environment.
        agent: The first agent.

    Raises:
        UsageError: Another agent has no action that does nothing.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.agent, *others = environment.adapter.possible_agents
        self._idle = {other: environment.noop_action(other) for other in others}
        busy = [other for other, action in self._idle.items() if action is None]
        if busy:
            raise UsageError(
                f"{environment.spec.id} has no action with which {busy[0]} does nothing, so that none of its "
                "agents can be trained alone"
            )
        self.render_mode = environment.adapter.env.render_mode
        self.observation_space = environment.adapter.observation_space(self.agent)
        self.action_space = environment.adapter.action_space(self.agent)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        world = int(self.np_random.integers(2**31)) if seed is None else seed
        return self.environment.adapter.reset(seed=world, options=options)[self.agent], self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        adapter, agent = self.environment.adapter, self.agent
        result = adapter.step(
            {each: action if each == agent else self._idle[each] for each in adapter.get_current_agents()}
        )
        return (
            result.observations[agent],
            result.rewards.get(agent, 0.0),
            result.terminated[agent],
            result.truncated[agent],
            self._info(),
        )

    def _info(self) -> dict[str, Any]:
        adapter = self.environment.adapter
        mask = adapter.action_mask(self.agent)
        return {**adapter.info(self.agent), **({} if mask is None else {"action_mask": mask})}

    def render(self) -> Any:
        return self.environment.adapter.render()

    def close(self) -> None:
        self.environment.close()
