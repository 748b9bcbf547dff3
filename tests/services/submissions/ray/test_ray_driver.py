"""The process that talks to Ray, over its lines.

A busy cluster cannot be had at will: what Ray then raises is raised by a module of its name.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RAY = """
from types import SimpleNamespace
__version__ = "2.0"
cloudpickle = SimpleNamespace(register_pickle_by_value=lambda module: None)
tries = 0
def init(**_):
    global tries
    tries += 1
    if tries <= {failing}:
        raise ConnectionAbortedError("Initialization failure from server: RuntimeError: {words}")
"""


def connected(folder: Path, failing: int, words: str) -> dict[str, Any]:
    """What the process answers that is to connect to a cluster which refuses so many times."""
    (folder / "ray.py").write_text(RAY.format(failing=failing, words=words))
    with socket.create_server(("127.0.0.1", 0)) as cluster:
        asked = {"do": "connect", "address": f"ray://127.0.0.1:{cluster.getsockname()[1]}"}
        done = subprocess.run(
            [sys.executable, "-m", "gym_gui.services.submissions.ray.ray_driver"],
            input=f"{json.dumps(asked)}\n",
            env={**os.environ, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout)


@pytest.mark.parametrize("failing", [0, 2])
def test_a_cluster_that_is_slow_to_start_is_asked_again(tmp_path: Path, failing: int) -> None:
    assert connected(tmp_path, failing, "Starting Ray client server failed. See x.err") == {"done": "2.0"}


@pytest.mark.parametrize(
    ("failing", "words"), [(3, "Starting Ray client server failed"), (1, "it has no room")]
)
def test_a_cluster_that_cannot_be_used_is_away(tmp_path: Path, failing: int, words: str) -> None:
    answer = connected(tmp_path, failing, words)
    assert answer["trouble"] == "away" and words in answer["message"]
