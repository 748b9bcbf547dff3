"""Caches environments, workers and trained policies for a page; lookups run outside the GUI thread."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from gym_gui.controllers.setup.installing import forget_lookups

if TYPE_CHECKING:
    from gym_gui.controllers.setup.available_players import Workers
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.controllers.setup.environment_info_cache import EnvironmentInfos
    from gym_gui.controllers.setup.environment_probe import EnvironmentProbe, EnvironmentRequest
    from gym_gui.services.policies.policy_catalog import PolicyFile
    from gym_gui.services.store import Store


class CatalogCache:
    """Cache of workers and environments; trained policies are searched again for each request.

    Args:
        store: Store with the user's policies and runs.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._workers: Workers | None = None
        self._files: list[PolicyFile] = []
        self._checks: ConfigurationChecks | None = None
        self._loading: asyncio.Lock = asyncio.Lock()
        self._probe: EnvironmentProbe | None = None
        self._loading_probe: EnvironmentProbe | None = None
        self._env_infos: EnvironmentInfos | None = None
        self._closed = False

    async def checks(self) -> ConfigurationChecks:
        """Return the configuration checks, which know all workers and trained policies.

        The same object is returned until policies are added or removed.
        """
        async with self._loading:
            for name in ("configuration_checks", "available_players"):
                await asyncio.to_thread(import_module, f"gym_gui.controllers.setup.{name}")
            from gym_gui.controllers.setup.available_players import find_policies, find_workers
            from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks

            if self._workers is None:
                self._workers = await asyncio.to_thread(find_workers)
            files = await asyncio.to_thread(find_policies, self._store)
            if self._checks is None or files != self._files:
                self._files, self._checks = files, ConfigurationChecks(*self._workers, files)
        return self._checks

    def renew(self) -> None:
        """Clear all cached lookups, because a worker or environments were installed."""
        forget_lookups()
        self._workers = self._checks = None
        for probe in filter(None, (self._probe, self._loading_probe)):
            probe.cancel()  # its process knows only packages installed before its start

    @property
    def probe(self) -> EnvironmentProbe:
        """Child process that describes and checks environments; it starts with the first request."""
        if self._probe is None:
            self._probe = self._make_probe()
        return self._probe

    @property
    def loading_probe(self) -> EnvironmentProbe:
        """Child process that loads slots as a test.

        It is separate from :attr:`probe`, so that other requests need not wait for a large network.
        """
        if self._loading_probe is None:
            self._loading_probe = self._make_probe()
        return self._loading_probe

    def _make_probe(self) -> EnvironmentProbe:
        from gym_gui.controllers.setup.environment_probe import EnvironmentProbe

        probe = EnvironmentProbe()
        if self._closed:
            # A page's background task may still call this, until the window cancels the task.
            probe.refuse()
        return probe

    async def env_info(self, request: EnvironmentRequest) -> EnvironmentInfo:
        """Return an environment's description; a child process makes the environment if none is cached.

        Raises:
            UsageError: The environment is unknown, not installed, or cannot be made with these settings.
        """
        if self._env_infos is None:
            from gym_gui.controllers.setup.environment_info_cache import SHEETS_FOLDER, EnvironmentInfos

            folder = self._store.cache_dir(SHEETS_FOLDER)
            self._env_infos = EnvironmentInfos(folder, self.probe)
        return await self._env_infos.env_info(request)

    async def close(self) -> None:
        """End the child processes that make environments and load slots; no new one is started."""
        self._closed = True
        for probe in filter(None, (self._probe, self._loading_probe)):
            await probe.close()
