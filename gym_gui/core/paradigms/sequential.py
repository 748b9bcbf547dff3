"""Turn-based environments: PettingZoo AEC, and OpenSpiel through Shimmy.

Follows ``env.last()`` (https://pettingzoo.farama.org/api/aec/): what an agent earned
since its last move is handed over when its turn comes. Agents that ended get a turn
of their own for that ("dead step"); these are made here, so that the engine never
sees a turn in which nothing can be chosen and nobody loses a reward that came late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure
from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.paradigms.border import (
    MASK_KEY,
    NO_INFO,
    AgentNames,
    as_mask,
    failure,
    frame,
    split_mask,
    without_mask,
    wrong_agents,
)
from gym_gui.core.types import AgentID, Mask, StepResult


class SequentialAdapter(ParadigmAdapter):
    """Adapts an AEC environment: one agent acts at a time.

    A :class:`StepResult` names the agent that acts next and every agent whose end
    became known; the agent that just acted hears of its reward at its next turn.

    Args:
        env: The environment.
        rename: Name of an agent given the environment's key for it.
    """

    def __init__(self, env: Any, *, rename: Callable[[Any], AgentID] | None = None) -> None:
        self._env = env
        self._names = AgentNames(_possible(env), rename)
        self.possible_agents = self._names.all
        self._spaces: dict[AgentID, tuple[Any, str | None]] = {}
        self._infos: dict[AgentID, Mapping[str, Any]] = {}
        self._mask: Any = None
        self._current: tuple[AgentID, ...] = ()
        self._converted = any(type(e).__name__ == "parallel_to_aec_wrapper" for e in _layers(env))
        self._closed = False

    @property
    def paradigm(self) -> SteppingParadigm:
        return SteppingParadigm.SEQUENTIAL

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> dict[AgentID, Any]:
        self._current = ()
        self._infos = {}
        try:
            self._env.reset(seed=seed, options=options)
            return self._to_next_turn().observations
        except EnvironmentFailure:
            raise
        except Exception as error:
            raise failure("reset()", error) from error

    def step(self, actions: Mapping[AgentID, Any]) -> StepResult:
        current = self._current
        if len(actions) != 1 or not current or current[0] not in actions:
            raise wrong_agents(actions, current)
        self._current = ()
        try:
            self._env.step(actions[current[0]])
            return self._to_next_turn()
        except EnvironmentFailure:
            raise
        except Exception as error:
            raise failure("step()", error) from error

    def _to_next_turn(self) -> StepResult:
        """Collect what is owed and make dead steps until somebody can act."""
        env = self._env
        result = StepResult({}, {}, {}, {}, {})
        self._mask = None
        while env.agents:
            raw = env.agent_selection
            observation, reward, terminated, truncated, info = env.last()
            name = self._named(raw)
            observation, mask = split_mask(observation, self._space(name)[1])
            result.observations[name] = observation
            result.rewards[name] = result.rewards.get(name, 0.0) + float(reward)
            result.terminated[name] = bool(terminated)
            result.truncated[name] = bool(truncated)
            result.infos[name] = self._infos[name] = info
            if not (terminated or truncated):
                self._mask = mask if mask is not None else info.get(MASK_KEY)
                self._current = (name,)
                break
            env.step(None)
        return result

    def _named(self, raw: Any) -> AgentID:
        known = self._names.of.get(raw)
        if known is None:
            known = self._names.add(raw)
            self.possible_agents = self._names.all
        return known

    def _space(self, agent: AgentID) -> tuple[Any, str | None]:
        found = self._spaces.get(agent)
        if found is None:
            found = self._spaces[agent] = without_mask(self._env.observation_space(self._names.raw[agent]))
        return found

    def get_current_agents(self) -> Sequence[AgentID]:
        return self._current

    def is_episode_done(self) -> bool:
        return not self._current

    def observation_space(self, agent: AgentID) -> Any:
        return self._space(agent)[0]

    def action_space(self, agent: AgentID) -> Any:
        return self._env.action_space(self._names.raw[agent])

    def action_mask(self, agent: AgentID) -> Mask | None:
        return as_mask(self._mask) if agent in self._current else None

    def info(self, agent: AgentID) -> Mapping[str, Any]:
        return self._infos.get(agent, NO_INFO)

    def owed(self) -> dict[AgentID, float]:
        env = self._env
        waiting: list[Any] = [raw for raw in env.agents if self._named(raw) not in self._current]
        if not self._current:
            waiting = []
        elif self._converted:
            # parallel_to_aec leaves what it has paid standing until all have moved: only
            # those who come after the current agent are still to hear of theirs.
            waiting = list(env.agents)[list(env.agents).index(env.agent_selection) + 1 :]
        return {self._named(raw): float(env._cumulative_rewards[raw]) for raw in waiting}

    def render(self) -> Any:
        return frame(self._env)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._env.close()

    @property
    def env(self) -> Any:
        return self._env


def _layers(env: Any) -> Iterator[Any]:
    """``env`` and what it wraps, from the outside in."""
    while env is not None:
        yield env
        env = getattr(env, "env", None)


def _possible(env: Any) -> list[Any]:
    """All agents; an environment that does not say in advance is reset to find out."""
    known = getattr(env, "possible_agents", None)
    if known is None:
        try:
            env.reset()
            known = env.agents
        except Exception as error:
            raise failure("reset()", error) from error
    return list(known)
