"""A league for self-play: the learner, its past copies and a pool of players, with results and ratings.

Ratings are those of A. Elo, "The Rating of Chessplayers, Past and Present", 1978: 400 points more mean ten
times the odds. They determine the next opponent of the learner, as in the prioritized self-play of Vinyals et
al., "Grandmaster level in StarCraft II using multi-agent reinforcement learning", 2019.

``league.json`` in the run folder stores the league; each member's policy has a folder beside it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.checkpoint import holds_checkpoint, write_whole
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.plain_files import read_file
from mosaic_worker.training import LEAGUE

_FORMAT = 2
_KNOWN = (1, 2)
_LARGEST = 64 * 2**20
_K = 16.0
"""Largest change of a rating in one game; between equal players, a win changes it by half of this."""
_NEAR = 200.0
"""Rating difference at which the odds of being chosen fall by a factor of e."""
_LATEST_SHARE = 0.5


@dataclass
class Member:
    """A player that the learner plays against or with: a past copy of the learner, or a member of the pool.

    Attributes:
        name: Name of the member; for a past copy, the name of its folder.
        folder: Folder of the policy, relative to the run folder for past copies; empty if the member is not
            only a policy.
        plays: Description of a pool member's player, as text.
        player: The same player as in a tournament file, plain data; ``None`` for past copies.
        step: Number of the learner's decisions when this copy was made; ``None`` for the pool.
        rating: Elo rating; the first member began at 0. Not used in cooperative games.
        games: Number of games that the learner played with this member.
        total: Sum of the learner's returns in these games.
        won: Games that this member won against the learner.
        drawn: Games without a winner.
        lost: Games that the learner won.
    """

    name: str
    folder: str
    step: int | None
    rating: float = 0.0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    plays: str = ""
    player: Any = None
    games: int = 0
    total: float = 0.0

    @property
    def mean_return(self) -> float | None:
        """The learner's mean return in games with this member; ``None`` before the first game."""
        return self.total / self.games if self.games else None


@dataclass
class League:
    """Members of a league, and the rating of the learner.

    Args:
        folder: The run folder.
        env_id: The environment that is played.
        matchmaking: How the learner's opponents are drawn.
        rated: Whether one side can win against another.

    Attributes:
        members: Members in the order in which they came.
        rating: The learner's rating.
    """

    folder: Path
    members: list[Member] = field(default_factory=list[Member])
    rating: float = 0.0
    env_id: str = ""
    matchmaking: str = "rating"
    rated: bool = True

    @classmethod
    def read(cls, folder: Path) -> League:
        """Read the league of a run folder.

        Raises:
            ConfigError: The file is missing or damaged, or a member was deleted.
        """
        try:
            data: Any = json.loads(read_file(folder / LEAGUE, limit=_LARGEST))
            if data["format_version"] not in _KNOWN:
                raise ValueError(f"its format_version is {data['format_version']!r}")
            members = [_member(dict(member)) for member in data["members"]]
            rating = data["learner"]["rating"]
            found = cls(folder, members, float(rating or 0.0), str(data.get("env_id", "")))
            found.rated = rating is not None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"{folder / LEAGUE} cannot be resumed ({error}). Start a new training with --overwrite"
            ) from error
        for member in members:
            if member.step is not None and not holds_checkpoint(found.place(member)):
                raise ConfigError(
                    f"{member.name}, a member of the league, is missing: {found.place(member)}. Put its "
                    f"folder back, or remove the member from {folder / LEAGUE}"
                )
        return found

    def place(self, member: Member) -> Path:
        """Return the folder of a member's policy."""
        return self.folder / member.folder  # an absolute path stays unchanged

    def of(self, name: str) -> Member:
        """Return the member with this name."""
        return next(member for member in self.members if member.name == name)

    def add(self, member: Member) -> None:
        """Add a member."""
        self.members.append(member)

    def met(self, member: Member, score: float | None, total: float) -> None:
        """Record the result of a game and update the ratings.

        Args:
            member: The member that the learner met.
            score: 1 if the learner won, 0.5 for a draw, 0 if it lost; ``None`` if both were on one side.
            total: The learner's return.
        """
        member.games += 1
        member.total += total
        if score is None:
            return
        expected = 1.0 / (1.0 + 10.0 ** ((member.rating - self.rating) / 400.0))
        points = _K * (score - expected)
        self.rating += points
        # Members do not change, so a rating changes less with each game.
        member.rating -= points / (1.0 + member.won + member.drawn + member.lost) ** 0.5
        member.won += score == 0.0
        member.drawn += score == 0.5
        member.lost += score == 1.0

    def odds(self) -> NDArray[np.float64]:
        """Return the probability that the learner meets each member next; the sum is 1."""
        count = len(self.members)
        past = [i for i, member in enumerate(self.members) if member.step is not None]
        latest = np.zeros(count)
        if past:
            latest[past[-1]] = 1.0
        if self.matchmaking == "latest" and past:
            return latest
        if self.matchmaking == "uniform":
            return np.full(count, 1.0 / count)
        sought = self._near() if self.rated else self._hard()
        share = _LATEST_SHARE if past else 0.0
        return share * latest + (1.0 - share) * sought / sought.sum()

    def _near(self) -> NDArray[np.float64]:
        """Return weights that are larger for members with ratings near the learner's."""
        apart = np.array([abs(member.rating - self.rating) for member in self.members])
        return np.exp(-(apart - apart.min()) / _NEAR)

    def _hard(self) -> NDArray[np.float64]:
        """Return weights that are larger for members with whom the learner's return is lower.

        Members without a game have the largest weights.

        Weights depend on ranks, because the size of returns differs between environments: the prioritized
        sampling of Zhao et al., "Maximum entropy population-based training for zero-shot human-AI
        coordination", 2023.
        """
        means = np.array([-np.inf if m.mean_return is None else m.mean_return for m in self.members])
        ranks = means.argsort(kind="stable").argsort(kind="stable").astype(np.float64)
        return 1.0 / (1.0 + ranks)

    def write(self, step: int) -> None:
        """Write ``league.json`` in the run folder.

        Raises:
            OSError: The folder cannot be written.
        """
        members = zip(self.members, self.odds(), strict=True)
        data = {
            "format_version": _FORMAT,
            "env_id": self.env_id,
            "learner": {"step": step, "rating": round(self.rating, 1) if self.rated else None},
            "members": [_row(member, float(odds)) for member, odds in members],
        }
        write_whole(self.folder / LEAGUE, (json.dumps(data, indent=1) + "\n").encode())


def _row(member: Member, odds: float) -> dict[str, Any]:
    """Return a member as an entry of the file."""
    mean = member.mean_return
    row = {**asdict(member), "rating": round(member.rating, 1), "folder": member.folder or None}
    del row["total"]
    return {**row, "mean_return": None if mean is None else round(mean, 4), "odds": round(odds, 4)}


def _member(row: dict[str, Any]) -> Member:
    """Read a member from an entry of the file."""
    row.pop("odds", None)
    mean, games = row.pop("mean_return", None), int(row.pop("games", 0))
    folder = str(row.pop("folder", None) or "")
    return Member(**row, folder=folder, games=games, total=(mean or 0.0) * games)
