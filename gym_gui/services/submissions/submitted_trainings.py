"""Trainings as parts of a submission: each has one seed, and its run folder here."""

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
"""File of the bundle: the seed of each training, one a line."""


_RUN_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,64}")
"""The trainer daemon has a file of that name."""


@dataclass(frozen=True)
class Training:
    """One training.

    Attributes:
        seed: Its one seed.
        folder: Its run folder here.
        run_id: By which the trainer daemon knows it.
    """

    seed: int
    folder: Path
    run_id: str


@dataclass(frozen=True)
class Trainings:
    """What a submission trains.

    Attributes:
        arguments: Of ``mosaic train``, without seed and folder.
        is_group: Whether they are a group, as ``--seeds`` makes one; otherwise it is one training.
        parts: The trainings, in the order of their parts.
    """

    arguments: tuple[str, ...]
    is_group: bool
    parts: tuple[Training, ...]

    def part(self, number: int) -> Training:
        """The training of a part, which are counted from 1."""
        return self.parts[number - 1]

    def script(self, mosaic: str, streams: str) -> Sequence[str]:
        """Lines of shell that train one part, in the background, where its last checkpoint is.

        What was begun lies in ``runs/START/seedN``. A training that has kept no checkpoint is begun anew
        beside it, under a name that says its try as well, as another place knows nothing of it. So a process
        that follows its files never takes a second beginning for the first.

        Args:
            mosaic: The command, as the shell there reads it.
            streams: Redirections of the command's output, and the ``&`` that puts it in the background.
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
            # A group that is asked for again goes on where it was.
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
        """Plain data."""
        parts = [
            {"seed": each.seed, "folder": str(each.folder), "run_id": each.run_id} for each in self.parts
        ]
        return {"arguments": list(self.arguments), "is_group": self.is_group, "parts": parts}


def trainings_of(data: object) -> Trainings | None:
    """What :meth:`Trainings.to_record` has written; ``None`` where a submission trains nothing.

    Raises:
        ValueError: It was changed.
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
