"""Interface of an environment instance for families and describers."""

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
    """Environment instance: the part of :class:`~gym_gui.envs.Environment` for families and describers.

    This is a separate protocol because the modules of families, describers and keys all use it.
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
        """Display name of the environment."""
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
        """Steps after which a run truncates an episode; ``None`` if it does not."""
        ...

    @property
    def hidden_information(self) -> bool:
        """Whether some seat must not know the whole state."""
        ...

    def team_and_others(self, agent: AgentID) -> tuple[str, list[AgentID], list[AgentID]]:
        """Return the team name of ``agent``, its team-mates, and all other agents."""
        ...

    def seat_name(self, agent: AgentID) -> str:
        """Return the game's own name of a seat."""
        ...

    def action_meanings(self, agent: AgentID) -> tuple[str, ...]:
        """Return the names of an agent's discrete actions; empty if they have none."""
        ...

    def noop_action(self, agent: AgentID) -> Any | None:
        """Return the action with which ``agent`` does nothing; ``None`` if there is none."""
        ...

    def board(self) -> Board | None:
        """Return the position of a board game with its legal moves; ``None`` for other environments."""
        ...

    def picture(self) -> Picture | None:
        """Return an RGB picture of shape (H, W, 3), ``uint8``; ``None`` if nothing was drawn."""
        ...
