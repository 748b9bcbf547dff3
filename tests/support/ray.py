"""A real Ray cluster of two nodes on this machine, each with a core; its state in a temporary folder."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from unittest import SkipTest

import psutil

from tests.support.commands import ROOT
from tests.support.waiting import eventually

_PORTS = (
    *("node-manager-port", "object-manager-port", "metrics-export-port"),
    *("dashboard-agent-grpc-port", "dashboard-agent-listen-port", "min-worker-port", "max-worker-port"),
)

_ON_A_BUSY_MACHINE = {
    # A node takes longer than Ray's 30 s to be registered.
    "RAY_raylet_start_wait_time_s": "240",
    # Ray gives its tasks a niceness of 15, with which they hardly get a core beside other tests.
    "RAY_worker_niceness": "0",
}


@dataclass
class Ray:
    """A cluster, of which the second node can be lost.

    Attributes:
        folder: Its state and its logs.
        address: The head's.
        outside: The address for who is on no node of it.
        variables: By which it is found and entered.
        first: The process that holds the head.
        second: The process that holds the second node.
    """

    folder: Path
    address: str
    outside: str
    variables: Mapping[str, str]
    first: psutil.Process
    second: psutil.Process | None = None

    def lose_second(self, *, with_tasks: bool = False) -> None:
        """Have Ray's own processes of the second node end at once; and what they have begun, or not."""
        assert self.second is not None
        for process in [self.second, *self.second.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                if with_tasks or process == self.second or process.name().startswith("ray"):
                    process.kill()
        psutil.wait_procs([self.second], 30)
        self.second = None

    def workers(self) -> list[psutil.Process]:
        """Its processes that run tasks or actors, on both nodes."""
        found: list[psutil.Process] = []
        for node in filter(None, (self.first, self.second)):
            with suppress(psutil.NoSuchProcess):
                found += [each for each in node.children(recursive=True) if _is_worker(each)]
        return found


def _is_worker(process: psutil.Process) -> bool:
    try:
        return process.name().startswith("ray::")
    except psutil.NoSuchProcess:
        return False


def ray_folder(folder: Path) -> Path | None:
    """Where Ray is installed for commands to find it; ``None``: it is where the tests are.

    The test is skipped, by name, where it cannot be had.
    """
    if importlib.util.find_spec("ray") is not None:
        return None
    uv = shutil.which("uv")
    pip = (
        [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    )
    pins = ROOT / "requirements" / "constraints.txt"
    command = [*pip, "-q", "--target", str(folder), "-c", str(pins), "ray"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        raise SkipTest("needs Ray, from a package index: mosaic install ray")
    return folder


@contextmanager
def ray_cluster(python_path: Path | None) -> Iterator[Ray]:
    """The head of a cluster that is entered by a token; each node has a resource of its own name: ``first``.

    Args:
        python_path: Where Ray is, by :func:`ray_folder`.
    """
    with ExitStack() as stack:
        # Sockets are in it, whose paths are short.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mt", dir="/tmp")))
        token = folder / "token"
        token.touch(0o600)
        token.write_text(os.urandom(32).hex())
        variables = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            **({"PYTHONPATH": str(python_path)} if python_path else {}),
        }
        port, outside = _port(), _port()
        head = (
            "--include-dashboard=false",
            f"--port={port}",
            f"--ray-client-server-port={outside}",
        )
        first = _start(stack, "first", variables, "--head", f"--temp-dir={folder}", *head)
        yield Ray(folder, f"127.0.0.1:{port}", f"ray://127.0.0.1:{outside}", variables, first)


@contextmanager
def second_node(ray: Ray, *, gpus: int = 0, **variables: str) -> Iterator[None]:
    """The second node of a cluster, which may be lost meanwhile; its environment has more variables.

    Args:
        ray: The cluster.
        gpus: How many it says that it has; Ray counts them, and looks for none.
        variables: These.
    """
    with ExitStack() as stack:
        own = ("--node-ip-address=127.0.0.2", f"--address={ray.address}", f"--num-gpus={gpus}")
        ray.second = _start(stack, "second", {**ray.variables, **variables}, *own)
        yield


def _start(stack: ExitStack, name: str, variables: Mapping[str, str], *options: str) -> psutil.Process:
    command = [
        *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"),
        *("--num-cpus=1", f"--resources={json.dumps({name: 1})}", f"--object-store-memory={80 << 20}"),
        *(f"--{port}=0" for port in _PORTS),
        f"--runtime-env-agent-port={_port()}",
        *options,
    ]
    # Its parent is a shell that has ended: sessions in this process end strangers among its children.
    log = tempfile.NamedTemporaryFile(prefix="mt-ray-", delete=False)  # noqa: SIM115
    line = f'"$@" >{log.name} 2>&1 </dev/null & echo $!'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command],
        env={**os.environ, **_ON_A_BUSY_MACHINE, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    process = psutil.Process(int(done.stdout))

    def end() -> None:
        known = [process, *process.children(recursive=True)] if process.is_running() else []
        if process.is_running():
            process.terminate()
        _, left = psutil.wait_procs(known, 30)
        for each in left:
            each.kill()
        Path(log.name).unlink()

    stack.callback(end)

    def is_up() -> bool:
        assert process.is_running(), Path(log.name).read_text()
        return "runtime started" in Path(log.name).read_text()

    eventually(is_up, f"the {name} node is up")
    return process


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
