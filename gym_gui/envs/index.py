"""Reads the environments that a package registers, without importing the package in this process.

Some packages list their environments only when they are imported. A short child process (``index_child.py``)
imports such a package once. Its answer is cached in the user's cache directory until the package's version,
location or time stamp changes.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from gym_gui.core.entry_points import entry_points
from gym_gui.core.errors import UsageError
from gym_gui.core.inherited_environment import inherited
from gym_gui.core.interpreters import installed_versions
from gym_gui.core.paths import cache_dir
from gym_gui.envs.installed_distributions import distributions_of
from gym_gui.processes.outcome import ChildStatus
from gym_gui.processes.run_child import run_child_sync
from mosaic_worker.plain_files import replace_file

logger = logging.getLogger(__name__)

_CHILD = Path(__file__).with_name("index_child.py")
_FORMAT = 4
_TIMEOUT_S = 120.0


def is_installed(module: str, *, namespace: bool = False) -> bool:
    """Return whether a top-level module is installed; nothing is imported.

    Args:
        module: Import name.
        namespace: Whether a folder without ``__init__.py`` counts, too. The packages of families have one,
            but many working directories contain a folder with the same name.
    """
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return False
    return found is not None and (namespace or found.origin is not None)


def package_dir(module: str) -> Path | None:
    """Return the folder of an installed top-level package without importing it; ``None`` if it is missing."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return Path(spec.origin).parent if spec.origin else None


def registered(
    kind: str, module: str, here: Callable[[str], Iterable[Mapping[str, Any]]]
) -> Iterable[Mapping[str, Any]]:
    """Return the rows of a registry, read in this process if its module is imported, else from the cache.

    Args:
        kind: See :func:`entries`.
        module: Import name of the registry.
        here: Reads the registry in this process.
    """
    return here(module) if module in sys.modules else entries(kind, module)


def find_registered(
    kind: str, module: str, name: str, here: Callable[[str], Mapping[str, Any] | None]
) -> Mapping[str, Any] | None:
    """Return a registry's row with this id, or ``None``.

    Args:
        kind: See :func:`entries`.
        module: Import name of the registry.
        name: The id.
        here: Looks the id up in the registry of this process.
    """
    if module in sys.modules:
        return here(name)
    return next((row for row in entries(kind, module) if row["id"] == name), None)


@lru_cache(maxsize=32)
def entries(kind: str, module: str, python: str = "") -> tuple[dict[str, Any], ...]:
    """Return the environments that a module registers, one row each.

    Args:
        kind: ``"gymnasium"`` (rows that importing ``module`` adds to Gymnasium's registry), ``"pettingzoo"``,
            ``"openspiel"``, ``"envpool"``, ``"dm_control"``, ``"textarena"``, ``"bsuite"`` (games or tasks
            that ``module`` lists).
        module: Import name of an installed package, or of its module that registers environments.
        python: Interpreter of a family with the package; ``""`` for this interpreter.

    Raises:
        UsageError: The package is installed but cannot be imported.
    """
    facts = [python, installed_versions(Path(python).parents[1].name)] if python else _facts(module)
    path = cache_dir() / "envs" / f"{module}-{_fingerprint(kind, module, facts)}.json"
    rows = _read_index(path)
    if rows is None:
        rows = _ask_child(kind, module, python or sys.executable)
        _write(path, rows)
    return tuple(rows)


def _facts(module: str) -> list[Any]:
    package = module.partition(".")[0]
    place = package_dir(package)
    versions = sorted(f"{n}={importlib.metadata.version(n)}" for n in distributions_of(package))
    # Not the folder's own time stamp: the first import adds __pycache__ to the folder.
    sources = sorted(place.glob("*.py")) if place else []
    changed = [(file.name, file.stat().st_mtime_ns) for file in sources]
    return [str(place), changed, versions, _plugins(), sys.version_info[:3], sys.prefix]


def _plugins() -> list[str]:
    """Return the packages that Gymnasium imports itself because of their entry points."""
    found = {point.dist for point in entry_points("gymnasium.envs") if point.dist is not None}
    return sorted(f"{dist.name}={dist.version}" for dist in found)


def _fingerprint(kind: str, module: str, facts: list[Any]) -> str:
    return hashlib.sha256(json.dumps([_FORMAT, kind, module, *facts]).encode()).hexdigest()[:16]


def _read_index(path: Path) -> list[dict[str, Any]] | None:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(data, list):
        return None
    rows: list[Any] = data  # pyright: ignore[reportUnknownVariableType]
    return rows if all(isinstance(row, dict) and isinstance(row.get("id"), str) for row in rows) else None  # pyright: ignore[reportUnknownMemberType]


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(rows).encode(), sync=False)
    except OSError as error:
        logger.info("the list of environments is not cached: %s", error)


def _ask_child(kind: str, module: str, python: str) -> list[dict[str, Any]]:
    command = (python, "-P", str(_CHILD), kind, module)
    name = f"importing {module}"
    done = run_child_sync(*command, name=name, environment=inherited(), within_s=_TIMEOUT_S)
    if done.outcome.status is ChildStatus.TIMED_OUT:
        raise UsageError(f"{name} took longer than {_TIMEOUT_S:.0f} s")
    if not done.outcome.succeeded:
        raise UsageError(
            f"{module} is installed but cannot be imported: {done.outcome.last_line or done.outcome.words}"
        )
    return json.loads(done.output)
