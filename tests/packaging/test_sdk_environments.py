"""The worker SDK installs and works beside old and new numpy and protobuf.

Each case is an interpreter of this machine; those that are absent are skipped by name. The oldest one
gets the oldest packages that the SDK claims, the others what an installer chooses.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

# Observations through the codec into a worker and out, and every message through protobuf and back.
PROGRAM = """
import sys
import google.protobuf, numpy as np
from mosaic_worker import Batch, Codec, Slot, Space, Worker
from mosaic_worker.pb import environment_pb2, worker_pb2
from mosaic_env_server.instances import serve
import mosaic_env_server.__main__
import mosaic_worker.runtime

class Parity(Worker):
    def select_actions(self, batch):
        return [int(decision.observation.sum()) % 2 for decision in batch]

limits = np.zeros(3, np.float32), np.full(3, 9, np.float32)
box = Space("Box", dtype=np.dtype("float32"), shape=(3,), low=limits[0], high=limits[1])
assert Space.from_json(box.to_json()) == box
codec = Codec(box)
rows = [codec.decode(codec.encode(np.array(row, np.float32))) for row in ([1, 2, 3], [4, 5, 6])]
slot = Slot(0, "agent", "Test-v0", box, Space("Discrete", dtype=np.dtype("int64"), n=2))
batch = Batch(slot, [7, 8], [0, 1], [0, 0], np.array([1, 2], np.uint64), np.stack(rows))
assert Parity().select_actions(batch) == [0, 1]

for module in (worker_pb2, environment_pb2):
    for name in module.DESCRIPTOR.message_types_by_name:
        message = getattr(module, name)()
        assert type(message).FromString(message.SerializeToString()) == message

class Count:
    observation_space = Space("Discrete", dtype=np.dtype("int64"), n=9)
    action_space = Space("Discrete", dtype=np.dtype("int64"), n=2)
    metadata = {}
    def reset(self, seed=None, options=None):
        self.at = seed
        return self.at, {"where": np.arange(2)}
    def step(self, action):
        self.at += int(action)
        return self.at, 1.0, self.at == 3, False, {}
    def close(self):
        pass

served = serve(Count())
assert [agent.name for agent in served.made().agents] == ['""']
assert served.reset(1, None).agents[0].observation == [(1).to_bytes(8, "little")]
played = environment_pb2.Action(value=[(1).to_bytes(8, "little")])
assert not served.step([played]).agents[0].terminated
assert served.step([played]).agents[0].terminated
assert worker_pb2.DESCRIPTOR.message_types_by_name
print(sys.version_info[0], sys.version_info[1], np.__version__, google.protobuf.__version__)
"""


def _interpreter(version: str) -> str:
    """Path of a working ``pythonX.Y``, looked for on PATH and where pyenv keeps its own."""
    candidates = [shutil.which(f"python{version}")]
    candidates += sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
    for candidate in candidates:
        if candidate is None:
            continue
        done = subprocess.run(
            [candidate, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True
        )
        if done.returncode == 0:
            return candidate
    pytest.skip(f"no Python {version} on this machine")


@pytest.mark.parametrize(
    ("version", "pins"),
    [
        ("3.8", ["numpy==1.22.0", "protobuf==3.20.2"]),
        ("3.9", ["numpy<2", "protobuf==4.25.*"]),
        pytest.param("3.10", ["numpy<2", "protobuf==5.29.*"], marks=pytest.mark.full),
        ("3.11", ["numpy==1.26.4", "protobuf==6.33.*"]),
        pytest.param("3.12", [], marks=pytest.mark.full),
        ("3.13", []),
    ],
)
def test_the_sdk_works_there(
    version: str,
    pins: Sequence[str],
    sdk_wheel: Path,
    make_environment: Callable[[str, Sequence[str]], Path],
    clean_environment: dict[str, str],
    tmp_path: Path,
) -> None:
    python = make_environment(_interpreter(version), [str(sdk_wheel), *pins])
    done = subprocess.run(
        [str(python), "-W", "error::DeprecationWarning:mosaic_worker", "-c", PROGRAM],
        cwd=tmp_path,
        env=clean_environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:2] == version.split(".")
