"""The interface through which the engine steps any environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.paradigms.foreign_calls import INFO
from gym_gui.core.types import AgentID, Mask, StepResult


class ParadigmAdapter(ABC):
    """Adapts one environment instance to the engine's interface.

    An adapter knows which agents act when, and which rewards each has still to receive. It never calls a
    policy, never retries, and never invents an action. Agents are named by strings; if an environment names
    them by integers, its family renames them.
    """

    paradigm: ClassVar[SteppingParadigm]
    """The paradigm that this adapter handles."""
    possible_agents: tuple[AgentID, ...]
    """All agents that can ever act, in the environment's own order."""
    is_open_ended: bool = False
    """Whether agents may appear that the environment does not name beforehand."""

    @abstractmethod
    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> dict[AgentID, Any]:
        """Begin an episode.

        Args:
            seed: Seed that is passed to the environment unchanged; ``None``: no seed.
            options: Passed to the environment's ``reset``.

        Returns:
            Observation of each agent in :meth:`get_current_agents`, without the action
            mask (see :meth:`action_mask`).

        Raises:
            EnvironmentFailure: The environment raised an error.
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
            EnvironmentFailure: The environment raised an error, or ``actions`` does not name
                exactly the current agents.
        """

    @property
    def reset_async(self) -> Callable[[int | None], None] | None:
        """Function that starts a reset in the background, or ``None``. :meth:`reset` with the same seed
        returns its result."""
        return None

    @property
    def step_async(self) -> Callable[[Mapping[AgentID, Any]], None] | None:
        """Function that starts a step in the background, or ``None``. :meth:`step` with the same actions
        returns its result.

        For environments in other processes: many of them can compute their steps at the same time.
        """
        return None

    @abstractmethod
    def get_current_agents(self) -> Sequence[AgentID]:
        """Return the agents that must act now; empty when the episode is over."""

    @abstractmethod
    def is_episode_done(self) -> bool:
        """Return whether the episode is over, so that no agent will act."""

    @abstractmethod
    def observation_space(self, agent: AgentID) -> Any:
        """Return the Gymnasium space of the observations of ``agent``, without the action mask."""

    @abstractmethod
    def action_space(self, agent: AgentID) -> Any:
        """Return the Gymnasium space of the actions of ``agent``."""

    def action_mask(self, agent: AgentID) -> Mask | None:
        """Return the mask of a current agent's legal actions, or ``None`` if all are legal."""
        return None

    def mask_source(self, agent: AgentID) -> str:
        """Return where the mask of a current agent comes from, for people; empty if it has no mask."""
        return "" if self.action_mask(agent) is None else INFO

    def key_of(self, agent: AgentID) -> Any:
        """Return the environment's own name of an agent; ``None`` if it does not name its only agent."""
        return None

    def info(self, agent: AgentID) -> Mapping[str, Any]:
        """Return the environment's latest ``info`` for ``agent``."""
        return {}

    def owed(self) -> dict[AgentID, float]:
        """Return the rewards that the environment has given but that are not yet in a :class:`StepResult`.

        The engine needs these if it cuts an episode off: in turn-based environments all agents but the
        current one wait for such a reward. Empty at the end of an episode, and if rewards are reported at
        once.
        """
        return {}

    @abstractmethod
    def render(self) -> Any:
        """Return a frame in the environment's ``render_mode``, or ``None``."""

    @abstractmethod
    def close(self) -> None:
        """Release the environment; safe to call twice."""

    @property
    @abstractmethod
    def env(self) -> Any:
        """The wrapped environment, for the family's score and outcome hooks."""
