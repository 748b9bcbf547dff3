"""Checks whether a worker could start on this machine, and names the command that installs missing parts."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Literal, cast

from gym_gui.core.inherited_environment import inherited
from gym_gui.core.interpreters import is_complete
from gym_gui.processes.child import ChildStartError
from gym_gui.processes.run_child import run_child_sync
from gym_gui.workers.bundled import worker_folder
from gym_gui.workers.discovery import DiscoveredManifest
from gym_gui.workers.own_files import BUILD, absent_files
from gym_gui.workers.registry import WorkerTypeDefinition

if TYPE_CHECKING:
    from packaging.requirements import Requirement

State = Literal["installed", "missing", "broken"]

_INSTALL = "mosaic workers install {}"
_PROBE_TIMEOUT_S = 30.0
_SDK_NEEDS = ("numpy>=1.22", "protobuf>=3.20.2,<8")
"""Requirements of ``mosaic_worker``, which is added to the import path of a foreign interpreter."""
_BARE_NAME = re.compile(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?")
"""Requirement without version or marker, which any installed version fulfills."""
# Runs in the worker's own interpreter, which may be an old one.
_PROBE = """
import importlib.util, json, sys
from importlib import metadata
names, package = json.load(sys.stdin)
versions = {}
for name in names:
    try:
        versions[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        versions[name] = None
found = not package or importlib.util.find_spec(package) is not None
python = ".".join(str(part) for part in sys.version_info[:3])
json.dump([versions, found, python], sys.stdout)
"""


@dataclass(frozen=True)
class WorkerStatus:
    """Installation status of a worker, determined without starting it.

    Attributes:
        worker_id: The worker's id.
        state: ``installed``, ``missing`` (something must be installed) or ``broken``.
        reason: What is missing or broken, as a sentence; ``""`` if the worker is installed.
        install: Command that installs the missing parts, or ``""``.
        missing: Requirements that are not fulfilled.
        found: Result of discovery, or ``None``.
    """

    worker_id: str
    state: State
    reason: str
    install: str
    missing: tuple[str, ...]
    found: DiscoveredManifest | None = None


def status_of(found: DiscoveredManifest) -> WorkerStatus:
    """Return the status of a discovered worker, whose manifest may be broken."""
    if found.definition is None:
        return WorkerStatus(found.name, "broken", found.problem, "", (), found)
    status = check_installed(found.definition)
    return WorkerStatus(status.worker_id, status.state, status.reason, status.install, status.missing, found)


def check_installed(definition: WorkerTypeDefinition) -> WorkerStatus:
    """Return the status of a worker, from its requirements and the packages of its interpreter.

    Distributions are looked up by their metadata and compared by version; the extras
    of a requirement (``ray[rllib]``) are not followed.
    """
    worker_id = definition.type_id
    if absent := _absent_workers(definition):
        # An installer could not install these workers: a package of that name would be another project's.
        reason = f"it builds on {_listed(absent)}, found neither beside it nor among MOSAIC's own workers"
        return WorkerStatus(worker_id, "broken", reason, "", absent)
    python, family = definition.launch.python, definition.launch.family
    if family and not is_complete(family):
        reason = f"it needs the interpreter of the environments {family}, which is not installed yet"
        return WorkerStatus(worker_id, "missing", reason, _INSTALL.format(worker_id), (family,))
    if python is not None and not os.access(python, os.X_OK):
        reason = f"its interpreter {python} does not exist"
        return WorkerStatus(worker_id, "missing", reason, _INSTALL.format(worker_id), (str(python),))
    try:
        pip, importable = _look_up(definition)
    except _ProbeError as error:
        return WorkerStatus(worker_id, "broken", str(error), "", ())
    if pip:
        reason = f"{_listed(pip)} {'is' if len(pip) == 1 else 'are'} not installed"
        return WorkerStatus(worker_id, "missing", reason, _INSTALL.format(worker_id), pip)
    programs = tuple(text for text in definition.system_dependencies if not _on_path(text))
    if programs:
        names = [text.partition(":")[0] for text in programs]
        packages = dict.fromkeys(text.partition(":")[2] or text for text in programs)
        reason = f"{_listed(names)} {'is' if len(names) == 1 else 'are'} not on the path"
        return WorkerStatus(worker_id, "missing", reason, f"apt-get install {shlex.join(packages)}", programs)
    if files := absent_files(definition):
        return WorkerStatus(worker_id, "missing", _missing_words(files), _INSTALL.format(worker_id), files)
    if not importable:
        reason = f"its package {definition.module_path!r} is neither in its folder nor installed"
        return WorkerStatus(worker_id, "broken", reason, "", (definition.module_path,))
    if definition.launch.command and not _command_exists(definition):
        program = definition.launch.command[0]
        reason = f"the program {program!r} of its command is not on the path"
        return WorkerStatus(worker_id, "missing", reason, "", (program,))
    return WorkerStatus(worker_id, "installed", "", "", ())


def _missing_words(files: Sequence[str]) -> str:
    named = [name for name in files if name != BUILD]
    if not named:
        return f"{BUILD} is not built from the current sources and files"
    return f"{_listed(named)} {'is' if len(named) == 1 else 'are'} missing"


def _absent_workers(definition: WorkerTypeDefinition) -> tuple[str, ...]:
    folder = definition.folder
    if folder is None:
        return ()
    return tuple(name for name in definition.required_workers if worker_folder(name, folder) is None)


def _requirements(definition: WorkerTypeDefinition) -> list[str]:
    own = [*definition.pip_dependencies, *definition.bare_dependencies]
    if definition.launch.python is None:
        return own
    named = {re.split(r"[^\w.-]", text.strip(), maxsplit=1)[0].lower() for text in own}
    return own + [text for text in _SDK_NEEDS if re.split(r"\W", text)[0] not in named]


class _ProbeError(Exception):
    """Error: the worker's requirements cannot be read, or its interpreter did not answer."""


def _look_up(definition: WorkerTypeDefinition) -> tuple[tuple[str, ...], bool]:
    """Return the requirements that are not fulfilled, and whether the worker's package can be imported."""
    texts = _requirements(definition)
    if all(map(_BARE_NAME.fullmatch, texts)):
        versions, importable, _ = _probe(definition, texts)
        return tuple(text for text in texts if versions.get(text) is None), importable
    # Imported here, so that sessions whose workers require no versions begin sooner.
    from packaging.markers import UndefinedEnvironmentName
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirements = [Requirement(text) for text in texts]
        versions, importable, environment = _probe(definition, [r.name for r in requirements])
        wanted = [r for r in requirements if r.marker is None or r.marker.evaluate(environment)]
    except (InvalidRequirement, UndefinedEnvironmentName) as error:
        raise _ProbeError(f"requires.pip: {error}") from error
    return tuple(str(r) for r in wanted if not _is_fulfilled(r, versions.get(r.name))), importable


def _probe(
    definition: WorkerTypeDefinition, names: Sequence[str]
) -> tuple[Mapping[str, str | None], bool, dict[str, str]]:
    """Return package versions by name, whether the worker can be imported, and variables for markers."""
    name = definition.module_path
    beside = any((p / name).is_dir() or (p / f"{name}.py").is_file() for p in definition.launch.python_path)
    package = "" if beside or definition.launch.command else name
    python = definition.launch.python
    if python is None or str(python) == sys.executable:
        return {name: _version(name) for name in names}, not package or _importable(package), {}
    try:
        done = run_child_sync(
            *(str(python), "-I", "-c", _PROBE),
            name=f"its interpreter {python}",
            environment=inherited(definition.launch.inherits),
            text=json.dumps([list(names), package]).encode(),
            within_s=_PROBE_TIMEOUT_S,
        )
        if not done.outcome.succeeded:
            raise ValueError(done.outcome.last_line or done.outcome.words)
        versions, found, full = cast("tuple[dict[str, str | None], bool, str]", json.loads(done.output))
        environment = {"python_full_version": full, "python_version": full.rpartition(".")[0]}
    except ChildStartError as error:
        raise _ProbeError(str(error)) from error
    except (ValueError, TypeError) as error:
        raise _ProbeError(f"its interpreter {python} does not work: {error}") from error
    return versions, found, environment


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _importable(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _is_fulfilled(requirement: Requirement, version: str | None) -> bool:
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def _on_path(text: str) -> bool:
    # Debian keeps engines such as Stockfish in /usr/games, which is not on root's path.
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/games"])
    return shutil.which(text.partition(":")[0], path=path) is not None


def _command_exists(definition: WorkerTypeDefinition) -> bool:
    program = definition.launch.command[0]
    if "/" in program and definition.folder is not None:
        return os.access(definition.folder / program, os.X_OK)
    return shutil.which(program) is not None


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
