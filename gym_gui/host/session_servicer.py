"""A session behind gRPC."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
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
    """The methods of ``Session``, for one client, once.

    Args:
        outbox: Events for the client that follows the session.
        done: Set when its client has gone and its workers have ended.
        own_keys: Whether keys are looked up here, and none are sent.
    """

    def __init__(self, outbox: Outbox, done: asyncio.Event, *, own_keys: bool = False) -> None:
        self._outbox, self._done, self._own_keys = outbox, done, own_keys
        self._taken = self._launched = self._in_haste = False
        self._started: LocalSession | None = None
        self._loading: set[asyncio.Task[Any]] = set()
        self._end: asyncio.Task[None] | None = None

    async def Greet(self, request: pb.Greeting) -> pb.Greeting:
        """Both ends must be of one version."""
        ours = greeting()
        if request != ours:
            raise UsageError(
                f"this program is MOSAIC {request.version}, its session process {ours.version}",
                fix="It was changed while it ran: start it anew",
            )
        return ours

    # -- for the life of a session --------------------------------------------------------------

    async def Follow(self, seen: AsyncIterator[pb.Seen]) -> AsyncIterator[pb.Event]:
        """What happens, until its client has enough of it."""
        self._take()
        credits = asyncio.get_running_loop().create_task(self._take_in(seen))
        try:
            async for event in self._outbox.events():
                yield event
        finally:
            credits.cancel()
            await self._ended()
            self._done.set()

    async def Replay(self, request: pb.ReplayRequest) -> AsyncIterator[pb.Looks]:
        """Play a recorded episode again."""
        from gym_gui.host.replay_server import replayed  # sessions that play need none of it

        self._take()
        _draw_in_memory()
        looks = replayed(request)
        try:
            async for news in looks:
                yield news
            # A client that is busy takes the last looks later: it hangs up once it has them, and not before
            # then does this process end. What is still on its way ends with it.
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
            self._outbox.seen(message.looks)
            for number in message.noted:
                self._session.noted(number)

    # -- its beginning and its end ----------------------------------------------------------------

    async def Launch(self, request: pb.LaunchRequest) -> pb.Ready:
        """Staff it."""
        if self._launched or self._end is not None:
            raise UsageError("a session is launched once")
        self._launched = True
        try:
            ready = await self._start(request)
        except BaseException:
            self._ended()  # nothing comes after it, and who would follow it may never have got so far
            raise
        return ready_message(ready)

    async def _start(self, request: pb.LaunchRequest) -> SessionReady:
        if request.HasField("live"):
            _draw_in_memory()
        resolved = operator_of(request)
        settings, outbox = settings_of(request, resolved), self._outbox
        secrets = keys_of(resolved) if self._own_keys else secrets_of(request)
        session = LocalSession(resolved, settings, outbox.on_event, secrets, outbox.is_behind)
        ready: SessionReady = await self._while_it_lasts(session.start())
        self._started = session
        outbox.watch(session)
        return ready

    async def Stop(self, request: pb.StopRequest) -> pb.Done:
        """Abort what is running, then end."""
        self._in_haste = request.in_haste
        self._ended()
        return _DONE

    def _ended(self) -> asyncio.Task[None]:
        """End the session, once."""
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
            self._outbox.close()
            if not self._taken:
                self._done.set()

    async def _while_it_lasts(self, work: Any) -> Any:
        """What takes as long as loading a policy does is given up when the session ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)
        return await task

    @property
    def _session(self) -> LocalSession:
        if self._started is None:
            raise UsageError("the session has not been launched")
        return self._started

    # -- carried out at once ----------------------------------------------------------------------

    async def Play(self, request: pb.Episodes) -> pb.Done:
        """Queue episodes."""
        self._session.play([plan_of(episode) for episode in request.episodes])
        return _DONE

    async def Pause(self, request: pb.PauseRequest) -> pb.Done:
        """Hold every episode."""
        self._session.pause()
        return _DONE

    async def Resume(self, request: pb.ResumeRequest) -> pb.Done:
        """Go on."""
        self._session.resume()
        return _DONE

    async def Step(self, request: pb.StepRequest) -> pb.Done:
        """One environment step in every episode."""
        self._session.step()
        return _DONE

    async def SetPace(self, request: pb.Pace) -> pb.Done:
        """So many steps a second."""
        self._session.pace(request.steps_per_s or None)
        return _DONE

    async def Abort(self, request: pb.AbortRequest) -> pb.Done:
        """End every episode."""
        self._session.abort()
        return _DONE

    async def Watch(self, request: pb.WatchRequest) -> pb.Done:
        """The client begins to watch, or stops watching."""
        live = live_of(request.live) if request.HasField("live") else None
        if live is not None:
            _draw_in_memory()
        self._session.watch(live)
        return _DONE

    async def Answer(self, request: pb.HumanAnswer) -> pb.Done:
        """A person has decided."""
        self._session.answer(request.question, json.loads(request.action))
        return _DONE

    async def Settle(self, request: pb.SettleRequest) -> pb.Done:
        """Told behind all that came of what was asked before."""
        self._outbox.put(pb.Event(settled=pb.Settled(id=request.id)))
        return _DONE

    async def Present(self, request: pb.PresentRequest) -> pb.Presented:
        """What a slot is shown."""
        try:
            shown = await self._session.present(request.agent)
        except MosaicError:
            raise
        except Exception as exc:  # the border to a describer's own code; the client gets the error
            raise UsageError(f"it cannot be said what {request.agent} is shown: {described(exc)}") from exc
        return pb.Presented(json=json.dumps(dict(shown)).encode())

    async def See(self, request: pb.PresentRequest) -> pb.AgentObservation:
        """What a slot sees."""
        return observation_message(await self._session.see(request.agent))

    async def Rebind(self, request: pb.RebindRequest) -> pb.Player:
        """Give a slot to another player; the other slots go on."""
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


def _draw_in_memory() -> None:
    # What pygame draws is read from memory; it must not look for a screen or a
    # loudspeaker, or complain of none.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
