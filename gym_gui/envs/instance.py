"""Interface to an environment instance for families and describers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from gym_gui.core.live import Board
from gym_gui.core.paradigms import ParadigmAdapter
from gym_gui.core.types import AgentID
from gym_gui.envs.pictures import Picture
from gym_gui.envs.spec import EnvSpec

Teams = Mapping[str, tuple[str, ...]]
"""Agents by team name."""


class Instance(Protocol):
    """One environment instance: the part of :class:`~gym_gui.envs.Environment` that others use.

    The interface is a separate protocol because families, describers and keys all refer to it.
    """

    @property
    def spec(self) -> EnvSpec:
        """Description of the environment."""
        ...

    @property
    def adapter(self) -> ParadigmAdapter:
        """Adapter that steps the environment."""
        ...

    @property
    def teams(self) -> Teams:
        """Agents by team name."""
        ...

    @property
    def env(self) -> Any:
        """The innermost environment, without wrappers."""
        ...

    @property
    def title(self) -> str:
        """Display name."""
        ...

    @property
    def summary(self) -> str:
        """One sentence about the environment; ``""`` if its family has no summary."""
        ...

    @property
    def max_episode_steps(self) -> int | None:
        """Steps after which the package truncates an episode of this instance; ``None`` if unknown."""
        ...

    @property
    def cut_off(self) -> int | None:
        """Steps after which a run cuts an episode off; ``None`` if it does not."""
        ...

    @property
    def hidden_information(self) -> bool:
        """Whether a seat may not know the whole state."""
        ...

    def company(self, agent: AgentID) -> tuple[str, list[AgentID], list[AgentID]]:
        """Return the team name of ``agent``, its team-mates, and all other agents."""
        ...

    def seat_name(self, agent: AgentID) -> str:
        """Return the game's name of a seat."""
        ...

    def action_meanings(self, agent: AgentID) -> tuple[str, ...]:
        """Return a word for each discrete action of ``agent``; empty if there are none."""
        ...

    def noop_action(self, agent: AgentID) -> Any | None:
        """Return the action with which ``agent`` does nothing; ``None`` if there is none."""
        ...

    def board(self) -> Board | None:
        """Return the position of a board game with its legal moves; ``None`` for other environments."""
        ...

    def picture(self) -> Picture | None:
        """Return a picture, (H, W, 3) ``uint8``; ``None`` if nothing was drawn."""
        ...
