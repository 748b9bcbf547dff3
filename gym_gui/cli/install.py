"""``mosaic workers install``."""

from __future__ import annotations

from collections.abc import Mapping

from gym_gui.cli.errors import DONE
from gym_gui.cli.installation import answer, bring, counted, tell, versions
from gym_gui.cli.installer import Installer
from gym_gui.core.errors import UsageError
from gym_gui.services.worker_registry import WorkerCatalog
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.status import WorkerStatus, check_installed


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
                answer({"worker": definition.type_id}, "planned", new, [line], as_json=as_json)
                return DONE
            tell(f"Making {python.parent.parent}", as_json=as_json)
            Installer.of(python).make_environment(python.parent.parent)
            status = check_installed(definition)
        if status.state == "missing":
            _refuse_programs(definition, status)
            new = _carry_out(definition, status, gpu=gpu, dry_run=dry_run, as_json=as_json)
            if dry_run:
                answer(
                    {"worker": definition.type_id},
                    "planned",
                    new,
                    [f"Would install {counted(new)}"],
                    as_json=as_json,
                )
                return DONE
        _check_complete(definition)
    found = versions([*definition.pip_dependencies, "numpy", "protobuf"], definition.launch.python)
    first = "nothing is missing." if complete else "is installed."
    lines = [f"{definition.type_id}{':' if complete else ''} {first}"]
    lines += [f"  {name} {version}" for name, version in found.items()]
    answer({"worker": definition.type_id}, "installed", new, lines, as_json=as_json, versions=found)
    return DONE


def _carry_out(
    definition: WorkerTypeDefinition, status: WorkerStatus, *, gpu: bool, dry_run: bool, as_json: bool
) -> Mapping[str, str]:
    file, python = definition.requirements, definition.launch.python
    specs = (*(("-r", str(file)) if file and python else ()), *status.missing)
    return bring(definition.type_id, specs, python=python, gpu=gpu, dry_run=dry_run, as_json=as_json)


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


def _check_complete(definition: WorkerTypeDefinition) -> None:
    status = check_installed(definition)
    if status.state != "installed":
        fix = f"Run: {status.install}" if status.install else ""
        raise UsageError(f"{definition.type_id} is still not complete: {status.reason}", fix=fix)
