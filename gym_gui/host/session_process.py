"""Session host process and the connection to it: start, requests, event stream and end."""

from __future__ import annotations

import asyncio
import logging
import math
import secrets as random_secrets
import time
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Protocol

from gym_gui.core.clean_up import finish_despite_cancel
from gym_gui.core.errors import KilledWhileStartingError, MosaicError, WorkerLaunchError
from gym_gui.core.trusted.subjects import Subject
from gym_gui.core.trusted.trust import environment_with_permissions
from gym_gui.host.host_program import HostProgram, ProgramListener, TakeProgram
from gym_gui.host.pb.session_pb2_grpc import SessionStub
from gym_gui.host.service_names import greeting, pb
from gym_gui.host.socket_folder import SocketFolder
from gym_gui.processes.child import ManagedChild
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.processes.reaper import guard, remove_after
from gym_gui.services.rpc.address import UnixAddress
from gym_gui.services.rpc.calling import Connection
from gym_gui.services.store import Store
from gym_gui.workers.environment_variables import engine_environment

_log = logging.getLogger(__name__)

START_TIMEOUT_S = 60.0
PATIENCE_S = 60.0
"""Seconds of silence after which a host is killed. A live host sends a message every second."""
FAREWELL_S = 3.0
"""Seconds for a host to end after a request to end, or after the end of its call."""
_DRAIN_S = 3.0
_PIPE_S = 0.005
"""Seconds between two looks at whether the pipe of a host that ends its session is empty."""


class HostLostError(MosaicError):
    """Error: a host has ended or does not answer; the message follows the host's name in a sentence."""


class HostOwner(ProgramListener, Protocol):
    """Receives the output and the end of a host; its methods are called from the event loop."""

    def on_failed(self, error: MosaicError) -> None:
        """Handle an error with which the followed stream has ended."""
        ...

    def on_exit(self, outcome: ChildOutcome) -> None:
        """Handle the end of the host and of all processes that it started."""
        ...


def host_environment(allowed: Sequence[Subject] = ()) -> dict[str, str]:
    """Return the environment variables of a host that may use these subjects.

    Args:
        allowed: Subjects that it may use, besides registered environments and installed workers.
    """
    return environment_with_permissions(engine_environment(), allowed)


