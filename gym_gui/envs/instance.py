"""What families and describers are handed of the environment that they are asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from gym_gui.core.live import Board
from gym_gui.core.paradigms import ParadigmAdapter
from gym_gui.core.types import AgentID
from gym_gui.envs.pictures import Picture
from gym_gui.envs.spec import EnvSpec

Teams = Mapping[str, tuple[str, ...]]
"""Agents by the name of their team."""


class Instance(Protocol):
    """One environment instance: the part of :class:`~gym_gui.envs.Environment` that others build on.

    It stands below families, describers and keys, all of which speak of it.
    """

    @property
    def spec(self) -> EnvSpec:
        """What it is."""
        ...

    @property
    def adapter(self) -> ParadigmAdapter:
        """How it is stepped."""
        ...

    @property
    def teams(self) -> Teams:
        """Which agents play together."""
        ...

    @property
    def env(self) -> Any:
        """The environment itself, innermost."""
        ...

    @property
    def title(self) -> str:
        """Its name for people."""
        ...

    @property
    def summary(self) -> str:
        """What the environment is about, in one sentence; ``""`` where its family has no summary."""
        ...

    @property
    def max_episode_steps(self) -> int | None:
        """Steps after which its package truncates an episode, as made here; ``None`` where none are known."""
        ...

    @property
    def cut_off(self) -> int | None:
        """Steps after which a run cuts an episode off; ``None`` where it does not."""
        ...

    @property
    def hidden_information(self) -> bool:
        """Whether a seat may not know all there is."""
        ...

    def company(self, agent: AgentID) -> tuple[str, list[AgentID], list[AgentID]]:
        """Name of the team of ``agent``, its team-mates, and everybody else."""
        ...

    def seat_name(self, agent: AgentID) -> str:
        """What a seat is called in this game."""
        ...

    def action_meanings(self, agent: AgentID) -> tuple[str, ...]:
        """A word for each discrete action of ``agent``, or empty."""
        ...

    def noop_action(self, agent: AgentID) -> Any | None:
        """The action with which ``agent`` does nothing, or ``None``."""
        ...

    def board(self) -> Board | None:
        """The position with its legal moves, in board games; else ``None``."""
        ...

    def picture(self) -> Picture | None:
        """What it looks like now, (H, W, 3) ``uint8``; ``None`` where nothing was drawn."""
        ...
