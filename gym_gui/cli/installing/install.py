"""Implements ``mosaic workers install``: installs a worker's packages and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gym_gui.cli.errors import DONE
from gym_gui.cli.installing.fetch_files import bring_files
from gym_gui.cli.installing.install_own_python import make_own_python, plan_of
from gym_gui.cli.installing.installation import answer, bring, counted, print_progress, versions
from gym_gui.cli.installing.installer import Installer
from gym_gui.core.errors import UsageError
from gym_gui.envs.environment_registry import families
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.own_files import BUILD, absent_files
from gym_gui.workers.status import WorkerStatus, check_installed


def install_worker(
    worker: str,
    *,
    gpu: bool = False,
    given: Sequence[Path] = (),
    dry_run: bool = False,
    as_json: bool = False,
) -> int:
    """Install the packages and files that a worker is missing; may be repeated after an interruption.

    Args:
        worker: Id or alias of the worker.
        gpu: Whether to allow torch's CUDA build.
        given: Files of the worker that are on this machine already.
        dry_run: Whether to only print what would be installed.
        as_json: Whether to write one JSON object: ``worker``, ``state`` (``installed``, or ``planned``
            after a dry run), ``new`` (version by new package) and ``versions`` (by package of the worker).

    Returns:
        Exit status.

    Raises:
        UsageError: The worker is unknown or broken, or something is missing that MOSAIC does not install.
        InstallationError: The installer failed.
    """
    definition = bootstrap_default_services().workers.registry.require(worker)
    status = check_installed(definition)
    if status.state == "broken":
        raise UsageError(f"worker {definition.type_id} is broken: {status.reason}")
    new: Mapping[str, str] = {}
    complete = status.state == "installed" and not given
    family = _family_of(definition)
    if family is not None and (given or not family.installed):
        if dry_run:
            answer({"worker": definition.type_id}, "planned", new, [plan_of(family)], as_json=as_json)
            return DONE
        new, given = make_own_python(family, given=given, gpu=gpu, as_json=as_json), ()
        status = check_installed(definition)
    if not complete:
        python = definition.launch.python
        if python is not None and not python.exists():
            if dry_run:
                listed = _requirements_in_words(definition)
                line = f"Would create {python.parent.parent}, then install into it: {listed}"
                answer({"worker": definition.type_id}, "planned", new, [line], as_json=as_json)
                return DONE
            print_progress(f"Creating {python.parent.parent}", as_json=as_json)
            Installer.of(python).make_environment(python.parent.parent)
            status = check_installed(definition)
        if status.state == "missing":
            _check_programs(definition, status)
            more = _install_packages(definition, status, gpu=gpu, dry_run=dry_run, as_json=as_json)
            new = {**new, **more}
        if dry_run:
            _print_plan(definition, new, as_json=as_json)
            return DONE
        new = {**new, **_bring_files(definition, given, as_json=as_json)}
        _check_complete(definition)
    found = _versions(definition)
    first = "nothing is missing." if complete else "is installed."
    lines = [f"{definition.type_id}{':' if complete else ''} {first}"]
    lines += [f"  {name} {version}" for name, version in found.items()]
    answer({"worker": definition.type_id}, "installed", new, lines, as_json=as_json, versions=found)
    return DONE


def _family_of(definition: WorkerTypeDefinition) -> OwnPythonFamily | None:
    """Return the family whose Python interpreter the worker uses; ``None`` if it uses another interpreter."""
    name = definition.launch.family
    if not name:
        return None
    family = families().get(name)
    if not isinstance(family, OwnPythonFamily):
        reason = f"worker {definition.type_id} names {name!r}, no family with an interpreter of its own"
        raise UsageError(reason, fix="Correct launch.family in its worker.toml")
    return family


def _install_packages(
    definition: WorkerTypeDefinition, status: WorkerStatus, *, gpu: bool, dry_run: bool, as_json: bool
) -> Mapping[str, str]:
    file, python = definition.requirements, definition.launch.python
    missing = [text for text in status.missing if text not in _files_and_build(definition)]
    bare = [text for text in missing if text in definition.bare_dependencies]
    wanted = [text for text in missing if text not in bare]
    specs = (*(("-r", str(file)) if file and python else ()), *wanted)
    if not (specs or bare):
        return {}
    return bring(
        definition.type_id, specs, bare=bare, python=python, gpu=gpu, dry_run=dry_run, as_json=as_json
    )


def _bring_files(
    definition: WorkerTypeDefinition, given: Sequence[Path], *, as_json: bool
) -> Mapping[str, str]:
    if not definition.files and not definition.build:
        if given:
            raise UsageError(f"{definition.type_id} needs no files", fix="Leave --from out")
        return {}
    _check_programs(definition, check_installed(definition))
    return bring_files(definition, given, as_json=as_json)


def _print_plan(definition: WorkerTypeDefinition, new: Mapping[str, str], *, as_json: bool) -> None:
    absent = absent_files(definition) if definition.files or definition.build else ()
    files = {file.name: file.version for file in definition.files if file.name in absent}
    lines = [f"Would install {counted(new)}"] if new or not absent else []
    lines += [f"Would download {file.url}" for file in definition.files if file.name in files]
    lines += ["Would build its program"] if BUILD in absent else []
    answer({"worker": definition.type_id}, "planned", {**new, **files}, lines, as_json=as_json)


def _versions(definition: WorkerTypeDefinition) -> dict[str, str]:
    """Return the versions of the packages and files that the worker uses, by name."""
    sdk = () if definition.launch.command else ("numpy", "protobuf")
    asked = [*definition.pip_dependencies, *definition.bare_dependencies]
    found = versions([*asked, *sdk], definition.launch.python)
    return {**found, **{file.name: file.version for file in definition.files}}


def _files_and_build(definition: WorkerTypeDefinition) -> set[str]:
    """Return names of the worker's files and of its build, which may be missing besides packages."""
    return {BUILD, *(file.name for file in definition.files)}


def _requirements_in_words(definition: WorkerTypeDefinition) -> str:
    asked = (*definition.pip_dependencies, *definition.bare_dependencies)
    return ", ".join(asked) or str(definition.requirements or "nothing more")


def _check_programs(definition: WorkerTypeDefinition, status: WorkerStatus) -> None:
    """Raise an error if system programs are missing, which the user must install."""
    packages = [text for text in status.missing if not _is_requirement(text, definition)]
    if packages:
        fix = f"Run: {status.install}" if status.install else "Install it, or add its folder to PATH"
        raise UsageError(f"{definition.type_id}: {status.reason}", fix=fix)


def _is_requirement(text: str, definition: WorkerTypeDefinition) -> bool:
    return text not in definition.system_dependencies and text not in definition.launch.command


def _check_complete(definition: WorkerTypeDefinition) -> None:
    status = check_installed(definition)
    if status.state != "installed":
        fix = f"Run: {status.install}" if status.install else ""
        raise UsageError(f"{definition.type_id} is still not complete: {status.reason}", fix=fix)
