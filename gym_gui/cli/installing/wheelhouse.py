"""Implements ``mosaic wheelhouse`` and the option ``--offline``: installations without a network."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

from gym_gui.cli.errors import DONE
from gym_gui.cli.installing.install_extras import find_family, requirements_of, requirements_of_family
from gym_gui.cli.installing.install_own_python import SDK_NEEDS
from gym_gui.cli.installing.installation import InstallationPlan, plan_installation, print_progress
from gym_gui.cli.installing.installer import InstallationError, Installer
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.core.paths import PACKAGE
from gym_gui.envs.environment_registry import families
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.spec import DISTRIBUTION
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.version import __version__
from mosaic_worker.plain_files import read_file, replace_file

LISTING: Final = "wheelhouse.json"
"""File that is written last; if it is missing, the wheelhouse is not complete."""
_FORMAT: Final = 1
_SDK: Final = "mosaic-worker"
_ONLY_UV: Final = ("--index-strategy", "unsafe-best-match")
"""Arguments of uv that pip does not know; pip takes the best version of all indexes anyway."""


@dataclass(frozen=True)
class _Part:
    """Packages that are installed together into one interpreter.

    Attributes:
        title: Name for messages.
        specs: Requirements that are installed with their dependencies.
        bare: Requirements that are installed without their dependencies.
        tested: Whether the tested versions are used, as in MOSAIC's own interpreter.
        family: Family with an interpreter of its own, whose build variables apply to ``bare``.
        absent: Archives that no package index has.
    """

    title: str
    specs: Sequence[str]
    bare: Sequence[str] = ()
    tested: bool = True
    family: OwnPythonFamily | None = None
    absent: Sequence[str] = ()


def make_wheelhouse(
    folder: Path,
    *,
    extras: Sequence[str] = (),
    env_families: Sequence[str] = (),
    workers: Sequence[str] = (),
    gpu: bool = False,
    as_json: bool = False,
) -> int:
    """Put the wheels of MOSAIC, and of what is named, into a folder; return the exit status.

    Wheels that are in the folder already are kept. The wheels fit this machine's system and Python.

    Args:
        folder: Folder for the wheels.
        extras: Optional parts of MOSAIC, such as ``gui``.
        env_families: Families of environments, also those with an interpreter of their own.
        workers: Ids of workers.
        gpu: Whether to take torch's CUDA build.
        as_json: Whether to write one JSON object instead of lines.

    Raises:
        UsageError: A name is unknown, CUDA packages would be needed, or this is no clone and the wheels of
            MOSAIC itself are not in the folder.
        InstallationError: A package cannot be found, downloaded or built.
    """
    parts = [*_parts(extras, env_families, workers)]
    own = _own_distributions(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LISTING).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="mosaic-wheels-") as temporary:
        empty, tool = Path(temporary, "empty"), Path(temporary, "tool")
        python = empty / "bin" / "python"
        Installer.of(python).make_environment(empty)
        Installer.of(python).make_environment(tool, with_pip=True)
        pip = _Pip(tool / "bin" / "python", folder)
        if own:
            pip.wheel(own, env=os.environ)
        for part in parts:
            print_progress(f"Looking up the packages of {part.title}", as_json=as_json)
            installer = Installer.for_empty(python) if part.tested else Installer.of(python)
            plan = plan_installation(part.title, part.specs, part.bare, installer, gpu=gpu)
            print_progress(f"Fetching {len(plan.packages)} packages", as_json=as_json)
            pip.fetch(plan, part.family, Path(temporary))
    absent = sorted({archive for part in parts for archive in part.absent})
    wheels = sorted(file.name for file in folder.glob("*.whl"))
    row = {
        "format": _FORMAT,
        "mosaic": __version__,
        **_this_machine(),
        "parts": [part.title for part in parts],
        "wheels": wheels,
        "absent": absent,
    }
    replace_file(folder / LISTING, json.dumps(row, indent=1).encode())
    if as_json:
        write_json(row)
        return DONE
    size = sum((folder / name).stat().st_size for name in wheels) / 1e6
    write_line(
        f"{folder} holds {len(wheels)} wheels, {size:,.0f} MB: {', '.join(part.title for part in parts)}."
    )
    for archive in absent:
        write_line(f"  not included, because no package index has it: {archive}")
    return DONE


def use_wheelhouse(folder: Path | None) -> None:
    """Let uv and pip install from the wheels of a folder only, in this process and its children.

    Args:
        folder: Folder that :func:`make_wheelhouse` has filled; ``None`` changes nothing.

    Raises:
        UsageError: The folder is no complete wheelhouse, or was made for another Python or system.
    """
    if folder is None:
        return
    try:
        row: Any = json.loads(read_file(folder / LISTING))
        made_for = {name: str(row[name]) for name in _this_machine()}
        known = row["format"] == _FORMAT
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{folder} is no complete wheelhouse", fix=f"Make one: mosaic wheelhouse {folder}"
        ) from error
    if not known:
        raise UsageError(f"{folder} was made by a newer MOSAIC", fix="Make it with this version")
    for name, value in _this_machine().items():
        # What was built with a glibc runs with newer ones, too.
        fits = _numbers(made_for[name]) <= _numbers(value) if name == "glibc" else made_for[name] == value
        if not fits:
            raise UsageError(
                f"{folder} was made for {name} {made_for[name]}, and this is {value}",
                fix="Make one on a machine like this one: mosaic wheelhouse",
            )
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"):
        os.environ.pop(name, None)
    os.environ.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(folder.resolve()), UV_OFFLINE="1")


def _this_machine() -> dict[str, str]:
    """Return what a wheel must fit: Python's version, the system, the processor and the C library."""
    return {
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "system": platform.system(),
        "processor": platform.machine(),
        "glibc": platform.libc_ver()[1],
    }


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _parts(extras: Sequence[str], env_families: Sequence[str], workers: Sequence[str]) -> Iterator[_Part]:
    specs = [
        text
        for text in metadata.requires(DISTRIBUTION) or ()
        if (requirement := Requirement(text)).name != _SDK
        and (requirement.marker is None or requirement.marker.evaluate({"extra": ""}))
    ]
    # One part, so that one set of versions serves all that share MOSAIC's interpreter.
    shared, titles, own = [*specs], ["mosaic"], list[_Part]()
    for extra in extras:
        shared += requirements_of(extra)
        titles.append(extra)
    for name in env_families:
        family, spec = find_family(name)
        if isinstance(family, OwnPythonFamily):
            own.append(_of_family(family))
        else:
            shared += requirements_of_family(family, spec)
            titles.append(name)
    for name in workers:
        definition = bootstrap_default_services().workers.registry.require(name)
        family = families().get(definition.launch.family) if definition.launch.family else None
        if isinstance(family, OwnPythonFamily) and family.name not in env_families:
            own.append(_of_family(family))
        if definition.launch.python is None and family is None:
            shared += definition.pip_dependencies
            titles.append(definition.type_id)
            continue
        file = definition.requirements
        specs = [*SDK_NEEDS, *(("-r", str(file)) if file else ()), *definition.pip_dependencies]
        bare = tuple(definition.bare_dependencies)
        own.append(_Part(definition.type_id, specs, bare, tested=False))
    yield _Part(", ".join(titles), list(dict.fromkeys(shared)))
    yield from own


