"""Two-level control: a manager chooses options, and a controller performs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gym_gui.core.config import GOAL_SUFFIX
from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure, UsageError
from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.paradigms.foreign_calls import wrong_agents
from gym_gui.core.paradigms.options import Option, OptionEnd, OptionLibrary, RelativePosition
from gym_gui.core.types import AgentID, Mask, StepResult

Options = Sequence[Option] | Mapping[AgentID, OptionLibrary]
"""Options of the managers: the same for all, or by the agent that each manager controls."""


def manager_of(agent: AgentID) -> AgentID:
    """Return the name of the slot that chooses options for ``agent``."""
    return agent + GOAL_SUFFIX


@dataclass(slots=True)
class _Running:
    """The option that a controller performs, with its progress."""

    option: int = -1
    began: Any = None
    since: int = 0
    moves: int = 0
    owed: float = 0.0
    last: int = -1
    why: str = "start"

    @property
    def wanted(self) -> bool:
        return self.option < 0


class HierarchicalAdapter(ParadigmAdapter):
    """Adds a manager slot ``<agent>/goal`` to agents of another adapter.

    The manager receives the agent's observation and acts in ``Discrete(len(options))``, with a mask if some
    options cannot start. The controller keeps the agent's name and actions and observes ``Dict(observation,
    option)``. A manager's choice is a :meth:`step` of its own in which the environment does not move.

    A manager's return repeats its controller's rewards, so sums over a team must leave it out.

    Args:
        inner: The adapter to wrap; closed together with this one.
        options: Options of the managers.
        agents: Agents that get a manager; by default those that have options.

    Raises:
        UsageError: An agent is unknown or has no options, or the options are not valid (see
            :class:`OptionLibrary`).
    """

    paradigm = SteppingParadigm.HIERARCHICAL

    def __init__(
        self, inner: ParadigmAdapter, options: Options, *, agents: Sequence[AgentID] | None = None
    ) -> None:
        self.inner = inner
        if isinstance(options, Mapping):
            by_agent = options
        else:
            by_agent = dict.fromkeys(inner.possible_agents, OptionLibrary(tuple(options)))
        managed = tuple(by_agent if agents is None else agents)
        unknown = set(managed) - set(inner.possible_agents)
        if unknown:
            raise UsageError(f"unknown agents to manage: {', '.join(sorted(unknown))}")
        if without := [agent for agent in managed if agent not in by_agent]:
            raise UsageError(f"there are no options for {', '.join(without)}")
        self._libraries = {agent: by_agent[agent] for agent in managed}
        self.possible_agents = (*inner.possible_agents, *map(manager_of, managed))
        self._controller_of = {manager_of(a): a for a in managed}
        self._managed = frozenset(managed)
        self._running: dict[AgentID, _Running] = {}
        self._seen: dict[AgentID, Any] = {}
        self._readings: dict[AgentID, Any] = {}
        self._ended: dict[AgentID, OptionEnd] = {}
        self._moves = 0
        self._current: tuple[AgentID, ...] = ()

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> dict[AgentID, Any]:
        self._current, self._moves = (), 0
        self._running = {a: _Running() for a in self._managed}
        self._readings, self._ended = {}, {}
        self._seen = dict(self.inner.reset(seed=seed, options=options))
        return self._next_turn()

    def _next_turn(self) -> dict[AgentID, Any]:
        """Set the agents that act next, managers first: the environment waits until each option is chosen."""
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

    def _reading_of(self, agent: AgentID) -> Any:
        """Return an agent's current observation in the form that the conditions of its options read."""
        if agent not in self._readings:
            try:
                self._readings[agent] = self._libraries[agent].read(self._seen[agent])
            except Exception as exc:  # the border to the library of a family
                raise EnvironmentFailure(
                    f"the observation of {agent} cannot be read for its options: {exc}"
                ) from exc
        return self._readings[agent]

    def manages(self, slot: AgentID) -> AgentID:
        """Return the agent for which a slot chooses options; ``""`` if the slot is not a manager."""
        return self._controller_of.get(slot, "")

    def options_of(self, slot: AgentID) -> tuple[Option, ...]:
        """Return the options of a manager's slot or of the agent it manages; empty if there are none."""
        library = self._libraries.get(self._controller_of.get(slot, slot))
        return () if library is None else library.options

    def running(self, agent: AgentID) -> Option | None:
        """Return the option that a controller performs; ``None`` while its manager is asked."""
        running = self._running.get(agent)
        return None if running is None or running.wanted else self._libraries[agent].options[running.option]

    def last(self, agent: AgentID) -> tuple[Option | None, str]:
        """Return the option that a controller performed before, and why it ended."""
        running = self._running[agent]
        return (self._libraries[agent].options[running.last] if running.last >= 0 else None), running.why

    def startable(self, manager: AgentID) -> list[tuple[int, Option]]:
        """Return the options that a manager may choose now, with their numbers."""
        agent = self._controller_of[manager]
        seen = self._reading_of(agent)
        options = self._libraries[agent].options
        return [(number, option) for number, option in enumerate(options) if option.starts(seen)]

    def places(self, manager: AgentID) -> list[tuple[int, RelativePosition]]:
        """Return the relative positions of all options that may be chosen, each with the option's number."""
        seen = self._reading_of(self._controller_of[manager])
        return [(n, place) for n, option in self.startable(manager) for place in option.places(seen)]

    def cut_off(self) -> None:
        """End the running options, because a limit outside this adapter has ended the episode."""
        for agent, running in self._running.items():
            if not running.wanted:
                self._end(agent, "episode")

    def take_ended(self) -> Mapping[AgentID, OptionEnd]:
        """Return how options ended since the last call, by manager."""
        ended, self._ended = self._ended, {}
        return ended

    def behind(self, agent: AgentID) -> tuple[AgentID, Any]:
        """Return the environment's agent of a slot and its observation (``None`` before :meth:`reset`)."""
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
            index, agent = int(choice), self._controller_of[manager]
            options, seen = self._libraries[agent].options, self._reading_of(agent)
            if not 0 <= index < len(options):
                raise EnvironmentFailure(f"{manager} chose option {index} of {len(options)}")
            if not options[index].starts(seen):
                raise EnvironmentFailure(f"{manager} chose {options[index].name}, which cannot start now")
            running = self._running[agent]
            running.option, running.began, running.since = index, seen, self._moves
            running.moves, running.owed = 0, 0.0
        flags = dict.fromkeys(actions, False)
        observations = self._next_turn()
        infos: dict[AgentID, Mapping[str, Any]] = {a: self.info(a) for a in self._current}
        return StepResult(observations, {}, flags, dict(flags), infos)

    def _move(self, actions: Mapping[AgentID, Any]) -> StepResult:
        inner = self.inner.step(actions)
        self._moves += 1
        self._seen.update(inner.observations)
        for agent in inner.observations:
            self._readings.pop(agent, None)
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
        """Credit one inner step to the option that ``agent`` performs, and end the option if it is over."""
        running, manager = self._running[agent], manager_of(agent)
        running.owed += inner.rewards.get(agent, 0.0)
        running.moves += moved
        if ended:
            self._end(agent, "episode")
            result.terminated[manager] = inner.terminated.get(agent, False)
            result.truncated[manager] = inner.truncated.get(agent, False)
            if agent in inner.observations:
                result.observations[manager] = inner.observations[agent]
        elif running.wanted or agent not in inner.observations:
            if running.owed and running.wanted:  # earned after an option's end, or before the first option
                result.rewards[manager] = running.owed
                running.owed = 0.0
            return
        else:
            option = self._libraries[agent].options[running.option]
            over = option.ends(self._reading_of(agent), running.began)
            if not over and running.moves < option.budget:
                return
            self._end(agent, "over" if over else "budget")
            result.terminated.setdefault(manager, False)
            result.truncated.setdefault(manager, False)
        result.rewards[manager] = running.owed
        running.owed, running.option, running.began = 0.0, -1, None

    def _end(self, agent: AgentID, why: str) -> None:
        running = self._running[agent]
        running.why = why
        if not running.wanted:
            running.last = running.option
            self._ended[manager_of(agent)] = OptionEnd(why, running.moves)

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
        return Dict({"observation": space, "option": Discrete(len(self.options_of(agent)))})

    def action_space(self, agent: AgentID) -> Any:
        from gymnasium.spaces import Discrete

        if agent in self._controller_of:
            return Discrete(len(self.options_of(agent)))
        return self.inner.action_space(agent)

    def action_mask(self, agent: AgentID) -> Mask | None:
        controller = self._controller_of.get(agent)
        if controller is None:
            return self.inner.action_mask(agent)
        mask = np.zeros(len(self._libraries[controller].options), bool)
        mask[[number for number, _ in self.startable(agent)]] = True
        if not mask.any():
            raise EnvironmentFailure(f"{agent} has no option that can start")
        return None if mask.all() else mask

    def mask_source(self, agent: AgentID) -> str:
        return "options" if agent in self._controller_of else self.inner.mask_source(agent)

    def info(self, agent: AgentID) -> Mapping[str, Any]:
        controller = self._controller_of.get(agent, agent)
        info = self.inner.info(controller)
        if controller not in self._managed:
            return info
        if agent in self._controller_of:
            last, why = self.last(controller)
            told = {} if last is None else {"last_option": last.name}
            return {**info, "options": self._libraries[controller].names, "option_ended_by": why, **told}
        option = self.running(agent)
        if option is None:
            return info
        since = self._running[agent].since
        return {
            **info,
            "option": option.name,
            "option_arguments": option.arguments,
            "option_since": since,
        }

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
