"""Adapter for environments in which all agents act at once.

These are PettingZoo Parallel environments, and Gymnasium environments that accept and return dicts by
agent (mosaic-multigrid).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure
from gym_gui.core.paradigms.foreign_calls import (
    MASK_KEY,
    NO_INFO,
    RAISED,
    as_mask,
    as_reward,
    failure,
    split_mask,
    wrong_agents,
)
from gym_gui.core.paradigms.wrapped_environment import NamedAgentsAdapter
from gym_gui.core.types import AgentID, Mask, StepResult
from mosaic_worker.interfaces import spaces_of

ALL = "__all__"
"""RLlib's key for "the episode is over for all agents"; accepted in ``terminated`` and ``truncated``."""


class SimultaneousAdapter(NamedAgentsAdapter):
    """Adapts an environment with one action per living agent and step.

    The agents that act next are those in ``env.agents``. If the environment has no such list, they are all
    agents that have an observation and have not ended. Agents may end one by one and may join or return
    during an episode.

    Args:
        env: A PettingZoo ``ParallelEnv``, or an environment whose ``observation_space`` and
            ``action_space``, or ``observation_spaces`` and ``action_spaces``, are dicts keyed by agent.
        rename: Returns the name of an agent for the environment's key.
    """

    paradigm = SteppingParadigm.SIMULTANEOUS

    def __init__(self, env: Any, *, rename: Callable[[Any], AgentID] | None = None) -> None:
        acts: Any = spaces_of(env, "action_space")
        self._by_dict = not callable(spaces_of(env, "observation_space"))
        super().__init__(env, list(getattr(acts, "spaces", acts)) if self._by_dict else None, rename=rename)
        self._action_spaces: dict[AgentID, Any] = {}
        self._masks: dict[AgentID, Any] = {}

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> dict[AgentID, Any]:
        self._current = ()
        self._masks = {}
        self._forget_spaces()
        try:
            raw_observations, raw_infos = self._env.reset(seed=seed, options=options)
            live = list(raw_observations) if self._by_dict else list(self._env.agents)
            names = {raw: self._name(raw) for raw in live}
            self._infos = {name: raw_infos.get(raw) or NO_INFO for raw, name in names.items()}
            taken = {name: self._without_mask(name, raw_observations[raw]) for raw, name in names.items()}
            self._current = tuple(taken)
            return taken
        except EnvironmentFailure:
            raise
        except RAISED as error:
            raise failure("reset()", error) from error

    def step(self, actions: Mapping[AgentID, Any]) -> StepResult:
        current = self._current
        if len(actions) != len(current) or not current or any(a not in actions for a in current):
            raise wrong_agents(actions, current)
        self._current = ()
        raw_of = self._names.raw
        try:
            out = self._env.step({raw_of[a]: actions[a] for a in current})
            return self._result(current, *out)
        except EnvironmentFailure:
            raise
        except RAISED as error:
            raise failure("step()", error) from error

    def _step_async(self, actions: Mapping[AgentID, Any]) -> None:
        if self._current and set(actions) == set(self._current):
            self._begin_step({self._names.raw[agent]: actions[agent] for agent in self._current})

    def _result(
        self,
        acted: tuple[AgentID, ...],
        observations: Mapping[Any, Any],
        rewards: Mapping[Any, Any],
        terminated: Mapping[Any, Any],
        truncated: Mapping[Any, Any],
        infos: Mapping[Any, Any],
    ) -> StepResult:
        everybody_ends, everybody_cut = bool(terminated.get(ALL)), bool(truncated.get(ALL))
        result = StepResult({}, {}, {}, {}, {})
        self._masks = {}
        live: list[AgentID] = []
        listed: Sequence[Any] | None = None if self._by_dict else self._env.agents
        for raw in self._news_of(acted, observations, listed):
            ends = everybody_ends or bool(terminated.get(raw, False))
            cut = everybody_cut or bool(truncated.get(raw, False))
            if listed is not None and raw not in listed:
                ends = ends or not cut  # the agent left without a flag
            name = self._name(raw)
            if ends or cut:
                if name not in acted:
                    continue  # the agent ended before and is still reported; only its rewards are new
            elif raw in observations:
                live.append(name)
            elif listed is None:
                continue  # such environments name only the agents that act next
            else:
                raise EnvironmentFailure(f"the environment gave no observation for {name}")
            result.terminated[name], result.truncated[name] = ends, cut
            if raw in observations:
                result.observations[name] = self._without_mask(name, observations[raw])
            result.infos[name] = self._infos[name] = infos.get(raw) or NO_INFO
        for raw, reward in rewards.items():
            if raw != ALL:
                result.rewards[self._name(raw)] = as_reward(reward)
        self._current = tuple(live)
        return result

    def _forget_spaces(self) -> None:
        super()._forget_spaces()
        if self.is_open_ended:
            self._action_spaces = {}

    def _news_of(
        self, acted: tuple[AgentID, ...], observations: Mapping[Any, Any], listed: Sequence[Any] | None
    ) -> Iterable[Any]:
        """Return the keys of all agents that this step may concern, in the environment's order."""
        if listed is None and len(observations) == len(self._names.raw):
            return observations
        raw_of = self._names.raw
        keys = dict.fromkeys(listed or ())
        keys.update(dict.fromkeys(observations))
        keys.update(dict.fromkeys(raw_of[a] for a in acted))
        keys.pop(ALL, None)
        return keys

    def _without_mask(self, name: AgentID, observation: Any) -> Any:
        rule = self._space(name)[1]
        if rule is None:
            return observation
        observation, self._masks[name] = split_mask(observation, rule)
        return observation

    def _raw_observation_space(self, raw: Any) -> Any:
        space = spaces_of(self._env, "observation_space")
        return space[raw] if self._by_dict else space(raw)

    def action_space(self, agent: AgentID) -> Any:
        found = self._action_spaces.get(agent)
        if found is None:  # MultiGrid builds the whole dict anew at each access
            raw, space = self._names.raw[agent], spaces_of(self._env, "action_space")
            found = self._action_spaces[agent] = space[raw] if self._by_dict else space(raw)
        return found

    def action_mask(self, agent: AgentID) -> Mask | None:
        if agent in self._masks:
            return as_mask(self._masks[agent])
        return as_mask(self._infos.get(agent, NO_INFO).get(MASK_KEY))


RLlibParadigmAdapter = SimultaneousAdapter
"""Name of :class:`SimultaneousAdapter` in the design documents."""
