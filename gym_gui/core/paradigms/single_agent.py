"""Adapter for Gymnasium environments with one agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure
from gym_gui.core.paradigms.foreign_calls import (
    MASK_KEY,
    NO_INFO,
    OBSERVATION,
    RAISED,
    as_mask,
    as_reward,
    failure,
    parts_of,
    reset_failure,
    split_mask,
    without_mask,
    wrong_agents,
)
from gym_gui.core.paradigms.wrapped_environment import WrappedAdapter
from gym_gui.core.types import AgentID, Mask, StepResult
from mosaic_worker.learning.action_masks import METHOD, mask_method

AGENT: AgentID = "agent_0"


class SingleAgentAdapter(WrappedAdapter):
    """Adapts a ``gymnasium.Env`` with one agent, named ``agent_0``.

    The action mask comes from one source: an ``action_mask`` beside the observation, else a method
    ``action_masks()`` as sb3-contrib uses it, else the info.

    Args:
        env: The environment.
        info_mask: Whether ``info["action_mask"]`` defines the legal actions. Off for an environment that
            uses the key only as advice (Taxi: moves that change nothing).
    """

    paradigm = SteppingParadigm.SINGLE_AGENT
    possible_agents = (AGENT,)

    def __init__(self, env: Any, *, info_mask: bool = True) -> None:
        super().__init__(env)
        self._env_step = env.step  # bound once: step() is the hot path
        self._space, self._mask_rule = without_mask(env.observation_space)
        self._mask_method = mask_method(env) if self._mask_rule is None else None
        self._info_mask = info_mask and self._mask_method is None
        self._mask: Any = None
        self._info: Mapping[str, Any] = NO_INFO
        self.last_step: tuple[float, bool] = (0.0, False)
        """Reward and ``terminated`` of the step that ended the episode, for the family's success hook."""

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> dict[AgentID, Any]:
        self._current = ()
        try:
            given = self._env.reset(seed=seed, options=options)
            observation, info = parts_of(given, "reset()", ("observation", "info"))
            self._info = info or NO_INFO
            if self._mask_rule is not None:
                observation, self._mask = split_mask(observation, self._mask_rule)
        except EnvironmentFailure:
            raise
        except RAISED as error:
            raise reset_failure(self._env, error) from error
        if self._mask_method is not None:
            self._mask = self._masked_by_method(self._mask_method)
        self._current = self.possible_agents
        self.last_step = (0.0, False)
        return {AGENT: observation}

    def step(self, actions: Mapping[AgentID, Any]) -> StepResult:
        if len(actions) != 1 or AGENT not in actions:
            raise wrong_agents(actions, self._current)
        observation, reward, terminated, truncated = self.step_alone(actions[AGENT])
        return StepResult(
            {AGENT: observation},
            {AGENT: reward},
            {AGENT: terminated},
            {AGENT: truncated},
            {AGENT: self._info},
        )

    def step_alone(self, action: Any) -> tuple[Any, float, bool, bool]:
        """Advance the environment as :meth:`step` does, without a dict for each part of the result.

        Returns:
            Observation, reward, whether the episode is terminated and whether it is truncated.

        Raises:
            EnvironmentFailure: As in :meth:`step`.
        """
        if not self._current:
            raise wrong_agents({AGENT: action}, self._current)
        try:
            given = self._env_step(action)
            if len(given) != 5:
                parts_of(given, "step()", ("observation", "reward", "terminated", "truncated", "info"))
            observation, reward, terminated, truncated, self._info = given
            if self._mask_rule is not None:
                observation, self._mask = split_mask(observation, self._mask_rule)
            if type(reward) is not float:
                reward = as_reward(reward)
        except EnvironmentFailure:
            raise
        except RAISED as error:
            raise failure("step()", error) from error
        if terminated or truncated:
            self._current = ()
            self.last_step = (reward, bool(terminated))
            return observation, reward, bool(terminated), bool(truncated)
        if self._mask_method is not None:
            self._mask = self._masked_by_method(self._mask_method)
        return observation, reward, False, False

    def _step_async(self, actions: Mapping[AgentID, Any]) -> None:
        if len(actions) == 1 and AGENT in actions and self._current:
            self._begin_step(actions[AGENT])

    def observation_space(self, agent: AgentID) -> Any:
        return self._space

    def action_space(self, agent: AgentID) -> Any:
        return self._env.action_space

    def action_mask(self, agent: AgentID) -> Mask | None:
        if self._mask is not None:
            return as_mask(self._mask)
        return as_mask(self._info.get(MASK_KEY)) if self._info_mask else None

    def mask_source(self, agent: AgentID) -> str:
        if self._mask_rule is not None:
            return OBSERVATION
        return f"{METHOD}()" if self._mask_method is not None else super().mask_source(agent)

    def _masked_by_method(self, method: Callable[[], Any]) -> Any:
        try:
            return method()
        except RAISED as error:
            raise failure(f"{METHOD}()", error) from error

    def info(self, agent: AgentID) -> Mapping[str, Any]:
        return self._info


GymParadigmAdapter = SingleAgentAdapter
"""Name of :class:`SingleAgentAdapter` in the design documents."""