def _of_family(family: OwnPythonFamily) -> _Part:
    return _Part(
        family.name,
        [*SDK_NEEDS, *family.requirements],
        family.bare_requirements,
        tested=False,
        family=family,
        absent=tuple(family.archives),
    )


def _own_distributions(folder: Path) -> list[str]:
    """Return MOSAIC's two distributions as pip takes them: folders of the clone, or wheels in ``folder``.

    Raises:
        UsageError: This is no clone, and the wheels are not in the folder. They are not looked for by name on
            an index, where the names may be another project's.
    """
    sdk = PACKAGE.parent / "3rd_party" / "mosaic_worker_sdk"
    if (sdk / "pyproject.toml").is_file():
        return [str(sdk), str(PACKAGE.parent)]
    stems = [f"{name.replace('-', '_')}-{metadata.version(name)}-" for name in (_SDK, DISTRIBUTION)]
    found = [file for stem in stems for file in folder.glob(f"{stem}*.whl")]
    if len(found) < len(stems):
        raise UsageError(
            f"the wheels of MOSAIC itself are not in {folder}",
            fix=f"Copy them there: {', '.join(f'{stem}….whl' for stem in stems)}",
        )
    return []


@dataclass(frozen=True)
class _Pip:
    """pip of an environment of its own, which fetches wheels and builds those that an index lacks.

    Attributes:
        python: Interpreter with pip.
        folder: Folder of the wheels.
    """

    python: Path
    folder: Path

    def fetch(self, plan: InstallationPlan, family: OwnPythonFamily | None, temporary: Path) -> None:
        """Fetch the packages of a plan, in exactly its versions."""
        bare = {Requirement(text).name for text in plan.bare}
        extra = [word for word in plan.installer.extra if word not in _ONLY_UV]
        torch = {plan.torch.partition("==")[0]: plan.torch} if plan.torch else {}
        specs = [torch.get(n, f"{n}=={v}") for n, v in plan.packages.items() if n not in bare]
        self.wheel([*extra, *specs], env=os.environ)
        if plan.bare:
            env = dict(os.environ)
            if family is not None:
                env |= family.build_variables(temporary)
            self.wheel([*extra, *plan.bare], env=env)

    def wheel(self, arguments: Sequence[str], *, env: Mapping[str, str]) -> None:
        """Run ``pip wheel`` without dependencies.

        Raises:
            InstallationError: pip failed.
        """
        command = [str(self.python), "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(self.folder)]
        command += ["--find-links", str(self.folder), *arguments]
        done = subprocess.run(command, env=env, stdout=sys.stderr.fileno(), check=False)
        if done.returncode != 0:
            raise InstallationError(
                f"pip could not fetch everything (exit status {done.returncode}, see above)",
                fix="Run the command again when the cause is gone; fetched wheels are kept",
            )
