"""Trainings on a Ray cluster: their files grow at the keeper as on a node, and wishes go the other way.

A dead node's disk is gone. So all that is known of a training is with the keeper: the files that it appends
to, as far as whole lines of them were told, and each checkpoint, which is brought there when it is whole.
Rows go to the keeper before the checkpoint that they lead to. A try that resumes on another node takes both,
and its rows follow the rows that the keeper has.

It travels by value, as :mod:`.ray_node` does.
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
from gym_gui.services.submissions.training_files import FOLLOWED, MOST, Known, grown_in
from gym_gui.services.trainer.training_folder import EXIT, POLICY, RUNNER
from mosaic_worker.training import CONTROL, EVENTS, TENSORBOARD

_AT_ONCE: Final = 8 * MOST
"""Bytes that are handed on at one look; the rest comes with the next ones."""
_TOLD: Final = "told"
"""File with the try that has told last, and the bytes of wishes that it has heard."""
_TELL_S: Final = 2.0
_CHECKPOINT: Final = b'"checkpoint"'
"""Stands in the event that says that one is whole."""


class GrownFiles:
    """What the keeper has of trainings, by the number of their part, laid out as on a node.

    All of it is on its disk, for the next one where it is killed.

    Args:
        folder: Where it has it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turns: dict[int, int] = {}

    def grow(
        self, number: int, attempt: int, start: str, more: Mapping[str, tuple[int, bytes]], heard: int
    ) -> bytes:
        """Take what a training's files have grown by.

        Args:
            number: Of its part.
            attempt: Which try tells it.
            start: Which of its beginnings; another one than before begins anew.
            more: Bytes by the name of the file, each with where they belong.
            heard: Bytes of wishes that it was told.

        Returns:
            Wishes behind these.
        """
        run = self._run(number, start)
        if not run.exists():
            self.forget(number)
            run.mkdir(parents=True)
            (run / RUNNER).touch()
        if _told(run) != (attempt, heard):
            (run / "told.new").write_text(f"{attempt} {heard}")
            (run / "told.new").replace(run / _TOLD)
        for name, (offset, data) in more.items():
            with (run / Path(name).name).open("r+b" if offset else "wb") as file:
                file.seek(offset)
                file.write(data)
        with contextlib.suppress(FileNotFoundError), (run / CONTROL).open("rb") as file:
            file.seek(heard)
            return file.read()
        return b""

    def standing(self, number: int) -> dict[str, Any]:
        """What there is of a training: which try told it (``by``), its beginning, sizes and files by name,
        and bytes of wishes that it was told; nothing where there is none."""
        run = next((self._folder / str(number) / "runs").glob("*/seed"), None)
        if run is None:
            return {}
        by, heard = _told(run)
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
        """Take wishes, and hand on what files have grown by; who was served last waits where it is much.

        Args:
            known: By number, what is there of it: :class:`gym_gui.services.submissions.training_files.Known`.
        """
        found: dict[int, tuple[str, dict[str, bytes]]] = {}
        left = _AT_ONCE
        for turn, number in enumerate(sorted(known, key=lambda number: self._turns.get(number, 0)), 1):
            has_room = left >= MOST * len(FOLLOWED)
            grown = grown_in(self._folder / str(number), Known(*known[number]), MOST if has_room else 0)
            if grown is not None:
                found[number] = grown.start, grown.more
                left -= sum(map(len, grown.more.values()))
            self._turns[number] = turn if has_room else 0
        return found

    def forget(self, number: int) -> None:
        """Remove what is kept of a training."""
        shutil.rmtree(self._folder / str(number), ignore_errors=True)

    def _run(self, number: int, start: str) -> Path:
        return self._folder / str(number) / "runs" / Path(start).name / "seed"


class Line(Protocol):
    """The way to the keeper."""

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the keeper, and wait for its answer."""
        ...

    def bring(self, name: str, target: Path) -> None:
        """Copy one of its files here."""
        ...


class NodeTraining:
    """A try of a training on this node: sends its news to the keeper.

    Args:
        line: To the keeper.
        work: Folder of its part here.
        number: Of its part.
        attempt: Which try.

    Attributes:
        by: Which try has told the keeper of it last.
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

    def take_up(self, *, brought: bool) -> None:
        """Bring the files of a resumed training up to what the keeper knows of them; before it is begun.

        Args:
            brought: Whether its files come from the keeper.
        """
        for run in self._work.glob("runs/*/seed*"):
            if not (run / EXIT).exists():
                (run / RUNNER).unlink(missing_ok=True)  # of a process that is gone: it does not listen yet
            self.has_checkpoint = self.has_checkpoint or ((run / POLICY).exists() and not brought)
            if run.parent.name == self._known.get("start"):
                self._continue(run)

    def tell(self, *, at_once: bool = False) -> None:
        """Tell the keeper what is new, if that is due, and the training what it is asked.

        Args:
            at_once: Whether to send everything now, however much it is.
        """
        if not at_once and time.monotonic() < self._due:
            return
        while self._tell() and at_once:
            pass
        self._due = time.monotonic() + _TELL_S

    def pack(self, target: Path) -> bool:
        """Put what its checkpoint is into an archive, once all rows before it have been told.

        Returns:
            Whether it was the same all the while.

        Raises:
            OSError: A file was not there any more.
        """
        self.tell(at_once=True)
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

    def _tell(self) -> bool:
        """Tell what is new; returns whether there may be more to tell or to hear."""
        sizes = tuple(self._sizes.values())
        grown = grown_in(self._work, Known(self._start, sizes, self._wishes))
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
        """What tells whether a checkpoint is being replaced."""
        found: dict[Path, tuple[int, int, int]] = {}
        for folder, folders, names in os.walk(self._work / "runs"):
            if TENSORBOARD in folders:
                folders.remove(TENSORBOARD)
            for path in (Path(folder, name) for name in names if name not in (*FOLLOWED, CONTROL)):
                about = path.lstat()
                found[path] = about.st_ino, about.st_mtime_ns, about.st_size
        return found


def _told(run: Path) -> tuple[int, int]:
    try:
        attempt, heard = (run / _TOLD).read_text().split()
    except FileNotFoundError:
        return 0, 0
    return int(attempt), int(heard)


def _no_bytes() -> dict[str, int]:
    return dict.fromkeys(FOLLOWED, 0)
