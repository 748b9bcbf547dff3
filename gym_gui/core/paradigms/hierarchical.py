"""Two-level control: a manager chooses options, a controller carries them out.

Options in the sense of Sutton, Precup, Singh, "Between MDPs and semi-MDPs" (1999): an
option may start in some observations, runs until its own end condition holds or its
budget of moves is spent, and the manager earns the sum of the rewards meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gym_gui.core.config import GOAL_SUFFIX
from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure, UsageError
from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.paradigms.border import wrong_agents
from gym_gui.core.types import AgentID, Mask, StepResult


def manager_of(agent: AgentID) -> AgentID:
    """Name of the slot that chooses options for ``agent``."""
    return agent + GOAL_SUFFIX


def _anywhere(observation: Any) -> bool:
    return True


def _never(observation: Any) -> bool:
    return False


@dataclass(frozen=True)
class Option:
    """Something a manager can ask of a controller.

    Conditions are functions of the observation alone, so that episodes never mix.

    Attributes:
        name: One word or two for people and language models.
        budget: Moves of the controller after which the manager is asked again.
        can_start: Whether the manager may choose it now.
        is_over: Whether it has reached its end; asked after each move.
    """

    name: str
    budget: int = 20
    can_start: Callable[[Any], bool] = _anywhere
    is_over: Callable[[Any], bool] = _never


@dataclass(slots=True)
class _Running:
    """What one controller is doing."""

    option: int = -1
    moves: int = 0
    owed: float = 0.0
    why: str = "start"

    @property
    def wanted(self) -> bool:
        return self.option < 0


class HierarchicalAdapter(ParadigmAdapter):
    """Adds a manager slot ``<agent>/goal`` to agents of another adapter.

    The manager observes what the environment shows the agent and acts in
    ``Discrete(len(options))``, with a mask where options cannot start. The controller
    keeps the agent's name and actions and observes ``Dict(observation, option)``. A
    manager's choice is a :meth:`step` of its own in which the environment stands still.

    Managers' returns repeat their controllers' rewards: leave them out of team sums.

    Args:
        inner: The adapter to wrap; closed with this one.
        options: What managers choose from.
        agents: Agents that get a manager; all by default.

    Raises:
        UsageError: No options, a budget below 1, two of one name, or an unknown agent.
    """

    def __init__(
        self, inner: ParadigmAdapter, options: Sequence[Option], *, agents: Sequence[AgentID] | None = None
    ) -> None:
        self.inner = inner
        self.options = tuple(options)
        _check_options(self.options)
        managed = tuple(inner.possible_agents if agents is None else agents)
        unknown = set(managed) - set(inner.possible_agents)
        if unknown:
            raise UsageError(f"no such agent to manage: {', '.join(sorted(unknown))}")
        self.possible_agents = (*inner.possible_agents, *map(manager_of, managed))
        self._controller_of = {manager_of(a): a for a in managed}
        self._managed = frozenset(managed)
        self._running: dict[AgentID, _Running] = {}
        self._seen: dict[AgentID, Any] = {}
        self._current: tuple[AgentID, ...] = ()

    @property
    def paradigm(self) -> SteppingParadigm:
        return SteppingParadigm.HIERARCHICAL

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> dict[AgentID, Any]:
        self._current = ()
        self._running = {a: _Running() for a in self._managed}
        self._seen = dict(self.inner.reset(seed=seed, options=options))
        return self._next_turn()

    def _next_turn(self) -> dict[AgentID, Any]:
        """Managers first: the environment waits until every option is chosen."""
        acting = self.inner.get_current_agents()
        choosing = [a for a in acting if a in self._managed and self._running[a].wanted]
        if choosing:
            self._current = tuple(map(manager_of, choosing))
            return {manager_of(a): self._seen[a] for a in choosing}
        self._current = tuple(acting)
        return {a: self._shown(a) for a in acting}

    def _shown(self, agent: AgentID) -> Any:
        if agent not in self._managed:
            return self._seen[agent]
        return {"observation": self._seen[agent], "option": np.int64(max(self._running[agent].option, 0))}

    def behind(self, agent: AgentID) -> tuple[AgentID, Any]:
        """The environment's own agent in a slot, and what that one sees; ``None`` before :meth:`reset`."""
        own = self._controller_of.get(agent, agent)
        return own, self._seen.get(own)

    def step(self, actions: Mapping[AgentID, Any]) -> StepResult:
        current = self._current
        if not current or set(actions) != set(current):
            raise wrong_agents(actions, current)
        if current[0] in self._controller_of:
            return self._choose(actions)
        self._current = ()
        return self._move(actions)

    def _choose(self, actions: Mapping[AgentID, Any]) -> StepResult:
        for manager, choice in actions.items():
            index = int(choice)
            if not 0 <= index < len(self.options):
                raise EnvironmentFailure(f"{manager} chose option {index} of {len(self.options)}")
            running = self._running[self._controller_of[manager]]
            running.option, running.moves, running.owed = index, 0, 0.0
        flags = dict.fromkeys(actions, False)
        observations = self._next_turn()
        infos: dict[AgentID, Mapping[str, Any]] = {a: self.info(a) for a in self._current}
        return StepResult(observations, {}, flags, dict(flags), infos)

    def _move(self, actions: Mapping[AgentID, Any]) -> StepResult:
        inner = self.inner.step(actions)
        self._seen.update(inner.observations)
        result = StepResult(
            {}, dict(inner.rewards), dict(inner.terminated), dict(inner.truncated), dict(inner.infos)
        )
        ended = {a for a, done in inner.dones.items() if done}
        for agent in self._managed:
            self._advance(agent, agent in actions, agent in ended, inner, result)
        result.observations.update({a: self._shown(a) for a in ended if a in inner.observations})
        result.observations.update(self._next_turn())
        for agent in self._current:
            result.infos.setdefault(agent, self.info(agent))
        return result

    def _advance(
        self, agent: AgentID, moved: bool, ended: bool, inner: StepResult, result: StepResult
    ) -> None:
        """Account one inner step to the option ``agent`` is carrying out."""
        running, manager = self._running[agent], manager_of(agent)
        running.owed += inner.rewards.get(agent, 0.0)
        running.moves += moved
        if ended:
            running.why = "episode"
            result.terminated[manager] = inner.terminated.get(agent, False)
            result.truncated[manager] = inner.truncated.get(agent, False)
            if agent in inner.observations:
                result.observations[manager] = inner.observations[agent]
        elif running.wanted or agent not in inner.observations:
            if running.owed and running.wanted:  # earned after its end, or before its first option
                result.rewards[manager] = running.owed
                running.owed = 0.0
            return
        else:
            option = self.options[running.option]
            over = option.is_over(inner.observations[agent])
            if not over and running.moves < option.budget:
                return
            running.why = "over" if over else "budget"
            result.terminated.setdefault(manager, False)
            result.truncated.setdefault(manager, False)
        result.rewards[manager] = running.owed
        running.owed, running.option = 0.0, -1

    def get_current_agents(self) -> Sequence[AgentID]:
        return self._current

    def is_episode_done(self) -> bool:
        return not self._current

    def observation_space(self, agent: AgentID) -> Any:
        from gymnasium.spaces import Dict, Discrete

        controller = self._controller_of.get(agent)
        if controller is not None:
            return self.inner.observation_space(controller)
        space = self.inner.observation_space(agent)
        if agent not in self._managed:
            return space
        return Dict({"observation": space, "option": Discrete(len(self.options))})

    def action_space(self, agent: AgentID) -> Any:
        from gymnasium.spaces import Discrete

        if agent in self._controller_of:
            return Discrete(len(self.options))
        return self.inner.action_space(agent)

    def action_mask(self, agent: AgentID) -> Mask | None:
        controller = self._controller_of.get(agent)
        if controller is None:
            return self.inner.action_mask(agent)
        seen = self._seen[controller]
        mask = np.array([option.can_start(seen) for option in self.options])
        return None if mask.all() else mask

    def info(self, agent: AgentID) -> Mapping[str, Any]:
        controller = self._controller_of.get(agent, agent)
        info = self.inner.info(controller)
        if controller not in self._managed:
            return info
        running = self._running[controller]
        if agent in self._controller_of:
            names = tuple(option.name for option in self.options)
            return {**info, "options": names, "option_ended_by": running.why}
        return info if running.wanted else {**info, "option": self.options[running.option].name}

    def owed(self) -> dict[AgentID, float]:
        waiting = self.inner.owed()
        managers = {manager_of(a): r.owed + waiting.get(a, 0.0) for a, r in self._running.items()}
        return {**waiting, **{m: reward for m, reward in managers.items() if reward}}

    def render(self) -> Any:
        return self.inner.render()

    def close(self) -> None:
        self.inner.close()

    @property
    def env(self) -> Any:
        return self.inner.env


def _check_options(options: Sequence[Option]) -> None:
    if not options:
        raise UsageError("a manager needs at least one option")
    if len({option.name for option in options}) != len(options):
        raise UsageError("two options have the same name")
    for option in options:
        if option.budget < 1:
            raise UsageError(
                f"option {option.name!r} has a budget of {option.budget}", fix="Give it at least 1"
            )
