"""``mosaic workers install``."""

from __future__ import annotations

import dataclasses
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from gym_gui.cli.errors import DONE
from gym_gui.cli.installer import InstallationError, Installer, cuda_packages, pinned
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.services.worker_registry import WorkerCatalog
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.status import WorkerStatus, check_installed

_PYTORCH_INDEX = ("--extra-index-url", "https://download.pytorch.org/whl/cpu")
_VERSIONS = """
import sys
from importlib import metadata
for name in sys.argv[1:]:
    try:
        print(name, metadata.version(name))
    except metadata.PackageNotFoundError:
        pass
"""


@dataclass(frozen=True)
class _Plan:
    """What will be installed.

    Attributes:
        installer: Into where, and with which indexes.
        specs: What is asked for.
        torch: torch's requirement where it has to come first, or ``""``.
        packages: Version by name of everything new.
    """

    installer: Installer
    specs: tuple[str, ...]
    torch: str
    packages: Mapping[str, str]


def install_worker(worker: str, *, gpu: bool = False, dry_run: bool = False, as_json: bool = False) -> int:
    """Install what a worker lacks; may be repeated, also after it was cut off.

    Args:
        worker: The worker, under any of its names.
        gpu: Allow torch's CUDA build.
        dry_run: Only say what would be installed.
        as_json: Write one JSON object: ``worker``, ``state`` (``installed``, or ``planned``
            after a dry run), ``new`` (version by package) and ``versions`` (what it runs with).

    Returns:
        Exit status.

    Raises:
        UsageError: The worker is unknown or broken, or lacks what we do not install.
        InstallationError: The installer failed.
    """
    definition = WorkerCatalog().registry.require(worker)
    status = check_installed(definition)
    if status.state == "broken":
        raise UsageError(f"worker {definition.type_id} is broken: {status.reason}")
    new: Mapping[str, str] = {}
    complete = status.state == "installed"
    if not complete:
        python = definition.launch.python
        if python is not None and not python.exists():
            if dry_run:
                line = f"Would make {python.parent.parent}, then install into it: {_wishes(definition)}"
                _answer(definition, "planned", new, [line], as_json=as_json)
                return DONE
            _tell(f"Making {python.parent.parent}")
            Installer.of(python).make_environment(python.parent.parent)
            status = check_installed(definition)
        if status.state == "missing":
            _refuse_programs(definition, status)
            new = _carry_out(definition, status, gpu=gpu, dry_run=dry_run)
            if dry_run:
                _answer(definition, "planned", new, [f"Would install {_counted(new)}"], as_json=as_json)
                return DONE
        _check_complete(definition)
    versions = _versions(definition)
    first = "nothing is missing." if complete else "is installed."
    lines = [f"{definition.type_id}{':' if complete else ''} {first}"]
    lines += [f"  {name} {version}" for name, version in versions.items()]
    _answer(definition, "installed", new, lines, as_json=as_json, versions=versions)
    return DONE


def _answer(
    definition: WorkerTypeDefinition,
    state: str,
    new: Mapping[str, str],
    lines: Sequence[str],
    *,
    as_json: bool,
    versions: Mapping[str, str] | None = None,
) -> None:
    if as_json:
        row = {"worker": definition.type_id, "state": state, "new": dict(new)}
        write_json(row if versions is None else {**row, "versions": dict(versions)})
        return
    for line in lines:
        write_line(line)


def _carry_out(
    definition: WorkerTypeDefinition, status: WorkerStatus, *, gpu: bool, dry_run: bool
) -> Mapping[str, str]:
    """Install what is missing, or only look it up; gives the version of each new package."""
    _tell(f"Looking up what {definition.type_id} needs")
    plan = _plan(definition, status, gpu=gpu)
    if not dry_run:
        _tell(f"Installing {_counted(plan.packages)}")
        if plan.torch:
            plan.installer.install([plan.torch])
        plan.installer.install([*([plan.torch] if plan.torch else []), *plan.specs])
    return plan.packages


