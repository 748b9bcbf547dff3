"""Description of the game and the other players, for workers that read text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TeamContext:
    """Description of the game and the other players for a worker that reads text.

    Attributes:
        briefing: The game in words: its aim, how to read the observation, the actions.
        team: Name of the slot's team.
        teammates: The other agents of the team.
        opponents: Agents of other teams.
    """

    briefing: str = ""
    team: str = ""
    teammates: Sequence[str] = ()
    opponents: Sequence[str] = ()


@dataclass(frozen=True)
class Joined:
    """How an agent that has appeared during an episode takes part.

    Attributes:
        episode: The run's episode; for its slot's policy each such agent is an episode of its own.
        told: Description of the game for the agent; ``None`` if its player reads no text.
    """

    episode: int
    told: TeamContext | None = None
