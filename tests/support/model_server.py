"""A real model server: ``transformers serve`` with tiny random models that are built on the spot.

Starting it takes some 15 seconds of one core, so one serves a whole test session::

    def test_it(model_server: ModelServer) -> None:
        settings = {"client_name": "transformers", "base_url": model_server.url}
        settings["model_id"] = model_server.model

A ``conftest.py`` imports the fixture.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import psutil
import pytest

from tests.support.tiny_models import TEXT_MODEL, VISION_MODEL

_CHILD = Path(__file__).with_name("tiny_models.py")
_RUNNING = re.compile(r"running on http://127\.0\.0\.1:(\d+)")
_START_S = 240.0
_NOT_FOR_IT = ("MOSAIC_TEST", "MOSAIC_TREE", "COVERAGE_PROCESS_CONFIG")


class ModelServer:
    """Serves on a free port of this machine; use it in a ``with``.

    Attributes:
        model: Name of the text model, a Llama.
        vision_model: Name of the one that sees pictures, a LLaVA.
    """

    model = TEXT_MODEL
    vision_model = VISION_MODEL

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mosaic-models-")
        self._process: subprocess.Popen[str] | None = None
        self._port = 0
        self._said: deque[str] = deque(maxlen=60)
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, name="model server's words", daemon=True)

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def words(self) -> str:
        """What it has printed last."""
        return "\n".join(self._said)

    def __enter__(self) -> ModelServer:
        command = [sys.executable, str(_CHILD), "serve", "--host", "127.0.0.1", "--port", "0"]
        self._process = subprocess.Popen(
            [*command, "--device", "cpu", "--dtype", "float32", "--model-timeout", "-1"],
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader.start()
        self._ready.wait(_START_S)
        if not self._port:
            self.close()
            raise RuntimeError(f"transformers serve did not start:\n{self.words}")
        return self

    def _environment(self) -> dict[str, str]:
        # Without the marks of the test that happens to start it, which it outlives; and not measured.
        kept = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_IT}
        offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        threads = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        home = {"HF_HOME": self._folder.name, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
        return {**kept, **offline, **threads, **home}

    def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        for line in self._process.stdout:
            self._said.append(line.rstrip())
            if not self._port and (found := _RUNNING.search(line)):
                self._port = int(found[1])
                self._ready.set()
        self._ready.set()  # it has ended

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it and everything it started."""
        if self._process is not None:
            with contextlib.suppress(psutil.NoSuchProcess):
                for child in psutil.Process(self._process.pid).children(recursive=True):
                    child.kill()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._reader.join()
            if self._process.stdout is not None:
                self._process.stdout.close()
        self._folder.cleanup()


@pytest.fixture(scope="session")
def model_server() -> Iterator[ModelServer]:
    """One server for all tests of a session, with a model that reads and one that sees."""
    with ModelServer() as server:
        yield server
