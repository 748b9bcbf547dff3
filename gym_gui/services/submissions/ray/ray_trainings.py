"""Files of trainings on a Ray cluster: their growth is sent to the keeper, and requests come back.

A dead node's disk is lost. So the keeper has all that is known of a training: the whole lines of its
growing files that were reported, and each complete checkpoint. Rows are reported before the checkpoint that
they lead to. An attempt that continues on another node gets both, and its reports follow the earlier ones.

Ray pickles this module by value, like :mod:`.ray_node`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from gym_gui.services.submissions.archive import pack
from gym_gui.services.submissions.training_files import FOLLOWED, MOST, ReceivedFiles, grown_in
from gym_gui.services.trainer.training_folder import EXIT, POLICY, RUNNER
from mosaic_worker.training import CONTROL, EVENTS, TENSORBOARD

_AT_ONCE: Final = 8 * MOST
"""Largest number of bytes that one call returns. The rest follows in the next calls."""
_REPORTED: Final = "told"
"""File with the number of the latest reporting attempt and the bytes of requests that it has read."""
_TELL_S: Final = 2.0
_CHECKPOINT: Final = b'"checkpoint"'
"""Text in an event that reports a complete checkpoint."""


class GrownFiles:
    """Files of trainings on the keeper's disk, by number of the training, in the same layout as on a node.

    All of them are on the keeper's disk, so that the next keeper finds them after a kill.

    Args:
        folder: Folder of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turns: dict[int, int] = {}

    def grow(
        self, number: int, attempt: int, start: str, more: Mapping[str, tuple[int, bytes]], heard: int
    ) -> bytes:
        """Store new bytes of a training's files.

        Args:
            number: Number of the part.
            attempt: Number of the reporting attempt.
            start: Name of the training's start. A new name removes the files of the earlier start.
            more: Offset and new bytes, by name of the file.
            heard: Bytes of requests that the attempt has read already.

        Returns:
            Requests that follow those bytes.
        """
        run = self._run(number, start)
        if not run.exists():
            self.forget(number)
            run.mkdir(parents=True)
            (run / RUNNER).touch()
        if _last_report(run) != (attempt, heard):
            (run / "told.new").write_text(f"{attempt} {heard}")
            (run / "told.new").replace(run / _REPORTED)
        for name, (offset, data) in more.items():
            with (run / Path(name).name).open("r+b" if offset else "wb") as file:
                file.seek(offset)
                file.write(data)
        with contextlib.suppress(FileNotFoundError), (run / CONTROL).open("rb") as file:
            file.seek(heard)
            return file.read()
        return b""

    def standing(self, number: int) -> dict[str, Any]:
        """Return the stored files of a training, or an empty dict if there are none.

        The keys are the latest reporting attempt (``by``), its start, sizes and files by name, and the bytes
        of requests that it has read (``heard``).
        """
        run = next((self._folder / str(number) / "runs").glob("*/seed"), None)
        if run is None:
            return {}
        by, heard = _last_report(run)
        files = {name: run / name for name in FOLLOWED if (run / name).exists()}
        return {
            "by": by,
            "start": run.parent.name,
            "sizes": {name: file.stat().st_size for name, file in files.items()},
            "files": {name: str(file.relative_to(self._folder.parent)) for name, file in files.items()},
            "heard": heard,
        }

    def exchange(
        self, known: Mapping[int, tuple[str, tuple[int, ...], bytes]]
    ) -> dict[int, tuple[str, dict[str, bytes]]]:
        """Store requests and return new bytes of files. If there are too many, trainings served last wait.

        Args:
            known: For each part, the fields of :class:`.training_files.ReceivedFiles`.
        """
        found: dict[int, tuple[str, dict[str, bytes]]] = {}
        left = _AT_ONCE
        for turn, number in enumerate(sorted(known, key=lambda number: self._turns.get(number, 0)), 1):
            has_room = left >= MOST * len(FOLLOWED)
            grown = grown_in(
                self._folder / str(number), ReceivedFiles(*known[number]), MOST if has_room else 0
            )
            if grown is not None:
                found[number] = grown.start, grown.more
                left -= sum(map(len, grown.more.values()))
            self._turns[number] = turn if has_room else 0
        return found

    def forget(self, number: int) -> None:
        """Remove the stored files of a training."""
        shutil.rmtree(self._folder / str(number), ignore_errors=True)

    def _run(self, number: int, start: str) -> Path:
        return self._folder / str(number) / "runs" / Path(start).name / "seed"


