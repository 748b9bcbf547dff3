"""Exports policies from the library as a folder or zip file, and imports exported policies.

Imported files come from others. A policy in MOSAIC's own format is read as JSON and safetensors, and its
weights are checked against their hash. For a policy of another program, the worker that plays the policy
converts it in a separate process (:mod:`gym_gui.services.policies.policy_import`).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.core.errors import CheckpointError, UsageError
from gym_gui.services.policies.policy_library import PolicyEntry, PolicyLibrary
from gym_gui.services.policies.policy_scores import PolicyScore
from gym_gui.services.policy_files import describe_policy
from mosaic_worker.archive_members import check_members
from mosaic_worker.checkpoint import DESCRIPTION, LARGEST_WEIGHTS, WEIGHTS, read_checkpoint, save_checkpoint
from mosaic_worker.plain_files import UnsafeFileError, open_file, read_file
from mosaic_worker.worker import LoadError

SCORE: Final = "score.json"
_LARGEST: Final = {DESCRIPTION: 8 * 2**20, WEIGHTS: LARGEST_WEIGHTS, SCORE: 2**20}
_MOST_BYTES: Final = sum(_LARGEST.values())
_COPY = 1 << 20


def export_policy(entry: PolicyEntry, target: Path) -> Path:
    """Write a policy with its score, so that another library can import it unchanged.

    Args:
        entry: The policy.
        target: A path that ends in ``.zip``, or a folder that does not exist yet.

    Returns:
        Path that was written.

    Raises:
        UsageError: The target exists already or cannot be written.
        CheckpointError: The policy is damaged.
    """
    if target.exists():
        raise UsageError(f"{target} exists already", fix="Choose another name")
    _check_policy(entry.file.path)
    try:
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".export") as made:
            part = Path(made) / "policy"
            part.mkdir()
            for name in (DESCRIPTION, WEIGHTS):
                _copy_file(entry.file.path / name, part / name)
            if entry.score is not None:
                (part / SCORE).write_text(json.dumps(entry.score.to_json(), indent=1) + "\n", "utf-8")
            if target.suffix.lower() == ".zip":
                _zip(part, Path(made) / "policy.zip").replace(target)
            else:
                part.rename(target)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}") from error
    return target


def _zip(folder: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted(folder.iterdir()):
            made.write(file, file.name)
    return archive


def is_own_form(path: Path) -> bool:
    """Return whether a folder or file is a policy in MOSAIC's format, or an export of one."""
    if path.is_dir():
        return (path / DESCRIPTION).is_file()
    if path.name in (DESCRIPTION, WEIGHTS):
        return (path.parent / DESCRIPTION).is_file()
    try:
        with open_file(path, links=True) as file, zipfile.ZipFile(file) as archive:
            return {DESCRIPTION, WEIGHTS} <= set(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def import_shared_policy(
    library: PolicyLibrary, path: Path, name: str = "", licence: str = ""
) -> PolicyEntry:
    """Import a policy in MOSAIC's format into the library.

    Args:
        library: The library.
        path: The policy's folder, a file in it, or a zip file that :func:`export_policy` wrote.
        name: Name in the library; by default, the name of the folder or file.
        licence: License of the policy, which replaces the one in its description.

    Raises:
        UsageError: The path is not a policy, the name is taken, or the library cannot be written.
        CheckpointError: The policy is damaged: its weights do not match its description.
    """
    named = name or (path.stem if path.is_file() and path.suffix else path.name)
    if not name and path.name in (DESCRIPTION, WEIGHTS):
        named = path.absolute().parent.name
    with incoming(library, named) as folder:
        if path.is_file() and path.suffix.lower() == ".zip":
            _unzip(path, folder)
        else:
            _copy(path if path.is_dir() else path.parent, folder)
        return admit(library, folder, named, licence)


@contextlib.contextmanager
def incoming(library: PolicyLibrary, name: str) -> Generator[Path]:
    """Yield an empty folder beside the library's own policies, to be filled with a new policy.

    Raises:
        UsageError: The name is taken, or the folder cannot be written.
    """
    library.place_for(name)
    home = library.store.data_dir("policies")
    try:
        with tempfile.TemporaryDirectory(dir=home, prefix=".incoming-", ignore_cleanup_errors=True) as made:
            folder = Path(made) / "policy"
            folder.mkdir(mode=0o755)
            yield folder
    except OSError as error:
        raise UsageError(f"{home} cannot be written: {error.strerror or error}") from error


def admit(library: PolicyLibrary, folder: Path, name: str, licence: str = "") -> PolicyEntry:
    """Check the policy in the :func:`incoming` folder and move it into the library.

    Raises:
        CheckpointError: The policy is damaged.
        UsageError: The name is taken.
    """
    weights = _check_policy(folder)
    file = describe_policy(folder)
    if licence and licence != file.description.licence:
        save_checkpoint(folder, replace(file.description, licence=licence), weights)
    score = _score_in(folder)
    (folder / SCORE).unlink(missing_ok=True)
    folder.rename(library.place_for(name))
    entry = library.find(name)
    if score is None:
        return entry
    library.scores.save(entry.file, score)
    return replace(entry, score=score)


def _check_policy(folder: Path) -> bytes:
    try:
        describe_policy(folder)
        return read_checkpoint(folder)[1]
    except LoadError as error:
        raise CheckpointError(str(error)) from error
    except (OSError, ValueError, RecursionError) as error:
        words = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())
        raise CheckpointError(f"{folder} contains no readable policy: {words}") from error


def _score_in(folder: Path) -> PolicyScore | None:
    try:
        data: Any = json.loads(read_file(folder / SCORE, limit=_LARGEST[SCORE]))
        return PolicyScore.from_json(cast("dict[str, Any]", data))
    except (OSError, ValueError, RecursionError):
        return None


def _copy(source: Path, folder: Path) -> None:
    if not (source / DESCRIPTION).exists():
        raise UsageError(f"{source} contains no {DESCRIPTION}", fix="Name the folder of a trained policy")
    for name in _LARGEST:
        if (source / name).exists():
            _copy_file(source / name, folder / name)


def _copy_file(source: Path, target: Path) -> None:
    """Copy a file of a policy, but never the target of a link.

    Raises:
        CheckpointError: The source is not a regular file, or is too large.
    """
    try:
        with open_file(source) as there, open_file(target, "xb") as here:
            _check_size(source.name, os.fstat(there.fileno()).st_size)
            shutil.copyfileobj(there, here, _COPY)
    except UnsafeFileError as error:
        raise CheckpointError(f"{source} is not copied: {error.strerror}") from error


def _unzip(archive: Path, folder: Path) -> None:
    """Extract only the files of a policy from an archive, and refuse files that are too large."""
    try:
        with open_file(archive, links=True) as file, zipfile.ZipFile(file) as opened:
            check_members(opened, [name for name in _LARGEST if name in opened.namelist()], _MOST_BYTES)
            for name in _LARGEST:
                if name in opened.namelist():
                    _check_size(name, opened.getinfo(name).file_size)
                    with opened.open(name) as inside, open_file(folder / name, "xb") as made:
                        # Never extract more than the declared size.
                        left = opened.getinfo(name).file_size
                        while left and (data := inside.read(min(_COPY, left))):
                            left -= len(data)
                            made.write(data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        words = " ".join(str(error).split())
        raise CheckpointError(f"{archive} is damaged: {words}. Copy it again") from error


def _check_size(name: str, size: int) -> None:
    if size > _LARGEST[name]:
        raise CheckpointError(f"{name} of the policy is too large ({size:,} bytes)")
