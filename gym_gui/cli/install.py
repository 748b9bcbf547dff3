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
from gym_gui.cli.output import write_line
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


def install_worker(worker: str, *, gpu: bool = False, dry_run: bool = False) -> int:
    """Install what a worker lacks; may be repeated, also after it was cut off.

    Args:
        worker: The worker, under any of its names.
        gpu: Allow torch's CUDA build.
        dry_run: Only say what would be installed.

    Returns:
        Exit status.

    Raises:
        UsageError: The worker is unknown or broken, or lacks what we do not install.
        InstallationError: The installer failed.
    """
    definition = WorkerCatalog().registry.require(worker)
    status = check_installed(definition)
    if status.state == "installed":
        write_line(f"{definition.type_id}: nothing is missing.")
        _say_versions(definition)
        return DONE
    if status.state == "broken":
        raise UsageError(f"worker {definition.type_id} is broken: {status.reason}")
    python = definition.launch.python
    if python is not None and not python.exists():
        if dry_run:
            write_line(f"Would make {python.parent.parent}, then install into it: {_wishes(definition)}")
            return DONE
        _tell(f"Making {python.parent.parent}")
        Installer.of(python).make_environment(python.parent.parent)
        status = check_installed(definition)
    if status.state == "missing":
        _refuse_programs(definition, status)
        _carry_out(definition, status, gpu=gpu, dry_run=dry_run)
        if dry_run:
            return DONE
    return _conclude(definition)


def _carry_out(definition: WorkerTypeDefinition, status: WorkerStatus, *, gpu: bool, dry_run: bool) -> None:
    _tell(f"Looking up what {definition.type_id} needs")
    plan = _plan(definition, status, gpu=gpu)
    listed = ", ".join(f"{name} {version}" for name, version in sorted(plan.packages.items()))
    count = f"{len(plan.packages)} package{'s' * (len(plan.packages) != 1)}"
    if dry_run:
        write_line(f"Would install {count}: {listed}")
        return
    _tell(f"Installing {count}: {listed}")
    if plan.torch:
        plan.installer.install([plan.torch])
    plan.installer.install([*([plan.torch] if plan.torch else []), *plan.specs])


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


def _conclude(definition: WorkerTypeDefinition) -> int:
    status = check_installed(definition)
    if status.state != "installed":
        fix = f"Run: {status.install}" if status.install else ""
        raise UsageError(f"{definition.type_id} is still not complete: {status.reason}", fix=fix)
    write_line(f"{definition.type_id} is installed.")
    _say_versions(definition)
    return DONE


def _say_versions(definition: WorkerTypeDefinition) -> None:
    """The exact versions it runs with, asked of the interpreter it runs in."""
    python = definition.launch.python or Path(sys.executable)
    names = dict.fromkeys(
        [*(Requirement(text).name for text in definition.pip_dependencies), "numpy", "protobuf"]
    )
    done = subprocess.run(
        [str(python), "-I", "-c", _VERSIONS, *names], capture_output=True, text=True, check=False
    )
    for line in done.stdout.splitlines():
        write_line(f"  {line}")


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
