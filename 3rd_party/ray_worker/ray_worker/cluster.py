"""Starts Ray for one training, or connects to a running cluster."""

# Ray is not among the packages that the checks install.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any

import mosaic_worker
from mosaic_worker.environments import mosaic_folder
from mosaic_worker.failures import one_line
from mosaic_worker.learning.training_command import ConfigError

_OBJECT_STORE = 128 << 20
"""Size of the shared memory for batches between Ray's processes, in bytes."""
_LONGEST = 40
"""Longest prefix of the sockets' paths, in characters: a socket's whole path has at most 107."""
_ANSWER_S = 5.0
_MARK = "MOSAIC_RAY_OF"
# Ray's own processes end with a killed training, except two of its helpers.
_GUARD = """
import os, shutil, signal, sys, time
needle, folder = sys.argv[1].encode(), sys.argv[2]
sys.stdin.buffer.read()
found = True
while found:
    found = False
    for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if pid != os.getpid() and needle in file.read():
                    os.kill(pid, signal.SIGKILL)
                    found = True
        except OSError:
            continue
    time.sleep(0.2 if found else 0)
shutil.rmtree(folder, ignore_errors=True)
"""
_RESULTS = "DEFAULT_STORAGE_PATH"


def check_cluster(address: str) -> None:
    """Check that a Ray cluster answers, before any process is started.

    Raises:
        ConfigError: No cluster answers.
    """
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S).close()
    except OSError as error:
        why = error.strerror or one_line(error)
        raise ConfigError(
            f"no Ray cluster answers at {address} ({why}). Start one at this address (ray start --head "
            f"--port={port}), or leave "
            "address out to start Ray for the training"
        ) from error


def quiet() -> None:
    """Disable Ray's usage reports and warnings; call this before importing Ray."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    os.environ["RAY_DEDUP_LOGS"] = "0"
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    warnings.filterwarnings("ignore")


@contextlib.contextmanager
def connected(address: str, cores: int, gpus: int) -> Generator[None, None, None]:
    """Run Ray during a training; everything that was started for the training ends with it.

    Args:
        address: Address of a cluster; empty to start Ray for this training.
        cores: Number of cores for a Ray that is started here.
        gpus: Number of GPUs for a Ray that is started here.

    Raises:
        ConfigError: The cluster cannot be joined, or Ray cannot be started.
    """
    folder = _folder()
    quiet()
    guard = _guard(folder)
    if not address:
        # Other users of this machine must not be able to send work to this Ray.
        os.environ["RAY_AUTH_MODE"], os.environ["RAY_AUTH_TOKEN"] = "token", secrets.token_hex(32)
    import ray

    # Each algorithm of RLlib creates a folder here, by default in the home folder.
    setattr(importlib.import_module("ray.tune.trainable.trainable"), _RESULTS, str(folder / "results"))
    handlers = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
    try:
        try:
            with _silenced():
                ray.init(**_options(address, folder, cores, gpus))
        except Exception as error:  # Ray may raise any exception
            where = f"the Ray cluster at {address} cannot be joined" if address else "Ray cannot be started"
            raise ConfigError(f"{where}: {one_line(error)}") from error
        finally:
            for name, handler in handlers.items():  # Ray's own handlers end the process immediately
                signal.signal(name, handler)
        logging.getLogger("ray").setLevel(logging.ERROR)
        yield
    finally:
        with contextlib.suppress(Exception):  # the cluster may have ended before
            ray.shutdown()
        guard.communicate()


def _guard(folder: Path) -> subprocess.Popen[bytes]:
    """Start a process that kills all processes with this training's mark when its stdin closes, even after a
    crash.
    """
    mark = secrets.token_hex(16)
    command = [sys.executable, "-I", "-S", "-c", _GUARD, f"{_MARK}={mark}", str(folder)]
    guard = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    os.environ[_MARK] = mark
    return guard


def _options(address: str, folder: Path, cores: int, gpus: int) -> dict[str, Any]:
    common: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address:
        # The cluster's nodes may not have this worker, so its packages are sent to them.
        packages = [Path(__file__).parent, Path(mosaic_worker.__file__).parent, mosaic_folder()]
        carried = [str(package) for package in packages if package is not None]
        return {
            **common,
            "address": address,
            "runtime_env": {"py_modules": carried, "excludes": ["bundled", "__pycache__", "ui"]},
        }
    return {
        **common,
        "num_cpus": cores,
        "num_gpus": gpus,
        "include_dashboard": False,
        "object_store_memory": _OBJECT_STORE,
        "_temp_dir": str(folder),
    }


def _folder() -> Path:
    """Make a folder for Ray's sockets and logs, on a path that is short enough."""
    place = tempfile.gettempdir()
    return Path(tempfile.mkdtemp(prefix="ray-", dir=place if len(place) <= _LONGEST - 12 else "/tmp"))


@contextlib.contextmanager
def _silenced() -> Generator[None, None, None]:
    """Discard Ray's output during its start."""
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stderr(nowhere),
        contextlib.redirect_stdout(nowhere),
    ):
        yield
    sys.stdout.flush()
