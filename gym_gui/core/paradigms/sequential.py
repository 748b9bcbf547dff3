"""Adapter for turn-based environments: PettingZoo AEC, and OpenSpiel through Shimmy.

The adapter follows ``env.last()`` (https://pettingzoo.farama.org/api/aec/): at its turn an agent receives
the rewards since its last move. An agent that has ended gets an extra turn for that ("dead step"). This
module makes these dead steps, so that the engine never sees a turn without a choice and no agent loses a
late reward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure
from gym_gui.core.paradigms.foreign_calls import (
    MASK_KEY,
    RAISED,
    as_mask,
    as_reward,
    failure,
    split_mask,
    wrong_agents,
)
from gym_gui.core.paradigms.wrapped_environment import NamedAgentsAdapter
from gym_gui.core.types import AgentID, Mask, StepResult


class SequentialAdapter(NamedAgentsAdapter):
    """Adapts an AEC environment, in which one agent acts at a time.

    A :class:`StepResult` contains the agent that acts next and each agent whose end became known. The agent
    that has just acted receives its reward at its next turn.

    Args:
        env: The environment.
        rename: Returns the name of an agent for the environment's key.
    """

    paradigm = SteppingParadigm.SEQUENTIAL

    def __init__(self, env: Any, *, rename: Callable[[Any], AgentID] | None = None) -> None:
        super().__init__(env, rename=rename)
        self._mask: Any = None
        self.last_move: tuple[AgentID, Any] | None = None
        """The agent that moved last and its action; a drawing of the board marks this move."""
        self._converted = getattr(env, "parallel_to_aec", False) or any(
            type(e).__name__ == "parallel_to_aec_wrapper" for e in _layers(env)
        )

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> dict[AgentID, Any]:
        self._current = ()
        self.last_move = None
        self._infos = {}
        self._forget_spaces()
        try:
            self._env.reset(seed=seed, options=options)
            return self._to_next_turn().observations
        except EnvironmentFailure:
            raise
        except RAISED as error:
            raise failure("reset()", error) from error

    def step(self, actions: Mapping[AgentID, Any]) -> StepResult:
        current = self._current
        if len(actions) != 1 or not current or current[0] not in actions:
            raise wrong_agents(actions, current)
        self._current = ()
        try:
            self._env.step(actions[current[0]])
            self.last_move = (current[0], actions[current[0]])
            return self._to_next_turn()
        except EnvironmentFailure:
            raise
        except RAISED as error:
            raise failure("step()", error) from error

    def _step_async(self, actions: Mapping[AgentID, Any]) -> None:
        if len(actions) == 1 and self._current and self._current[0] in actions:
            self._begin_step(actions[self._current[0]])

    def _to_next_turn(self) -> StepResult:
        """Collect outstanding rewards and make dead steps until an agent can act."""
        env = self._env
        result = StepResult({}, {}, {}, {}, {})
        self._mask = None
        while env.agents:
            raw = env.agent_selection
            observation, reward, terminated, truncated, info = env.last()
            name = self._name(raw)
            observation, mask = split_mask(observation, self._space(name)[1])
            result.observations[name] = observation
            result.rewards[name] = result.rewards.get(name, 0.0) + as_reward(reward)
            result.terminated[name] = bool(terminated)
            result.truncated[name] = bool(truncated)
            result.infos[name] = self._infos[name] = info
            if not (terminated or truncated):
                self._mask = mask if mask is not None else info.get(MASK_KEY)
                self._current = (name,)
                break
            env.step(None)
        return result

    def action_space(self, agent: AgentID) -> Any:
        return self._env.action_space(self._names.raw[agent])

    def action_mask(self, agent: AgentID) -> Mask | None:
        return as_mask(self._mask) if agent in self._current else None

    def owed(self) -> dict[AgentID, float]:
        env = self._env
        waiting: list[Any] = [raw for raw in env.agents if self._name(raw) not in self._current]
        if not self._current:
            waiting = []
        elif self._converted:
            # parallel_to_aec does not reset paid rewards until all agents have moved: only
            # the agents after the current one have still to receive theirs.
            waiting = list(env.agents)[list(env.agents).index(env.agent_selection) + 1 :]
        return {self._name(raw): as_reward(env._cumulative_rewards[raw]) for raw in waiting}


def _layers(env: Any) -> Iterator[Any]:
    """Yield ``env`` and the environments that it wraps, from the outside in."""
    while env is not None:
        yield env
        env = getattr(env, "env", None)


PettingZooParadigmAdapter = SequentialAdapter
"""Name of :class:`SequentialAdapter` in the design documents."""
