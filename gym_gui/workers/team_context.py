"""Who else plays, for workers that read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TeamContext:
    """What a worker that reads gets to know of the game and of the other players.

    Attributes:
        briefing: The game in words: what it is about, how to read what is shown, the actions.
        team: Name of the slot's team.
        teammates: The other agents of it.
        opponents: Agents of other teams.
    """

    briefing: str = ""
    team: str = ""
    teammates: Sequence[str] = ()
    opponents: Sequence[str] = ()


@dataclass(frozen=True)
class Joined:
    """How an agent that has appeared takes part.

    Attributes:
        episode: The run's episode; to its slot's policy each such agent is an episode of its own.
        told: The agent's context; ``None`` where its player does not read.
    """

    episode: int
    told: TeamContext | None = None
