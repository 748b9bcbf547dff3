"""Starts a daemon that outlives the starting process, and ends a daemon."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import mosaic_worker
from gym_gui.core.errors import MosaicError, UsageError, WorkerLaunchError
from gym_gui.core.paths import PACKAGE
from gym_gui.processes.tree import TAG
from gym_gui.services.last_log_line import last_log_line
from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import NOTIFY, Address, find, log_file
from gym_gui.workers.discovery import discover
from gym_gui.workers.environment_variables import engine_environment
from gym_gui.workers.registry import WorkerTypeRegistry
from mosaic_worker.plain_files import open_file

START_S = 60.0
"""Longest time in seconds until a daemon listens. A cold disk is slow."""
STOP_S = 20.0
_LOOK_S = 0.05
_LOG_MB = 5
# An intermediate process forks and exits at once, so this program is not the daemon's parent and need not
# wait for it.
_DETACH = """
import os, sys
if os.fork():
    os._exit(0)
os.setsid()
os.execv(sys.argv[1], sys.argv[1:])
"""


async def start_daemon(store: Store, *options: str) -> Address:
    """Start a daemon for a data folder, or return the one that another process has just started.

    Args:
        store: Provides the folders for data, runs and cache.
        options: More arguments of ``mosaic daemon``.

    Raises:
        UsageError: The folders cannot be used.
        WorkerLaunchError: The daemon did not start. The message contains its last output.
    """
    return await asyncio.to_thread(_start, store, options)


def stop_daemon(store: Store, within: float = STOP_S) -> Address | None:
    """Ask the daemon of a data folder to end, and wait for its end. Its trainings continue.

    Returns:
        Address of the ended daemon; ``None`` if there was none.

    Raises:
        MosaicError: The daemon does not end.
    """
    address = find(store)
    if address is None:
        return None
    with contextlib.suppress(ProcessLookupError):
        os.kill(address.pid, signal.SIGTERM)
    deadline = time.monotonic() + within
    while (left := find(store)) is not None and left.pid == address.pid:
        if time.monotonic() > deadline:
            raise MosaicError(
                f"the trainer daemon (process {address.pid}) does not end",
                fix=f"Kill it: kill -9 {address.pid}; its trainings continue",
            )
        time.sleep(_LOOK_S)
    return address


def _start(store: Store, options: tuple[str, ...]) -> Address:
    log = log_file(store)
    ready, told = os.pipe()
    command = [sys.executable, "-P", "-m", "gym_gui", "daemon", *options]
    try:
        _make_room(log)
        with open_file(log, "ab", permissions=0o600) as said:
            os.fchmod(said.fileno(), 0o600)  # an earlier version may have made the log with another mode
            began = log.stat().st_size
            subprocess.run(
                [sys.executable, "-I", "-S", "-c", _DETACH, *command],
                env={**_environment(store), NOTIFY: str(told)},
                cwd=log.parent,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                pass_fds=(told,),
                start_new_session=True,
                check=True,
            )
    except (OSError, subprocess.SubprocessError) as error:
        os.close(ready)
        raise WorkerLaunchError(f"the trainer daemon could not be started: {error}") from error
    finally:
        os.close(told)
    with os.fdopen(ready, "rb", buffering=0) as pipe:
        listens = bool(select.select([pipe], [], [], START_S)[0]) and bool(pipe.read(16))
    return _started_daemon(store, log, began, listens)


def _started_daemon(store: Store, log: Path, began: int, listens: bool) -> Address:
    """Return the address of the started daemon, or of one that another process started just before."""
    deadline = time.monotonic() + START_S
    while (address := find(store)) is None:
        said = last_log_line(log, began)
        if not listens and "already" not in said:
            raise WorkerLaunchError(
                f"the trainer daemon did not start: {said or 'it printed nothing'}", fix=f"Its log is {log}"
            )
        if time.monotonic() > deadline:
            raise WorkerLaunchError("the trainer daemon ended at once", fix=f"Its log is {log}")
        time.sleep(_LOOK_S)
    return address


def _make_room(log: Path) -> None:
    """Rename a large log, so that one old log is kept."""
    if log.exists() and log.stat().st_size > _LOG_MB * 2**20:
        log.replace(log.with_suffix(".old.log"))


def _environment(store: Store) -> dict[str, str]:
    discover(WorkerTypeRegistry)  # manifests name the variables that trainings get
    environment = engine_environment()
    # The daemon gets no tag: when the program that starts it ends, all processes with its tag are ended.
    environment.pop(TAG, None)
    environment.update(
        MOSAIC_DATA_DIR=str(store.data.absolute()),
        MOSAIC_CACHE_DIR=str(store.cache.absolute()),
        MOSAIC_RUNTIME_DIR=str(store.runtime_dir()),
        PYTHONUNBUFFERED="1",
        PYTHONSAFEPATH="1",  # files among the runs must not be imported
    )
    roots = [PACKAGE.parent, Path(mosaic_worker.__file__).resolve().parents[1]]
    beside = [str(root) for root in roots if root.name != "site-packages"]
    environment["PYTHONPATH"] = os.pathsep.join([*filter(None, [environment.get("PYTHONPATH", "")]), *beside])
    if not environment["PYTHONPATH"]:
        del environment["PYTHONPATH"]
    return environment


def require_daemon(store: Store) -> Address:
    """Return the address of the daemon of a data folder.

    Raises:
        UsageError: There is no daemon.
    """
    address = find(store)
    if address is None:
        raise UsageError(f"no trainer daemon serves {store.data}", fix="Start one: mosaic daemon")
    return address
