"""Implements ``mosaic envs install`` for a family whose packages need a Python interpreter of their own."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from gym_gui.cli.errors import DONE
from gym_gui.cli.installing.installation import answer, bring, print_progress, versions
from gym_gui.cli.installing.installer import InstallationError, Installer
from gym_gui.core.errors import UsageError
from gym_gui.core.foreign_python import python_environment
from gym_gui.core.interpreters import environment_folder, note_complete, note_incomplete
from gym_gui.core.paths import cache_dir
from gym_gui.envs.families.served import OwnPythonFamily

SDK_NEEDS = ("numpy", "protobuf>=3.20.2,<8")
"""Packages that the worker SDK needs in an interpreter of a family."""
_IMPORT_TIMEOUT_S = 300


def install_own_python(
    family: OwnPythonFamily,
    *,
    given: Sequence[Path] = (),
    gpu: bool = False,
    dry_run: bool = False,
    as_json: bool = False,
) -> int:
    """Create the family's virtual environment, install its packages, and check that they can be imported.

    May be repeated after an interruption: the family counts as installed only after the last step.

    Args:
        family: The family.
        given: Archives of its packages that are on this machine already.
        gpu: Whether to allow CUDA builds.
        dry_run: Whether to only print what would be installed.
        as_json: Whether to write one JSON object instead of lines.

    Returns:
        Exit status.

    Raises:
        UsageError: A given file is not needed.
        InstallationError: A package could not be installed, or cannot be imported.
    """
    who = {"family": family.name}
    if family.installed and not given:
        found = _versions(family)
        lines = [f"{family.name}: nothing is missing.", *(f"  {n} {v}" for n, v in found.items())]
        answer(who, "installed", {}, lines, as_json=as_json, versions=found)
        return DONE
    if dry_run:
        _archives(family, given)
        answer(who, "planned", {}, [plan_of(family)], as_json=as_json)
        return DONE
    new = make_own_python(family, given=given, gpu=gpu, as_json=as_json)
    found, count = _versions(family), len(family.specs())
    lines = [f"{family.name} is installed: {count} environment{'s' * (count != 1)}."]
    lines += [f"  {n} {v}" for n, v in found.items()]
    answer(who, "installed", new, lines, as_json=as_json, versions=found)
    return DONE


def plan_of(family: OwnPythonFamily) -> str:
    """Return a sentence that says what :func:`make_own_python` would create and install."""
    listed = ", ".join([*family.requirements, *family.bare_requirements, *family.archives])
    return f"Would create {environment_folder(family.name)}, then install into it: {listed}"


def make_own_python(
    family: OwnPythonFamily, *, given: Sequence[Path] = (), gpu: bool = False, as_json: bool = False
) -> Mapping[str, str]:
    """Create a family's virtual environment and install everything that the family needs.

    Args:
        family: The family.
        given: Archives of its packages that are on this machine already.
        gpu: Whether to allow CUDA builds.
        as_json: Whether to print progress as JSON lines.

    Returns:
        Versions by package name, for packages from an index.

    Raises:
        UsageError: A given file is not needed.
        InstallationError: A package could not be installed, or cannot be imported.
    """
    archives, python = _archives(family, given), family.interpreter
    folder = environment_folder(family.name)
    note_incomplete(family.name)
    print_progress(f"Creating {folder}", as_json=as_json)
    folder.parent.mkdir(parents=True, exist_ok=True)
    Installer.of(python).make_environment(folder)
    specs = [*SDK_NEEDS, *family.requirements]
    bare = family.bare_requirements
    with tempfile.TemporaryDirectory(prefix="mosaic-build-") as built_in:
        built = family.build_variables(Path(built_in))
        new = bring(
            family.title, specs, bare=bare, bare_variables=built, python=python, gpu=gpu, as_json=as_json
        )
    if archives:
        print_progress(f"Installing {', '.join(archives)}", as_json=as_json)
        Installer.of(python).install(["--no-deps", *archives.values()])
    _check_imports(family)
    note_complete(family.name, _versions(family))
    return new


def _archives(family: OwnPythonFamily, given: Sequence[Path]) -> Mapping[str, str]:
    """Return a path or URL by archive name: a given file, or else the published address."""
    places = dict(family.archives)
    for path in given:
        if not path.is_file():
            raise UsageError(f"there is no file {path}", fix="Pass an existing file with --from")
        name = next((name for name in family.archives if path.name.startswith(f"{name}-")), None)
        if name is None:
            wanted = ", ".join(f"{name}-….tar.gz" for name in family.archives) or "no files"
            raise UsageError(f"{family.name} does not need {path}", fix=f"It needs {wanted}")
        places[name] = str(path.resolve())
    return places


def _check_imports(family: OwnPythonFamily) -> None:
    """Check that the family's interpreter can import the modules that its environment server needs.

    Raises:
        InstallationError: An import failed or took too long.
    """
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    env = python_environment(True, cache_dir() / "environments" / family.name)
    command = [str(family.interpreter), "-c", code, "mosaic_env_server", *family.imports]
    try:
        done = subprocess.run(
            command,
            env={**env, **family.server_variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=_IMPORT_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        raise InstallationError(f"importing {family.title} took longer than {_IMPORT_TIMEOUT_S} s") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        fix = (
            f"Run: apt-get install {' '.join(family.system)}, then this command again"
            if family.system
            else ""
        )
        raise InstallationError(
            f"{family.title} is installed but cannot be imported: {lines[-1] if lines else done.returncode}",
            fix=fix,
        )


def _versions(family: OwnPythonFamily) -> dict[str, str]:
    asked = [*family.requirements, *family.bare_requirements, *family.archives, "numpy"]
    return versions(asked, family.interpreter)
