"""Imports policies of other programs by means of the workers that will play them.

The worker's ``[import]`` entry reads the file in a separate process, in the worker's own interpreter, and
writes a policy in MOSAIC's format. That policy is then checked against its hash like any other.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gym_gui.core.errors import (
    CheckpointError,
    MissingDependencyError,
    MosaicError,
    UnknownNameError,
    UsageError,
)
from gym_gui.processes.outcome import ChildOutcome
from gym_gui.processes.run_child import run_child_sync
from gym_gui.services.policies.policy_exchange import admit, import_shared_policy, incoming, is_own_form
from gym_gui.services.policies.policy_library import PolicyEntry, PolicyLibrary
from gym_gui.workers.discovery import known_workers
from gym_gui.workers.environment_variables import worker_environment
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.status import check_installed

TIMEOUT_S: Final = 300.0
_REFUSED = 2


class ImportFailedError(MosaicError):
    """Error for an import that failed for a reason other than the policy file."""


@dataclass(frozen=True)
class ImportRequest:
    """Request to import a file.

    Attributes:
        path: The file (or folder).
        env_id: Environment of the policy's training; not needed for a policy in MOSAIC's format.
        worker: Worker that will play it; by default, the worker that reads files with this suffix.
        name: Name in the library; by default, the name of the file.
        licence: License of the policy.
        extra: More arguments for the worker's importer, such as ``--describe FILE``.
    """

    path: Path
    env_id: str = ""
    worker: str = ""
    name: str = ""
    licence: str = ""
    extra: tuple[str, ...] = ()


def add_policy(library: PolicyLibrary, request: ImportRequest, timeout_s: float = TIMEOUT_S) -> PolicyEntry:
    """Import a policy into the library: in MOSAIC's format, or a file that a worker can convert.

    Args:
        library: The library.
        request: The file, with the user's information about it.
        timeout_s: Longest time for the worker, in seconds.

    Raises:
        UsageError: There is no such file, no worker reads it, its name is taken, or the worker refused it
            (a :class:`~gym_gui.core.errors.CheckpointError` with the worker's reason).
        ImportFailedError: The worker failed.
    """
    path = request.path.expanduser()
    if not path.exists():
        raise UsageError(f"{path} does not exist", fix="Name the file of a trained policy")
    if is_own_form(path) and not request.worker:
        if request.extra:
            raise UsageError(f"{path} already has MOSAIC's format: leave out {request.extra[0]}")
        return import_shared_policy(library, path, request.name, request.licence)
    definition = importer(path, request.worker)
    if not request.env_id:
        raise UsageError(
            f"{path.name} does not say which environment it was trained in", fix="Add --env ENVIRONMENT"
        )
    name = request.name or path.stem
    with incoming(library, name) as folder:
        arguments = _arguments(path, folder, request)
        _run(definition, arguments, timeout_s, env_id=request.env_id)
        return admit(library, folder, name, request.licence)


def importers() -> list[WorkerTypeDefinition]:
    """Return the workers that can import files."""
    return [worker for worker in known_workers() if worker.imports is not None]


def importer(path: Path, worker: str = "") -> WorkerTypeDefinition:
    """Return the worker that imports a file.

    Args:
        path: The file.
        worker: Id of the worker, if the user has named one.

    Raises:
        UsageError: There is no such worker, it cannot import files, or it is not installed.
    """
    able = importers()
    if worker:
        definition = WorkerTypeRegistry.require(worker)
        if definition.imports is None:
            names = [w.type_id for w in able]
            raise UnknownNameError("importing worker", definition.type_id, names)
    else:
        ending = path.suffix.lower()
        found = [w for w in able if w.imports is not None and ending in w.imports.formats]
        if len(found) != 1:
            raise _undecided(path, able, found)
        definition = found[0]
    status = check_installed(definition)
    if status.missing:
        raise MissingDependencyError(
            f"what {definition.type_id} needs ({', '.join(status.missing)})", status.install
        )
    return definition


def _undecided(
    path: Path, able: Sequence[WorkerTypeDefinition], found: Sequence[WorkerTypeDefinition]
) -> UsageError:
    if found:
        names = " or ".join(w.type_id for w in found)
        return UsageError(f"{names} could read {path.name}", fix="Choose one with --worker")
    known = "; ".join(f"{w.type_id} reads {', '.join(w.imports.formats)}" for w in able if w.imports)
    return UsageError(
        f"no worker reads files such as {path.name}",
        fix=f"Choose one with --worker ({known or 'none is available'})",
    )


def _arguments(path: Path, folder: Path, request: ImportRequest) -> list[str]:
    licence = ["--licence", request.licence] if request.licence else []
    return [
        str(path.absolute()),
        "--env-id",
        request.env_id,
        "--out",
        str(folder.absolute()),
        *licence,
        *request.extra,
    ]


def _run(
    definition: WorkerTypeDefinition, arguments: Sequence[str], timeout_s: float, *, env_id: str
) -> None:
    """Run the worker's importer, and end all of its processes."""
    assert definition.imports is not None
    done = run_child_sync(
        str(definition.launch.python or sys.executable),
        *("-m", definition.imports.entry, *arguments),
        name=definition.type_id,
        environment=worker_environment(definition, env_id=env_id),
        within_s=timeout_s,
    )
    _judge(definition, done.outcome)


def _judge(definition: WorkerTypeDefinition, outcome: ChildOutcome) -> None:
    name, last = definition.type_id, outcome.last_line
    if outcome.code == _REFUSED:
        raise CheckpointError(last.partition("error: ")[2] or last or f"{name} refused the file")
    if outcome.code:
        raise ImportFailedError(f"{name} failed to import the policy: {last or f'status {outcome.code}'}")
    if not outcome.succeeded:
        raise ImportFailedError(f"{name} {outcome.words} during the import")