class HostProcess:
    """A host process that serves one owner, and further owners one after the other (:meth:`rest`).

    After :meth:`close` and :meth:`rest` it holds no reference to its owner. So the owner frees gRPC's channel
    at once when it drops this object, and with the last channel gRPC ends its thread.

    Args:
        owner: Receives output and end of the host.
        name: Name of the host in messages: ``"session process of blue"``.
        operator: Operator that ``ps`` shows.
        store: Store whose runtime folder contains the socket.
        patience_s: Seconds of silence after which the host is killed.
        farewell_s: Seconds for the host to end by itself.
        take: Returns a host that is already started, or ``None``.
    """

    def __init__(
        self,
        owner: HostOwner,
        name: str,
        operator: str,
        store: Store | None = None,
        *,
        patience_s: float = PATIENCE_S,
        farewell_s: float = FAREWELL_S,
        take: TakeProgram | None = None,
    ) -> None:
        self._owner: HostOwner | None = owner
        self._name, self._operator, self._store = name, operator, store or Store()
        self._patience, self._farewell_s, self._take_program = patience_s, farewell_s, take
        self._folder: SocketFolder | None = None
        self._program: HostProgram | None = None
        self._child: ManagedChild | None = None
        self._connection: Connection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._stub: Any = None
        self._on_message: Callable[[Any], None] | None = None
        self._orders: set[asyncio.Task[Any]] = set()
        self._turn = asyncio.Lock()
        self._watcher: asyncio.Task[None] | None = None
        self._last_message_at = math.inf  # signs of life are expected only after the connection is made
        self._closing = self._resting = False
        self._end = ""
        self.environment: dict[str, str] = {}
        """Environment variables with which the host was started."""
        self.served = 0
        """Number of owners that it has served to their end."""

    @property
    def pid(self) -> int:
        """Process id of the session host; 0 before the start."""
        return self._child.pid if self._child else 0

    # -- start -----------------------------------------------------------------------------

    async def start(self, allowed: Sequence[Subject] = (), *, pictures: bool = False) -> int | None:
        """Start the host and connect to it. The caller must call :meth:`close` later, also after an error.

        Args:
            allowed: Code that the host may use, besides registered environments and installed workers.
            pictures: Whether the host shares memory for pictures.

        Returns:
            File descriptor of that memory, which the caller must close; ``None`` if pictures are part of the
                messages.

        Raises:
            WorkerLaunchError: The host did not start.
            UsageError: The host is of another version.
        """
        environment = self.environment = host_environment(allowed)
        guard()
        self._folder = SocketFolder(self._store.runtime_dir())
        folder = self._folder.path
        remove_after(folder)
        token = random_secrets.token_urlsafe(24)
        program = self._program = await self._start_program(environment, pictures)
        child = self._child = program.child
        create_task = asyncio.get_running_loop().create_task
        self._watcher = create_task(self._watch(program, child))
        program.set_listener(self._owner)
        await program.reach(folder / "h")
        program.send_configuration(folder / "h", token, self._operator, environment)
        await self._until_listening(program, child)
        address = UnixAddress(folder / "h")
        self._connection = Connection(address, token, self._name, HostLostError)
        self._stub = SessionStub(self._connection.channel)
        await self.ask("Greet", greeting(), timeout_s=START_TIMEOUT_S)
        # The socket is not needed any more, since the connection stays without it.
        self._remove_folder()
        return program.picture_memory_descriptor()

    async def _start_program(self, environment: Collection[str], pictures: bool) -> HostProgram:
        if self._take_program is not None:
            started = await self._take_program(environment)
            if started is not None:
                return started
        return await HostProgram.start(f"the {self._name}", self._operator, pictures=pictures)

    async def _until_listening(self, program: HostProgram, child: ManagedChild) -> None:
        told = asyncio.ensure_future(program.listening.wait())
        try:
            await asyncio.wait(
                {told, child.exited}, timeout=START_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            told.cancel()
        if program.listening.is_set() and not self._closing:
            return
        outcome = None if child.running else await child.finished()
        if outcome is not None and outcome.status is ChildStatus.KILLED:
            raise KilledWhileStartingError(f"the {self._name} {outcome.words}")
        last_line = child.tail[-1] if child.tail else "it printed nothing"
        raise WorkerLaunchError(f"the {self._name} did not start: {last_line}")

    def _remove_folder(self) -> None:
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    # -- requests --------------------------------------------------------------------------

    def follow(self, method: str, request: Any, on_message: Callable[[Any], None]) -> None:
        """Receive the message stream of a service method until the host ends; a silent host is killed.

        Args:
            method: Name of the method.
            request: The method's request message, or :class:`Requests`.
            on_message: Receives each message of the stream.
        """
        assert self._child is not None and self._connection is not None
        self._on_message = on_message
        self._last_message_at = time.monotonic()
        answers = self._connection.stream(getattr(self._stub, method), request)
        self._reader = asyncio.get_running_loop().create_task(self._receive(self._child, answers))

    async def ask(self, method: str, request: Any, *, timeout_s: float | None = None) -> Any:
        """Send a request at once, without waiting for earlier requests, and return the answer.

        Raises:
            HostLostError: The host has ended; the message describes how.
            MosaicError: The host refused the request.
        """
        if self._connection is None:
            raise HostLostError(self._end or "was closed")
        try:
            return await self._connection.ask(getattr(self._stub, method), request, timeout_s=timeout_s)
        except HostLostError as exc:
            lost = exc.message
        # The way in which the host ended is known in a moment.
        if self._watcher is not None:
            await asyncio.wait({self._watcher}, timeout=self._farewell_s)
        raise HostLostError(self._end or f"closed its connection ({lost})")

    def order(self, method: str, request: Any) -> asyncio.Task[Any]:
        """Return a task that sends a request after all earlier ones are answered, and returns the answer."""
        task = asyncio.get_running_loop().create_task(self._in_turn(method, request))
        self._orders.add(task)
        task.add_done_callback(self._orders.discard)
        return task

    async def _in_turn(self, method: str, request: Any) -> Any:
        async with self._turn:
            return await self.ask(method, request)

    def command(self, method: str, request: Any) -> None:
        """Send a request that the host must not refuse; a host that refuses is killed."""
        self.order(method, request).add_done_callback(partial(self._on_carried_out, method))

    def _on_carried_out(self, method: str, task: asyncio.Task[Any]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, HostLostError) and self._child is not None:
            self._child.kill(f"it could not carry out {method}: {error}")

    async def _receive(self, child: ManagedChild, answers: AsyncGenerator[Any]) -> None:
        problem, whole = "", False
        try:
            async with aclosing(answers):
                async for message in answers:
                    self._last_message_at = time.monotonic()
                    if not self._take(child, message):
                        break
                else:
                    whole = True
        except asyncio.CancelledError:
            if not self._closing:
                raise
        except HostLostError as exc:
            problem = f"closed its connection ({exc.message})"
        except MosaicError as exc:
            if self._owner is not None:
                self._owner.on_failed(exc)
        if self._resting and whole:
            self._last_message_at = math.inf  # a host without a session sends no sign of life
            return
        # The host should end now; a host that still runs although no client can reach it is killed.
        await asyncio.wait({child.exited}, timeout=self._farewell_s)
        child.kill(problem or "did not end when it was done")

    def _take(self, child: ManagedChild, message: Any) -> bool:
        """Pass a message to its receiver; if the receiver fails, kill the host and return ``False``."""
        if self._on_message is None:
            return True
        try:
            self._on_message(message)
        except Exception as exc:
            _log.exception("a message of the %s could not be handled", self._name)
            child.kill(f"its message could not be handled: {exc}")
            return False
        return True

    # -- from one owner to the next ----------------------------------------------------------

    async def rest(self, ready: Callable[[], bool]) -> bool:
        """End the owner's session and keep the host for another owner.

        Args:
            ready: Returns whether everything that the host has sent has arrived.

        Returns:
            Whether the host waits for another owner. If not, call :meth:`close`.
        """
        child, reader, program = self._child, self._reader, self._program
        if child is None or reader is None or program is None or self._closing:
            return False
        self._resting = True
        try:
            async with asyncio.timeout(self._farewell_s):
                await self.order("Stop", pb.StopRequest(rest=True))
                await asyncio.wait({reader})
                while not ready():  # the pipe may be slower than the stream
                    await asyncio.sleep(_PIPE_S)
        except (MosaicError, TimeoutError):
            return False
        if not child.running or self._last_message_at != math.inf:
            return False
        self._owner = self._on_message = self._reader = None
        program.set_listener(None)
        self.served += 1
        return True

    def serve(self, owner: HostOwner, name: str) -> bool:
        """Serve another owner after :meth:`rest`; return whether the host is still alive.

        Args:
            owner: Receives output and end of the host.
            name: Name of the host in messages.
        """
        child, program, connection = self._child, self._program, self._connection
        if child is None or program is None or connection is None or not child.running:
            return False
        self._owner, self._name, self._resting = owner, name, False
        connection.name = name
        program.set_listener(owner)
        return True

    async def end(self) -> None:
        """End a host that rests."""
        self.command("Stop", pb.StopRequest())
        await self.close()

    # -- end -------------------------------------------------------------------------------

    async def _watch(self, program: HostProgram, child: ManagedChild) -> None:
        """Kill a silent host, wait for the end of the host, and report how it ended."""
        while child.running:
            before = time.monotonic()
            await asyncio.wait({child.exited}, timeout=1.0)
            if time.monotonic() - before > 3.0:
                # Our own loop was blocked.
                self._last_message_at = max(self._last_message_at, time.monotonic())
            silent = time.monotonic() - self._last_message_at
            if silent > self._patience:
                child.kill(f"did not respond for {silent:.0f} s")
        await self._receive_the_rest()
        outcome = program.judge(await child.finished())
        self._end = outcome.words
        if self._owner is not None:
            self._owner.on_exit(outcome)

    async def _receive_the_rest(self) -> None:
        """Wait for the last messages of a host that has ended, as long as more of them arrive.

        A busy loop handles them late, so the time is counted from message to message, not from the end of the
        host.
        """
        reader, before = self._reader, math.nan
        while reader is not None and not reader.done() and before != self._last_message_at:
            before = self._last_message_at
            await asyncio.wait({reader}, timeout=1.0)

    async def close(self, *, hang_up: bool = False, within_s: float | None = None) -> None:
        """End the host and all processes that it started, whatever the host is doing.

        Args:
            hang_up: Whether to stop receiving its stream; otherwise the host must have been asked to end.
            within_s: Seconds for the host to end by itself; ``None`` for ``farewell_s``.
        """
        await finish_despite_cancel(self._close(hang_up, self._farewell_s if within_s is None else within_s))

    async def _close(self, hang_up: bool, farewell_s: float) -> None:
        self._closing = True
        child, reader, program = self._child, self._reader, self._program
        if program is not None:
            program.listening.set()  # wakes a caller that waits for the start
        if child is not None and child.running:
            child.asked = True
            if hang_up and reader is not None:
                reader.cancel()
            patience = 0 if reader is None and not self._resting else farewell_s
            await asyncio.wait({child.exited}, timeout=patience)
            child.kill("it was closed")
        if self._watcher is not None:
            await asyncio.wait({self._watcher})
        if reader is not None:
            await asyncio.wait({reader}, timeout=_DRAIN_S)
            reader.cancel()
        self._remove_folder()
        if self._connection is not None:
            await self._connection.close()
        if self._orders:
            await asyncio.wait(self._orders)
        if program is not None:
            program.set_listener(None)
            await program.release()
        self._owner = self._reader = self._connection = self._watcher = self._on_message = self._stub = None
