"""The gRPC service of a session."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.session_interface import SessionReady
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.host.event_queue import Outbox
from gym_gui.host.request_messages import (
    amount_of,
    assignment_of,
    keys_of,
    live_of,
    operator_of,
    plan_of,
    player_message,
    ready_message,
    secrets_of,
    settings_of,
)
from gym_gui.host.service_names import greeting, pb
from gym_gui.host.view_messages import observation_message
from gym_gui.services.secrets import resolve_secrets
from mosaic_worker.failures import described

_DONE = pb.Done()


class SessionServicer:
    """The methods of the service ``Session``, for one client: one session, and further ones on request.

    Args:
        make_outbox: Makes the queue of a session's events for the client.
        done: Event that is set when the client has gone and the workers have ended.
        own_keys: Whether keys are looked up here instead of being sent.

    Attributes:
        outbox: Queue of events of the present session.
    """

    def __init__(
        self, make_outbox: Callable[[], Outbox], done: asyncio.Event, *, own_keys: bool = False
    ) -> None:
        self._make_outbox, self._done, self._own_keys = make_outbox, done, own_keys
        self._loading: set[asyncio.Task[Any]] = set()
        self._await_session()

    def _await_session(self) -> None:
        """Be ready for a session, the first one or the one after a session that has ended."""
        self.outbox = self._make_outbox()
        self._taken = self._launched = self._in_haste = self._rests = False
        self._started: LocalSession | None = None
        self._end: asyncio.Task[None] | None = None

    async def Greet(self, request: pb.Greeting) -> pb.Greeting:
        """Refuse a client of another version."""
        ours = greeting()
        if request != ours:
            raise UsageError(
                f"this program is MOSAIC {request.version}, its session process {ours.version}",
                fix="It was changed while it ran: start it anew",
            )
        return ours

    # -- streams --------------------------------------------------------------------------------

    async def Follow(self, seen: AsyncIterator[pb.Seen]) -> AsyncIterator[pb.Event]:
        """Stream the session's events until the client ends the call."""
        self._take()
        credits = asyncio.get_running_loop().create_task(self._take_in(seen))
        try:
            async for event in self.outbox.events():
                yield event
        finally:
            credits.cancel()
            await self._ended()
            if self._rests:
                self._await_session()
            else:
                self._done.set()

    async def Replay(self, request: pb.ReplayRequest) -> AsyncIterator[pb.Looks]:
        """Play a recorded episode again."""
        from gym_gui.host.replay_server import replayed  # not needed by sessions that play

        self._take()
        _draw_in_memory()
        looks = replayed(request)
        try:
            async for news in looks:
                yield news
            # A busy client receives the last positions later. It closes the call when it has them, and only
            # then does this process end; otherwise positions in transit would be lost.
            await asyncio.Event().wait()
        finally:
            await looks.aclose()
            self._done.set()

    def _take(self) -> None:
        if self._taken:
            raise MosaicError("this host has a client")
        self._taken = True

    async def _take_in(self, seen: AsyncIterator[pb.Seen]) -> None:
        async for message in seen:
            self.outbox.seen(message.looks)
            for number in message.noted:
                self._session.noted(number)

    # -- start and end ----------------------------------------------------------------------------

    async def Launch(self, request: pb.LaunchRequest) -> pb.Ready:
        """Start the session with its workers."""
        if self._launched or self._end is not None:
            raise UsageError("a session is launched once")
        self._launched = True
        try:
            ready = await self._start(request)
        except BaseException:
            self._ended()  # nothing can follow a failed launch, and the client may never call Follow
            raise
        return ready_message(ready)

    async def _start(self, request: pb.LaunchRequest) -> SessionReady:
        if request.HasField("live"):
            _draw_in_memory()
        resolved = operator_of(request)
        show_operator(resolved.config.operator_id)
        settings, outbox = settings_of(request, resolved), self.outbox
        secrets = keys_of(resolved) if self._own_keys else secrets_of(request)
        session = LocalSession(resolved, settings, outbox.on_event, secrets, outbox.is_behind)
        ready: SessionReady = await self._while_it_lasts(session.start())
        self._started = session
        outbox.watch(session)
        return ready

    async def Stop(self, request: pb.StopRequest) -> pb.Done:
        """Abort all episodes, then end the session, and the host unless it rests."""
        self._in_haste, self._rests = request.in_haste, request.rest
        self._ended()
        return _DONE

    def _ended(self) -> asyncio.Task[None]:
        """Start to end the session, if that has not begun yet, and return the task."""
        if self._end is None:
            self._end = asyncio.get_running_loop().create_task(self._close())
        return self._end

    async def _close(self) -> None:
        for task in self._loading:
            task.cancel()
        await asyncio.gather(*self._loading, return_exceptions=True)
        try:
            if self._started is not None:
                await self._started.close(in_haste=self._in_haste)
        finally:
            self.outbox.close()
            if not self._taken:
                self._done.set()

    async def _while_it_lasts(self, work: Any) -> Any:
        """Run work that may take long, such as loading a policy, and cancel it when the session ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)
        return await task

    @property
    def _session(self) -> LocalSession:
        if self._started is None:
            raise UsageError("the session has not been launched")
        return self._started

    # -- requests that are done at once -----------------------------------------------------------

    async def Play(self, request: pb.Episodes) -> pb.Done:
        """Queue episodes."""
        self._session.play([plan_of(episode) for episode in request.episodes])
        return _DONE

    async def Pause(self, request: pb.PauseRequest) -> pb.Done:
        """Pause all episodes."""
        self._session.pause()
        return _DONE

    async def Resume(self, request: pb.ResumeRequest) -> pb.Done:
        """Resume all episodes."""
        self._session.resume()
        return _DONE

    async def Step(self, request: pb.StepRequest) -> pb.Done:
        """Take one environment step in each episode."""
        self._session.step()
        return _DONE

    async def SetPace(self, request: pb.Pace) -> pb.Done:
        """Set the largest number of steps per second."""
        self._session.pace(request.steps_per_s or None)
        return _DONE

    async def Abort(self, request: pb.AbortRequest) -> pb.Done:
        """Abort all episodes."""
        self._session.abort()
        return _DONE

    async def Watch(self, request: pb.WatchRequest) -> pb.Done:
        """Start or stop watching."""
        live = live_of(request.live) if request.HasField("live") else None
        if live is not None:
            _draw_in_memory()
        self._session.watch(live)
        return _DONE

    async def Answer(self, request: pb.HumanAnswer) -> pb.Done:
        """Pass on a person's decision."""
        self._session.answer(request.question, json.loads(request.action))
        return _DONE

    async def Settle(self, request: pb.SettleRequest) -> pb.Done:
        """Queue a confirmation behind all events of earlier requests."""
        self.outbox.put(pb.Event(settled=pb.Settled(id=request.id)))
        return _DONE

    async def Present(self, request: pb.PresentRequest) -> pb.Presented:
        """Return the inputs of a slot, as its policy receives them."""
        try:
            shown = await self._session.present(request.agent)
        except MosaicError:
            raise
        except Exception as exc:  # the border to a describer's own code; the client gets the error
            raise UsageError(f"it cannot be said what {request.agent} is shown: {described(exc)}") from exc
        return pb.Presented(json=json.dumps(dict(shown)).encode())

    async def See(self, request: pb.PresentRequest) -> pb.AgentObservation:
        """Return the present observation of a slot, for people."""
        return observation_message(await self._session.see(request.agent))

    async def Rebind(self, request: pb.RebindRequest) -> pb.Player:
        """Give a slot to another player while the other slots continue."""
        agent, session = request.agent, self._session
        allowance = amount_of(request.allowance) if request.HasField("allowance") else None
        assignment = assignment_of(request)
        secrets = resolve_secrets(assignment) if self._own_keys else dict(request.secrets)
        given = session.rebind(agent, assignment, allowance, secrets)
        try:
            player: Mapping[str, str] = await self._while_it_lasts(given)
        except MosaicError:
            raise
        except Exception as exc:  # the border to a worker's own code; the client gets the error
            raise UsageError(f"{agent} could not be given to another policy: {described(exc)}") from exc
        return player_message(agent, player)


def show_operator(operator: str) -> None:
    """Show the operator in ``ps`` and ``top``, since a host may be started before its operator is known."""
    with suppress(OSError):  # systems other than Linux
        Path("/proc/self/comm").write_bytes(operator.encode()[:15])


def _draw_in_memory() -> None:
    # Pygame's pictures are read from memory; pygame must not search for a screen or a
    # loudspeaker, or report that there is none.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
