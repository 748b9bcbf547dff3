"""Starts, watches, replaces and stops the worker processes of one session."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_urlsafe
from typing import Any, Final

import orjson

from gym_gui.core.errors import MosaicError, ProtocolError
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.spaces import space_to_spec
from gym_gui.processes.child import start_with_retry
from gym_gui.processes.outcome import ChildOutcome
from gym_gui.wire import pb
from gym_gui.workers.connection import WorkerConnection, WorkerEvents
from gym_gui.workers.gpus import assign_gpus
from gym_gui.workers.launch import Launch
from gym_gui.workers.process import WorkerProcess
from gym_gui.workers.recorded_extras import read_object
from gym_gui.workers.registry import WorkerTypeDefinition
from gym_gui.workers.remote import RemoteWorker, remote_address
from gym_gui.workers.slot import Sink, WorkerSlot, seat_of
from gym_gui.workers.team_context import TeamContext
from mosaic_worker.preprocessing import Pipeline

MAX_RESTARTS = 5
"""Largest number of restarts of a crashed worker without a completed episode in between."""

SESSION_SECRET: Final = "session"
"""Name of the secret that the workers of a session share, among the secrets of a slot."""


@dataclass(frozen=True)
class SlotRequest:
    """Request to load a policy into one slot of a worker.

    Attributes:
        agent_id: Name of the slot.
        env_id: Id of the environment.
        observation_space: Gymnasium space of the worker's observations: the slot's space, or the output
            space of ``pipeline``.
        action_space: Gymnasium space of the slot's actions.
        settings: Settings that the worker gets.
        action_meanings: Name of each discrete action.
        noop: The environment's no-op, or ``None``.
        deterministic: Whether to use the policy's mode instead of a sample; ``None`` for the worker's choice.
        deadline_s: Longest time for an answer in seconds; ``None`` for no limit.
        secrets: Secrets by name; they leave this process only inside the ``Load`` message.
        pipeline: Preprocessing of observations before the worker receives them, or ``None``.
        team_context: Description of the game and the other players, for workers that read text.
        seats: Such descriptions for the other seats that the slot plays in some episodes.
        simulator: Description of the simulator as JSON, for workers that receive its state.
        options: Options that a manager may request from the slot, by number.
    """

    agent_id: str
    env_id: str
    observation_space: Any
    action_space: Any
    settings: Mapping[str, Any]
    action_meanings: Sequence[str] = ()
    noop: int | None = None
    deterministic: bool | None = None
    deadline_s: float | None = None
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    pipeline: Pipeline | None = None
    team_context: TeamContext = field(default_factory=TeamContext)
    seats: Mapping[str, TeamContext] = field(default_factory=dict[str, TeamContext])
    simulator: str = ""
    options: Sequence[str] = ()

    def message(self, index: int) -> pb.Load:
        """Return the request as a ``Load`` message for slot number ``index``."""
        load = pb.Load(
            slot=index,
            agent=self.agent_id,
            env=self.env_id,
            observation_space=json.dumps(space_to_spec(self.observation_space)),
            action_space=json.dumps(space_to_spec(self.action_space)),
            settings=json.dumps(dict(self.settings)),
            action_meanings=self.action_meanings,
            secrets=dict(self.secrets),
            briefing=self.team_context.briefing,
            team=self.team_context.team,
            teammates=self.team_context.teammates,
            opponents=self.team_context.opponents,
            seats=[seat_of(agent, told) for agent, told in self.seats.items()],
            deadline_s=self.deadline_s or 0.0,
            simulator=self.simulator,
            options=self.options,
        )
        if self.noop is not None:
            load.noop = self.noop
        if self.deterministic is not None:
            load.deterministic = self.deterministic
        return load


def _is_never_behind() -> bool:
    return False


def _permit_request(slot: WorkerSlot, episode: int, most: Amount, noted: Callable[[], None]) -> None:
    noted()


@dataclass(frozen=True)
class SessionEvents:
    """Callbacks for the messages of a session's workers, other than answers.

    Attributes:
        log: Receives level, logger and text of a line.
        call: Receives a paid call as JSON.
        human: Receives a worker's request for a person's choice.
        announced: Receives a paid request that a slot is about to send: slot, episode, largest cost, and a
            function that permits the request, to be called when it is recorded.
        is_behind: Returns whether so many calls wait to be written that workers must delay more calls.
    """

    log: Callable[[int, str, str], None]
    call: Callable[[str], None]
    human: Callable[[WorkerSlot, pb.HumanRequest], None]
    is_behind: Callable[[], bool] = _is_never_behind
    announced: Callable[[WorkerSlot, int, Amount, Callable[[], None]], None] = _permit_request


class _WorkerGroup:
    """One worker process and its slots; restarts the process after a crash."""

    def __init__(
        self,
        make: Callable[[WorkerEvents], WorkerConnection],
        requests: Sequence[SlotRequest],
        events: SessionEvents,
    ) -> None:
        self._make, self._requests, self._events = make, requests, events
        self.slots: list[WorkerSlot] = []
        self.unused: set[int] = set()
        self.policies: list[str] = []
        self._process: WorkerConnection | None = None
        self._restarts = self._completed = 0
        self._ready = False
        self._restart: asyncio.Task[None] | None = None

    async def fill(self) -> WorkerConnection:
        """Start a worker process (or connect to a remote one) and load all slots in it."""
        self._process = process = self._make(self)
        try:
            await process.start()
            self.policies = [await process.load(r.message(i)) for i, r in enumerate(self._requests)]
        except BaseException:
            await process.stop()
            raise
        self._ready = True
        return process

    def on_replies(self, replies: pb.Replies) -> None:
        if replies.slot < len(self.slots):
            self.slots[replies.slot].on_replies(replies)

    def on_human_request(self, request: pb.HumanRequest) -> None:
        if request.slot < len(self.slots):
            self._events.human(self.slots[request.slot], request)

    def on_call(self, json_text: str) -> None:
        try:
            call = read_object(json_text, "a paid call")
        except ProtocolError as exc:
            worker = self._requests[0].agent_id
            self._events.log(logging.WARNING, "mosaic.workers", f"the worker of {worker}: {exc}")
        else:
            for slot in self.slots:
                call = slot.on_call(call)
            self._events.call(orjson.dumps(call).decode())
            if self._process is not None and self._events.is_behind():
                self._process.pause_while_behind(self._events.is_behind)

    def on_announce(self, announce: pb.Announce) -> None:
        process = self._process
        if announce.slot >= len(self.slots) or process is None:
            return
        slot, most = self.slots[announce.slot], Amount(announce.tokens, announce.usd)
        answer = pb.ToWorker(noted=pb.Noted(number=announce.number))
        self._events.announced(
            slot, slot.on_announce(announce.episode, most), most, partial(process.send, answer)
        )

    def on_log(self, level: int, logger: str, text: str) -> None:
        self._events.log(level, logger, text)

    def on_ended(self, outcome: ChildOutcome) -> None:
        if outcome.asked or not self._ready:
            return
        self._ready = False
        worker = self._requests[0].agent_id
        self._events.log(logging.WARNING, "mosaic.workers", f"the worker of {worker} {outcome.words}")
        for slot in self.slots:
            slot.on_lost(outcome)
        self._restart = asyncio.get_running_loop().create_task(self._refill(outcome))

    async def _refill(self, outcome: ChildOutcome) -> None:
        reason = f"the worker {outcome.words} and was not started again (tried {MAX_RESTARTS} times)"
        completed = sum(slot.completed for slot in self.slots)
        if completed > self._completed:
            self._restarts, self._completed = 0, completed
        while self._restarts < MAX_RESTARTS:
            self._restarts += 1
            try:
                process = await self.fill()
            except MosaicError as exc:
                reason = str(exc)
                continue
            for slot in self.slots:
                slot.resume(process)
            return
        for slot in self.slots:
            slot.give_up(reason)

    @property
    def process(self) -> WorkerConnection | None:
        """Connection to the current worker process."""
        return self._process

    async def close(self, grace_s: float = 2.0) -> None:
        """Stop the worker process, and any restart of it."""
        self._ready = False
        if self._restart is not None and not self._restart.done():
            self._restart.cancel()
            await asyncio.gather(self._restart, return_exceptions=True)
        if self._process is not None:
            await self._process.stop(grace_s)


class Supervisor:
    """Starts the workers of a session and restarts crashed ones until :meth:`close`.

    Args:
        operator: The operator's id, for process names and logs.
        events: Receives logs, calls and requests for a person.
    """

    def __init__(self, operator: str, events: SessionEvents) -> None:
        self._operator, self._events = operator, events
        self._groups: list[_WorkerGroup] = []
        self._secret = token_urlsafe(24)

    async def start_worker(
        self, definition: WorkerTypeDefinition, requests: Sequence[SlotRequest], sink: Sink
    ) -> list[tuple[WorkerSlot, str]]:
        """Start one worker process that plays the slots of ``requests``.

        Returns:
            Slot and short name of the policy for each request.

        Raises:
            WorkerLaunchError: The process could not be started.
            SlotRefusedError: The worker cannot play a slot.
        """
        requests = [self._with_secret(definition, request) for request in requests]
        post = _WorkerGroup(self._maker(definition, requests), requests, self._events)
        self._groups.append(post)
        try:
            say = partial(self._events.log, logging.WARNING, "mosaic.workers")
            process = await start_with_retry(post.fill, say)
        except BaseException:
            if post in self._groups:  # unless the supervisor was closed since
                self._groups.remove(post)
            raise
        post.slots = [
            WorkerSlot(
                i,
                r.agent_id,
                process,
                r.observation_space,
                r.action_space,
                sink,
                r.deadline_s,
                r.pipeline,
                r.action_meanings,
            )
            for i, r in enumerate(requests)
        ]
        return list(zip(post.slots, post.policies, strict=True))

    def _with_secret(self, definition: WorkerTypeDefinition, request: SlotRequest) -> SlotRequest:
        """Return the request with the secret by which this session's workers recognize each other.

        The secret stays on this machine.
        """
        if not definition.launch.session_secret or remote_address(request.settings, request.secrets):
            return request
        return replace(request, secrets={**request.secrets, SESSION_SECRET: self._secret})

    def _maker(
        self, definition: WorkerTypeDefinition, requests: Sequence[SlotRequest]
    ) -> Callable[[WorkerEvents], WorkerConnection]:
        """Return a function that starts the worker, or connects to it if its slot has an ``address``."""
        first, agents = requests[0], [r.agent_id for r in requests]
        where = remote_address(first.settings, first.secrets)
        if where is not None:
            return lambda events: RemoteWorker(Launch(definition, self._operator, agents), events, where)
        gpus = assign_gpus(definition, first.settings, len(self._groups))
        return lambda events: WorkerProcess(Launch(definition, self._operator, agents, gpus), events)

    def slot_of(self, agent: str, *, other_than: WorkerSlot | None = None) -> WorkerSlot | None:
        """Return the worker slot, except ``other_than``, that plays an agent's slot; ``None`` without one."""
        slots = (slot for post in self._groups for slot in post.slots if slot.index not in post.unused)
        return next((slot for slot in slots if slot.agent_id == agent and slot is not other_than), None)

    async def stop_worker(self, slot: WorkerSlot, grace_s: float = 2.0) -> None:
        """Stop using a slot, and stop its worker process if no other slot uses it."""
        slot.retire()
        post = next((p for p in self._groups if slot in p.slots), None)
        if post is None:
            return
        post.unused.add(slot.index)
        if len(post.unused) == len(post.slots):
            self._groups.remove(post)
            await post.close(grace_s)

    def processes(self) -> list[WorkerConnection]:
        """Return the connections to all running workers."""
        return [p.process for p in self._groups if p.process is not None]

    async def close(self, grace_s: float = 2.0) -> None:
        """Stop all workers and all processes that they started.

        Args:
            grace_s: Seconds for each worker to end after the request, and again after SIGTERM.
        """
        await asyncio.gather(*(post.close(grace_s) for post in self._groups))
        self._groups.clear()
