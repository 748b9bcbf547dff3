"""Session in a host process, with the same interface as any other session."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from msgspec import structs

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, checked_permissions
from gym_gui.controllers.engine.session_events import (
    CallMade,
    EpisodeFinished,
    EpisodeRetried,
    EpisodeStarted,
    FrameDrawn,
    LogLine,
    OnSessionEvent,
    QuestionWithdrawn,
    RequestAnnounced,
    SessionEnded,
    StepsTaken,
    Thought,
)
from gym_gui.controllers.engine.session_interface import (
    LiveSettings,
    SessionReady,
    SessionSettings,
    checked_pace,
)
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import KilledWhileStartingError, MosaicError, UsageError, WorkerLaunchError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.live import Compiling
from gym_gui.core.trusted.subjects import Subject
from gym_gui.core.types import AgentID
from gym_gui.host.frames import BufferPositions, FrameReader
from gym_gui.host.host_program import TakeProgram
from gym_gui.host.request_messages import (
    allowance_message,
    amount_of,
    episode_message,
    launch_message,
    live_message,
    player_of,
    ready_of,
)
from gym_gui.host.service_names import pb
from gym_gui.host.session_process import (
    FAREWELL_S,
    PATIENCE_S,
    HostLostError,
    HostProcess,
    host_environment,
)
from gym_gui.host.view_messages import observation_of, picture_in, question_of, view_of
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.services.rpc.calling import Requests
from gym_gui.services.secrets import resolve_secrets
from gym_gui.services.store import Store

if TYPE_CHECKING:
    from gym_gui.host.idle_hosts import IdleHosts
    from gym_gui.host.remote_session import RemoteMachine

SEEN_EVERY = 2
"""Number of received views after which the client confirms them to the host."""
_PLAYING_FAREWELL_S = 8.0
"""Seconds for a host to end if no window watches its session, because its workers may stop slowly."""
_HASTY_FAREWELL_S = 1.5
"""Seconds for a host to end if the caller wants it to end at once."""


class HostSession:
    """Session in its own host process.

    Args:
        resolved: The checked operator.
        settings: Concurrency, step limit and live view of the session.
        on_event: Receives the session's events.
        store: Store whose runtime folder contains the process's socket.
        patience_s: Seconds of silence after which the host is killed.
        share_memory: Whether pictures are sent through shared memory; otherwise they are part of the
            messages, as for a host on another machine.
        take: Returns a host process that is already started, or ``None``.
        idle_hosts: Host processes of earlier sessions. The session takes one, and leaves its own there at
            its end.
        elsewhere: The other machine on which the session runs; that machine has its own keys and shares no
            memory.
        steps_per_s: Largest number of environment steps per second of each episode, from the beginning;
            ``None`` for no limit.
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
        take: TakeProgram | None = None,
        idle_hosts: IdleHosts | None = None,
        elsewhere: RemoteMachine | None = None,
        steps_per_s: float | None = None,
    ) -> None:
        self._steps_per_s = steps_per_s
        self._resolved, self._settings, self._tell = resolved, settings, on_event
        operator = resolved.config.operator_id
        self._name = f"session process of {operator}"
        self._elsewhere = elsewhere
        if elsewhere is not None:
            self._name += f" on {elsewhere.name}"
            share_memory, take = False, elsewhere.take
        farewell_s = _PLAYING_FAREWELL_S if settings.live is None else FAREWELL_S
        self._host = HostProcess(
            self, self._name, operator, store, patience_s=patience_s, farewell_s=farewell_s, take=take
        )
        self._idle_hosts = idle_hosts if settings.live is None and elsewhere is None else None
        self._share = share_memory and settings.live is not None
        self._frames: FrameReader | None = None
        self._unconfirmed = 0
        self._seen: Requests[pb.Seen] = Requests()
        self._settling: dict[int, asyncio.Future[None]] = {}
        self._numbers = count(1)
        self._planned: list[EpisodePlan] = []
        self._live: set[int] = set()
        self._begun_late: set[int] = set()
        """Episodes that are over and whose beginning has not yet come through the pipe."""
        self._broken = ""
        self._closing = self._started = self._ended = self._killed = self._left = False

    @property
    def pid(self) -> int:
        """Process id of the session host; 0 before the start."""
        return self._host.pid

    async def start(self) -> SessionReady:
        try:
            # In a thread, because a keyring may ask for a password, and because the environments of a package
            # are first found by importing it in a process. Before the host gets its environment variables,
            # from which the secrets are then withheld.
            request, allowed = await asyncio.to_thread(self._prepare)
            if request.secrets:  # a host that has held keys serves no other session
                self._idle_hosts = None
            if not await self._take_idle_host(allowed):
                memory = await self._host.start(allowed, pictures=self._share)
                if memory is not None:
                    self._frames = FrameReader(memory)
            self._host.follow("Follow", self._seen, self._on_event)
            ready = await self._launch(request)
            if self._closing:  # the answer came while the session was being closed
                raise HostLostError("was closed")
            self._started = True
            if self._steps_per_s is not None:
                self.pace(self._steps_per_s)
            return ready
        except HostLostError as exc:
            how = "was closed before it was ready" if self._closing else self._broken or exc.message
            error = KilledWhileStartingError if self._killed else WorkerLaunchError
            await self.close()
            raise error(f"the {self._name} {how}") from None
        except BaseException:
            await self.close()
            raise

    def _prepare(self) -> tuple[pb.LaunchRequest, list[Subject]]:
        """Return the launch request and the code that the host may use."""
        request = launch_message(self._resolved, self._settings, keys=self._elsewhere is None)
        return request, checked_permissions(self._resolved.config)

    async def _take_idle_host(self, allowed: Sequence[Subject]) -> bool:
        """Take the host of an earlier session on the same environment; return whether there was one."""
        if self._idle_hosts is None:
            return False
        host = await self._idle_hosts.take(self._resolved, host_environment(allowed))
        if host is None or not host.serve(self, self._name):
            return False
        self._host = host
        return True

    async def _launch(self, request: pb.LaunchRequest) -> SessionReady:
        elsewhere = self._elsewhere
        if elsewhere is None:
            return ready_of(await self._host.ask("Launch", request))
        request.operator = json.dumps(elsewhere.operator.to_record()).encode()
        try:
            ready = ready_of(await self._host.ask("Launch", request))
        except HostLostError:
            raise
        except MosaicError as exc:
            raise type(exc)(f"{elsewhere.name}: {exc.message}", fix=exc.fix) from None
        return structs.replace(ready, machine=elsewhere.machine)

    # -- messages from the host ------------------------------------------------------------

    def on_output(self, line: str) -> None:
        """Report a line that the host or one of its child processes printed."""
        self._tell(LogLine(logging.INFO, "session output", line))

    def on_begun(self, index: int) -> None:
        """Report that an episode is about to begin."""
        # The pipe may be slower than the call: then the episode's end has already reported its beginning.
        if index in self._begun_late:
            self._begun_late.discard(index)
        else:
            self._live.add(index)
            self._tell(EpisodeStarted(index))

    def _on_finished(self, done: pb.Finished) -> None:
        if done.index in self._live:
            self._live.discard(done.index)
        else:
            self._begun_late.add(done.index)
            self._tell(EpisodeStarted(done.index))
        status = EpisodeStatus(done.status)
        self._tell(EpisodeFinished(done.index, status, done.steps, done.episode, done.unplayed))

    def on_exit(self, outcome: ChildOutcome) -> None:
        """Report that the host process has ended."""
        self._ended = True
        self._killed = outcome.status is ChildStatus.KILLED
        self._settle(*self._settling)
        if self._started and not self._closing:
            self._tell(SessionEnded(self._broken or outcome.words))

    def on_failed(self, error: MosaicError) -> None:
        """Store the error with which the host's event stream ended."""
        self._broken = str(error)

    def _on_event(self, event: pb.Event) -> None:
        body, tell = event.WhichOneof("body"), self._tell
        if body == "news":
            for done in event.news.finished:
                self._on_finished(done)
            tell(StepsTaken(event.news.steps))
        elif body == "retried":
            tell(EpisodeRetried(event.retried.index, event.retried.reason, event.retried.lost))
        elif body == "settled":
            self._settle(event.settled.id)
        elif body == "view":
            self._on_view(event.view)
        elif body == "question":
            tell(question_of(event.question))
        elif body == "withdrawn":
            tell(QuestionWithdrawn(event.withdrawn.question))
        elif body == "compiling":
            tell(Compiling(event.compiling.title, tuple(event.compiling.functions), event.compiling.total))
        elif body == "log":
            tell(LogLine(event.log.level, event.log.logger, event.log.text))
        elif body == "call":
            tell(CallMade(event.call.json.encode()))
        elif body == "announced":
            asked = event.announced
            tell(RequestAnnounced(asked.number, asked.most.slot, asked.episode, amount_of(asked.most)))
        elif body == "thought":
            tell(Thought(event.thought.json))
        elif body == "broken":
            self._broken = event.broken.reason

    def _on_view(self, view: pb.View) -> None:
        frame = view.frame
        if frame.HasField("pixels"):
            self._tell(FrameDrawn(picture_in(frame), view.picture))
        elif frame.stride and self._frames is not None:
            newest = self._frames.newest(BufferPositions(frame.base, frame.stride))
            if newest is not None:
                self._tell(FrameDrawn(*newest))
        self._tell(view_of(view))
        self._unconfirmed += 1
        if self._unconfirmed >= SEEN_EVERY:
            self._seen.put(pb.Seen(looks=self._unconfirmed))
            self._unconfirmed = 0

    def _settle(self, *numbers: int) -> None:
        for number in numbers:
            if number in self._settling and not self._settling[number].done():
                self._settling[number].set_result(None)

    # -- requests to the host ---------------------------------------------------------------

    def play(self, plans: Iterable[EpisodePlan]) -> None:
        # All episodes after one message of news are sent in one call: a call costs as much as an episode.
        if not self._planned:
            asyncio.get_running_loop().call_soon(self._send_planned)
        self._planned.extend(plans)

    def _send_planned(self) -> None:
        plans, self._planned = self._planned, []
        if plans:
            self._host.command("Play", pb.Episodes(episodes=map(episode_message, plans)))

    def _command(self, method: str, request: Any) -> None:
        self._send_planned()
        self._host.command(method, request)

    def pause(self) -> None:
        self._command("Pause", pb.PauseRequest())

    def resume(self) -> None:
        self._command("Resume", pb.ResumeRequest())

    def step(self) -> None:
        self._command("Step", pb.StepRequest())

    def step_agent(self) -> None:
        self.step()

    def pace(self, steps_per_s: float | None) -> None:
        self._command("SetPace", pb.Pace(steps_per_s=checked_pace(steps_per_s) or 0.0))

    def abort(self) -> None:
        self._command("Abort", pb.AbortRequest())

    def watch(self, live: LiveSettings | None) -> None:
        if self._settings.live is not None:
            raise UsageError("this session was opened for watching and cannot be watched twice")
        self._command("Watch", pb.WatchRequest(live=None if live is None else live_message(live)))

    async def settled(self) -> None:
        if not self._started or self._ended or self._closing:
            return
        number = next(self._numbers)
        self._settling[number] = asyncio.get_running_loop().create_future()
        self._command("Settle", pb.SettleRequest(id=number))
        try:
            await self._settling[number]
        finally:
            del self._settling[number]

    def answer(self, question_id: int, action: Any) -> None:
        self._command("Answer", pb.HumanAnswer(question=question_id, action=json.dumps(action).encode()))

    def noted(self, number: int) -> None:
        self._seen.put(pb.Seen(noted=[number]))

    async def rebind(
        self, agent: AgentID, assignment: WorkerAssignment, allowance: Amount | None = None
    ) -> Mapping[str, str]:
        self._check_running()
        secrets: Mapping[str, str] = {}
        if self._elsewhere is not None:
            assignment = await self._elsewhere.send_player(assignment)
        else:  # the keyring may have to ask for a password
            secrets = await asyncio.to_thread(resolve_secrets, assignment)
        record = json.dumps(assignment.to_record()).encode()
        told = None if allowance is None else allowance_message(agent, allowance)
        request = pb.RebindRequest(agent=agent, assignment=record, secrets=secrets, allowance=told)
        player = player_of(await self._answered(self._host.ask("Rebind", request)))
        await self.settled()  # earlier views come on another path, and must be handled first
        return player

    async def present(self, agent: AgentID) -> Mapping[str, Any]:
        self._check_running()
        self._send_planned()
        presented = await self._answered(self._host.order("Present", pb.PresentRequest(agent=agent)))
        return json.loads(presented.json)

    async def see(self, agent: AgentID) -> AgentObservation:
        self._check_running()
        self._send_planned()
        return observation_of(await self._answered(self._host.order("See", pb.PresentRequest(agent=agent))))

    def _check_running(self) -> None:
        if not self._started or self._ended:
            raise UsageError("the session is not running", fix="Start the session first")

    async def _answered(self, answer: Awaitable[Any]) -> Any:
        try:
            return await answer
        except HostLostError as exc:
            how = "was closed" if self._closing else self._broken or exc.message
            raise UsageError(f"the session {how}") from None

    async def close(self, *, in_haste: bool = False) -> None:
        self._closing = True
        if self._left or (not in_haste and await self._leave_host()):
            return
        await self._close(in_haste)

    async def _close(self, in_haste: bool) -> None:
        if self._started and not self._ended:
            self._command("Stop", pb.StopRequest(in_haste=in_haste))
        try:
            await self._host.close(
                hang_up=not self._started, within_s=_HASTY_FAREWELL_S if in_haste else None
            )
        finally:
            if self._frames is not None:
                self._frames.close()
                self._frames = None
            self._settle(*self._settling)

    async def _leave_host(self) -> bool:
        """End the session and leave its host to a later one; return whether that has succeeded."""
        if self._idle_hosts is None or not self._started or self._ended or self._live:
            return False
        self._send_planned()
        settle = partial(self._host.rest, lambda: not self._begun_late)
        try:
            self._left = await self._idle_hosts.give(self._resolved, self._host, settle)
        except asyncio.CancelledError:
            await self._close(in_haste=True)
            raise
        if self._left:
            self._ended = True
            self._settle(*self._settling)
        return self._left
