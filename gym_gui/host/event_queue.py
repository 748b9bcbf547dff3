"""The queue of events from a session host to its client."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator

from msgspec.structs import replace

from gym_gui.controllers.engine.session_events import (
    CallMade,
    EpisodeFinished,
    EpisodeRetried,
    EpisodeStarted,
    FrameDrawn,
    LogLine,
    Picture,
    QuestionWithdrawn,
    RequestAnnounced,
    SessionEnded,
    SessionEvent,
    StepsTaken,
    Thought,
)
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.live import Compiling, HumanQuestion, LiveView
from gym_gui.host.frames import LARGEST, FrameWriter
from gym_gui.host.request_messages import allowance_message
from gym_gui.host.service_names import pb
from gym_gui.host.view_messages import frame_with, question_message, view_message

_NEWS_S = 0.05
_NEWS_BYTES = 1 << 18
_ALIVE_S = 1.0
_CALLS_BYTES = 1 << 22
"""Largest number of bytes of waiting calls, and of waiting thoughts; further thoughts are dropped."""
_UNSEEN = 4
"""Largest number of views that the client has not confirmed; it confirms every ``SEEN_EVERY`` views."""


class Outbox:
    """Queue of events to the client.

    Episodes that finish close together share a message. Only a few views are in transit at a time: until
    the client confirms them, a further view waits, and a newer one replaces it. So a slow client gets fewer
    views, but recent ones. Otherwise messages would accumulate in the connection's buffers.

    Args:
        begun: File descriptor of the pipe that receives the index of each episode that begins.
        frames: Memory shared with the client; without it pictures are part of the messages.
    """

    def __init__(self, begun: int, frames: FrameWriter | None = None) -> None:
        self._begun, self._frames = begun, frames
        self._queue: asyncio.Queue[pb.Event | None] = asyncio.Queue()
        self._news = pb.News()
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._session: LocalSession | None = None
        self._frame: pb.Frame | None = None
        self._look: pb.Event | None = None
        self._held: pb.Event | None = None
        self._unseen = 0
        self._calls_bytes = self._thoughts_bytes = 0

    def watch(self, session: LocalSession) -> None:
        """Take the step and episode counts for news from ``session``."""
        self._session = session

    def put(self, event: pb.Event) -> None:
        """Queue an event behind earlier ones."""
        self.flush()
        self._queue.put_nowait(event)

    def close(self) -> None:
        """End the queue after the events so far."""
        self.flush()
        self._queue.put_nowait(None)

    async def events(self) -> AsyncIterator[pb.Event]:
        """Yield queued events as they come, and a sign of life if there are none."""
        while True:
            try:
                event = await asyncio.wait_for(self._queue.get(), _ALIVE_S)
            except TimeoutError:
                self._fill_in()
                event, self._news, self._size = pb.Event(news=self._news), pb.News(), 0
            if event is None:
                return
            if event is self._look:
                self._look = None
            if event.HasField("call"):
                self._calls_bytes -= len(event.call.json)
            elif event.HasField("thought"):
                self._thoughts_bytes -= len(event.thought.json)
            yield event

    def _fill_in(self) -> None:
        if self._session is not None:
            controller = self._session.controller
            self._news.live, self._news.steps = controller.live, controller.total_steps

    def flush(self) -> None:
        """Queue the collected news."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._news.finished:
            self._fill_in()
            self._queue.put_nowait(pb.Event(news=self._news))
            self._news, self._size = pb.News(), 0

    def _soon(self) -> None:
        if self._size > _NEWS_BYTES:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_NEWS_S, self.flush)

    # -- events of the session ---------------------------------------------------------------

    def on_event(self, event: SessionEvent) -> None:
        """Queue an event of the session for the client."""
        match event:
            case EpisodeStarted(index):
                # Written before the episode's first step, because data in the pipe survive this process.
                with contextlib.suppress(BrokenPipeError):
                    os.write(self._begun, b"%d\n" % index)
            case EpisodeFinished():
                self._add(event)
            case StepsTaken():
                pass  # the news contain the steps
            case EpisodeRetried(index, reason, lost):
                self.put(pb.Event(retried=pb.Retried(index=index, reason=reason, lost=lost)))
            case CallMade(line):
                call = pb.PaidCall(json=line.decode())
                self._calls_bytes += len(call.json)
                self.put(pb.Event(call=call))
            case RequestAnnounced(number, slot, episode, most):
                told = allowance_message(slot, most)
                self.put(pb.Event(announced=pb.AnnouncedRequest(number=number, episode=episode, most=told)))
            case Thought(line):
                if self._thoughts_bytes < _CALLS_BYTES:
                    self._thoughts_bytes += len(line)
                    self.put(pb.Event(thought=pb.Thought(json=line)))
            case Compiling(title, functions, total):
                self.put(pb.Event(compiling=pb.Compiling(title=title, functions=functions, total=total)))
            case LogLine(level, logger, text):
                self.put(pb.Event(log=pb.LogLine(level=level, logger=logger, text=text)))
            case FrameDrawn(frame, number):
                self._frame = self._shared(frame, number)
                if self._frame is None and frame.nbytes <= LARGEST:
                    self._frame = frame_with(frame)
            case LiveView():
                self._look_at(event)
            case HumanQuestion():
                self.put(pb.Event(question=question_message(event)))
            case QuestionWithdrawn(question_id):
                self.put(pb.Event(withdrawn=pb.Withdrawn(question=question_id)))
            case SessionEnded(reason):
                if reason:
                    self.put(pb.Event(broken=pb.Broken(reason=reason)))
                self.close()

    def is_behind(self) -> bool:
        """Return whether so many calls wait for the client that workers should make no more."""
        return self._calls_bytes > _CALLS_BYTES

    def _add(self, episode: EpisodeFinished) -> None:
        steps, line = episode.steps, episode.line
        self._news.finished.add(
            index=episode.index, steps=steps, episode=line, status=episode.status, unplayed=episode.unplayed
        )
        self._size += len(steps) + len(line)
        session = self._session
        if session is not None and not session.controller.live and not session.controller.waiting:
            self.flush()  # the session has nothing to play: the client may have more episodes
        else:
            self._soon()

    def _shared(self, frame: Picture, number: int) -> pb.Frame | None:
        places = self._frames.write(frame, number) if self._frames is not None else None
        return None if places is None else pb.Frame(base=places.base, stride=places.stride)

    def _look_at(self, view: LiveView) -> None:
        frame, self._frame = self._frame, None
        if frame is None and view.frame:
            view = replace(view, frame=0)  # the picture is too large to be sent
        event = pb.Event(view=view_message(view, frame))
        if self._look is not None:
            self._look.CopyFrom(event)
        elif self._unseen >= _UNSEEN and not view.over:
            self._held = event
        else:
            self._queue_look(event)
        if view.over:
            self._look = None  # no later view may replace that of the end

    def _queue_look(self, event: pb.Event) -> None:
        self._look, self._held = event, None
        self._unseen += 1
        self._queue.put_nowait(event)

    def seen(self, looks: int) -> None:
        """Note that the client has received further views, and send the waiting one if possible."""
        self._unseen = max(self._unseen - looks, 0)
        if self._held is not None and self._unseen < _UNSEEN:
            self._queue_look(self._held)
