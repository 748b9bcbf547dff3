"""Stores the scores of policies beside the library. All policies are scored on the same seeds.

A score belongs to the weights and to the settings of play, not to a folder, so copies have it too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final, cast

from gym_gui.core.errors import UsageError
from gym_gui.core.formats import check_format
from gym_gui.services.policy_files import PolicyFile
from gym_gui.version import __version__
from mosaic_worker.plain_files import read_file, replace_file

STANDARD_SEEDS: Final = tuple(range(10_000, 10_020))
"""Environment seeds of a score. No training uses them."""
FORMAT: Final = 1


@dataclass(frozen=True)
class PolicyScore:
    """Returns of complete episodes on the standard seeds.

    Attributes:
        returns: One return per seed.
        seeds: Environment seeds.
        scored_at: Time of the measurement, in ISO 8601.
        version: Version of MOSAIC that played the episodes.
    """

    returns: tuple[float, ...]
    seeds: tuple[int, ...] = STANDARD_SEEDS
    scored_at: str = ""
    version: str = __version__

    @property
    def mean(self) -> float:
        """Mean of the returns."""
        return fmean(self.returns)

    @property
    def deviation(self) -> float:
        """Standard deviation of the returns."""
        return stdev(self.returns) if len(self.returns) > 1 else 0.0

    @classmethod
    def now(cls, returns: Sequence[float], seeds: Sequence[int]) -> PolicyScore:
        """Return a score that was just measured."""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(tuple(map(float, returns)), tuple(seeds), time)

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which :meth:`from_json` makes an equal score."""
        return {
            "format": FORMAT,
            "mean": self.mean,
            "deviation": self.deviation,
            "returns": list(self.returns),
            "seeds": list(self.seeds),
            "scored_at": self.scored_at,
            "version": self.version,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PolicyScore:
        """Return the score in plain data.

        Raises:
            ValueError: The data is not a score.
        """
        try:
            check_format("the score", data["format"], FORMAT)
            returns = tuple(float(r) for r in data["returns"])
            seeds = tuple(int(s) for s in data["seeds"])
            score = cls(returns, seeds, str(data["scored_at"]), str(data["version"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a score ({error})") from error
        if not score.returns or len(score.returns) != len(score.seeds):
            raise ValueError("a score needs a return for each seed")
        return score


class ScoreStore:
    """Reads and writes the scores of policies, with one file per score in a folder.

    Args:
        folder: Folder of the scores, created with the first score.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, policy: PolicyFile) -> PolicyScore | None:
        """Return the score of a policy, or ``None`` if it has none."""
        try:
            data: Any = json.loads(read_file(self._path(policy), links=True))
            return PolicyScore.from_json(cast("Mapping[str, Any]", data))
        except (OSError, ValueError, UsageError):
            return None

    def save(self, policy: PolicyFile, score: PolicyScore) -> None:
        """Save a score, replacing an earlier one.

        Raises:
            UsageError: The folder cannot be written, or contains a score of a later version.
        """
        path = self._path(policy)
        self._spare_newer(path)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(path, (json.dumps(score.to_json()) + "\n").encode(), sync=False)
        except OSError as error:
            problem = f"the score cannot be saved in {self.folder}: {error.strerror or error}"
            raise UsageError(problem, fix="Set MOSAIC_DATA_DIR to a folder that can be written") from error

    def _spare_newer(self, path: Path) -> None:
        try:
            data: Any = json.loads(path.read_text("utf-8"))
            number = data.get("format")
        except (OSError, ValueError, AttributeError):
            return
        check_format(str(path), number, FORMAT)

    def _path(self, policy: PolicyFile) -> Path:
        about = policy.description
        played = [
            about.weights_sha256,
            about.worker,
            about.algorithm,
            about.env_id,
            [list(part.preprocessing) for part in about.parts] or list(about.preprocessing),
        ]
        digest = hashlib.sha256(json.dumps(played, sort_keys=True).encode()).hexdigest()
        return self.folder / f"{digest[:32]}.json"
