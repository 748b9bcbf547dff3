"""Queue of events from a session host to its client."""

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
"""Largest number of bytes of waiting calls, and of waiting reports of reasoning.

Further reports are dropped.
"""
_UNSEEN = 4
"""Largest number of sent views that the client has not confirmed. It confirms every ``SEEN_EVERY`` views."""


class Outbox:
    """Queue of a session's events for the client.

    Episodes that finish close together share a message. Only a few views are in transit at a time: until
    the client confirms them, the next view waits, and each newer view replaces it. So a slow client gets
    fewer but recent views, and messages do not accumulate in the connection's buffers.

    Args:
        begun: File descriptor of the pipe that receives the index of each episode that begins.
        frames: Memory shared with the client; ``None`` puts pictures into the messages.
    """

    def __init__(self, begun: int, frames: FrameWriter | None = None) -> None:
        self._begun, self._frames = begun, frames
        self._queue: asyncio.Queue[pb.Event | None] = asyncio.Queue()
        self._news = pb.News()
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._session: LocalSession | None = None
        self._frame: pb.Frame | None = None
        self._queued_view: pb.Event | None = None
        self._held_view: pb.Event | None = None
        self._unconfirmed = 0
        self._calls_bytes = self._thoughts_bytes = 0

    def watch(self, session: LocalSession) -> None:
        """Read the numbers of steps and running episodes from ``session`` from now on."""
        self._session = session

    def put(self, event: pb.Event) -> None:
        """Queue an event after all earlier events."""
        self.flush()
        self._queue.put_nowait(event)

    def close(self) -> None:
        """End the queue after the events queued so far."""
        self.flush()
        self._queue.put_nowait(None)

    async def events(self) -> AsyncIterator[pb.Event]:
        """Yield queued events as they arrive, and an empty message every second without an event."""
        while True:
            try:
                event = await asyncio.wait_for(self._queue.get(), _ALIVE_S)
            except TimeoutError:
                self._add_counts()
                event, self._news, self._size = pb.Event(news=self._news), pb.News(), 0
            if event is None:
                return
            if event is self._queued_view:
                self._queued_view = None
            if event.HasField("call"):
                self._calls_bytes -= len(event.call.json)
            elif event.HasField("thought"):
                self._thoughts_bytes -= len(event.thought.json)
            yield event

    def _add_counts(self) -> None:
        if self._session is not None:
            controller = self._session.controller
            self._news.live, self._news.steps = controller.live, controller.total_steps

    def flush(self) -> None:
        """Queue the message that collects finished episodes."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._news.finished:
            self._add_counts()
            self._queue.put_nowait(pb.Event(news=self._news))
            self._news, self._size = pb.News(), 0

    def _flush_later(self) -> None:
        if self._size > _NEWS_BYTES:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_NEWS_S, self.flush)

    # -- events of the session ---------------------------------------------------------------

    def on_event(self, event: SessionEvent) -> None:
        """Convert an event of the session to a message and queue it for the client."""
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
                self._add_view(event)
            case HumanQuestion():
                self.put(pb.Event(question=question_message(event)))
            case QuestionWithdrawn(question_id):
                self.put(pb.Event(withdrawn=pb.Withdrawn(question=question_id)))
            case SessionEnded(reason):
                if reason:
                    self.put(pb.Event(broken=pb.Broken(reason=reason)))
                self.close()

    def is_behind(self) -> bool:
        """Return whether so many calls wait for the client that workers must delay more calls."""
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
            self._flush_later()

    def _shared(self, frame: Picture, number: int) -> pb.Frame | None:
        places = self._frames.write(frame, number) if self._frames is not None else None
        return None if places is None else pb.Frame(base=places.base, stride=places.stride)

    def _add_view(self, view: LiveView) -> None:
        frame, self._frame = self._frame, None
        if frame is None and view.frame:
            view = replace(view, frame=0)  # the picture is too large to be sent
        event = pb.Event(view=view_message(view, frame))
        if self._queued_view is not None:
            self._queued_view.CopyFrom(event)
        elif self._unconfirmed >= _UNSEEN and not view.over:
            self._held_view = event
        else:
            self._queue_view(event)
        if view.over:
            self._queued_view = None  # no later view may replace that of the end

    def _queue_view(self, event: pb.Event) -> None:
        self._queued_view, self._held_view = event, None
        self._unconfirmed += 1
        self._queue.put_nowait(event)

    def seen(self, looks: int) -> None:
        """Handle the client's confirmation of views, and queue the waiting view if possible."""
        self._unconfirmed = max(self._unconfirmed - looks, 0)
        if self._held_view is not None and self._unconfirmed < _UNSEEN:
            self._queue_view(self._held_view)
