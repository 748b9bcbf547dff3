"""Workers of a few lines, written into a folder as a person would write them."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.manifest import read_manifest

RANDOM = """
import numpy as np
from mosaic_worker import Worker
from mosaic_worker.rng import bits

class Main(Worker):
    def select_actions(self, batch):
        n = batch.slot.action_space.n
        return np.array([int(bits(int(s), t)[0]) % n for s, t in zip(batch.seeds, batch.steps)])
"""
"""Plays at random in Discrete spaces."""

PATIENT = """
import os, subprocess, sys, time
from pathlib import Path
import numpy as np
from mosaic_worker import Worker
from mosaic_worker.rng import bits

class Main(Worker):
    def load(self, slot):
        self.folder, self.at = Path(os.environ["MOSAIC_TEST_GATE"]), slot.settings["at"]
        for _ in range(int(os.environ.get("MOSAIC_TEST_CHILDREN", "0"))):
            sleeper = "import time; time.sleep(600)"
            subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=True)

    def select_actions(self, batch):
        if max(batch.episodes) >= self.at and not (self.folder / "open").exists():
            (self.folder / f"reached-{os.getpid()}-{len(list(self.folder.glob('reached-*')))}").touch()
            while not (self.folder / "open").exists():
                time.sleep(0.005)
        everything = np.ones((len(batch.seeds), batch.slot.action_space.n), bool)
        legal = map(np.flatnonzero, everything if batch.action_masks is None else batch.action_masks)
        draws = [int(bits(int(s), t)[0]) for s, t in zip(batch.seeds, batch.steps)]
        return np.array([choices[draw % len(choices)] for choices, draw in zip(legal, draws)])
"""
"""Plays at random, and waits from episode ``at`` on until ``$MOSAIC_TEST_GATE/open`` exists.

It starts ``$MOSAIC_TEST_CHILDREN`` processes in sessions of their own.
"""

RAW = """
import os, signal, socket, struct, sys, threading, time
from mosaic_worker.pb import worker_pb2 as pb

# The SDK's main has read the host's hello; from here on this module speaks for itself.
link = socket.socket(fileno=os.dup(int(sys.argv[sys.argv.index("--fd") + 1])))

def frame(**body):
    data = pb.FromWorker(**body).SerializeToString()
    return struct.pack("<I", len(data)) + data

def receive():
    def exactly(n):
        data = b""
        while len(data) < n:
            piece = link.recv(n - len(data))
            if not piece:
                os._exit(0)
            data += piece
        return data
    return pb.ToWorker.FromString(exactly(struct.unpack("<I", exactly(4))[0]))

def welcome(**more):
    return frame(welcome=pb.Welcome(**{"protocol": 1, "worker": "raw", "version": "1", **more}))

def loaded(slot=0):
    return frame(loaded=pb.Loaded(slot=slot, policy="raw"))

def replies(ids, actions, slot=0):
    column = pb.Column(data=b"".join(struct.pack("<q", a) for a in actions))
    return frame(replies=pb.Replies(slot=slot, ids=ids, action=[column]))

def begin(**more):
    link.sendall(welcome(**more))
    receive()
    link.sendall(loaded())

def questions():
    while True:
        message = receive()
        if message.WhichOneof("body") == "shutdown":
            os._exit(0)
        if message.work.HasField("questions"):
            return list(message.work.questions.ids)

def stay():
    while True:
        questions()
"""
"""Beginning of a worker without the SDK: it speaks in bytes."""


def little_worker(
    folder: Path,
    code: str,
    name: str = "little_worker",
    *,
    launch: dict[str, Any] | None = None,
    limits: dict[str, Any] | None = None,
    inputs: dict[str, Any] | None = None,
    capabilities: dict[str, Any] | None = None,
) -> WorkerTypeDefinition:
    """Write ``<folder>/<name>/{worker.toml, <name>_code.py}`` and read it as discovery does.

    Args:
        folder: Where workers are dropped.
        code: Python source with a class ``Main``, or a program where ``launch`` has a ``command``.
        name: Its id.
        launch: More for the manifest's ``[launch]``.
        limits: The manifest's ``[limits]``.
        inputs: The manifest's ``[inputs]``.
        capabilities: More for the manifest's ``[capabilities]``.
    """
    home = folder / name
    home.mkdir(parents=True)
    (home / f"{name}_code.py").write_text(textwrap.dedent(code), encoding="utf-8")
    how = dict(launch or {})
    if "command" not in how:
        how["entry"] = f"{name}_code:Main"
    manifest: dict[str, Any] = {
        "id": name,
        "kind": "baseline",
        "version": "1.2",
        "launch": how,
        "capabilities": {
            "paradigm": "SINGLE_AGENT",
            "env_types": ["any"],
            "action_spaces": ["any"],
            "observation_spaces": ["any"],
            **(capabilities or {}),
        },
    }
    for key, section in (("limits", limits), ("inputs", inputs)):
        if section:
            manifest[key] = section
    path = home / "worker.toml"
    path.write_text(_toml(manifest), encoding="utf-8")
    return read_manifest(path, source="user")


def _toml(manifest: Mapping[str, Any]) -> str:
    plain = {key: value for key, value in manifest.items() if not isinstance(value, dict)}
    lines = [f"{key} = {_toml_value(value)}" for key, value in plain.items()]
    for name, section in manifest.items():
        if name not in plain:
            lines += [f"[{name}]", *(f"{key} = {_toml_value(value)}" for key, value in section.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml_value(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value)  # strings, numbers, truth values and lists of them are the same in TOML
