"""Host's end of the connection to one worker, local or remote."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from gym_gui.core.errors import KilledWhileStartingError, SlotRefusedError, WorkerLaunchError
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.version import __version__
from gym_gui.wire.channel import MAX_CALL, MAX_LOG, PROTOCOL, Channel, pb
from gym_gui.workers.launch import Launch
from gym_gui.workers.log_filter import LogSieve, shortened
from gym_gui.workers.redaction import Redaction

LOAD_TIMEOUT_S = 600.0
PATIENCE_S = 30.0
"""Seconds of silence after which a worker that sends heartbeats counts as hung."""
_POLL_S = 0.5
_HOLD_S = 0.02


class WorkerEvents(Protocol):
    """Receives a worker's messages. Its methods are called from the event loop and must not block."""

    def on_replies(self, replies: pb.Replies) -> None: ...
    def on_human_request(self, request: pb.HumanRequest) -> None: ...
    def on_call(self, json_text: str) -> None: ...
    def on_announce(self, announce: pb.Announce) -> None: ...
    def on_log(self, level: int, logger: str, text: str) -> None: ...
    def on_ended(self, outcome: ChildOutcome) -> None: ...


def _launch_error(outcome: ChildOutcome, name: str) -> WorkerLaunchError:
    kind = KilledWhileStartingError if outcome.status is ChildStatus.KILLED else WorkerLaunchError
    return kind(f"{name} {outcome.words}")


