"""TensorBoard over the runs' own logs: a child of the window, on a port of this machine alone."""

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

from ulid import ULID

import mosaic_worker.launch
from gym_gui.core.errors import MissingDependencyError, WorkerLaunchError
from gym_gui.core.inherited import inherited
from gym_gui.processes.child import Child, read_line, spawn
from gym_gui.processes.tree import kill_tree, tagged
from gym_gui.services.store import Store

PATIENCE_S: Final = 60.0
_ADDRESS: Final = re.compile(rb"http://[\w.\[\]:-]+:(\d+)")
_UNFIT: Final = re.compile(r"[^\w .,=+-]+")


class TensorBoard:
    """One server for the window; runs are linked into the folder it looks at, under their titles.

    Args:
        store: Where that folder is made.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._child: Child | None = None
        self._reader: asyncio.Task[None] | None = None
        self._tag = ""
        self._folder: Path | None = None
        self._starting = asyncio.Lock()
        self._last = ""
        self.address = ""

    @property
    def running(self) -> bool:
        """Whether it answers."""
        return self._child is not None and self._child.returncode is None and bool(self.address)

    async def show(self, runs: Mapping[str, Path]) -> str:
        """Have it show these runs; it is started when it does not run.

        Args:
            runs: TensorBoard folder by title.

        Returns:
            Its address.

        Raises:
            MissingDependencyError: It is not installed.
            WorkerLaunchError: It did not start.
        """
        async with self._starting:
            folder = await asyncio.to_thread(self._link, runs)
            if not self.running:
                await self._start(folder)
            return self.address

    async def close(self) -> None:
        """End it, with everything it started."""
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
        self._tag = str(ULID())
        tie = [sys.executable, "-S", "-E", str(Path(mosaic_worker.launch.__file__)), str(os.getpid())]
        serve = [sys.executable, "-P", "-m", "tensorboard.main", "--logdir", str(folder)]
        where = ["--host", "127.0.0.1", "--port", "0", "--reload_interval", "5"]
        try:
            self._child = await spawn(
                *tie,
                *serve,
                *where,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env=tagged(inherited(), self._tag),
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerLaunchError(f"TensorBoard could not be started: {error}") from error
        told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._reader = asyncio.get_running_loop().create_task(self._listen(self._child, told))
        try:
            self.address = await asyncio.wait_for(told, PATIENCE_S)
        except TimeoutError:
            await self._end()
            raise WorkerLaunchError(f"TensorBoard did not answer within {PATIENCE_S:g} s") from None
        except BaseException:
            await self._end()
            raise

    async def _listen(self, child: Child, told: asyncio.Future[str]) -> None:
        """Hear where it serves; then keep its pipe empty."""
        assert child.stderr is not None
        while (line := await read_line(child.stderr)) is not None:
            found = _ADDRESS.search(line)
            if found and not told.done():
                told.set_result(f"http://127.0.0.1:{int(found.group(1))}/")
            self._last = line.decode(errors="replace").strip() or self._last
        if not told.done():
            told.set_exception(WorkerLaunchError(f"TensorBoard ended at once: {self._last}"))

    async def _end(self) -> None:
        child, reader = self._child, self._reader
        self._child = self._reader = None
        self.address = ""
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait_closed()
            await asyncio.to_thread(kill_tree, self._tag)
        if reader is not None:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
