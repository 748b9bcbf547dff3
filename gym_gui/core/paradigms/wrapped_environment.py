"""Base classes of the adapters of one environment: stepping, rendering, closing, and names of agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from gym_gui.core.errors import EnvironmentFailure
from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.paradigms.foreign_calls import (
    NO_INFO,
    OBSERVATION,
    RAISED,
    AgentNames,
    failure,
    frame,
    without_mask,
)
from gym_gui.core.types import AgentID


class WrappedAdapter(ParadigmAdapter):
    """Adapts one environment object; the agents that act now are in ``_current``.

    Args:
        env: The environment.
    """

    def __init__(self, env: Any) -> None:
        self._env = env
        self._current: tuple[AgentID, ...] = ()
        self._closed = False

    @property
    def reset_async(self) -> Callable[[int | None], None] | None:
        own = getattr(cast("type[Any]", type(self._env)), "reset_async", None)
        return None if own is None else self._reset_async

    def _reset_async(self, seed: int | None) -> None:
        try:
            self._env.reset_async(seed)
        except EnvironmentFailure:
            raise
        except RAISED as error:
            raise failure("reset()", error) from error

    @property
    def step_async(self) -> Callable[[Mapping[AgentID, Any]], None] | None:
        # Looked up in the class: a wrapper that forwards attributes would forward this one past its own step.
        own = getattr(cast("type[Any]", type(self._env)), "step_async", None)
        return None if own is None else self._step_async

    def _step_async(self, actions: Mapping[AgentID, Any]) -> None:
        """Start a step of the environment; :meth:`step` reports wrong actions."""

    def _begin_step(self, action: Any) -> None:
        try:
            self._env.step_async(action)
        except EnvironmentFailure:
            raise
        except RAISED as error:
            raise failure("step()", error) from error

    def get_current_agents(self) -> Sequence[AgentID]:
        return self._current

    def is_episode_done(self) -> bool:
        return not self._current

    def render(self) -> Any:
        return frame(self._env)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._env.close()

    @property
    def env(self) -> Any:
        return self._env


class NamedAgentsAdapter(WrappedAdapter):
    """Adapts an environment that has its own keys for its agents.

    Args:
        env: The environment.
        listed: Keys of all its agents; by default those that the environment lists. An environment
            that lists none is reset to find them.
        rename: Returns the name of an agent for the environment's key.
    """

    def __init__(
        self,
        env: Any,
        listed: Sequence[Any] | None = None,
        *,
        rename: Callable[[Any], AgentID] | None = None,
    ) -> None:
        super().__init__(env)
        self._names = AgentNames(_possible(env) if listed is None else listed, rename)
        self.possible_agents = self._names.all
        self.is_open_ended = listed is None and _listed(env) is None
        self._spaces: dict[AgentID, tuple[Any, str | None]] = {}
        self._infos: dict[AgentID, Mapping[str, Any]] = {}

    def _forget_spaces(self) -> None:
        """Forget the spaces for a new episode if agents may appear, because their spaces may differ."""
        if self.is_open_ended:
            self._spaces = {}

    def _name(self, raw: Any) -> AgentID:
        """Return the name of an agent, and remember an agent that joins during an episode."""
        known = self._names.of.get(raw)
        if known is None:
            known = self._names.add(raw)
            self.possible_agents = self._names.all
        return known

    def _space(self, agent: AgentID) -> tuple[Any, str | None]:
        """Return the agent's observation space without its mask, and the rule that separates the mask."""
        found = self._spaces.get(agent)
        if found is None:
            found = self._spaces[agent] = without_mask(self._raw_observation_space(self._names.raw[agent]))
        return found

    def _raw_observation_space(self, raw: Any) -> Any:
        return self._env.observation_space(raw)

    def observation_space(self, agent: AgentID) -> Any:
        return self._space(agent)[0]

    def mask_source(self, agent: AgentID) -> str:
        return OBSERVATION if self._space(agent)[1] is not None else super().mask_source(agent)

    def key_of(self, agent: AgentID) -> Any:
        return self._names.raw[agent]

    def info(self, agent: AgentID) -> Mapping[str, Any]:
        return self._infos.get(agent, NO_INFO)


def _listed(env: Any) -> Any:
    """Return the agents that an environment names beforehand; ``None`` if it does not."""
    try:
        return getattr(env, "possible_agents", None)
    except Exception:  # PettingZoo's wrappers raise their own errors
        return None


def _possible(env: Any) -> list[Any]:
    known = _listed(env)
    if known is None:
        try:
            env.reset()
            known = env.agents
        except RAISED as error:
            raise failure("reset()", error) from error
    return list(known)
