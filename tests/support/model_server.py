"""A real model server: ``transformers serve`` with tiny random models that are built on the spot.

Starting it takes some 16 seconds of one core and 430 MB, so one serves a whole test session, and all
processes of ``pytest -n``. A ``conftest.py`` imports the fixture::

    def test_it(model_server: ModelServer) -> None:
        settings = {"client_name": "transformers", "base_url": model_server.url}
        settings["model_id"] = model_server.model
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import psutil
import pytest

from tests.support.processes import alive
from tests.support.tiny_models import ACTION_MODEL, TEXT_MODEL, USERS, VISION_MODEL
from tests.support.waiting import eventually

_CHILD = Path(__file__).with_name("tiny_models.py")
_RUNNING = re.compile(r"running on http://127\.0\.0\.1:(\d+)")
_START_S = 240.0
_NOT_FOR_IT = ("MOSAIC_TEST", "MOSAIC_TREE", "COVERAGE_PROCESS_CONFIG")


class ModelServer:
    """Serves on a free port of this machine; use it in a ``with``.

    Args:
        shared: All who name the same folder use the same server, which the last of them ends;
            by default it is this object's own.

    Attributes:
        model: Name of the text model, a Llama.
        vision_model: Name of the one that sees pictures, a LLaVA.
        action_model: Name of the one that says nothing but an action of BabyAI.
    """

    model = TEXT_MODEL
    vision_model = VISION_MODEL
    action_model = ACTION_MODEL

    def __init__(self, shared: Path | None = None) -> None:
        self._own = shared is None
        self._folder = Path(tempfile.mkdtemp(prefix="mosaic-models-")) if shared is None else shared
        self._home = self._folder / "home"
        self._log = self._home / "log.txt"
        self._port = 0

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def words(self) -> str:
        """What it has printed last."""
        return self._log.read_text(errors="replace")[-4000:] if self._log.exists() else ""

    def __enter__(self) -> ModelServer:
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._alone():
            users = self._users()
            if not users or not self._serving():
                self._start()
            self._write(USERS, [*self._users(), os.getpid()])
            _, self._port = self._read("server.json")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._alone():
            users = self._users()
            users.remove(os.getpid())
            self._write(USERS, users)
            if not users:
                self._stop()
        if self._own:
            shutil.rmtree(self._folder)

    # -- its process -----------------------------------------------------------------------

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _start(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)
        self._home.mkdir()
        self._write(USERS, [os.getpid()])
        command = [sys.executable, str(_CHILD), "serve", "--host", "127.0.0.1", "--port", "0"]
        command += ["--device", "cpu", "--dtype", "float32", "--model-timeout", "-1"]
        write = os.O_WRONLY | os.O_CREAT
        files = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(self._log), write, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        pid = os.posix_spawn(command[0], command, self._environment(), file_actions=files, setsid=True)
        try:
            found = eventually(
                lambda: _RUNNING.search(self.words) or not alive(pid), "the model server runs", _START_S
            )
            if not isinstance(found, re.Match):
                raise RuntimeError(f"transformers serve did not start:\n{self.words}")
        except BaseException:
            _end(pid)
            raise
        self._write(USERS, [])
        self._write("server.json", [pid, int(found[1])])

    def _environment(self) -> dict[str, str]:
        # Without the marks of the test that happens to start it, which it outlives; and not measured.
        kept = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_IT}
        offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        threads = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        home = {"HF_HOME": str(self._home), "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
        return {**kept, **offline, **threads, **home}

    def _stop(self) -> None:
        pid, _ = self._read("server.json")
        _end(pid)
        shutil.rmtree(self._home)

    def _serving(self) -> bool:
        state = self._home / "server.json"
        return state.exists() and alive(self._read("server.json")[0])

    # -- who uses it -----------------------------------------------------------------------

    def _users(self) -> list[int]:
        """Processes that use it, each as often as it does; those that were killed have left."""
        if not (self._home / USERS).exists():
            return []
        return [pid for pid in self._read(USERS) if alive(pid)]

    def _read(self, name: str) -> list[int]:
        return json.loads((self._home / name).read_text())

    def _write(self, name: str, numbers: list[int]) -> None:
        new = self._home / f"{name}.new"
        new.write_text(json.dumps(numbers))
        new.replace(self._home / name)


def _end(pid: int) -> None:
    """End a server, which need not be a child of this process, and everything it started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        server = psutil.Process(pid)
        for process in (*server.children(recursive=True), server):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    eventually(lambda: not alive(pid), "the model server ended")


@pytest.fixture(scope="session")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """One server for all tests of a session, with a model that reads and one that sees."""
    place = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        place = place.parent  # that of all workers
    with ModelServer(place / "model-server") as server:
        yield server
