"""Connects to StarCraft II by protobuf messages over a websocket, with a time limit for every wait.

The interface is https://github.com/Blizzard/s2client-proto; the messages are those of the package
``s2clientprotocol``.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportMissingModuleSource=false

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar, Dict, List, Optional, Tuple

from mosaic_env_server.shims.simulators import SimulatorError, SimulatorUnreachable

OLDEST = 55958
"""Build number of StarCraft II 3.16.1, the first version with this interface."""
_AGAIN_S = 0.5
_REMEDY = "Start StarCraft II, or leave port out and set SC2PATH to the folder in which it is installed"


class StarCraft:
    """Connection to a StarCraft II engine, which it starts if no port is given.

    Args:
        host: Host on which the engine listens.
        port: Port of a running engine; ``None`` starts an engine, which :meth:`close` ends.
        path: Folder in which StarCraft II is installed; ``""`` for ``~/StarCraftII``.
        timeout_s: Longest wait for an answer in seconds.
        start_s: Longest wait for the start of the engine in seconds.
        version: Required beginning of the engine's version; ``""`` for any version.

    Attributes:
        who: Name of the engine in messages.
        playing: Whether a game is in progress.

    Raises:
        SimulatorError: The engine cannot be reached or started, or has another version.
    """

    _open: ClassVar[Dict[Tuple[str, int], StarCraft]] = {}

    def __init__(
        self, host: str, port: Optional[int], path: str, timeout_s: float, start_s: float, version: str
    ) -> None:
        self._timeout_s, self._number, self.playing = timeout_s, 0, False
        self._socket: Any = None
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._folder: Optional[str] = None
        try:
            if port is None:
                port = self._start(host, _binary(path))
                self.who = "StarCraft II"
                self._socket = self._connected(host, port, start_s)
            else:
                self.who = f"StarCraft II at {host}:{port}"
                # The engine accepts one client: an environment that begins an episode takes over the engine.
                before = self._open.pop((host, port), None)
                if before is not None:
                    before.drop()
                self._open[(host, port)] = self
                self._socket = self._connected(host, port, 0.0)
            self._check(version)
        except BaseException:
            self.close()
            raise

    def ask(self, name: str, message: Any) -> Any:
        """Send a request and wait for its answer.

        Args:
            name: Name of the field of ``Request`` and ``Response``.
            message: Content of the request's field.

        Raises:
            SimulatorError: The engine refuses the request.
            Unreachable: The engine does not answer, or sends an invalid answer.
        """
        import websocket
        from google.protobuf.message import DecodeError
        from s2clientprotocol import sc2api_pb2

        if self._socket is None:
            raise SimulatorUnreachable(f"{self.who}: the connection was lost; begin another episode")
        self._number += 1
        request = sc2api_pb2.Request(id=self._number, **{name: message})
        try:
            self._socket.send_binary(request.SerializeToString())
            answer = sc2api_pb2.Response.FromString(self._socket.recv())
        except websocket.WebSocketTimeoutException:
            self.drop()
            raise SimulatorUnreachable(
                f"{self.who} did not answer within {self._timeout_s:g} s in {name}. {_REMEDY}"
            ) from None
        except (OSError, websocket.WebSocketException, DecodeError, TypeError):
            self.drop()
            raise SimulatorUnreachable(
                f"{self.who} broke the connection in {name}, or sent an invalid answer. {_REMEDY}"
            ) from None
        self.playing = answer.status in (sc2api_pb2.in_game, sc2api_pb2.ended)
        if answer.error:
            raise SimulatorError(f"{self.who} refused {name}: {'; '.join(answer.error)}")
        if answer.WhichOneof("response") != name:
            self.drop()
            raise SimulatorUnreachable(f"{self.who} sent an invalid answer to {name}. {_REMEDY}")
        return getattr(answer, name)

    @property
    def lost(self) -> bool:
        """Whether the connection is closed."""
        return self._socket is None

    def drop(self) -> None:
        """Close the connection."""
        with contextlib.suppress(Exception):
            if self._socket is not None:
                self._socket.close(timeout=1)
        self._socket = None

    def close(self) -> None:
        """Close the connection, and end an engine that was started here."""
        if self._process is not None and self._socket is not None:
            from s2clientprotocol import sc2api_pb2

            with contextlib.suppress(SimulatorError):
                self.ask("quit", sc2api_pb2.RequestQuit())
        self.drop()
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(2)
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _start(self, host: str, binary: Path) -> int:
        with socket.create_server((host, 0)) as free:
            port = int(free.getsockname()[1])
        self._folder = tempfile.mkdtemp(prefix="mosaic-sc2-")
        home = binary.parents[2]
        arguments: List[str] = [str(binary), "-listen", host, "-port", str(port)]
        arguments += ["-dataDir", f"{home}/", "-tempDir", f"{self._folder}/"]
        variables = {**os.environ, "LD_LIBRARY_PATH": f"{home / 'Libs'}"}
        try:
            self._process = subprocess.Popen(
                arguments, cwd=home, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
        except OSError as exc:
            raise SimulatorUnreachable(f"{binary} cannot be started: {exc.strerror}. {_SET}") from None
        return port

    def _connected(self, host: str, port: int, within_s: float) -> Any:
        import websocket

        until = time.monotonic() + within_s
        while True:
            try:
                return websocket.create_connection(f"ws://{host}:{port}/sc2api", timeout=self._timeout_s)
            except websocket.WebSocketTimeoutException:
                why = f"did not answer within {self._timeout_s:g} s"
            except websocket.WebSocketException:
                why = "sent an invalid answer: another program listens there"
            except OSError as exc:
                why = f"cannot be reached: {exc.strerror or exc}"
            ended = self._process is not None and self._process.poll() is not None
            if ended:
                why = f"ended with status {self._process.returncode} as it was started"  # type: ignore[union-attr]
            if ended or time.monotonic() >= until:
                raise SimulatorUnreachable(f"{self.who} {why}. {_REMEDY}")
            time.sleep(_AGAIN_S)

    def _check(self, version: str) -> None:
        from s2clientprotocol import sc2api_pb2

        told = self.ask("ping", sc2api_pb2.RequestPing())
        if told.base_build < OLDEST:
            raise SimulatorUnreachable(
                f"{self.who} is version {told.game_version}, which is too old; 3.16.1 or newer is needed. "
                f"{_SET}"
            )
        if not told.game_version.startswith(version):
            raise SimulatorUnreachable(
                f"{self.who} is version {told.game_version}, and version asks for {version}. {_SET}"
            )


_SET = "Set SC2PATH to the folder in which it is installed"


def _binary(path: str) -> Path:
    home = Path(path or "~/StarCraftII").expanduser()
    found = [each for each in home.glob("Versions/Base*/SC2_x64") if each.parent.name[4:].isdigit()]
    if not found:
        raise SimulatorUnreachable(
            f"StarCraft II is not installed: there is no Versions/Base…/SC2_x64 in {home}. {_SET}, or give "
            "host and port of one that runs (docs/simulators.md)"
        )
    return max(found, key=lambda each: int(each.parent.name[4:]))
