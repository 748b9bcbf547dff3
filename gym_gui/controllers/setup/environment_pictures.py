"""Renders and caches a small picture of each environment when it is first needed."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Final

from gym_gui import envs
from gym_gui.controllers.setup.environment_info_cache import fingerprint
from gym_gui.controllers.setup.environment_probe import EnvironmentProbe, EnvironmentRequest
from gym_gui.core.errors import MosaicError
from gym_gui.envs.pictures import Picture
from gym_gui.envs.png import as_png
from mosaic_worker.plain_files import replace_file

_log = logging.getLogger(__name__)

PICTURES_FOLDER: Final = "environment_pictures"
"""Name of the folder for environments' pictures, below the cache folder."""
LONGEST: Final = 128
"""Pixels of a picture's longer side, twice the size that lists show."""
_SEED: Final = 0
_PATIENCE_S: Final = 30.0


class EnvironmentPictures:
    """Cache of environments' pictures, rendered in a child process one after the other.

    A picture shows the first frame of an episode and is valid until the environment's package changes. An
    environment that renders nothing or cannot be made is not tried again until then. An environment that
    takes too long is tried again at the next request.

    Args:
        folder: Folder for the pictures.
        probe: Child process that makes environments.
        patience_s: Seconds that an environment may take.
    """

    def __init__(self, folder: Path, probe: EnvironmentProbe, *, patience_s: float = _PATIENCE_S) -> None:
        self._folder, self._probe, self._patience_s = folder, probe, patience_s

    async def png(self, env_id: str) -> bytes:
        """Return an environment's picture as PNG file; ``b""`` if it has none.

        Args:
            env_id: Canonical id of the environment.
        """
        request = EnvironmentRequest(env_id)
        path = await asyncio.to_thread(self._path, request)
        if path is None:
            return b""
        kept = await asyncio.to_thread(_read, path)
        if kept is not None:
            return kept
        try:
            preview = await asyncio.wait_for(self._probe.preview(request, _SEED), self._patience_s)
        except TimeoutError:
            return b""
        except MosaicError as error:
            _log.debug("%s has no picture: %s", env_id, error)
            drawn = b""
        else:
            drawn = await asyncio.to_thread(_small, preview.picture)
        await asyncio.to_thread(_keep, path, drawn)
        return drawn

    def _path(self, request: EnvironmentRequest) -> Path | None:
        """Return the cache file of the environment's picture; ``None`` if it should not be rendered.

        Simulators that are running, and environments that compile for minutes, are not rendered.
        """
        try:
            spec = envs.resolve(request.task)
            family = envs.families()[spec.family]
            if family.world(spec, {}) or family.compiled or envs.trouble(spec):
                return None
            return self._folder / f"{fingerprint(request, request.allowed_code())}.png"
        except MosaicError:
            return None

    async def close(self) -> None:
        """End the child process that renders."""
        await self._probe.close()


def _small(picture: Picture | None) -> bytes:
    return b"" if picture is None else as_png(picture, longest=LONGEST)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _keep(path: Path, png: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, png, sync=False)
    except OSError as error:
        _log.info("the picture of an environment is not cached: %s", error)
