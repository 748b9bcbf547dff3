"""Steps that all installations share: look up packages, refuse CUDA, install, and print new versions."""

from __future__ import annotations

import dataclasses
import json
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from gym_gui.cli.installing.installer import InstallationError, Installer, cuda_packages, pinned
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UsageError

_PYTORCH_INDEX = ("--extra-index-url", "https://download.pytorch.org/whl/cpu")
_NO_DEPS = "--no-deps"
_NO_CACHE = {"UV_NO_CACHE": "1", "PIP_NO_CACHE_DIR": "1"}
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
class InstallationPlan:
    """Packages to install, and the installer for them.

    Attributes:
        installer: Installer with its interpreter and indexes.
        specs: Requirements that are installed with their dependencies.
        bare: Requirements that are installed without their dependencies.
        torch: Requirement of torch if it must be installed first, else ``""``.
        packages: Version by name of each new package.
    """

    installer: Installer
    specs: tuple[str, ...]
    bare: tuple[str, ...]
    torch: str
    packages: Mapping[str, str]


def bring(
    what: str,
    specs: Sequence[str],
    *,
    bare: Sequence[str] = (),
    bare_variables: Mapping[str, str] | None = None,
    python: Path | None = None,
    gpu: bool = False,
    dry_run: bool = False,
    as_json: bool = False,
) -> Mapping[str, str]:
    """Install missing packages, or only look up which are missing.

    Args:
        what: Name of the worker, family or extra that needs the packages, for messages.
        specs: Requirements, and options of pip that uv knows too (``-r FILE``).
        bare: Requirements that are installed last and without their dependencies.
        bare_variables: Environment variables for building ``bare``; these builds are not cached.
        python: Interpreter to install for; by default the running one, restricted to the tested versions.
        gpu: Whether to allow torch's CUDA build.
        dry_run: Whether to only look up packages.
        as_json: Whether to print progress as JSON lines.

    Returns:
        Version by name of each new package.

    Raises:
        UsageError: CUDA would be installed, or there is no CPU build of torch.
        InstallationError: The installer failed.
    """
    print_progress(f"Looking up the packages of {what}", as_json=as_json)
    plan = plan_installation(what, specs, bare, Installer.of(python), gpu=gpu)
    if plan.packages and not dry_run:
        print_progress(f"Installing {counted(plan.packages)}", as_json=as_json)
        if plan.torch:
            plan.installer.install([plan.torch])
        if plan.specs:
            plan.installer.install([*([plan.torch] if plan.torch else []), *plan.specs])
        if plan.bare:
            installer = plan.installer
            if bare_variables:
                installer = dataclasses.replace(
                    installer, env={**installer.env, **_NO_CACHE, **bare_variables}
                )
            installer.install([_NO_DEPS, *plan.bare])
    return plan.packages


def counted(packages: Mapping[str, str]) -> str:
    """Return packages as text: ``2 packages: name version, …``."""
    listed = ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))
    return f"{len(packages)} package{'s' * (len(packages) != 1)}: {listed}"


def versions(requirements: Sequence[str], python: Path | None = None) -> dict[str, str]:
    """Return the installed versions of required packages, by name, as the interpreter reports them."""
    names = dict.fromkeys(Requirement(text).name for text in requirements)
    command = [str(python or sys.executable), "-I", "-c", _VERSIONS, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return dict(line.split(maxsplit=1) for line in done.stdout.splitlines())


def answer(
    who: Mapping[str, str],
    state: str,
    new: Mapping[str, str],
    lines: Sequence[str],
    *,
    as_json: bool,
    versions: Mapping[str, str] | None = None,
) -> None:
    """Print the result of an installation.

    Args:
        who: ``worker``, ``family`` or ``extra`` with its name, for JSON.
        state: ``installed`` or ``planned``.
        new: Versions of new packages, by name.
        lines: Lines for a terminal.
        as_json: Whether to print one JSON object instead of ``lines``.
        versions: Versions of all packages, by name; for JSON.
    """
    if as_json:
        row = {**who, "state": state, "new": dict(new)}
        write_json(row if versions is None else {**row, "versions": dict(versions)})
        return
    for line in lines:
        write_line(line)


def print_progress(text: str, *, as_json: bool = False) -> None:
    """Print a progress message on stderr."""
    sys.stderr.write(f"{json.dumps({'progress': text}) if as_json else text}\n")
    sys.stderr.flush()


def plan_installation(
    what: str, specs: Sequence[str], bare: Sequence[str], installer: Installer, *, gpu: bool
) -> InstallationPlan:
    """Look up all packages before any is installed, so that CUDA packages are refused in time.

    Args:
        what: Name of what needs the packages, for messages.
        specs: Requirements that are installed with their dependencies.
        bare: Requirements that are installed without their dependencies.
        installer: Installer for the interpreter that gets the packages.
        gpu: Whether to allow torch's CUDA build.

    Raises:
        UsageError: CUDA would be installed, or there is no CPU build of torch.
        InstallationError: The packages cannot be found.
    """
    packages = installer.resolve(specs) if specs else {}
    torch = ""
    if not gpu and "torch" in packages:
        installer, torch, packages = _with_cpu_torch(installer, specs, packages["torch"])
    unwanted = [] if gpu else cuda_packages(list(packages))
    if unwanted:
        raise UsageError(
            f"{what} would install CUDA packages ({', '.join(unwanted[:4])}, …)",
            fix="Add --gpu to install them",
        )
    if bare:
        packages = {**packages, **installer.resolve([_NO_DEPS, *bare])}
    return InstallationPlan(installer, tuple(specs), tuple(bare), torch, packages)


def _with_cpu_torch(
    installer: Installer, specs: Sequence[str], newest: str
) -> tuple[Installer, str, dict[str, str]]:
    """Find torch's CPU build by its version suffix ``+cpu``, which no other build has.

    PyPI's build for x86-64 installs 5 GB of CUDA. Builds with ``+cpu`` come from the indexes that pip is
    configured with, else from PyTorch's own index. The version that MOSAIC was tested with is tried first; if
    the requirements exclude it, the newest.
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
        fix="Name a source with PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL, or add --gpu",
    )
