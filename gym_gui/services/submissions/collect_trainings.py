"""Completes the local run folders of trainings that have ended elsewhere."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from gym_gui.core.errors import MosaicError
from gym_gui.services.submissions.submission_errors import HostFailedError, raise_if_full
from gym_gui.services.submissions.submitted_trainings import Training
from gym_gui.services.submissions.training_files import FOLLOWED
from gym_gui.services.trainer.request import SavedRequest
from gym_gui.services.trainer.training_folder import ELSEWHERE, EXIT, LOCK, REQUEST, RUNNER
from mosaic_worker.plain_files import open_file

_LAST: Final = (REQUEST, RUNNER, EXIT)
"""Files that mark the end of the training, so they are copied last."""


def move_training(source: Path, training: Training) -> None:
    """Complete a local run folder. Its training counts as running elsewhere until all files are copied.

    Results from elsewhere are treated as data. They are accepted only if the training has ended and is the
    expected one. Links are not copied.

    Args:
        source: Folder with the training's starts, of which the last one counts.
        training: The expected training.

    Raises:
        HostFailedError: The results are missing, incomplete (yet), or of another training.
        HereError: There is no space for them here.
    """
    called = f"the training with seed {training.seed}"
    try:
        found = sorted(file.parent for file in source.glob(f"*/seed*/{REQUEST}"))
        if not found or not (found[-1] / EXIT).is_file():
            raise HostFailedError(f"{called} is incomplete")
        if _seed(found[-1]) != training.seed:
            raise HostFailedError(f"results of {called} are those of another training")
        _complete(found[-1], training.folder)
    except OSError as error:
        raise_if_full(error, training.folder)
        raise HostFailedError(f"{called} cannot be stored: {error.strerror or error}") from error


def _seed(run: Path) -> int | None:
    try:
        return SavedRequest.read(run).seed
    except MosaicError:
        return None


def _complete(run: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = [path.name for path in run.iterdir() if not path.is_symlink()]
    for name in sorted({*names} - {LOCK, ELSEWHERE}, key=lambda name: (name in _LAST, name)):
        _take(run / name, folder / name)
    (folder / ELSEWHERE).unlink(missing_ok=True)


def _take(source: Path, target: Path) -> None:
    coming = target.with_name(f".coming-{target.name}")
    _remove(coming)
    if source.is_dir():
        shutil.copytree(source, coming, ignore=_links)
        _remove(target)
        coming.rename(target)
    elif source.name in FOLLOWED and _begins_with(source, target):
        # Only the rest is appended, so that a process that follows the file can continue.
        with source.open("rb") as more, open_file(target, "ab") as file:
            more.seek(os.fstat(file.fileno()).st_size)
            shutil.copyfileobj(more, file)
    elif source.is_file():
        shutil.copyfile(source, coming)
        coming.replace(target)


def _remove(path: Path) -> None:
    """Remove a file, a folder or a link, but not the target of a link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _begins_with(source: Path, target: Path) -> bool:
    """Return whether one file begins with the whole content of another."""
    if target.is_symlink() or not target.is_file() or target.stat().st_size > source.stat().st_size:
        return False
    with source.open("rb") as whole, target.open("rb") as begun:
        while piece := begun.read(1 << 20):
            if whole.read(len(piece)) != piece:
                return False
    return True


def _links(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_symlink()]
