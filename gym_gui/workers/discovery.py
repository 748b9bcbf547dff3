"""Finds workers: those that come with MOSAIC, in the user's folder, and in installed packages.

No worker is imported. A broken manifest is reported with the others and does not hide them.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gym_gui.core.entry_points import entry_points
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment import aliases
from gym_gui.core.paths import user_workers_dir
from gym_gui.workers.bundled import MANIFEST, bundled_folders
from gym_gui.workers.manifest import read_manifest
from gym_gui.workers.patterns import matches
from gym_gui.workers.registry import Source, WorkerTypeDefinition, WorkerTypeRegistry

_log = logging.getLogger(__name__)


def _kind_of(worker: str) -> str:
    """Return the kind in a worker's manifest; ``""`` if there is no such worker."""
    known_workers()
    definition = WorkerTypeRegistry.get(worker)
    return "" if definition is None else definition.kind.value


def _made_for(kind: str, task: str) -> str:
    """Return a worker of this kind whose manifest names the environment; ``""`` if there is none."""
    known_workers()
    for definition in WorkerTypeRegistry.all():
        # The pattern "classic/chess_v*" matches "chess_v6", too.
        patterns = definition.capabilities.environments
        short = [end for pattern in patterns if (end := pattern.rpartition("/")[2]) != "*"]
        if definition.kind.value == kind and patterns and matches(task, [*patterns, *short]):
            return definition.type_id
    return ""


aliases.kinds_by(_kind_of)
aliases.defaults_by(_made_for)

ENTRY_POINT_GROUP = "mosaic.workers"
"""Group of entry points, each of which names a package that contains a ``worker.toml``."""


@dataclass(frozen=True)
class DiscoveredManifest:
    """Result of discovery for one manifest.

    Attributes:
        name: The worker's id, or the name of its folder or entry point if the manifest is broken.
        path: The manifest, or where it should be.
        source: Where the worker was found: ``bundled``, ``user`` or ``package``.
        definition: Content of the manifest, or ``None`` if it is broken.
        problem: Why the worker cannot be used; ``""`` if it can.
    """

    name: str
    path: Path
    source: Source
    definition: WorkerTypeDefinition | None = None
    problem: str = ""


def discover(registry: type[WorkerTypeRegistry] = WorkerTypeRegistry) -> list[DiscoveredManifest]:
    """Find all workers and register them.

    A repeated call adds new workers and leaves registered workers as they are. If two workers claim the same
    name, the first keeps it, in the order bundled, user, package. The other is reported, so that no worker is
    replaced silently.

    Returns:
        One entry per manifest, including broken ones, in the order found.
    """
    found: list[DiscoveredManifest] = []
    with registry.at_once():
        for entry in _entries():
            if entry.definition is not None:
                entry = _register(entry, entry.definition, registry)
            if entry.problem:
                _log.warning("worker %s is not available: %s", entry.name, entry.problem)
                if registry.get(entry.name) is None:
                    registry.mark_broken(entry.name, entry.problem)
            found.append(entry)
    return found


def known_workers() -> tuple[WorkerTypeDefinition, ...]:
    """Return all registered worker types, sorted by id; the first call reads all manifests."""
    WorkerTypeRegistry.fill(discover)
    return WorkerTypeRegistry.all()


def find_workers(names: Iterable[str]) -> None:
    """Register the workers with these names, so that a session process need not read all manifests.

    A name means the same worker as after a full discovery, in which workers that come with MOSAIC have
    priority.

    Args:
        names: Worker ids. If any is an alias, or does not come with MOSAIC, all workers are registered.
    """
    there = {worker.type_id for worker in WorkerTypeRegistry.registered()}
    if not all(_register_bundled(name) for name in set(names) - there):
        known_workers()


def _register_bundled(name: str) -> bool:
    manifests = [place / name / MANIFEST for place in bundled_folders()] if name.isidentifier() else []
    entry = next((_read_found(name, path, "bundled") for path in manifests if path.is_file()), None)
    if entry is None or entry.definition is None or entry.name != name:
        return False
    find_rest = None if WorkerTypeRegistry.registered() else discover
    try:
        WorkerTypeRegistry.register(entry.definition, find_rest=find_rest)
    except UsageError:
        return False
    return True


def _entries() -> Iterator[DiscoveredManifest]:
    seen: set[Path] = set()
    places: list[tuple[Path, Source]] = [(folder, "bundled") for folder in bundled_folders()]
    places.append((user_workers_dir(), "user"))
    for place, source in places:
        for path in sorted(place.glob(f"*/{MANIFEST}")):
            if path.resolve() not in seen:
                seen.add(path.resolve())
                yield _read_found(path.parent.name, path, source)
    for point in entry_points(ENTRY_POINT_GROUP):
        folder = _locate(point.value)
        if folder is None:
            problem = f"its entry point names package {point.value!r}, which is not installed"
            yield DiscoveredManifest(point.name, Path(point.value), "package", problem=problem)
        elif (path := folder / MANIFEST).resolve() not in seen:
            seen.add(path.resolve())
            yield _read_found(point.name, path, "package")


def _locate(package: str) -> Path | None:
    """Return the folder of a package without importing the package.

    ``find_spec`` imports the parents of a dotted name, so only the first part is looked up; the rest is a
    path below it.
    """
    top, *rest = package.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.submodule_search_locations is None:
        return None
    roots = [Path(root, *rest) for root in spec.submodule_search_locations]
    return next((root for root in roots if (root / MANIFEST).is_file()), roots[0])


def _read_found(name: str, path: Path, source: Source) -> DiscoveredManifest:
    try:
        definition = read_manifest(path, source=source)
    except UsageError as error:
        return DiscoveredManifest(name, path, source, problem=str(error))
    return DiscoveredManifest(definition.type_id, path, source, definition)


def _register(
    entry: DiscoveredManifest, definition: WorkerTypeDefinition, registry: type[WorkerTypeRegistry]
) -> DiscoveredManifest:
    present = registry.get(definition.type_id)
    if present is not None and present.folder == definition.folder:
        return entry
    try:
        registry.register(definition)
    except UsageError as error:
        return DiscoveredManifest(entry.name, entry.path, entry.source, problem=str(error))
    return entry