class WorkerConnection:
    """Connection to one worker: handshake, loading of slots, messages, and detection of its end.

    Call :meth:`start`, then :meth:`load` for each slot, then :meth:`send`; :meth:`stop` ends the worker.
    However the worker ends, ``events.on_ended`` is called once. All methods must be called from one event
    loop.

    Args:
        launch: The worker and its agents.
        events: Receives the worker's messages.
        token: Token that a remote worker requires from its host; ``""`` for a worker on this machine.

    Attributes:
        welcome: The worker's ``Welcome`` message.
        outcome: How the worker ended; ``None`` while it runs.
    """

    def __init__(self, launch: Launch, events: WorkerEvents, token: str = "") -> None:
        self.launch, self._events, self._token = launch, events, token
        self.welcome = pb.Welcome()
        self.outcome: ChildOutcome | None = None
        self._channel: Channel | None = None
        self._end: asyncio.Task[None] | None = None
        self._guard: asyncio.Task[None] | None = None
        self._loads: dict[int, asyncio.Future[pb.Loaded]] = {}
        self._last_message_at = time.monotonic()
        self._failed = ""
        self._stopping = False
        self._redaction = Redaction()
        self._sieve = LogSieve(events.on_log, f"the worker {launch.definition.type_id}")
        self._held: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int:
        """Process id that the worker reported; 0 before the handshake."""
        return self.welcome.pid

    @property
    def lines(self) -> int:
        """Number of lines that the worker has printed or logged."""
        return self._sieve.lines

    async def _open(self) -> None:
        """Open the channel and store it in ``_channel``.

        Raises:
            OSError, WorkerLaunchError: The channel cannot be opened.
        """
        raise NotImplementedError

    async def _watch(self) -> None:
        """Wait for the worker's end (``_doom``), clean up, and call :meth:`_finish`."""
        raise NotImplementedError

    async def stop(self, grace_s: float = 2.0) -> None:
        """Ask the worker to end, and end it by force after a grace period.

        Args:
            grace_s: Seconds for the worker to end after the request.
        """
        raise NotImplementedError

    async def _over_limit(self) -> str:
        """Return which limit the worker exceeds, so that it must be ended; ``""`` if it exceeds none."""
        return ""

    async def start(self) -> pb.Welcome:
        """Connect to the worker and exchange ``Hello`` and ``Welcome``.

        Raises:
            WorkerLaunchError: The worker cannot be started, ended at once, sent nothing, or uses another
                version of the protocol.
        """
        loop = asyncio.get_running_loop()
        self._welcomed: asyncio.Future[pb.Welcome] = loop.create_future()
        self._doom: asyncio.Future[str] = loop.create_future()
        try:
            await self._open()
        except OSError as exc:
            raise WorkerLaunchError(f"{self._name} could not be started: {exc}") from exc
        self._end, self._guard = loop.create_task(self._watch()), loop.create_task(self._watch_limits())
        self.send(pb.ToWorker(hello=self._hello()))
        try:
            self.welcome = await asyncio.wait_for(self._welcomed, self.launch.start_timeout_s)
        except TimeoutError:
            self._end_because(f"sent nothing for {self.launch.start_timeout_s:g} s after its start")
            await self._end
            raise WorkerLaunchError(f"{self._name} {self.outcome_words}") from None
        if self.welcome.protocol != PROTOCOL:
            spoken = self.welcome.protocol
            await self.stop()
            raise WorkerLaunchError(
                f"{self._name} uses protocol version {spoken}, MOSAIC uses {PROTOCOL}",
                fix="Update the worker's mosaic-worker package, or this program",
            )
        return self.welcome

    @property
    def _name(self) -> str:
        return f"worker {self.launch.definition.type_id}"

    @property
    def outcome_words(self) -> str:
        """How the worker ended, as text; ``is running`` before its end."""
        return self.outcome.words if self.outcome else "is running"

    def send(self, message: pb.ToWorker) -> None:
        """Queue a message for the worker until :meth:`flush`; drop the message if the worker has ended."""
        if self._channel is not None and self.outcome is None:
            self._channel.send(message)

    def flush(self) -> None:
        """Send queued messages now instead of in the event loop's next iteration."""
        if self._channel is not None and self.outcome is None:
            self._channel.flush()

    def pump(self) -> None:
        """Handle messages that have already arrived, without waiting for the event loop."""
        if self._channel is not None and self.outcome is None:
            self._channel.pump()

    async def load(self, load: pb.Load) -> str:
        """Load a policy into a slot of the worker.

        Returns:
            Short name of the policy, for the record.

        Raises:
            SlotRefusedError: The worker refused the slot: a missing checkpoint, spaces that do not fit.
            WorkerLaunchError: The worker ended or did not answer.
        """
        future: asyncio.Future[pb.Loaded] = asyncio.get_running_loop().create_future()
        self._loads[load.slot] = future
        self._redaction.learn(load.secrets.values())
        self.send(pb.ToWorker(load=load))
        if self.outcome is not None:
            raise _launch_error(self.outcome, f"{self._name} for {load.agent}")
        try:
            loaded = await asyncio.wait_for(future, LOAD_TIMEOUT_S)
        except TimeoutError:
            raise WorkerLaunchError(
                f"{self._name} for {load.agent} did not load in {LOAD_TIMEOUT_S:g} s"
            ) from None
        finally:
            self._loads.pop(load.slot, None)
        if loaded.error:
            raise SlotRefusedError(f"{self._name} cannot play {load.agent}: {loaded.error}")
        return loaded.policy

    def _on_message(self, message: pb.FromWorker) -> None:
        self._last_message_at = time.monotonic()
        body = message.WhichOneof("body")
        if body == "log" and len(message.log.text) > MAX_LOG:
            message.log.text = shortened(message.log.text)  # before the text is copied
        if body == "call" and len(message.call.json) > MAX_CALL:
            self._end_because(f"it sent the record of a call of {len(message.call.json)} characters")
            return
        self._redaction.strike(message)
        if body == "replies":
            self._events.on_replies(message.replies)
        elif body == "log":
            self._sieve.forward(message.log.level, message.log.logger, message.log.text)
        elif body == "call":
            self._events.on_call(message.call.json)
        elif body == "announce":
            self._events.on_announce(message.announce)
        elif body == "ask_human":
            self._events.on_human_request(message.ask_human)
        elif body == "failed":
            self._failed = shortened(message.failed.reason)
            if message.failed.traceback:
                self._events.on_log(logging.ERROR, self._name, shortened(message.failed.traceback))
        elif body == "welcome" and not self._welcomed.done():
            self._welcomed.set_result(message.welcome)
        elif body == "loaded":
            future = self._loads.get(message.loaded.slot)
            if future is not None and not future.done():
                future.set_result(message.loaded)

    def pause_while_behind(self, is_behind: Callable[[], bool]) -> None:
        """Read no more messages from the worker until the receivers of its messages have caught up.

        Args:
            is_behind: Returns whether the receivers are still behind.
        """
        if self._held is None and self._channel is not None and self.outcome is None:
            self._channel.pause_reading(True)
            self._held = asyncio.get_running_loop().call_later(_HOLD_S, self._listen_again, is_behind)

    def _listen_again(self, is_behind: Callable[[], bool]) -> None:
        self._held = None
        self._last_message_at = time.monotonic()  # nothing was read until now, so silence means nothing
        if is_behind():
            self.pause_while_behind(is_behind)
        elif self._channel is not None and self.outcome is None:
            self._channel.pause_reading(False)

    def _on_closed(self, problem: str) -> None:
        self._end_because(problem)

    def _end_because(self, problem: str) -> None:
        if not self._doom.done():
            self._doom.set_result(problem)

    def _hello(self) -> pb.Hello:
        host = f"mosaic/{__version__}"
        return pb.Hello(
            protocol=PROTOCOL, host=host, heartbeat_s=self._patience_s / 3, token=self._token, notes=True
        )

    @property
    def _patience_s(self) -> float:
        return self.launch.definition.launch.heartbeat_s or PATIENCE_S

    async def _watch_limits(self) -> None:
        """End the worker if it is silent too long or exceeds a limit."""
        patience = self._patience_s
        pause = min(_POLL_S, patience / 3)
        while True:
            before = time.monotonic()
            await asyncio.sleep(pause)
            if time.monotonic() - before > 2 * pause:
                # A slow environment blocked the loop: the worker's messages are still unread.
                self._last_message_at = time.monotonic()
            silent = time.monotonic() - self._last_message_at
            if self._welcomed.done() and self.welcome.alive and silent > patience:
                self._end_because(f"did not respond for {silent:.0f} s")
                return
            if problem := await self._over_limit():
                self._end_because(problem)
                return

    def _finish(self, outcome: ChildOutcome) -> None:
        if self._held is not None:
            self._held.cancel()
        if self._channel is not None:
            self._channel.drain()  # its last messages may report paid calls
            self._channel.close()
        self._sieve.close()
        self.outcome = outcome = replace(outcome, reason=self._redaction.text(outcome.reason))
        if self._guard is not None:
            self._guard.cancel()
        error = _launch_error(outcome, self._name)
        for future in (self._welcomed, *self._loads.values()):
            if not future.done():
                future.set_exception(error)
                future.exception()  # start() or load() may have given up waiting already
        self._events.on_ended(outcome)

    def hang_up(self) -> None:
        """Close the connection without a message; the worker ends when it notices."""
        if self._guard is not None:
            self._guard.cancel()  # no message can arrive any more
        if self._channel is not None:
            self._channel.close()
