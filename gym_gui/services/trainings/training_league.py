"""Reads the league of a self-play training: the learner's opponents and their ratings.

Trainings write the file, which ``docs/self_play.md`` describes. It is read as plain data of any version.
Values that are missing in the file are unknown, and no member's policy is loaded.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gym_gui.core.record_fields import count, items, mapping, number, text
from gym_gui.services.trainer.training_folder import POLICY
from mosaic_worker.plain_files import read_file
from mosaic_worker.training import LEAGUE

PREFIX: Final = "league/"
"""Prefix of the metrics of a league."""
RATING: Final = "league/rating"
"""Metric with the learner's rating."""
_LARGEST: Final = 4 * 2**20
_FARTHEST: Final = 1e6
"""Largest absolute rating that is accepted as valid, in points."""


@dataclass(frozen=True, slots=True)
class LeagueMember:
    """A member of a league, which plays against the learner.

    Attributes:
        name: The member's name.
        policy: Folder of its policy; ``None`` if it has none or if the folder is not here.
        plays: What the member is if it is not a policy in a folder; else empty.
        step: Training step at which the learner was copied as this member; ``None`` for members of the pool.
        rating: Rating in Elo points; ``None`` if the league has no ratings.
        won: Games that it has won against the learner.
        drawn: Games between the two that neither has won.
        lost: Games that the learner has won.
        games: Games that it has played with the learner.
        odds: Share of the next games in which it is the opponent, 0 to 1; ``None`` if unknown.
        mean_return: Mean return of the learner in games with it; ``None`` before the first and if unknown.
    """

    name: str
    policy: Path | None = None
    plays: str = ""
    step: int | None = None
    rating: float | None = None
    won: int = 0
    drawn: int = 0
    lost: int = 0
    games: int = 0
    odds: float | None = None
    mean_return: float | None = None


@dataclass(frozen=True, slots=True)
class TrainingLeague:
    """The league of a training.

    Attributes:
        members: Members in the order in which they joined.
        step: Training step at which the file was written.
        rating: The learner's rating in Elo points; ``None`` if the league has no ratings.
        problem: Why the league is unknown, as a sentence; empty if it is known.
    """

    members: tuple[LeagueMember, ...] = ()
    step: int = 0
    rating: float | None = None
    problem: str = ""

    @property
    def rated(self) -> bool:
        """Whether the league has ratings. A league in which all agents play together has none."""
        return self.rating is not None or any(member.rating is not None for member in self.members)


class LeagueFile:
    """The league of one training, read again whenever its file has changed.

    Args:
        folder: The run folder.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LEAGUE
        self._seen: tuple[int, ...] | None = None

    def read_if_changed(self) -> TrainingLeague | None:
        """Return the league, or ``None`` if its file has not changed since the last call."""
        try:
            about = self._path.stat()
            seen = about.st_ino, about.st_mtime_ns, about.st_size
        except OSError:
            seen = ()
        if seen == self._seen:
            return None
        self._seen = seen
        return read_league(self._path.parent)


def read_league(folder: Path) -> TrainingLeague:
    """Return the league of a run folder.

    Args:
        folder: The run folder.

    Returns:
        The league. If the file is missing or damaged, it has no members but a problem.
    """
    try:
        data: Any = json.loads(read_file(folder / LEAGUE, limit=_LARGEST))
    except (FileNotFoundError, NotADirectoryError):
        return TrainingLeague(
            problem=f"The members of the league are unknown: {LEAGUE} is not in the run folder."
        )
    except OSError as error:
        return TrainingLeague(problem=f"{LEAGUE} in the run folder cannot be read: {error.strerror}.")
    except (ValueError, RecursionError):
        data = None
    league = mapping(data)
    listed = items(league.get("members")) if league is not None else None
    if league is None or listed is None:
        return TrainingLeague(problem=f"{LEAGUE} in the run folder is damaged, or was cut off.")
    learner = mapping(league.get("learner")) or {}
    rated = learner.get("rating", 0.0) is not None
    members = tuple(member for each in listed if (member := _member(folder, each, rated)) is not None)
    return TrainingLeague(members, count(learner.get("step")) or 0, _rating(learner.get("rating")))


def _member(folder: Path, data: object, rated: bool) -> LeagueMember | None:
    said = mapping(data)
    name = text(said.get("name")) if said is not None else None
    if said is None or not name:
        return None
    odds = number(said.get("odds"))
    won, drawn, lost = (count(said.get(key)) or 0 for key in ("won", "drawn", "lost"))
    return LeagueMember(
        name,
        _policy(folder, text(said.get("folder"))),
        text(said.get("plays")) or "",
        count(said.get("step")),
        _rating(said.get("rating")) if rated else None,
        won,
        drawn,
        lost,
        games=count(said.get("games")) or won + drawn + lost,
        odds=odds if odds is not None and 0 <= odds <= 1 else None,
        mean_return=number(said.get("mean_return")),
    )


def _rating(value: object) -> float | None:
    rating = number(value)
    return rating if rating is not None and abs(rating) <= _FARTHEST else None


def _policy(folder: Path, named: str | None) -> Path | None:
    """Return a member's folder if it contains a policy. An absolute path stays as it is."""
    if not named or "\0" in named:
        return None
    place = folder / named
    try:
        return place if (place / POLICY).is_file() else None
    except OSError:
        return None
