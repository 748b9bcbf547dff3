"""Description of a game and its other players, for workers that read text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TeamContext:
    """Description of a game and its other players, for a worker that reads text.

    Attributes:
        briefing: Text about the game: its aim, how to read the observation, the actions.
        team: Name of the slot's team.
        teammates: The other agents of the team.
        opponents: Agents of other teams.
    """

    briefing: str = ""
    team: str = ""
    teammates: Sequence[str] = ()
    opponents: Sequence[str] = ()


@dataclass(frozen=True)
class JoinedAgent:
    """Participation of an agent that has appeared during an episode.

    Attributes:
        episode: Index of the run's episode; for the slot's policy, each such agent is a separate episode.
        told: Description of the game for the agent; ``None`` if its player reads no text.
    """

    episode: int
    told: TeamContext | None = None
