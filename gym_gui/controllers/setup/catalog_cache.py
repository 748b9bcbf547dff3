"""What a page knows of environments, workers and trained policies; found off the GUI thread."""

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
    """Looks things up and keeps them; trained policies are looked for anew each time.

    Args:
        store: Where the user's own policies are, and the runs that may have trained some.
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
        """Who may play, and what is wrong with a configuration.

        The same object as at the last call, unless policies came or went since.
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
        """A worker or environments were installed: everything is looked for anew."""
        forget_lookups()
        self._workers = self._checks = None
        for probe in filter(None, (self._probe, self._loading_probe)):
            probe.cancel()  # its process knows only what was there when it began

    @property
    def probe(self) -> EnvironmentProbe:
        """Looks at environments; its process starts when it is first asked."""
        if self._probe is None:
            self._probe = self._make_probe()
        return self._probe

    @property
    def loading_probe(self) -> EnvironmentProbe:
        """Has workers load their slots; apart, so that nothing else waits for a large network."""
        if self._loading_probe is None:
            self._loading_probe = self._make_probe()
        return self._loading_probe

    def _make_probe(self) -> EnvironmentProbe:
        from gym_gui.controllers.setup.environment_probe import EnvironmentProbe

        probe = EnvironmentProbe()
        if self._closed:
            # Work that the page began may still ask, until the window cancels it.
            probe.refuse()
        return probe

    async def env_info(self, request: EnvironmentRequest) -> EnvironmentInfo:
        """Describe an environment, made in a process of its own unless its description is kept.

        Raises:
            UsageError: It is unknown, not installed, or cannot be made so.
        """
        if self._env_infos is None:
            from gym_gui.controllers.setup.environment_info_cache import SHEETS_FOLDER, EnvironmentInfos

            folder = self._store.cache_dir(SHEETS_FOLDER)
            self._env_infos = EnvironmentInfos(folder, self.probe)
        return await self._env_infos.env_info(request)

    async def close(self) -> None:
        """End the processes that look at environments and load slots; none is started again."""
        self._closed = True
        for probe in filter(None, (self._probe, self._loading_probe)):
            await probe.close()
