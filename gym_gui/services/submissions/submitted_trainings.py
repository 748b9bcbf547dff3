"""Trainings as parts of a submission, each with one seed and its local run folder."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gym_gui.core.record_fields import count, items, mapping, strings, text

TRAIN: Final = "train"
"""The command whose parts are trainings."""
SEEDS: Final = "seeds"
"""File of the bundle with the seed of each training, one per line."""


_RUN_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,64}")
"""Pattern of run ids, which are also names of files of the trainer daemon."""


@dataclass(frozen=True)
class Training:
    """One training of a submission.

    Attributes:
        seed: The only seed of the training.
        folder: Its local run folder.
        run_id: Its id in the trainer daemon.
    """

    seed: int
    folder: Path
    run_id: str


@dataclass(frozen=True)
class Trainings:
    """The trainings of a submission.

    Attributes:
        arguments: Arguments of ``mosaic train`` without seed and folder.
        is_group: Whether they form a group as with ``--seeds``. If not, there is only one training.
        parts: The trainings in the order of the parts.
    """

    arguments: tuple[str, ...]
    is_group: bool
    parts: tuple[Training, ...]

    def part(self, number: int) -> Training:
        """Return a training of the submission by its number, from 1."""
        return self.parts[number - 1]

    def script(self, mosaic: str, streams: str) -> Sequence[str]:
        """Return shell lines that run one training in the background, from its last checkpoint if there is
        one.

        Results lie in ``runs/START/seedN``. A training without a checkpoint begins again in another folder,
        whose name contains the attempt because other hosts do not know this host's folders. So a process that
        follows the files never confuses a second start with the first.

        Args:
            mosaic: The command as the place's shell reads it.
            streams: Redirections of the output and the ``&`` that starts the command in the background.
        """
        arguments = shlex.join(self.arguments)
        lines = [
            f'seed=$(sed -n "${{number}}p" {SEEDS})',
            'kept=$(ls -d "$place"/runs/*/seed*/policy.json 2>/dev/null | tail -n 1)',
            'if [ -n "$kept" ]; then start=${kept%/seed*}',
            'else nth=$(($(ls "$place/runs" | wc -l) + 1))',
            'start=$place/runs/$(printf %04d-%04d "${try##*/}" $nth); fi',
        ]
        if self.is_group:
            # The command for a group resumes it if it was begun before.
            return [*lines, f'{mosaic} train {arguments} --seeds "$seed," --out "$start" --json {streams}']
        return [
            *lines,
            'if [ -n "$kept" ]; then',
            f'  {mosaic} train --resume "$start/seed$seed" --json {streams}',
            "else",
            f'  {mosaic} train {arguments} --seed "$seed" --out "$start/seed$seed" --json {streams}',
            "fi",
        ]

    def to_record(self) -> dict[str, Any]:
        """Return the trainings as plain data."""
        parts = [
            {"seed": each.seed, "folder": str(each.folder), "run_id": each.run_id} for each in self.parts
        ]
        return {"arguments": list(self.arguments), "is_group": self.is_group, "parts": parts}


def trainings_of(data: object) -> Trainings | None:
    """Return the trainings from data of :meth:`Trainings.to_record`, or ``None`` if there are none.

    Raises:
        ValueError: The data is invalid.
    """
    if data is None:
        return None
    row = mapping(data) or {}
    arguments, rows = strings(row.get("arguments")), items(row.get("parts"))
    if arguments is None or not rows:
        raise ValueError("trainings")
    return Trainings(
        arguments, bool(row.get("is_group")), tuple(_training(mapping(each) or {}) for each in rows)
    )


def _training(row: Mapping[str, Any]) -> Training:
    seed, folder, run_id = count(row.get("seed")), text(row.get("folder")), text(row.get("run_id"))
    if seed is None or not folder or not run_id or _RUN_ID.fullmatch(run_id) is None:
        raise ValueError("a training")
    return Training(seed, Path(folder), run_id)
