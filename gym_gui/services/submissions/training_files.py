"""What the files of trainings have grown by elsewhere, and wishes that are written there.

A training appends to its files in whole lines and hears what is appended to one of them
(:mod:`mosaic_worker.training`); so each look asks for what is behind the bytes that are here already.

:func:`grown_in` travels by value to nodes of Ray (:mod:`gym_gui.services.submissions.ray.ray_trainings`):
besides constants, what it uses is Python's own.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.core.errors import ProtocolError
from gym_gui.services.trainer.training_folder import LOG, RUNNER
from mosaic_worker.training import CONTROL, EPISODES, EVENTS, METRICS

FOLLOWED: Final = (EVENTS, METRICS, EPISODES, LOG)
"""Files that are brought here while they grow."""
MOST: Final = 1 << 20
"""Bytes of a file at one look; the rest comes with the next ones."""
_MARK: Final = "mosaic-file"


@dataclass(frozen=True)
class Known:
    """What is here of a training.

    Attributes:
        start: Which of its beginnings; empty: nothing.
        sizes: Bytes that are here of each of :data:`FOLLOWED`.
        wishes: Lines of ``control.jsonl`` that it has not been told.
    """

    start: str = ""
    sizes: tuple[int, ...] = (0,) * len(FOLLOWED)
    wishes: bytes = b""


@dataclass
class Grown:
    """What a training's files have grown by.

    Attributes:
        start: Which of its beginnings they are of; where it is another one than was known, they begin anew.
        more: Bytes that follow, by the name of the file.
    """

    start: str
    more: dict[str, bytes] = field(default_factory=dict[str, bytes])


def grown_in(part: Path, known: Known, most: int = MOST) -> Grown | None:
    """What the files of one training have grown by, on a disk that is seen here; wishes are written there.

    Args:
        part: Folder of the part, with its beginnings in ``runs``.
        known: What is here.
        most: Bytes of a file.

    Raises:
        OSError: The disk does not answer.
    """
    runs = sorted((part / "runs").glob("*/seed*"))
    if not runs or not (runs[-1] / RUNNER).exists():
        return None  # it does not listen yet
    run = runs[-1]
    grown = Grown(run.parent.name)
    sizes = known.sizes if grown.start == known.start else Known.sizes
    if known.wishes:
        with (run / CONTROL).open("ab", buffering=0) as control:
            control.write(known.wishes)
    for name, size in zip(FOLLOWED, sizes, strict=True):
        try:
            with (run / name).open("rb", buffering=0) as file:
                if os.fstat(file.fileno()).st_size > size:
                    grown.more[name] = os.pread(file.fileno(), most, size)
        except FileNotFoundError:
            continue
    return grown


def exchange_script(place: str, known: Mapping[int, Known]) -> str:
    """The same by a host's ``sh``; :func:`grown_of` reads what it prints.

    Args:
        place: The submission's folder there.
        known: What is here, by part.
    """
    lines = [
        f"cd {shlex.quote(place)} || exit 1",
        "grown() {",
        '  [ -f "$1" ] || return 0',
        '  more=$(($(wc -c < "$1") - $2))',
        '  [ "$more" -gt 0 ] || return 0',
        f'  [ "$more" -le {MOST} ] || more={MOST}',
        f'  echo "{_MARK} more ${{1##*/}} $more"',
        '  tail -c +$(($2 + 1)) "$1" | head -c "$more"',
        "  echo",
        "}",
        "part() {",
        '  run=$(ls -d "work/$1/runs"/*/seed* 2>/dev/null | tail -n 1)',
        f'  [ -f "$run/{RUNNER}" ] || return 0',
        "  start=${run%/*}",
        "  start=${start##*/}",
        f'  echo "{_MARK} part $1 $start"',
        f'  [ -z "$3" ] || printf %s "$3" >> "$run/{CONTROL}"',
        f'  [ "$start" = "$2" ] || set -- "$1" "$start" "$3"{" 0" * len(FOLLOWED)}',
        *(f'  grown "$run/{name}" "${i}"' for i, name in enumerate(FOLLOWED, 4)),
        "}",
    ]
    for number, each in sorted(known.items()):
        wishes = shlex.quote(each.wishes.decode("utf-8", "replace"))
        sizes = " ".join(map(str, each.sizes))
        lines.append(f"part {number} {shlex.quote(each.start)} {wishes} {sizes}")
    return "\n".join([*lines, f'echo "{_MARK} end"']) + "\n"


def grown_of(output: bytes) -> dict[int, Grown]:
    """What :func:`exchange_script` has printed, by part.

    Raises:
        ProtocolError: It was cut off, or something else stands between.
    """
    found: dict[int, Grown] = {}
    into: Grown | None = None
    while output:
        line, _, output = output.partition(b"\n")
        mark, kind, *rest = (line.decode("utf-8", "replace") + "  ").split(" ")
        if mark != _MARK:
            continue  # what a start file of the shell prints
        if kind == "end":
            return found
        if kind == "part" and rest[0].isdigit():
            into = found.setdefault(int(rest[0]), Grown(rest[1]))
            continue
        size = int(rest[1]) if kind == "more" and rest[1].isdigit() else 0
        if (
            into is None
            or rest[0] not in FOLLOWED
            or not 0 < size <= MOST
            or output[size : size + 1] != b"\n"
        ):
            break
        into.more[rest[0]] = output[:size]
        output = output[size + 1 :]
    raise ProtocolError("the host did not say how the files of all trainings have grown")


def grown_from(rows: object, known: Mapping[int, Known]) -> dict[int, Grown]:
    """The same from plain data: for each part its number, its beginning, and text by file in Latin-1.

    Args:
        rows: The data.
        known: What was asked.

    Raises:
        ProtocolError: It makes no sense.
    """
    found: dict[int, Grown] = {}
    try:
        for number, start, files in cast("Iterable[Any]", rows):
            each = {str(name): str(data).encode("latin-1") for name, data in files.items()}
            if number not in known or not start or not isinstance(start, str) or each.keys() - {*FOLLOWED}:
                raise ValueError(number)
            found[number] = Grown(start, each)
    except (ValueError, TypeError, AttributeError) as error:
        raise ProtocolError("what was said of the files of trainings makes no sense") from error
    return found