def _counted(packages: Mapping[str, str]) -> str:
    listed = ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))
    return f"{len(packages)} package{'s' * (len(packages) != 1)}: {listed}"


def _wishes(definition: WorkerTypeDefinition) -> str:
    return ", ".join(definition.pip_dependencies) or str(definition.requirements or "nothing more")


def _refuse_programs(definition: WorkerTypeDefinition, status: WorkerStatus) -> None:
    """Programs of the system are for the person to install."""
    packages = [text for text in status.missing if not _is_requirement(text, definition)]
    if packages:
        fix = f"Run: {status.install}" if status.install else "Install it, or put it on the path"
        raise UsageError(f"{definition.type_id}: {status.reason}", fix=fix)


def _is_requirement(text: str, definition: WorkerTypeDefinition) -> bool:
    return text not in definition.system_dependencies and text not in definition.launch.command


def _plan(definition: WorkerTypeDefinition, status: WorkerStatus, *, gpu: bool) -> _Plan:
    """Look everything up before anything is installed, so that CUDA is noticed in time."""
    installer = Installer.of(definition.launch.python)
    file = definition.requirements
    specs = (*(("-r", str(file)) if file and definition.launch.python else ()), *status.missing)
    packages = installer.resolve(specs)
    torch = ""
    if not gpu and "torch" in packages:
        installer, torch, packages = _with_cpu_torch(installer, specs, packages["torch"])
    unwanted = [] if gpu else cuda_packages(list(packages))
    if unwanted:
        raise UsageError(
            f"{definition.type_id} would bring CUDA packages ({', '.join(unwanted[:4])}, …)",
            fix="Run the same with --gpu to have them",
        )
    return _Plan(installer, specs, torch, packages)


def _with_cpu_torch(
    installer: Installer, specs: Sequence[str], newest: str
) -> tuple[Installer, str, dict[str, str]]:
    """torch's CPU build, by the local version that nothing else carries.

    PyPI's build for x86-64 brings 5 GB of CUDA. Those of ``+cpu`` come from what pip is
    configured with, else from PyTorch's own index. The version that was tested here comes
    first; a worker with another wish gets the newest.
    """
    local = "+cpu" if sys.platform == "linux" and platform.machine() == "x86_64" else ""
    versions = dict.fromkeys([pinned("torch") or newest, newest.partition("+")[0]])
    index = _PYTORCH_INDEX + (("--index-strategy", "unsafe-best-match") if installer.uv else ())
    reason = ""
    for extra in ((), index):
        for version in versions:
            torch, tried = (
                f"torch=={version}{local}",
                dataclasses.replace(installer, extra=(*installer.extra, *extra)),
            )
            try:
                return tried, torch, tried.resolve([torch, *specs])
            except InstallationError as error:
                reason = str(error)
    raise UsageError(
        f"no CPU build of torch {' or '.join(versions)} was found ({reason})",
        fix="Point pip at one (PIP_FIND_LINKS, PIP_EXTRA_INDEX_URL), or give --gpu",
    )


def _check_complete(definition: WorkerTypeDefinition) -> None:
    status = check_installed(definition)
    if status.state != "installed":
        fix = f"Run: {status.install}" if status.install else ""
        raise UsageError(f"{definition.type_id} is still not complete: {status.reason}", fix=fix)


def _versions(definition: WorkerTypeDefinition) -> dict[str, str]:
    """The exact versions it runs with, asked of the interpreter it runs in."""
    python = definition.launch.python or Path(sys.executable)
    names = dict.fromkeys(
        [*(Requirement(text).name for text in definition.pip_dependencies), "numpy", "protobuf"]
    )
    done = subprocess.run(
        [str(python), "-I", "-c", _VERSIONS, *names], capture_output=True, text=True, check=False
    )
    return dict(line.split(maxsplit=1) for line in done.stdout.splitlines())


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
