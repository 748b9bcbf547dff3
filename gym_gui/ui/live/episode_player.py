"""Plays one operator's episodes in sessions, one after the other; knows nothing of Qt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import orjson

from gym_gui.controllers.session_events import (
    CallMade,
    EpisodeFinished,
    FrameDrawn,
    QuestionWithdrawn,
    SessionEnded,
    SessionEvent,
)
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.live import Compiling, HumanQuestion, LiveView
from gym_gui.core.spending import Taking
from gym_gui.ui.live.engine import with_player
from gym_gui.ui.live.episode_feed import PATIENCE_S, EpisodeFeed
from gym_gui.ui.live.session_link import Look, SessionLink
from gym_gui.ui.live.state import trouble_sentence
from gym_gui.ui.live.tally import Tally
from gym_gui.ui.live.told import Told

if TYPE_CHECKING:
    from gym_gui.controllers.live_run import LiveRun
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.language.call_log import CallLog
    from gym_gui.ui.live.engine import OpenLiveSession

KEPT_EPISODES: Final = 1000


class EpisodePlayer:
    """What was asked for last counts: opening, beginning anew and ending follow one another.

    Args:
        context: The window's services; ``store``, ``spawn`` and ``notify`` are used.
        config: Who plays.
        told: Hears what happens.
        seeds: As for :class:`EpisodeFeed`.
        run: Where finished episodes are written.
        open_session: Makes the session; a host process by default.

    Attributes:
        config: Who plays, as it is now.
        run: Where episodes that end are written, or ``None``.
        trouble: Why it is broken, as a sentence; ``""`` while it is not.
        shortage: Which budget does not carry its next episode, as a sentence; ``""`` while all do.
        last_view: The newest look, or ``None``.
        last_frame: The newest picture, or ``None``.
        episodes_done: Lines of the last 1,000 episodes that ended by themselves.
        tally: What has come together since the last start or reset.
        calls: What models were asked since the last start or reset; ``None`` where none was.
        questions: What people have not answered yet, by id.
        paused: Whether it waits to be resumed or stepped.
        stepping: Whether a step that was asked for has not been taken yet.
        stopping: Whether an episode that was cut off has not been reported yet.
        ending: Whether its session is to end, or has ended, because somebody asked for that.
        rate: Most steps a second, or ``None``.
        closed: Whether it has ended for good.
    """

    def __init__(
        self,
        context: AppContext,
        config: OperatorConfig,
        told: Told,
        *,
        seeds: Sequence[int] | None = None,
        run: LiveRun | None = None,
        open_session: OpenLiveSession | None = None,
    ) -> None:
        self._context, self._told = context, told
        self.config, self.run = config, run
        self.link = SessionLink(context, self.on_event, open_session)
        self.feed = EpisodeFeed(seeds)
        self.trouble = self.shortage = ""
        self.compiling: Compiling | None = None
        self.last_view: LiveView | None = None
        self.last_frame: Any = None
        self.episodes_done: list[dict[str, Any]] = []
        self.tally = Tally()
        self.calls: CallLog | None = None
        self.questions: dict[int, HumanQuestion] = {}
        self.paused = self.stepping = self.stopping = self.ending = self.closed = False
        self.rate: float | None = None
        self._onwards = False
        self._early: bool | None = None  # a step that was asked for before there was anything to step
        self._blind = False  # what the session before still shows is of another configuration
        self._look: Look = ("rgb_array", 30.0)
        self._work: asyncio.Task[Any] | None = None
        self._lock = asyncio.Lock()
        self._since = time.monotonic()

    @property
    def waiting_s(self) -> float:
        """Seconds since something last happened."""
        return time.monotonic() - self._since

    @property
    def busy(self) -> bool:
        """Whether a session is being opened, ended, or told to begin anew."""
        return self._work is not None and not self._work.done()

    def touch(self) -> None:
        """Something happens now."""
        self._since = time.monotonic()

    # -- what is asked for -------------------------------------------------------------

    def begin(self, seed: int, episodes: int | None, look: Look | None = None) -> None:
        """Play from this seed on, with the session that is open where it suits."""
        self.trouble = self.shortage = ""
        self.ending = False
        self._early = None
        self.feed.begin(seed, episodes)
        self.episodes_done, self.tally, self.calls = [], Tally(), None
        self._look = look or self._look
        suits = self.link.suits(self.config, self._look)
        self._spawn(self._play_afresh() if suits else self._open())

    def begin_again(self) -> None:
        """After trouble: another session goes on where the last one stood."""
        self.trouble = self.shortage = ""
        self.ending = False
        self._spawn(self._open())

    def become(self, config: OperatorConfig, *, same: bool) -> None:
        """Be another operator from the next start on; the ``same`` in all that a session asks for."""
        before, self.config = self.config, config
        if same:
            self.link.adopt(before, config)
        else:
            self.last_view = self.last_frame = None
            if not self.closed:
                self.stop()
            self._blind = True

    def resume(self) -> None:
        """Play on without waiting."""
        self.paused = False
        self._early = None
        self.touch()
        if self.link.playing is not None:
            self.link.playing.resume()
            self._play_next()

    def pause(self) -> None:
        """Hold before the next step."""
        self.paused = True
        if self.link.playing is not None:
            self.link.playing.pause()

    def step(self, *, by_agent: bool) -> None:
        """One step; at the end of an episode, the beginning of the next one."""
        session = self.link.playing
        if self.stepping or (session is None and not self.busy):
            return
        if not self.paused:
            self.pause()
        if session is None:
            self._early = by_agent
            return
        if self.feed.done or self.shortage:
            return
        self.stepping = True
        self.touch()
        if self.feed.flight is None:
            self._play_next()
        elif self._shown_to_its_end:
            self._onwards = True  # its line is still on its way
        else:
            (session.step_agent if by_agent else session.step)()

    @property
    def _shown_to_its_end(self) -> bool:
        """Whether the last look was the last one of the episode in flight."""
        flight, view = self.feed.flight, self.last_view
        return (
            flight is not None and view is not None and bool(view.over) and view.episode == flight.plan.index
        )

    def set_rate(self, steps_per_s: float | None) -> None:
        """At most so many steps a second."""
        self.rate = steps_per_s
        if self.link.playing is not None:
            self.link.playing.pace(steps_per_s)

    def record_into(self, run: LiveRun | None) -> None:
        """Write episodes that end from now on into ``run``."""
        self.run, ready = run, self.link.ready
        if run is not None and ready is not None:
            run.introduce(self.config.operator_id, ready)

    def answer(self, question_id: int, action: Any) -> None:
        """What a person chose; an answer that comes too late changes nothing."""
        session = self.link.session
        if self.questions.pop(question_id, None) is not None and session is not None:
            self.touch()
            session.answer(question_id, action)

    async def rebind(self, agent: str, assignment: WorkerAssignment, name: str = "") -> None:
        """Have somebody else play a slot from its next decision on.

        Args:
            agent: The slot.
            assignment: Who plays it.
            name: What the operator is called from now on; empty: as before.

        Raises:
            UsageError: Why they cannot; nothing has changed.
        """
        if self.link.session is not None and self.link.playing is None:
            await self.settled()
        before, changed, taking = self.config, with_player(self.config, agent, assignment), None
        if self.link.playing is not None:
            flight = self.feed.flight
            if flight is not None and self.run is not None and flight.run is self.run:
                taking = Taking(agent, flight.plan.index, self.run.offer(changed, agent, flight.plan))
            await self.link.playing.rebind(agent, assignment, taking.allowance if taking else None)
        self.config = replace(changed, display_name=name or changed.display_name)
        self.link.adopt(before, self.config)
        if self.run is not None:
            self.run.describe(self.config, taking)

    async def present(self, agent: str) -> Mapping[str, Any]:
        """What a slot is shown at this moment.

        Raises:
            UsageError: Nothing plays, or the slot is not asked now.
        """
        if self.link.session is not None and self.link.playing is None:
            await self.settled()
        if self.link.playing is None:
            raise UsageError("nothing plays", fix="Step or Run starts it")
        return await self.link.playing.present(agent)

    def stop(self) -> None:
        """End the session; what was played stays on show."""
        self.trouble = self.shortage = ""
        self.ending = True
        self.feed.limit = 0
        self._spawn(self._shut())

    async def settled(self) -> None:
        """Wait until what was asked for last has been done."""
        if self._work is not None:
            await asyncio.gather(self._work, return_exceptions=True)

    async def close(self) -> None:
        """End for good; nothing that was started is left."""
        self.closed = True
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        await self._shut()
        await self.link.ended()
        self._work = None  # its traceback would hold the session

    # -- sessions ----------------------------------------------------------------------

    def _spawn(self, job: Coroutine[Any, Any, None]) -> None:
        """One piece of work at a time: what was asked last counts."""
        before, self._work = self._work, None
        if before is not None:
            before.cancel()
        self._work = self._context.spawn(job, f"playing {self.config.display_name}")
        self._work.add_done_callback(self._on_work_done)

    def _on_work_done(self, task: object) -> None:
        if not self.closed and task is self._work:
            self._told.on_worked()

    async def _open(self) -> None:
        async with self._lock:
            await self._end_session(farewell=False)
            self.trouble, self.compiling = "", None
            self.touch()
            upcoming = self.feed.upcoming(self.config.operator_id, self.run) if self.feed.left != 0 else None
            session = await self.link.make(self.config, self._look, upcoming)
            self._blind = False
            self._told.on_changed()
            try:
                if not await self.link.start(session):
                    return
            except BaseException as exc:
                if self.link.session is session:
                    self._forget()
                if not isinstance(exc, MosaicError):
                    raise
                self._break(str(exc))
                return
            self.record_into(self.run)
            if self.paused:
                session.pause()
            if self.rate is not None:
                session.pace(self.rate)
            self._play_next()
            self._told.on_changed()

    async def _play_afresh(self) -> None:
        """Abort what is being played, wait until that is over, play from the beginning."""
        async with self._lock:
            session = self.link.session
            if session is not None and await self._abort():
                (session.pause if self.paused else session.resume)()
                self._play_next()
                return
        await self._open()

    async def _abort(self) -> bool:
        """End the episode in flight and have it recorded; ``False`` when the session does not answer."""
        session = self.link.session
        assert session is not None
        self._questions_gone()
        self.stepping = self._onwards = False
        self.stopping = self.feed.flight is not None
        self._told.on_changed()
        try:
            reported = await self.feed.abort(session)
        finally:
            self.stopping = False
        if not reported:
            self._context.notify(
                f"{self.config.display_name} did not answer for {PATIENCE_S:.0f} s: "
                "the episode that it was playing is not on record",
                "warning",
            )
        return reported and self.link.session is session

    async def _shut(self) -> None:
        async with self._lock:
            await self._end_session(farewell=True)
        self._told.on_changed()

    async def _end_session(self, *, farewell: bool) -> None:
        """End the session; with ``farewell`` the episode in flight is recorded as aborted first."""
        session = self.link.session
        if session is None:
            return
        if farewell and self.link.playing is not None:
            await self._abort()
        if self.link.session is session:
            self._forget()
            await asyncio.shield(self.link.dispose(session))

    def _forget(self) -> None:
        self.link.let_go()
        view = self.last_view
        asked = not self.paused or self.stepping or (view is not None and view.step > 0)
        self.stepping = self._onwards = False
        self.feed.lost(begun=asked)
        self._questions_gone()

    def _questions_gone(self) -> None:
        gone, self.questions = list(self.questions), {}
        for question_id in gone:
            self._told.on_lapsed(question_id)

    def _break(self, sentence: str) -> None:
        if not self.closed:
            self.trouble = trouble_sentence(sentence)
            self._told.on_broke(self.trouble)

    async def _give_up(self, reason: str) -> None:
        async with self._lock:
            await self._end_session(farewell=False)
        self._break(reason)

    def _play_next(self) -> None:
        session, operator_id = self.link.session, self.config.operator_id
        if session is None or self.feed.flight is not None or self.feed.left == 0:
            return
        if self.feed.give(session, operator_id, self.run):
            self.touch()
        elif self.run is not None:  # it waits until a person gives it more
            self.shortage = self.run.shortage(operator_id, self.feed.upcoming(operator_id, self.run))
            self.stepping = False
        self._onwards = False

    # -- what the session says ---------------------------------------------------------

    def on_event(self, event: SessionEvent) -> None:
        """What the session says that plays now."""
        match event:
            case EpisodeFinished():
                self._on_finished(event)
            case Compiling():
                self.compiling = event
                self._told.on_changed()
            case CallMade(line):
                self._on_call(line)
            case LiveView():
                self._on_view(event)
            case FrameDrawn(frame):
                if not self._blind:
                    self.last_frame = frame
                    self._told.on_framed(frame)
            case HumanQuestion():
                self.questions[event.id] = event
                self._told.on_asked(event)
            case QuestionWithdrawn(question_id):
                if self.questions.pop(question_id, None) is not None:
                    self._told.on_lapsed(question_id)
                    self._told.on_changed()
            case SessionEnded(reason):
                self._on_ended(reason)
            case _:  # views count steps; the link logs; what it was given is in flight, and not begun again
                pass

    def _on_finished(self, episode: EpisodeFinished) -> None:
        flight = self.feed.over(episode.index)
        if flight is None:
            return
        self.touch()
        if flight.run is not None:
            flight.run.episode(self.config.operator_id, flight.plan, episode)
        row: dict[str, Any] = orjson.loads(episode.line)
        if self.calls is not None:
            self.calls.played(episode.steps, _slots(row))
        if episode.unplayed:
            self.feed.again(flight)
        elif not self.feed.is_of_this_round(flight) or episode.status is EpisodeStatus.ABORTED:
            return  # somebody has asked for something else meanwhile
        else:
            self._count(row, episode.steps)
        if episode.status is EpisodeStatus.FAILED:
            # Another one would most likely fail as fast as this one: have a person look first.
            reason = str(row.get("error") or "the episode failed")
            self._context.spawn(self._give_up(reason), "ending a session")
        elif not self.paused or self._onwards:
            self._play_next()
        self._told.on_changed()

    def _count(self, row: dict[str, Any], steps: bytes) -> None:
        self.tally.end(row, decisions=steps.count(b"\n"))
        self.episodes_done.append(row)
        del self.episodes_done[:-KEPT_EPISODES]
        self._told.on_episode_over(row)

    def _on_view(self, view: LiveView) -> None:
        if self._blind:
            return
        last, self.last_view = self.last_view, view
        if self.calls is not None:
            self.calls.look(view)
        moved = last is None or (last.episode, last.step, last.over) != (view.episode, view.step, view.over)
        if moved:
            self.touch()
        flight = self.feed.flight
        if flight is not None and flight.plan.index == view.episode and self.feed.is_of_this_round(flight):
            self.tally.look(view)
        self._told.on_viewed(view)
        if self.stepping and moved:
            self.stepping = False
            self._told.on_stepped()
        if self._early is not None and flight is not None and flight.plan.index == view.episode:
            by_agent, self._early = self._early, None
            self.step(by_agent=by_agent)
        self._told.on_changed()

    def _on_call(self, line: bytes) -> None:
        flight = self.feed.flight
        run = flight.run if flight is not None else self.run  # the run of the episode that asked
        if run is not None:
            run.call(self.config.operator_id, line)
        if self.calls is None:
            from gym_gui.ui.language.call_log import CallLog  # most operators ask no model

            self.calls = CallLog()
        turn = self.calls.add(line)
        if turn is not None:
            self.touch()
            self._told.on_called(turn)

    def _on_ended(self, reason: str) -> None:
        session = self.link.session
        self._forget()
        if session is not None:
            self.link.dispose(session)
        self._break(reason)


def _slots(row: dict[str, Any]) -> dict[str, str]:
    """Slot by agent, as an episode's line says."""
    return {agent: str(about.get("slot", agent)) for agent, about in row.get("agents", {}).items()}
