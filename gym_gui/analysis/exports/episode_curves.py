"""Turns episodes into points of curves for TensorBoard and Weights & Biases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from gym_gui.analysis.records.reader import OperatorRun
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import UsageError
from gym_gui.core.records import EpisodeRecord


def completed_episodes(operator: OperatorRun) -> list[EpisodeRecord]:
    """Return an operator's completed episodes that count, in the order of their indices.

    Episodes in which moves were taken back or a player ran out of time do not count.

    Raises:
        RunFormatError: A row is damaged.
    """
    done = (episode for episode in operator.episodes() if _counts(episode))
    return sorted(done, key=lambda episode: episode.episode_index)


def _counts(episode: EpisodeRecord) -> bool:
    return episode.status == EpisodeStatus.COMPLETED and not episode.left_out


def nothing_to_write() -> UsageError:
    """Return the error to raise for a run without completed episodes."""
    return UsageError("there is nothing to write: no episode is completed", fix="Wait until one is")


def curve_points(episode: EpisodeRecord) -> Iterator[tuple[str, float]]:
    """Yield pairs of curve name and value for an episode, such as ``("episode/return", 1.0)``."""
    if episode.total_reward is not None:
        yield "episode/return", episode.total_reward
    yield "episode/length", float(episode.length)
    if episode.success is not None:
        yield "episode/success", float(episode.success)
    if len(episode.returns) > 1:
        for agent, value in episode.returns.items():
            if value is not None:
                yield f"return/{agent}", value
    for team, record in episode.teams.items():
        if record.score is not None:
            yield f"score/{team}", float(record.score)
    for team, outcome in (episode.outcome or {}).items():
        yield f"won/{team}", {"win": 1.0, "draw": 0.5}.get(str(outcome), 0.0)


def ended_at(episode: EpisodeRecord) -> float:
    """Return the end of an episode in seconds since 1970; 0 if its start is not recorded."""
    try:
        return datetime.fromisoformat(episode.started_at or "").timestamp() + (episode.wall_s or 0.0)
    except ValueError:
        return 0.0
