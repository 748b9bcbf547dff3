"""A league: a learner, the past selves that it left, and a pool; who met whom, and how strong each is.

Ratings are those of A. Elo, "The Rating of Chessplayers, Past and Present", 1978: 400 points more are ten
times the odds. Whom the learner meets goes by them, after the prioritised self-play of Vinyals et al.,
"Grandmaster level in StarCraft II using multi-agent reinforcement learning", 2019.

``league.json`` in the run folder says all of it; members lie beside it, each a policy of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cleanrl_worker.config.base import ConfigError
from mosaic_worker.checkpoint import holds_checkpoint, write_whole
from mosaic_worker.plain_files import read_file

FILE = "league.json"
_FORMAT = 1
_LARGEST = 64 * 2**20
_K = 16.0
"""Points that a game between equals is about, at most."""
_NEAR = 200.0
"""Points apart at which a member is met a third as often as one of the learner's own strength."""
_LATEST_SHARE = 0.5


@dataclass
class Member:
    """Somebody whom the learner meets.

    Attributes:
        name: Of its folder.
        folder: Where its policy is; relative to the run folder for past selves.
        step: Decisions that the learner had made when it left it; ``None`` for members of the pool.
        rating: In Elo's points; the first member began at 0.
        won: Games that it has won against the learner.
        drawn: Games that nobody won.
        lost: Games that the learner has won.
    """

    name: str
    folder: str
    step: int | None
    rating: float = 0.0
    won: int = 0
    drawn: int = 0
    lost: int = 0


@dataclass
class League:
    """Who is in it, and how strong the learner is.

    Args:
        folder: The run folder.

    Attributes:
        members: In the order in which they came.
        rating: Of the learner.
    """

    folder: Path
    members: list[Member] = field(default_factory=list[Member])
    rating: float = 0.0

    @classmethod
    def read(cls, folder: Path) -> League:
        """The league of a run folder.

        Raises:
            ConfigError: There is none, it is damaged, or a member was deleted.
        """
        try:
            data: Any = json.loads(read_file(folder / FILE, limit=_LARGEST))
            if data["format_version"] != _FORMAT:
                raise ValueError(f"its format_version is {data['format_version']!r}")
            members = [Member(**member) for member in data["members"]]
            found = cls(folder, members, float(data["learner"]["rating"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"{folder / FILE} cannot be gone on with ({error}). Train anew, with --overwrite"
            ) from error
        for member in members:
            if not holds_checkpoint(found.place(member)):
                raise ConfigError(
                    f"{member.name}, a member of the league, is missing: {found.place(member)}. Put its "
                    f"folder back, or take it out of {folder / FILE}"
                )
        return found

    def place(self, member: Member) -> Path:
        """The folder of a member's policy."""
        return self.folder / member.folder  # an absolute one stays as it is

    def add(self, member: Member) -> None:
        """Somebody new."""
        self.members.append(member)

    def played(self, member: Member, score: float) -> None:
        """Note a game.

        Args:
            member: Whom the learner has met.
            score: 1 where the learner has won, 0.5 where nobody did, 0 where it has lost.
        """
        expected = 1.0 / (1.0 + 10.0 ** ((member.rating - self.rating) / 400.0))
        points = _K * (score - expected)
        self.rating += points
        # Who is rated by few games moves; past selves are what they are.
        member.rating -= points / (1.0 + member.won + member.drawn + member.lost) ** 0.5
        member.won += score == 0.0
        member.drawn += score == 0.5
        member.lost += score == 1.0

    def odds(self, matchmaking: str) -> NDArray[np.float64]:
        """How likely the learner meets each member next; sums to 1."""
        count = len(self.members)
        latest = np.zeros(count)
        latest[-1] = 1.0
        if matchmaking == "latest":
            return latest
        if matchmaking == "uniform":
            return np.full(count, 1.0 / count)
        apart = np.array([abs(member.rating - self.rating) for member in self.members])
        near = np.exp(-(apart - apart.min()) / _NEAR)
        return _LATEST_SHARE * latest + (1.0 - _LATEST_SHARE) * near / near.sum()

    def write(self, step: int) -> None:
        """Keep it in the run folder.

        Raises:
            OSError: The folder cannot be written.
        """
        data = {
            "format_version": _FORMAT,
            "learner": {"step": step, "rating": round(self.rating, 1)},
            "members": [{**asdict(member), "rating": round(member.rating, 1)} for member in self.members],
        }
        write_whole(self.folder / FILE, (json.dumps(data, indent=1) + "\n").encode())


def members_of(folders: Sequence[str]) -> list[Member]:
    """Members of a pool, by the folders of their policies.

    Raises:
        ConfigError: A folder holds no policy.
    """
    found: list[Member] = []
    for folder in folders:
        place = Path(folder).expanduser().absolute()
        if not holds_checkpoint(place):
            raise ConfigError(f"{folder}, of the pool, holds no policy. Give folders with policy.json")
        found.append(Member(place.name, str(place), None))
    return found