class Line(Protocol):
    """Connection from a node to the keeper."""

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the keeper and return its answer."""
        ...

    def bring(self, name: str, target: Path) -> None:
        """Copy one of the keeper's files to this node."""
        ...


class NodeTraining:
    """An attempt of a training on this node, which reports to the keeper.

    Args:
        line: Connection to the keeper.
        work: Folder of the part on this node.
        number: Number of the part.
        attempt: Number of the attempt.

    Attributes:
        by: Number of the latest attempt that has reported to the keeper.
        has_checkpoint: Whether there is a checkpoint that the keeper does not have.
    """

    def __init__(self, line: Line, work: Path, number: int, attempt: int) -> None:
        self._line, self._work, self._of = line, work, (number, attempt)
        self._known: dict[str, Any] = line.ask("standing", number)
        self._start: str = ""
        self._sizes = _no_bytes()
        self._heard, self._wishes = 0, b""
        self._due = 0.0
        self.by = int(self._known.get("by", 0))
        self.has_checkpoint = False

    def restore_files(self, *, brought: bool) -> None:
        """Bring the files of a resumed training up to the keeper's state, before the training begins.

        Args:
            brought: Whether the files come from the keeper.
        """
        for run in self._work.glob("runs/*/seed*"):
            if not (run / EXIT).exists():
                (run / RUNNER).unlink(missing_ok=True)  # of a dead process; the new one is not ready
            self.has_checkpoint = self.has_checkpoint or ((run / POLICY).exists() and not brought)
            if run.parent.name == self._known.get("start"):
                self._continue(run)

    def report(self, *, at_once: bool = False) -> None:
        """Report new lines to the keeper, if that is due, and pass the keeper's requests to the training.

        Args:
            at_once: Whether to report now and until nothing is left.
        """
        if not at_once and time.monotonic() < self._due:
            return
        while self._report_once() and at_once:
            pass
        self._due = time.monotonic() + _TELL_S

    def pack(self, target: Path) -> bool:
        """Pack the training's checkpoint into an archive after all rows before it have been reported.

        Returns:
            Whether the checkpoint was unchanged during the packing.

        Raises:
            OSError: A file was removed in the meantime.
        """
        self.report(at_once=True)
        before = self._prints()
        pack(self._work / "runs", target, FOLLOWED)
        return self._prints() == before

    # -- inside --------------------------------------------------------------------------

    def _continue(self, run: Path) -> None:
        self._start, self._heard = str(self._known["start"]), int(self._known["heard"])
        for name, size in self._known["sizes"].items():
            file = run / name
            if not file.exists() or file.stat().st_size < size:
                self._line.bring(self._known["files"][name], file)
            self._sizes[name] = size

    def _report_once(self) -> bool:
        """Report new lines once, and return whether there may be more to report or to read."""
        sizes = tuple(self._sizes.values())
        grown = grown_in(self._work, ReceivedFiles(self._start, sizes, self._wishes))
        if grown is None:
            return False
        if grown.start != self._start:
            self._start, self._sizes, self._heard = grown.start, _no_bytes(), 0
        else:
            self._heard += len(self._wishes)
        whole = {name: data[: data.rfind(b"\n") + 1] for name, data in grown.more.items()}
        more = {name: (self._sizes[name], data) for name, data in whole.items() if data}
        self._wishes = b""
        self._wishes = self._line.ask("grow", *self._of, self._start, more, self._heard)
        for name, (offset, data) in more.items():
            self._sizes[name] = offset + len(data)
        self.has_checkpoint = self.has_checkpoint or _CHECKPOINT in whole.get(EVENTS, b"")
        return bool(more or self._wishes)

    def _prints(self) -> dict[Path, tuple[int, int, int]]:
        """Return properties of the files that change when a checkpoint is replaced."""
        found: dict[Path, tuple[int, int, int]] = {}
        for folder, folders, names in os.walk(self._work / "runs"):
            if TENSORBOARD in folders:
                folders.remove(TENSORBOARD)
            for path in (Path(folder, name) for name in names if name not in (*FOLLOWED, CONTROL)):
                about = path.lstat()
                found[path] = about.st_ino, about.st_mtime_ns, about.st_size
        return found


def _last_report(run: Path) -> tuple[int, int]:
    try:
        attempt, heard = (run / _REPORTED).read_text().split()
    except FileNotFoundError:
        return 0, 0
    return int(attempt), int(heard)


def _no_bytes() -> dict[str, int]:
    return dict.fromkeys(FOLLOWED, 0)
