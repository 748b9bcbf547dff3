"""What installing anything has in common: look up, keep CUDA out, install, say what is new."""

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
class _Plan:
    """What will be installed.

    Attributes:
        installer: Into where, and with which indexes.
        specs: What is asked for.
        bare: What is asked for without what it asks for itself.
        torch: torch's requirement where it has to come first, or ``""``.
        packages: Version by name of everything new.
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
    """Install what is missing, or only look it up.

    Args:
        what: Who needs it, for the messages.
        specs: Requirements, and options of pip's that uv knows too (``-r FILE``).
        bare: Requirements that are installed last, without what their own metadata asks for.
        bare_variables: Environment variables with which these are built. What is built so, no cache keeps.
        python: Into which interpreter; ours by default, held to the tested versions.
        gpu: Allow torch's CUDA build.
        dry_run: Only look up.
        as_json: Tell progress as JSON lines.

    Returns:
        Version by name of each new package.

    Raises:
        UsageError: It would bring CUDA, or there is no CPU build of torch.
        InstallationError: The installer failed.
    """
    tell(f"Looking up what {what} needs", as_json=as_json)
    plan = _plan(what, specs, bare, python, gpu=gpu)
    if plan.packages and not dry_run:
        tell(f"Installing {counted(plan.packages)}", as_json=as_json)
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
    """``2 packages: name version, …``."""
    listed = ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))
    return f"{len(packages)} package{'s' * (len(packages) != 1)}: {listed}"


def versions(requirements: Sequence[str], python: Path | None = None) -> dict[str, str]:
    """The exact versions of what is required, asked of the interpreter that runs with them."""
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
    """Print the result of an installation: lines for a person, or one JSON object."""
    if as_json:
        row = {**who, "state": state, "new": dict(new)}
        write_json(row if versions is None else {**row, "versions": dict(versions)})
        return
    for line in lines:
        write_line(line)


def tell(text: str, *, as_json: bool = False) -> None:
    """Progress, on stderr."""
    sys.stderr.write(f"{json.dumps({'progress': text}) if as_json else text}\n")
    sys.stderr.flush()


def _plan(what: str, specs: Sequence[str], bare: Sequence[str], python: Path | None, *, gpu: bool) -> _Plan:
    """Look everything up before anything is installed, so that CUDA is noticed in time."""
    installer = Installer.of(python)
    packages = installer.resolve(specs) if specs else {}
    torch = ""
    if not gpu and "torch" in packages:
        installer, torch, packages = _with_cpu_torch(installer, specs, packages["torch"])
    unwanted = [] if gpu else cuda_packages(list(packages))
    if unwanted:
        raise UsageError(
            f"{what} would bring CUDA packages ({', '.join(unwanted[:4])}, …)",
            fix="Run the same with --gpu to have them",
        )
    if bare:
        packages = {**packages, **installer.resolve([_NO_DEPS, *bare])}
    return _Plan(installer, tuple(specs), tuple(bare), torch, packages)


def _with_cpu_torch(
    installer: Installer, specs: Sequence[str], newest: str
) -> tuple[Installer, str, dict[str, str]]:
    """torch's CPU build, by the local version that nothing else carries.

    PyPI's build for x86-64 brings 5 GB of CUDA. Those of ``+cpu`` come from what pip is
    configured with, else from PyTorch's own index. The version that was tested here comes
    first; a worker that asks for another gets the newest.
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
