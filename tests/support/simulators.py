"""Engines that are not here: servers that speak their protocols, started, killed and stopped as they are."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.interpreters import interpreter_of
from gym_gui.envs.families.simulators import SimulatorFamily
from gym_gui.envs.remote_env import close_servers
from tests.support.commands import COMMAND

_HERE = Path(__file__).parent


class Engine:
    """One server: ``airsim_server``, ``sc2_server`` or ``unrealcv_server``.

    Args:
        script: Its module.
        python: Interpreter that has what it needs.
        arguments: Its options.

    Attributes:
        port: Where it listens; the same after it was started again.
    """

    def __init__(self, script: str, python: Path | str, arguments: Sequence[str] = ()) -> None:
        self._command = [str(python), str(_HERE / f"{script}.py"), *arguments]
        self._process: subprocess.Popen[str] | None = None
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start it, or start it again."""
        command = [*self._command, "--port", str(self.port)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None


@contextmanager
def engine(script: str, python: Path | str = sys.executable, *arguments: str) -> Iterator[Engine]:
    """One for the length of a block."""
    made = Engine(script, python, arguments)
    try:
        yield made
    finally:
        made.kill()


@contextmanager
def installed(family: SimulatorFamily, folder: Path) -> Iterator[SimulatorFamily]:
    """The family, installed by our command into a data folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOSAIC_DATA_DIR", str(folder))
        done = subprocess.run(
            [*COMMAND, "envs", "install", family.name], capture_output=True, text=True, timeout=900
        )
        assert done.returncode == 0, done.stderr
        assert interpreter_of(family.name).exists()
        yield family
        close_servers()


def made(family: SimulatorFamily, env_id: str, port: int | None, **settings: Any) -> Any:
    """One of its environments; without a port, of an engine that it starts."""
    spec = next(spec for spec in family.specs() if spec.id == env_id)
    arguments: Mapping[str, Any] = {"port": port, "timeout_s": 1.0, **settings}
    mode = next(iter(family.render_modes(spec)), None)
    return family.build(spec, render_mode=mode, env_kwargs=arguments)


STOP, GO_ON = signal.SIGSTOP, signal.SIGCONT


# -- what goes wrong with any of them: how it is made to, and what has to be said


def free_port() -> int:
    """A port at which no process listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def nobody_is_there(make: Callable[[int], Any], who: str) -> None:
    """An environment whose engine was not started says so.

    Args:
        make: From a port to the environment.
        who: What it calls its engine.
    """
    port = free_port()
    with pytest.raises(
        Exception, match=rf"{who} at 127.0.0.1:{port} cannot be reached: Connection refused\. Start"
    ):
        make(port).reset()


def one_that_is_started_again_is_waited_for(env: Any, world: Engine, act: Callable[[Any], Any]) -> None:
    """Args: an environment with time, its engine, and a step."""
    env.reset()
    world.kill()
    soon = threading.Timer(1.5, world.start)
    soon.start()
    env.reset()
    soon.join()
    act(env)
    env.close()


def one_that_is_stopped_is_not_waited_for(
    env: Any, world: Engine, act: Callable[[Any], Any], said: tuple[str, str], within_s: float
) -> None:
    """It says so in a step and as an episode begins, and the next one after it goes on is played.

    Args:
        env: Waits for a second.
        world: Its engine.
        act: A step.
        said: What is said, in a step and in ``reset``.
        within_s: How long both take together at most.
    """
    env.reset()
    world.signal(STOP)
    began = time.monotonic()
    with pytest.raises(Exception, match=said[0]):
        act(env)
    with pytest.raises(Exception, match=said[1]):
        env.reset()
    assert time.monotonic() - began < within_s
    world.signal(GO_ON)
    env.reset()
    act(env)
    env.close()
