"""Collects versions of packages and properties of the machine, to be recorded with a run."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

from gym_gui.core.inherited_environment import inherited
from gym_gui.core.interpreters import installed_versions
from gym_gui.core.paths import PACKAGE
from gym_gui.envs.installed_distributions import distributions_of
from gym_gui.processes.child import ChildStartError
from gym_gui.processes.run_child import run_child_sync
from gym_gui.version import __version__


class _HasEnvironment(Protocol):
    @property
    def env_package(self) -> str: ...


def version_of(package: str) -> str | None:
    """Return the version of the distribution that contains an import package, or ``None``."""
    return next(filter(None, map(_installed, distributions_of(package) or (package,))), None)


def _installed(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def versions_of(resolved: _HasEnvironment) -> dict[str, str]:
    """Return the versions of Python, MOSAIC, its main packages, and the environment's package."""
    ours = ("numpy", "gymnasium", "pettingzoo", "protobuf")
    found: dict[str, str | None] = {name: _installed(name) for name in ours}
    if package := resolved.env_package:
        found.setdefault(package, version_of(package))
        # An environment with its own interpreter may use other versions of these packages.
        found = {**installed_versions(package), **found}
    known = {name: number for name, number in found.items() if number is not None}
    return {"python": platform.python_version(), "mosaic": __version__, **known}


def machine() -> dict[str, Any]:
    """Return the machine's system, processor architecture, number of cores and memory in MB."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "system": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "memory_mb": pages // 2**20,
    }


def commit(folder: Path) -> str | None:
    """Return the git commit of ``folder``, with ``+`` for uncommitted changes; ``None`` outside git."""
    head = _git(folder, "rev-parse", "HEAD")
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return None if head is None or changed is None else head + ("+" if changed else "")


@cache
def made_here() -> Mapping[str, Any]:
    """Return the entries of ``run.json`` that record where a run was played: machine and commit.

    They are those of this process's first run, since its code stays the same and git takes 0.1 s.
    """
    return {"machine": machine(), "commit": commit(PACKAGE)}


def _git(folder: Path, *arguments: str) -> str | None:
    command = ("git", "-C", str(folder), *arguments)
    try:
        done = run_child_sync(*command, name="git", environment=inherited(), within_s=5, tied=False)
    except ChildStartError:
        return None
    return done.output.decode(errors="replace").strip() if done.outcome.succeeded else None
