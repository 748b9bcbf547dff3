"""Runs TensorBoard on the runs' logs as a child process of the window, on a local port."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gym_gui.core.errors import MissingDependencyError, WorkerLaunchError
from gym_gui.core.inherited_environment import inherited
from gym_gui.processes.child import ManagedChild, lines_of
from gym_gui.services.store import Store

PATIENCE_S: Final = 60.0
_NAME: Final = "TensorBoard"
_ADDRESS: Final = re.compile(r"http://[\w.\[\]:-]+:(\d+)")
_UNFIT: Final = re.compile(r"[^\w .,=+-]+")


class TensorBoard:
    """The single TensorBoard server of the window. Runs are linked into its log folder by title.

    Args:
        store: Provides the log folder.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._child: ManagedChild | None = None
        self._folder: Path | None = None
        self._starting = asyncio.Lock()
        self.address = ""

    @property
    def running(self) -> bool:
        """Whether the server is running and its address is known."""
        return self._child is not None and self._child.running and bool(self.address)

    async def show(self, runs: Mapping[str, Path]) -> str:
        """Show runs in TensorBoard, and start the server if it is not running.

        Args:
            runs: TensorBoard folder by title.

        Returns:
            Address of the server.

        Raises:
            MissingDependencyError: TensorBoard is not installed.
            WorkerLaunchError: The server did not start.
        """
        async with self._starting:
            folder = await asyncio.to_thread(self._link, runs)
            if not self.running:
                await self._start(folder)
            return self.address

    async def close(self) -> None:
        """End the server and its child processes, and remove its log folder."""
        async with self._starting:
            await self._end()
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    # -- inside --------------------------------------------------------------------------

    def _link(self, runs: Mapping[str, Path]) -> Path:
        if self._folder is None:
            self._folder = self._store.cache_dir("tensorboard") / str(os.getpid())
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        wanted = {_UNFIT.sub("_", title).strip(" .") or "run": path for title, path in runs.items()}
        for link in self._folder.iterdir():
            if wanted.get(link.name) != link.readlink():
                link.unlink()
        for name, path in wanted.items():
            with contextlib.suppress(FileExistsError):
                (self._folder / name).symlink_to(path, target_is_directory=True)
        return self._folder

    async def _start(self, folder: Path) -> None:
        if importlib.util.find_spec("tensorboard") is None:
            raise MissingDependencyError("TensorBoard", "mosaic workers install cleanrl_worker")
        await self._end()
        serve = [sys.executable, "-P", "-m", "tensorboard.main", "--logdir", str(folder)]
        where = ["--host", "127.0.0.1", "--port", "0", "--reload_interval", "5"]
        told: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def listen(child: ManagedChild) -> None:
            """Read the server's address from its output, then read on so that the pipe does not fill."""
            async for line in lines_of(child.stderr):
                found = _ADDRESS.search(line)
                if found and not told.done():
                    told.set_result(f"http://127.0.0.1:{int(found.group(1))}/")
                child.remember_line(line)

        child = await ManagedChild.start(*serve, *where, name=_NAME, environment=inherited(), listen=listen)
        self._child = child
        try:
            await asyncio.wait({told, child.exited}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._end()
            raise
        if told.done():
            self.address = told.result()
        elif child.running:
            await self._end()
            raise WorkerLaunchError(f"{_NAME} did not answer within {PATIENCE_S:g} s")
        else:
            outcome = await child.finished()
            raise WorkerLaunchError(f"{_NAME} ended at once: {outcome.last_line or outcome.words}")

    async def _end(self) -> None:
        child, self._child, self.address = self._child, None, ""
        if child is not None:
            await child.end()
