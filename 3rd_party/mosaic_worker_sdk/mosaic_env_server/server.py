"""Serves many environments to one player and handles its requests one after the other."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any, Dict, List, Optional

import numpy as np

from mosaic_env_server.entries import Entries
from mosaic_env_server.frames import FrameMemory
from mosaic_env_server.instances import Instance, serve
from mosaic_env_server.plain import LOST
from mosaic_worker.failures import one_line, with_place
from mosaic_worker.link import PROTOCOL, Link
from mosaic_worker.pb import environment_pb2 as pb
from mosaic_worker.rendered import as_picture, as_text

ServerLink = Link[pb.ToEnvironment, pb.FromEnvironment]
VERSION = "0.1.0"
_TOGETHER = 8
"""Number of reports sent together; the player handles them while the server makes the next ones."""
_HOLD_S = 0.0005


class EnvironmentServer:
    """Serves environments over one connection.

    Args:
        link: Connection to the player.
        entries: Makes the environments.
        memory: Shared memory for images; without it images are sent as messages.
    """

    def __init__(self, link: ServerLink, entries: Entries, memory: Optional[FrameMemory] = None) -> None:
        self._link, self._entries, self._memory = link, entries, memory
        self._instances: Dict[int, Instance] = {}
        self._reports: List[pb.Report] = []
        self._sent = 0.0

    def run(self) -> int:
        """Serve until the player disconnects or sends ``shutdown``; return the exit status."""
        import os

        try:
            while True:
                message = self._link.receive()
                if message is None or message.shutdown:
                    return 0
                if message.HasField("hello"):
                    welcome = pb.EnvironmentWelcome(
                        protocol=PROTOCOL, server=f"mosaic_env_server/{VERSION}", pid=os.getpid()
                    )
                    self._link.send(pb.FromEnvironment(welcome=welcome))
                    if message.hello.protocol != PROTOCOL:
                        return 2
                self._carry_out(message)
        except ValueError as exc:  # an invalid message, after which no further message can be trusted
            with suppress(OSError):
                self._link.send(pb.FromEnvironment(failed=str(exc)))
            return 2
        except OSError:
            return 0  # the player has disconnected
        finally:
            self._close_all()

    def _carry_out(self, message: pb.ToEnvironment) -> None:
        self._sent = time.monotonic()
        for order in message.orders:
            self._reports.append(self._report(order))
            if len(self._reports) >= _TOGETHER or time.monotonic() - self._sent > _HOLD_S:
                self._send()
        self._send()

    def _send(self) -> None:
        if self._reports:
            self._link.send(pb.FromEnvironment(reports=self._reports))
            self._reports = []
        self._sent = time.monotonic()

    def _report(self, order: pb.Order) -> pb.Report:
        number, what = order.instance, order.WhichOneof("body")
        try:
            if what == "step":
                return pb.Report(instance=number, state=self._known(number).step(order.step.actions))
            if what == "reset":
                return pb.Report(instance=number, state=self._reset(number, order.reset))
            if what == "render":
                return pb.Report(instance=number, frame=self._frame(self._known(number)))
            if what == "make":
                return pb.Report(instance=number, made=self._make(number, order.make))
            if what == "ask":
                return pb.Report(
                    instance=number, json=self._known(number).ask(order.ask.name, order.ask.agent)
                )
            if what == "close":
                self._close(number)
            return pb.Report(instance=number)
        except Exception as exc:  # code of third-party environments
            lost = getattr(exc, "mosaic_lost", False)
            kind = LOST if lost and what == "step" else type(exc).__name__
            return pb.Report(instance=number, error=with_place(one_line(exc), exc), kind=kind)

    def _known(self, number: int) -> Instance:
        if number not in self._instances:
            raise LookupError(f"there is no instance {number}")
        return self._instances[number]

    def _make(self, number: int, order: pb.Make) -> pb.Made:
        arguments: Dict[str, Any] = json.loads(order.arguments or "{}")
        env = self._entries.make(order.entry, arguments)
        try:
            instance = serve(env, order.api, str(arguments.get("render_mode") or ""))
            made = instance.made()
        except BaseException:
            with suppress(Exception):
                env.close()
            raise
        self._close(number)
        self._instances[number] = instance
        return made

    def _reset(self, number: int, order: pb.Reset) -> pb.State:
        seed = order.seed if order.HasField("seed") else None
        options = json.loads(order.options) if order.options else None
        return self._known(number).reset(seed, options)

    def _frame(self, instance: Instance) -> pb.Frame:
        drawn = instance.render()
        picture: Any = as_picture(drawn)
        if picture is None:
            return pb.Frame(text=as_text(drawn))
        if self._memory is None:
            return pb.Frame(shape=picture.shape, data=np.ascontiguousarray(picture).tobytes())
        return pb.Frame(shape=picture.shape, shared=self._memory.put(picture))

    def _close(self, number: int) -> None:
        instance = self._instances.pop(number, None)
        if instance is not None:
            instance.close()

    def _close_all(self) -> None:
        for number in list(self._instances):
            with suppress(Exception):  # no player is connected that could get the error
                self._close(number)
