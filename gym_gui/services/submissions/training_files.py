"""Reads new bytes of the files of trainings on other machines, and sends requests to the trainings.

A training appends whole lines to its files and reads lines that are appended to its control file
(:mod:`mosaic_worker.training`). So each call reads only the bytes after those that are here already.

Ray pickles :func:`grown_in` by value for its nodes (:mod:`gym_gui.services.submissions.ray.ray_trainings`),
so the function uses only constants and the standard library.
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
"""Files that are copied while they grow."""
MOST: Final = 1 << 20
"""Largest number of bytes per file and call. The rest follows in the next calls."""
_MARK: Final = "mosaic-file"


@dataclass(frozen=True)
class ReceivedFiles:
    """What this machine already has of a training's files.

    Attributes:
        start: Name of the training's start; empty if nothing is here.
        sizes: Number of bytes that are here of each file in :data:`FOLLOWED`.
        requests: Lines of ``control.jsonl`` that the training has not received yet.
    """

    start: str = ""
    sizes: tuple[int, ...] = (0,) * len(FOLLOWED)
    requests: bytes = b""


@dataclass
class FileGrowth:
    """New bytes of a training's files.

    Attributes:
        start: Name of the training's start. If it differs from the known one, the files begin anew.
        more: The bytes that follow, by name of the file.
    """

    start: str
    more: dict[str, bytes] = field(default_factory=dict[str, bytes])


def grown_in(part: Path, known: ReceivedFiles, most: int = MOST) -> FileGrowth | None:
    """Return the new bytes of one training's files on a mounted disk, and write its requests there.

    Args:
        part: Folder of the part, with its starts in ``runs``.
        known: What is already here.
        most: Largest number of bytes per file.

    Raises:
        OSError: The disk does not answer.
    """
    runs = sorted((part / "runs").glob("*/seed*"))
    if not runs or not (runs[-1] / RUNNER).exists():
        return None  # the training does not read requests yet
    run = runs[-1]
    grown = FileGrowth(run.parent.name)
    sizes = known.sizes if grown.start == known.start else ReceivedFiles.sizes
    if known.requests:
        with (run / CONTROL).open("ab", buffering=0) as control:
            control.write(known.requests)
    for name, size in zip(FOLLOWED, sizes, strict=True):
        try:
            with (run / name).open("rb", buffering=0) as file:
                if os.fstat(file.fileno()).st_size > size:
                    grown.more[name] = os.pread(file.fileno(), most, size)
        except FileNotFoundError:
            continue
    return grown


def exchange_script(place: str, known: Mapping[int, ReceivedFiles]) -> str:
    """Return a shell script that prints new bytes of files on a host. :func:`grown_of` reads its output.

    Args:
        place: Folder of the submission on the host.
        known: What is already here, by part.
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
        wishes = shlex.quote(each.requests.decode("utf-8", "replace"))
        sizes = " ".join(map(str, each.sizes))
        lines.append(f"part {number} {shlex.quote(each.start)} {wishes} {sizes}")
    return "\n".join([*lines, f'echo "{_MARK} end"']) + "\n"


def grown_of(output: bytes) -> dict[int, FileGrowth]:
    """Return new bytes of files by training, from the output of :func:`exchange_script`'s script.

    Raises:
        ProtocolError: The output is cut off or malformed.
    """
    found: dict[int, FileGrowth] = {}
    into: FileGrowth | None = None
    while output:
        line, _, output = output.partition(b"\n")
        mark, kind, *rest = (line.decode("utf-8", "replace") + "  ").split(" ")
        if mark != _MARK:
            continue  # output of a start file of the shell
        if kind == "end":
            return found
        if kind == "part" and rest[0].isdigit():
            into = found.setdefault(int(rest[0]), FileGrowth(rest[1]))
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
    raise ProtocolError("the host's report of the trainings' files is incomplete")


def grown_from(rows: object, known: Mapping[int, ReceivedFiles]) -> dict[int, FileGrowth]:
    """Return new bytes of files by training, from rows of number, start and files as Latin-1 text.

    Args:
        rows: The data.
        known: What was already here, by part.

    Raises:
        ProtocolError: The data is malformed.
    """
    found: dict[int, FileGrowth] = {}
    try:
        for number, start, files in cast("Iterable[Any]", rows):
            each = {str(name): str(data).encode("latin-1") for name, data in files.items()}
            if number not in known or not start or not isinstance(start, str) or each.keys() - {*FOLLOWED}:
                raise ValueError(number)
            found[number] = FileGrowth(start, each)
    except (ValueError, TypeError, AttributeError) as error:
        raise ProtocolError("the report of the trainings' files is malformed") from error
    return found
