"""Caches descriptions of environments in memory and on disk.

Making an environment takes a separate process (:mod:`gym_gui.controllers.setup.environment_probe`) and some
seconds. A description on disk is valid until the environment's package or MOSAIC changes. Environments of the
user's own code are not stored on disk, because they may change with any file that they read.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.metadata
import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from gym_gui import envs
from gym_gui.controllers.engine.environment_seats import EnvironmentSeats, of_operator
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.environment_probe import EnvironmentProbe, EnvironmentRequest
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.interpreters import installed_versions
from gym_gui.core.trusted.subjects import Subject
from gym_gui.envs.index import package_dir
from gym_gui.envs.installed_distributions import distributions_of
from gym_gui.version import __version__
from mosaic_worker.plain_files import replace_file

_log = logging.getLogger(__name__)

SHEETS_FOLDER: Final = "environments"
"""Name of the folder for environments' descriptions, below the cache folder."""
_FORMAT: Final = 7


class EnvironmentInfos:
    """Cache of environments' descriptions; a probe makes each description when it is first needed.

    Args:
        folder: Folder for the descriptions.
        probe: Makes and describes environments.
    """

    def __init__(self, folder: Path, probe: EnvironmentProbe) -> None:
        self._folder, self._probe = folder, probe
        self._known: dict[str, EnvironmentInfo] = {}

    async def env_info(self, request: EnvironmentRequest) -> EnvironmentInfo:
        """Return the description of an environment.

        Raises:
            NotAllowedError: A file names code that the user has not allowed.
            UsageError: The environment is unknown, not installed, or cannot be made with these settings.
        """
        asked = json.dumps(request.to_json(), sort_keys=True)
        if asked not in self._known:
            allowed = await asyncio.to_thread(request.allowed_code)
            path = await asyncio.to_thread(self._path, request, allowed)
            env_info = await asyncio.to_thread(_read_sheet, path) if path is not None else None
            if env_info is None:
                env_info = await self._probe.describe(request)
                if path is not None:
                    await asyncio.to_thread(_write, path, env_info)
            self._known[asked] = env_info
        return self._known[asked]

    async def seats(self, config: OperatorConfig) -> EnvironmentSeats:
        """Return slots and teams of an operator's environment; errors are as for :meth:`env_info`."""
        request = EnvironmentRequest.of(config)
        env_info = await self.env_info(request)
        if env_info.appear and (named := config.resolved_slots()):
            try:
                env_info = await self.env_info(replace(request, slots=tuple(named)))
            except UsageError as error:
                raise of_operator(config, error) from None
        return env_info.seats

    def _path(self, request: EnvironmentRequest, allowed: Sequence[Subject]) -> Path | None:
        """Return the cache file, whose name depends on all that influences its content.

        The result is ``None`` for code that needed permission, or if this process does not know the
        environment.
        """
        if allowed:
            return None
        try:
            return self._folder / f"{fingerprint(request, allowed)}.json"
        except UsageError:
            return None  # the probe reports the error, or finds the environment


def fingerprint(request: EnvironmentRequest, allowed: Sequence[Subject]) -> str:
    """Return a hash that changes with the request, the environment's package and the code that describes it.

    Experiment files in different folders share the description of an installed environment.

    Args:
        request: The environment and how to make it.
        allowed: Code of the user that makes it; only such code is looked up in the folder of a file.
    """
    asked = request.to_json()
    if not allowed:
        del asked["origin"]
    spec = envs.resolve(
        request.task, env_name=request.env_name or None, api=request.api, origin=request.origin
    )
    versions = sorted(f"{n}={importlib.metadata.version(n)}" for n in distributions_of(spec.package))
    versions += sorted(f"{n}={v}" for n, v in installed_versions(spec.package).items())
    described = spec.traits.get("described", "")
    place = package_dir(spec.package) if spec.package else None
    changed = _newest(place) if place is not None and place.exists() else 0
    ours = _newest(Path(envs.__file__).parent)
    code = [subject.sha256 for subject in allowed]
    facts = [_FORMAT, __version__, ours, asked, spec.id, versions, described, changed, code, sys.prefix]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:20]


def _newest(folder: Path) -> int:
    """Return the newest modification time in ns of a folder and its Python files.

    A package may be edited in place, without a new version.
    """
    return max(path.stat().st_mtime_ns for path in (folder, *folder.rglob("*.py")))


def _read_sheet(path: Path) -> EnvironmentInfo | None:
    try:
        return EnvironmentInfo.from_json(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _write(path: Path, env_info: EnvironmentInfo) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(env_info.to_json()).encode(), sync=False)
    except OSError as error:
        _log.info("the description of an environment is not cached: %s", error)
