"""The one interface through which the engine steps any environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.paradigms.foreign_calls import INFO
from gym_gui.core.types import AgentID, Mask, StepResult


class ParadigmAdapter(ABC):
    """Adapts one environment instance to the engine's interface.

    An adapter knows when which agent acts and who is owed which reward. It never
    calls a policy, never retries, and never invents an action. Agents are named by
    strings; an environment that names them by integers is renamed by its family.
    """

    paradigm: ClassVar[SteppingParadigm]
    """The paradigm this adapter handles."""
    possible_agents: tuple[AgentID, ...]
    """All agents that can ever act, in the environment's own order."""
    is_open_ended: bool = False
    """Whether agents appear that the environment does not name beforehand."""

    @abstractmethod
    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> dict[AgentID, Any]:
        """Begin an episode.

        Args:
            seed: Given to the environment as it is; ``None`` leaves it unseeded.
            options: Passed to the environment's ``reset``.

        Returns:
            Observation of every agent in :meth:`get_current_agents`, the action
            mask taken out (see :meth:`action_mask`).

        Raises:
            EnvironmentFailure: The environment raised.
        """

    @abstractmethod
    def step(self, actions: Mapping[AgentID, Any]) -> StepResult:
        """Advance the environment.

        Args:
            actions: One action for each agent in :meth:`get_current_agents`.

        Returns:
            Observations for the agents that act next, rewards that became known,
            and which agents ended.

        Raises:
            EnvironmentFailure: The environment raised, or ``actions`` does not name
                exactly the current agents.
        """

    @property
    def reset_async(self) -> Callable[[int | None], None] | None:
        """Has an episode begun that :meth:`reset`, with the same seed, takes; ``None``: it cannot be."""
        return None

    @property
    def step_async(self) -> Callable[[Mapping[AgentID, Any]], None] | None:
        """Has a step begun whose result :meth:`step`, with the same actions, takes; ``None``: it cannot be.

        For environments in other processes: many of them step at the same time.
        """
        return None

    @abstractmethod
    def get_current_agents(self) -> Sequence[AgentID]:
        """Agents that need to act now; empty once the episode is over."""

    @abstractmethod
    def is_episode_done(self) -> bool:
        """Whether no agent will act any more."""

    @abstractmethod
    def observation_space(self, agent: AgentID) -> Any:
        """Gymnasium space of what ``agent`` observes, the action mask taken out."""

    @abstractmethod
    def action_space(self, agent: AgentID) -> Any:
        """Gymnasium space of what ``agent`` may do."""

    def action_mask(self, agent: AgentID) -> Mask | None:
        """Legal actions of a current agent, or ``None`` where all are legal."""
        return None

    def mask_source(self, agent: AgentID) -> str:
        """Where the mask of a current agent comes from, for people; empty where it has none."""
        return "" if self.action_mask(agent) is None else INFO

    def key_of(self, agent: AgentID) -> Any:
        """What the environment itself calls an agent; ``None`` where it has one and calls it nothing."""
        return None

    def info(self, agent: AgentID) -> Mapping[str, Any]:
        """The latest ``info`` the environment gave for ``agent``."""
        return {}

    def owed(self) -> dict[AgentID, float]:
        """Rewards the environment has given and no :class:`StepResult` has told yet.

        For an engine that cuts an episode off in mid-game: in turn-based environments
        everybody but the agent whose turn it is waits for such a reward. Empty at the
        end of an episode and where policies get rewards at once.
        """
        return {}

    @abstractmethod
    def render(self) -> Any:
        """The frame for the ``render_mode`` the environment was made with, or ``None``."""

    @abstractmethod
    def close(self) -> None:
        """Release the environment; safe to call twice."""

    @property
    @abstractmethod
    def env(self) -> Any:
        """The wrapped environment, for the family's score and outcome hooks."""
