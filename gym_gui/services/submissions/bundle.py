"""Writes the bundle of files for a host: the experiment or seeds, the files they name, and permissions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from gym_gui.core.config import Experiment
from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.tournament import Tournament
from gym_gui.core.experiment.tournament_pool import altered
from gym_gui.core.trusted import user_code
from gym_gui.core.trusted.subjects import RequiredSubject, Subject, subject_of
from gym_gui.services.experiment_file import file_settings
from gym_gui.services.experiments.experiment_identity import content_of
from gym_gui.services.submissions.shell import EXPERIMENT
from gym_gui.services.submissions.submitted_trainings import SEEDS, Trainings
from mosaic_worker.plain_files import read_file

FILES: Final = "files"
_NEEDS: Final = "needs.json"


def write_bundle(
    folder: Path, asked: Experiment | Tournament, needs: Iterable[RequiredSubject], place: str = ""
) -> Experiment | Tournament:
    """Write the bundle for hosts into a new folder.

    Args:
        folder: A new folder.
        asked: The experiment or tournament, already checked.
        needs: Permissions that the user has given here.
        place: Folder that its file paths begin with; by default, paths are relative to the bundle.

    Returns:
        The experiment or tournament with the new paths of its files.

    Raises:
        UsageError: A file cannot be read, or the user's code lies in more than one folder.
    """
    with _made(folder, needs):
        moved = _relocated(asked, lambda path: _copied(path, folder, place))
        (folder / EXPERIMENT).write_text(json.dumps(moved.to_record(), indent=1) + "\n")
    return moved


def write_training_bundle(folder: Path, trainings: Trainings, needs: Iterable[RequiredSubject]) -> None:
    """Write the bundle for hosts that train, like :func:`write_bundle`."""
    with _made(folder, needs):
        (folder / SEEDS).write_text("".join(f"{each.seed}\n" for each in trainings.parts))


@contextmanager
def _made(folder: Path, needs: Iterable[RequiredSubject]) -> Generator[None]:
    try:
        folder.mkdir(parents=True, mode=0o700)
        (folder / FILES).mkdir()
        yield
        subjects = dict.fromkeys(need.subject for need in needs)
        _take_code(folder, subjects)
        rows = [asdict(subject) for subject in subjects]
        (folder / _NEEDS).write_text(json.dumps(rows))
    except OSError as error:
        raise UsageError(f"{error.filename or folder} cannot be used: {error.strerror}") from error


def needs_in(bundle: Path) -> tuple[Subject, ...]:
    """Return the permissions that a bundle asks for. This grants nothing.

    Raises:
        UsageError: The list is missing or malformed.
    """
    path = bundle / _NEEDS
    try:
        rows = json.loads(read_file(path, inside=bundle))
        return tuple(subject_of(row) for row in rows)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, RecursionError):
        raise RunFormatError(str(path), "is damaged. Submit it again") from None


def allowed_on(needs: Iterable[Subject], place: str) -> str:
    """Return the permissions on a host, in the format of the environment variable that passes them.

    Code and files that were sent have another path on the host but the same hash.

    Args:
        needs: Permissions that the submitting user has given.
        place: Absolute path of the bundle on the host.
    """
    moved = [replace(each, name=place) if each.kind == "folder" else each for each in needs]
    return json.dumps([asdict(each) for each in (Subject("file", f"{place}/{FILES}"), *moved)])


def bundle_player(folder: Path, player: WorkerAssignment, place: str) -> WorkerAssignment:
    """Copy the files of one player into a new folder, and return the player with the new paths.

    Args:
        folder: A new folder.
        player: The player.
        place: Folder that the new paths begin with.

    Raises:
        OSError: A file cannot be read.
    """
    (folder / FILES).mkdir(parents=True, mode=0o700)
    return _moved(player, lambda path: _copied(path, folder, place))


def holds_files(folder: Path) -> bool:
    """Return whether a bundle contains more than the experiment itself."""
    return any(path.is_file() and path.name not in (EXPERIMENT, _NEEDS) for path in folder.rglob("*"))


def _moved(player: WorkerAssignment, move: Callable[[str], str]) -> WorkerAssignment:
    given = {name: player.settings.get(name) for name in file_settings(player.worker_id)}
    paths = {name: move(path) for name, path in given.items() if isinstance(path, str) and path}
    return replace(player, settings={**player.settings, **paths}) if paths else player


def _relocated(asked: Experiment | Tournament, move: Callable[[str], str]) -> Experiment | Tournament:
    def moved(assignment: WorkerAssignment) -> WorkerAssignment:
        return _moved(assignment, move)

    if isinstance(asked, Tournament):
        return replace(asked, policies={name: altered(p, moved) for name, p in asked.policies.items()})
    operators = [
        replace(
            operator,
            workers={agent: moved(each) for agent, each in operator.workers.items()},
            manager={agent: moved(each) for agent, each in operator.manager.items()},
            link_groups=[replace(g, policy_path=move(g.policy_path)) for g in operator.link_groups],
        )
        for operator in asked.operators
    ]
    return replace(asked, operators=operators)


def _copied(written: str, folder: Path, place: str) -> str:
    """Copy a file into the bundle and return its new path. A text that is not a path is returned as is."""
    source = Path(written)
    sha = content_of(source) if written else ""
    if not sha:
        return written
    name = f"{FILES}/{sha[:16]}/{source.name}"
    target = folder / name
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=False, ignore=_links)
        else:
            shutil.copyfile(source, target)
    return f"{place}/{name}" if place else name


def _links(folder: str, names: list[str]) -> list[str]:
    """Return the links in a policy's folder, which are not copied, as its hash leaves them out too."""
    return [name for name in names if (Path(folder) / name).is_symlink()]


def _take_code(folder: Path, subjects: Iterable[Subject]) -> None:
    """Copy the code beside an experiment: exactly the files of its fingerprint."""
    own = [subject for subject in subjects if subject.kind == "folder"]
    if len(own) > 1:
        raise UsageError(
            f"the experiment's code is in {own[0].name} and {own[1].name}, not in one folder",
            fix="Put all code beside the experiment file, or install it on each host",
        )
    for subject in own:
        files = user_code.fingerprints(Path(subject.name))
        if user_code.digest(files) != subject.sha256:
            raise UsageError(f"{subject.name} has changed since it was submitted", fix="Submit it again")
        for name in files:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path(subject.name) / name, target)
