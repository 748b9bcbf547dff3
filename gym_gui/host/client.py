"""A session in a host process; to whoever plays it, it is just a session."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from gym_gui.controllers.resolved_operator import ResolvedOperator, vouch
from gym_gui.controllers.session_events import (
    CallMade,
    EpisodeFinished,
    EpisodeRetried,
    EpisodeStarted,
    FrameDrawn,
    LogLine,
    OnSessionEvent,
    QuestionWithdrawn,
    SessionEnded,
    StepsTaken,
)
from gym_gui.controllers.session_interface import (
    SessionReady,
    SessionSettings,
    checked_pace,
)
from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import KilledWhileStartingError, MosaicError, UsageError, WorkerLaunchError
from gym_gui.core.execution import EpisodePlan
from gym_gui.core.live import Compiling
from gym_gui.core.spending import Amount
from gym_gui.core.types import AgentID
from gym_gui.host.frames import FrameReader, Places, make_memory
from gym_gui.host.orders import allowance_message, episode_message, launch_message
from gym_gui.host.process import FAREWELL_S, PATIENCE_S, HostProcess
from gym_gui.host.service import pb
from gym_gui.host.views import question_from_json, unpacked, view_from_json
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.services.secrets import resolve_secrets
from gym_gui.services.store import Store

SEEN_EVERY = 2
"""Looks after which the host is told that they have been taken in."""
_PLAYING_FAREWELL_S = 8.0
"""Where nobody watches, a host may take longer to stop its workers."""
_HASTY_FAREWELL_S = 1.5
"""Where it was told to end at once."""


class HostSession:
    """A session in a host process of its own.

    Args:
        resolved: The operator, checked.
        settings: How it plays.
        on_event: Told what happens.
        store: Where its socket lives.
        patience_s: Longest silence.
        share_memory: Whether pictures come through memory; else they are part of the messages, as
            they must be where the host runs on another machine.
    """

    def __init__(
        self,
        resolved: ResolvedOperator,
        settings: SessionSettings,
        on_event: OnSessionEvent,
        *,
        store: Store | None = None,
        patience_s: float = PATIENCE_S,
        share_memory: bool = True,
    ) -> None:
        self._resolved, self._settings, self._tell = resolved, settings, on_event
        operator = resolved.config.operator_id
        self._name = f"session process of {operator}"
        farewell_s = _PLAYING_FAREWELL_S if settings.live is None else FAREWELL_S
        self._host = HostProcess(
            self, self._name, operator, store, patience_s=patience_s, farewell_s=farewell_s
        )
        self._send = self._host.send
        self._share = share_memory and settings.live is not None
        self._frames: FrameReader | None = None
        self._untold = 0
        self._ready: asyncio.Future[SessionReady] | None = None
        self._asked: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._numbers = count(1)
        self._live: set[int] = set()
        self._over_unbegun: set[int] = set()
        self._broken = ""
        self._closing = self._started = self._ended = False

    @property
    def pid(self) -> int:
        """The host's process id."""
        return self._host.pid

    async def start(self) -> SessionReady:
        self._ready = asyncio.get_running_loop().create_future()
        try:
            # Before the process gets its environment, which secrets are then kept out of.
            order = pb.Command(launch=launch_message(self._resolved, self._settings))
            memory = make_memory() if self._share else None
            if memory is not None:
                self._frames = FrameReader(memory)
            await self._host.start(order, memory, vouch(self._resolved.config))
            ready = await self._ready
            self._started = True
            return ready
        except BaseException:
            await self.close()
            raise
        finally:
            self._ready = None  # it holds its exception, whose traceback holds this session

    def _not_ready(self, error: MosaicError) -> bool:
        """Let :meth:`start` fail; false where nobody waits for it."""
        if self._ready is None or self._ready.done():
            return False
        self._ready.set_exception(error)
        self._ready.exception()  # whoever waited for it may have been cancelled
        return True

    # -- what the host says ----------------------------------------------------------------

    def on_output(self, line: str) -> None:
        """Somebody in it printed a line."""
        self._tell(LogLine(logging.INFO, "session output", line))

    def on_begun(self, index: int) -> None:
        """An episode is about to begin."""
        # The pipe and the call overtake each other.
        if index in self._over_unbegun:
            self._over_unbegun.discard(index)
        else:
            self._live.add(index)
            self._tell(EpisodeStarted(index))

    def on_exit(self, outcome: ChildOutcome) -> None:
        """The host has ended."""
        self._ended = True
        words = self._broken or outcome.words
        self._refuse_asked(f"the session {words}")
        killed = outcome.status is ChildStatus.KILLED
        error = KilledWhileStartingError if killed else WorkerLaunchError
        if not self._not_ready(error(f"the {self._name} {words}")) and not self._closing:
            self._tell(SessionEnded(words))

    def on_event(self, event: pb.Event) -> None:
        """It sent a message."""
        body, tell = event.WhichOneof("body"), self._tell
        if body == "news":
            for done in event.news.finished:
                (self._live.discard if done.index in self._live else self._over_unbegun.add)(done.index)
                status = EpisodeStatus(done.status)
                tell(EpisodeFinished(done.index, status, done.steps, done.episode, done.unplayed))
            tell(StepsTaken(event.news.steps))
        elif body == "retried":
            tell(EpisodeRetried(event.retried.index, event.retried.reason))
        elif body == "ready":
            self._on_ready(event.ready)
        elif body == "view":
            self._on_view(event.view)
        elif body == "question":
            tell(question_from_json(event.question.json))
        elif body == "withdrawn":
            tell(QuestionWithdrawn(event.withdrawn.question))
        elif body == "rebound":
            self._on_answered(event.rebound.id, event.rebound.player, event.rebound.error)
        elif body == "presented":
            self._on_answered(event.presented.id, event.presented.json, event.presented.error)
        elif body == "compiling":
            tell(Compiling(event.compiling.title, tuple(event.compiling.functions), event.compiling.total))
        elif body == "log":
            tell(LogLine(event.log.level, event.log.logger, event.log.text))
        elif body == "call":
            tell(CallMade(event.call.json.encode()))
        elif body == "broken":
            self._broken = event.broken.reason
            error = UsageError if event.broken.usage else MosaicError
            self._not_ready(error(event.broken.reason))

    def _on_ready(self, ready: pb.Ready) -> None:
        if self._ready is not None and not self._ready.done():
            players, versions, words = map(json.loads, (ready.players, ready.versions, ready.actions))
            self._ready.set_result(SessionReady(ready.pid, players, ready.concurrency, versions, words))

    def _on_view(self, view: pb.View) -> None:
        frame = view.frame
        if frame.pixels:
            self._tell(FrameDrawn(unpacked(frame), frame.number))
        elif frame.number and self._frames is not None:
            newest = self._frames.newest(Places(frame.base, frame.stride))
            if newest is not None:
                self._tell(FrameDrawn(*newest))
        self._tell(view_from_json(view.json))
        self._untold += 1
        if self._untold >= SEEN_EVERY:
            self._send(pb.Command(seen=pb.Seen(looks=self._untold)))
            self._untold = 0

    def _on_answered(self, number: int, answer: str, error: str) -> None:
        future = self._asked.pop(number, None)
        if future is None or future.done():
            return
        if error:
            future.set_exception(UsageError(error))
        else:
            future.set_result(json.loads(answer))

    def _refuse_asked(self, why: str) -> None:
        for future in self._asked.values():
            if not future.done():
                future.set_exception(UsageError(why))

    # -- what is asked of it ----------------------------------------------------------------

    def play(self, plans: Iterable[EpisodePlan]) -> None:
        self._send(pb.Command(episodes=pb.Episodes(episodes=map(episode_message, plans))))

    def pause(self) -> None:
        self._send(pb.Command(pause=pb.Pause()))

    def resume(self) -> None:
        self._send(pb.Command(resume=pb.Resume()))

    def step(self) -> None:
        self._send(pb.Command(step=pb.Step()))

    def step_agent(self) -> None:
        self.step()

    def pace(self, steps_per_s: float | None) -> None:
        self._send(pb.Command(pace=pb.Pace(steps_per_s=checked_pace(steps_per_s) or 0.0)))

    def abort(self) -> None:
        self._send(pb.Command(abort=pb.Abort()))

    async def settled(self) -> None:
        # Commands are carried out in their order: who answers the last one is done with all before.
        with contextlib.suppress(UsageError):
            await self.present("")

    def answer(self, question_id: int, action: Any) -> None:
        self._send(pb.Command(answer=pb.Answer(question=question_id, action=json.dumps(action))))

    async def rebind(
        self, agent: AgentID, assignment: WorkerAssignment, allowance: Amount | None = None
    ) -> Mapping[str, str]:
        if not self._started or self._ended:
            raise UsageError("the session is not running", fix="Start it first")
        # The keyring may have to ask for a password.
        secrets = await asyncio.to_thread(resolve_secrets, assignment)
        number = next(self._numbers)
        record = json.dumps(assignment.to_record())
        message = pb.Rebind(id=number, agent=agent, assignment=record, secrets=secrets)
        if allowance is not None:
            message.allowance.CopyFrom(allowance_message(agent, allowance))
        return await self._answer_to(number, pb.Command(rebind=message))

    async def present(self, agent: AgentID) -> Mapping[str, Any]:
        if not self._started or self._ended:
            raise UsageError("the session is not running", fix="Start it first")
        number = next(self._numbers)
        return await self._answer_to(number, pb.Command(present=pb.Present(id=number, agent=agent)))

    async def _answer_to(self, number: int, command: pb.Command) -> Mapping[str, Any]:
        future = self._asked[number] = asyncio.get_running_loop().create_future()
        self._send(command)
        try:
            return await future
        finally:
            self._asked.pop(number, None)
            del future  # as in start()

    async def close(self, *, in_haste: bool = False) -> None:
        self._closing = True
        if self._started and not self._ended:
            self._send(pb.Command(stop=pb.Stop(in_haste=in_haste)))
        try:
            # While it starts its workers it reads no commands.
            await self._host.close(
                hang_up=not self._started, within_s=_HASTY_FAREWELL_S if in_haste else None
            )
        finally:
            if self._frames is not None:
                self._frames.close()
                self._frames = None
            self._refuse_asked("the session was closed")
            self._not_ready(WorkerLaunchError(f"the {self._name} was closed before it was ready"))
