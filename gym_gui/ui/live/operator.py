"""One operator that is watched and played: a session host process behind Qt signals."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import orjson
from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import MosaicError
from gym_gui.core.execution import EpisodePlan
from gym_gui.core.live import HumanQuestion, LiveView
from gym_gui.ui.live.engine import seated_as_written, with_player
from gym_gui.ui.live.episode_feed import EpisodeFeed
from gym_gui.ui.live.session_link import Look, SessionLink
from gym_gui.ui.live.state import ALIVE, OperatorState, state_words, trouble_sentence
from gym_gui.ui.live.tally import Tally

if TYPE_CHECKING:
    from gym_gui.controllers.live_run import LiveRun
    from gym_gui.controllers.sessions import SessionReady
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.live.engine import OpenLiveSession
    from gym_gui.ui.live.listener import LiveListener

__all__ = ["LiveOperator", "OperatorState"]

THINKING_S = 0.6
"""A step that takes longer is said to be thought about."""
KEPT_EPISODES: Final = 1000
_WATCH_MS = 200


class LiveOperator(QObject):
    """Plays one operator's episodes in a session host process, and says what happens.

    Args:
        context: The window's services; ``store`` and ``spawn`` are used.
        config: The operator. What is wrong with it is found by its host and shown as trouble.
        seeds: Environment seeds in order; by default they count up from the one given to
            :meth:`start`.
        run: Where finished episodes are written; ``None`` records nothing.
        open_session: Makes the session; a host process by default.
        parent: Qt parent.

    Attributes:
        config: Who plays, as it is now.
        trouble: Why it is broken, as a sentence; ``""`` while it is not.
        last_view: The newest look, or ``None``.
        last_frame: The newest picture, or ``None``.
        episodes_done: Lines of the last 1,000 episodes that ended by themselves since the last
            start or reset.
        tally: What has come together since then.
    """

    state_changed = pyqtSignal(object)
    viewed = pyqtSignal(object)
    framed = pyqtSignal(object)
    asked = pyqtSignal(object)
    withdrawn = pyqtSignal(int)
    episode_over = pyqtSignal(object)
    broke = pyqtSignal(str)
    stepped = pyqtSignal()
    config_changed = pyqtSignal(object)

    def __init__(
        self,
        context: AppContext,
        config: OperatorConfig,
        *,
        seeds: Sequence[int] | None = None,
        run: LiveRun | None = None,
        open_session: OpenLiveSession | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"operator.{config.operator_id}")
        self.config = seated_as_written(config)
        self._context, self._run = context, run
        self._link = SessionLink(context, self, open_session)
        self._feed = EpisodeFeed(seeds)
        self.trouble = ""
        self.last_view: LiveView | None = None
        self.last_frame: Any = None
        self.episodes_done: list[dict[str, Any]] = []
        self.tally = Tally()
        self._state = OperatorState.IDLE
        self._work: asyncio.Task[Any] | None = None
        self._lock = asyncio.Lock()
        self._look: Look = ("rgb_array", 30.0)
        self._blind = False  # what the session before still shows is of another configuration
        self._paused = self._driven = self._stepping = self._onwards = False
        self._rate: float | None = None
        self._questions: dict[int, HumanQuestion] = {}
        self._since = time.monotonic()
        self._closed = False
        self._watch = QTimer(self)
        self._watch.setInterval(_WATCH_MS)
        self._watch.timeout.connect(self._refresh)

    # -- where it stands -------------------------------------------------------------

    @property
    def state(self) -> OperatorState:
        """Where it stands."""
        return self._state

    @property
    def words(self) -> str:
        """Where it stands, as its card says it."""
        if self._state is OperatorState.BROKEN:
            return self.trouble
        return state_words(self._state, thinking_s=self.waiting_s, done=self.done)

    @property
    def waiting_s(self) -> float:
        """Seconds since something last happened."""
        return time.monotonic() - self._since

    @property
    def alive(self) -> bool:
        """Whether there is a session that answers."""
        return self._state in ALIVE

    @property
    def paused(self) -> bool:
        """Whether it waits for :meth:`run` or :meth:`step`."""
        return self._paused

    @property
    def stepping(self) -> bool:
        """Whether a step that was asked for has not been taken yet."""
        return self._stepping

    @property
    def done(self) -> bool:
        """Whether every episode that was asked for has been played."""
        return self._feed.done

    @property
    def ready_info(self) -> SessionReady | None:
        """What the session said of itself once it was ready, or ``None``."""
        return self._link.ready

    @property
    def episode_limit(self) -> int | None:
        """How many episodes it plays; ``None``: for ever."""
        return self._feed.limit

    @property
    def questions(self) -> Sequence[HumanQuestion]:
        """What people have not answered yet, oldest first."""
        return tuple(self._questions.values())

    @property
    def recording(self) -> LiveRun | None:
        """Where finished episodes are written."""
        return self._run

    @property
    def host_pid(self) -> int:
        """Process id of its session host; 0 where there is none."""
        return self._link.pid

    def _refresh(self) -> None:
        """Say the state again where it has changed, or where its words count seconds."""
        state = self._derive()
        watching = state in ALIVE and (not self._paused or self._driven or self._stepping)
        if watching != self._watch.isActive():
            (self._watch.start if watching else self._watch.stop)()
        if state is not self._state or state is OperatorState.THINKING:
            self._state = state
            self.state_changed.emit(state)

    def _derive(self) -> OperatorState:
        if self._closed:
            return OperatorState.CLOSED
        if self.trouble:
            return OperatorState.BROKEN
        if self._link.session is None:
            return OperatorState.STARTING if self.busy else OperatorState.IDLE
        if self.ready_info is None:
            return OperatorState.STARTING
        if self._questions:
            return OperatorState.YOUR_MOVE
        if self._feed.flight is None:
            return OperatorState.READY
        waits = self._stepping if self._paused else True
        slow = THINKING_S if not self._rate or self._driven else max(THINKING_S, 1.5 / self._rate)
        if waits and self.waiting_s > slow:
            return OperatorState.THINKING
        if not self._paused or self._driven:
            return OperatorState.RUNNING
        fresh = self.last_view is None or self.last_view.step == 0
        return OperatorState.READY if fresh and not self.episodes_done else OperatorState.PAUSED

    @property
    def busy(self) -> bool:
        """Whether a session is being opened, ended, or told to begin anew."""
        return self._work is not None and not self._work.done()

    # -- what people do --------------------------------------------------------------

    def start(
        self,
        seed: int,
        *,
        episodes: int | None = None,
        render: str = "rgb_array",
        fps: float = 30.0,
        paused: bool = False,
    ) -> None:
        """Play from this seed on; starts the session host where there is none.

        Args:
            seed: Environment seed of the first episode.
            episodes: How many; ``None``: for ever.
            render: ``rgb_array``, ``ansi`` or ``none``.
            fps: Most looks a second.
            paused: Show the first frame and wait for :meth:`run` or :meth:`step`.
        """
        if self._closed:
            return
        self._begin(seed, episodes)
        self._paused = paused
        self._look = (render, float(fps))
        self._play_on()
        self._refresh()

    def configure(self, config: OperatorConfig) -> None:
        """Be another operator of the same id from the next start on.

        A new name alone changes nothing else.
        """
        config = seated_as_written(config)
        before, self.config = self.config, config
        if config == replace(before, display_name=config.display_name):
            self._link.adopt(before, config)
        else:
            self.last_view = self.last_frame = None
            self.stop()
            self._blind = True
        self.config_changed.emit(config)

    def reset(self, seed: int) -> None:
        """Leave the running episode and play from this seed on; it stays paused if it was."""
        if self._closed:
            return
        self._begin(seed, self._feed.limit)
        self._play_on()
        self._refresh()

    def restart(self) -> None:
        """After trouble: a new session, which goes on with the episode that was lost or is next."""
        if self._closed or not self.trouble:
            return
        self.trouble = ""
        self._spawn(self._open())
        self._refresh()

    def run(self) -> None:
        """Play on without waiting."""
        self._paused = False
        self._touch()
        if self._link.playing is not None:
            self._link.playing.resume()
            self._play_next()
        self._refresh()

    def pause(self) -> None:
        """Hold before the next step."""
        self._paused = True
        if self._link.playing is not None:
            self._link.playing.pause()
        self._refresh()

    def step(self) -> None:
        """One environment step; at the end of an episode, the beginning of the next one."""
        self._one_step(by_agent=False)

    def step_agent(self) -> None:
        """One agent's move, where agents take turns; else as :meth:`step`."""
        self._one_step(by_agent=True)

    def _one_step(self, *, by_agent: bool) -> None:
        session = self._link.playing
        if session is None or self._stepping:
            return
        if not self._paused:
            self.pause()
        if self._feed.done:
            return
        self._stepping = True
        self._touch()
        if self._feed.flight is None:
            self._play_next()
        elif self._shown_to_its_end:
            self._onwards = True  # its line is still on its way
        else:
            (session.step_agent if by_agent else session.step)()
        self._refresh()

    @property
    def _shown_to_its_end(self) -> bool:
        """Whether the last look was the last one of the episode in flight."""
        flight, view = self._feed.flight, self.last_view
        return (
            flight is not None and view is not None and bool(view.over) and view.episode == flight.plan.index
        )

    def drive(self, driven: bool) -> None:
        """Have its state say that it runs although somebody else takes every step (lock-step)."""
        self._driven = driven
        self._touch()
        self._refresh()

    def set_rate(self, steps_per_s: float | None) -> None:
        """At most so many steps a second; ``None``: as fast as they come."""
        self._rate = steps_per_s
        if self._link.playing is not None:
            self._link.playing.pace(steps_per_s)

    def record_into(self, run: LiveRun | None) -> None:
        """Write episodes that end from now on into ``run``."""
        self._run = run
        if run is not None and self.ready_info is not None:
            run.introduce(self.config.operator_id, self.ready_info.players, self.ready_info.versions)

    def answer(self, question: HumanQuestion, action: Any) -> None:
        """What a person chose; an answer that comes too late changes nothing.

        Args:
            question: What was asked.
            action: Plain JSON data of the action.
        """
        session = self._link.session
        if self._questions.pop(question.id, None) is None or session is None:
            return
        self._touch()
        session.answer(question.id, action)
        self._refresh()

    def rebind(self, agent: str, assignment: WorkerAssignment) -> asyncio.Task[Any]:
        """Have somebody else play a slot from its next decision on.

        Returns:
            Done when it is so; a :class:`UsageError` says why it cannot be, and nothing has changed.
        """
        return self._context.spawn(self._rebind(agent, assignment), f"changing who plays {agent}")

    async def _rebind(self, agent: str, assignment: WorkerAssignment) -> None:
        if self._link.playing is not None:
            await self._link.playing.rebind(agent, assignment)
        before, self.config = self.config, with_player(self.config, agent, assignment)
        self._link.adopt(before, self.config)
        if self._run is not None:
            self._run.describe(self.config)
        self.config_changed.emit(self.config)

    def stop(self) -> None:
        """End the session host; what was played stays on show, :meth:`start` begins anew."""
        if self._closed:
            return
        self.trouble = ""
        self._feed.limit = 0
        self._spawn(self._shut())
        self._refresh()

    def is_running(self) -> bool:
        """Whether it has a session, or is about to have one."""
        return self._link.session is not None or (self.busy and not self.trouble)

    async def close(self) -> None:
        """End for good; nothing it started is left."""
        if not self._closed:
            self._closed = True
            self._watch.stop()
            if self._work is not None:
                self._work.cancel()
                await asyncio.gather(self._work, return_exceptions=True)
            await self._shut()
            await self._link.ended()
            self._work = None  # its traceback would hold the session
            self._refresh()

    # -- the session -----------------------------------------------------------------

    def _begin(self, seed: int, episodes: int | None) -> None:
        self.trouble = ""
        self._feed.begin(seed, episodes)
        self.episodes_done, self.tally = [], Tally()

    def _play_on(self) -> None:
        """With the session that is open, where it plays what is wanted; else with another one."""
        suits = self._link.suits(self.config, self._look)
        self._spawn(self._play_afresh() if suits else self._open())

    def _spawn(self, job: Any) -> None:
        """One piece of work at a time: what was asked last counts."""
        before, self._work = self._work, None
        if before is not None:
            before.cancel()
        work = self._context.spawn(job, f"playing {self.config.display_name}")
        self._work = work
        work.add_done_callback(self._on_work_done)

    def _on_work_done(self, task: object) -> None:
        if not self._closed and task is self._work:
            self._refresh()
            self.state_changed.emit(self._state)

    async def _open(self) -> None:
        async with self._lock:
            await self._end_session(farewell=False)
            self.trouble = ""
            self._touch()
            first = None if self._feed.left == 0 else self._upcoming()
            session = await self._link.make(self.config, self._look, first)
            self._blind = False
            self._refresh()
            try:
                if not await self._link.start(session):
                    return
            except MosaicError as exc:
                if self._link.session is session:
                    self._forget()
                self._break(str(exc))
                return
            except BaseException:
                if self._link.session is session:
                    self._forget()
                raise
            self.record_into(self._run)
            if self._paused:
                session.pause()
            if self._rate is not None:
                session.pace(self._rate)
            self._play_next()
            self._refresh()

    async def _play_afresh(self) -> None:
        """Abort what is being played, wait until that is over, play from the beginning."""
        async with self._lock:
            session = self._link.session
            if session is not None and await self._abort():
                (session.pause if self._paused else session.resume)()
                self._play_next()
                return
        await self._open()

    async def _abort(self) -> bool:
        """End the episode in flight; ``False`` when the session does not do it in time."""
        session = self._link.session
        assert session is not None
        self._questions_gone()
        self._stepping = self._onwards = False
        return await self._feed.abort(session) and self._link.session is session

    async def _shut(self) -> None:
        async with self._lock:
            await self._end_session(farewell=True)
        self._refresh()

    async def _end_session(self, *, farewell: bool) -> None:
        """End the session; with ``farewell`` the episode in flight is recorded as aborted first."""
        session = self._link.session
        if session is None:
            return
        if farewell and self._link.playing is not None:
            await self._abort()
        if self._link.session is session:
            self._forget()
        await asyncio.shield(self._link.dispose(session))

    def _forget(self) -> None:
        self._link.let_go()
        self._stepping = self._onwards = False
        self._feed.lost()
        self._questions_gone()

    def _questions_gone(self) -> None:
        gone, self._questions = list(self._questions), {}
        for question_id in gone:
            self.withdrawn.emit(question_id)

    def _break(self, sentence: str) -> None:
        if self._closed:
            return
        self.trouble = trouble_sentence(sentence)
        self._refresh()
        self.broke.emit(self.trouble)

    # -- what the session says (see LiveListener) ------------------------------------

    def hears(self, listener: LiveListener) -> bool:
        """Whether that session is still this operator's."""
        return self._link.hears(listener)

    def log_name(self) -> str:
        """What the log calls it."""
        return self.config.display_name

    # -- episodes --------------------------------------------------------------------

    def _upcoming(self) -> EpisodePlan:
        return self._feed.upcoming(self.config.operator_id, self._run)

    def _play_next(self) -> None:
        session = self._link.session
        if session is not None and self._feed.give(session, self.config.operator_id, self._run):
            self._onwards = False
            self._touch()

    def _touch(self) -> None:
        self._since = time.monotonic()

    def on_started(self, index: int) -> None:
        self._feed.begun(index)

    def on_finished(self, index: int, steps: bytes, line: bytes) -> None:
        flight = self._feed.over(index)
        if flight is None:
            return
        self._touch()
        row: dict[str, Any] = orjson.loads(line)
        if flight.run is not None:
            flight.run.episode(self.config.operator_id, row, steps, line)
        if not self._feed.is_of_this_round(flight) or row["status"] == EpisodeStatus.ABORTED:
            return  # somebody has asked for something else meanwhile
        self.tally.end(row, decisions=steps.count(b"\n"))
        self.episodes_done.append(row)
        del self.episodes_done[:-KEPT_EPISODES]
        self.episode_over.emit(row)
        if row["status"] == EpisodeStatus.FAILED:
            # Another one would most likely fail as fast as this one: have a person look first.
            self._context.spawn(
                self._give_up(str(row.get("error") or "the episode failed")), "ending a session"
            )
        elif not self._paused or self._onwards:
            self._play_next()
        self._refresh()

    async def _give_up(self, reason: str) -> None:
        async with self._lock:
            await self._end_session(farewell=False)
        self._break(reason)

    async def settled(self) -> None:
        """Wait until what was asked for last has been done."""
        if self._work is not None:
            await asyncio.gather(self._work, return_exceptions=True)

    def on_view(self, view: LiveView) -> None:
        if self._blind:
            return
        last, self.last_view = self.last_view, view
        moved = last is None or (last.episode, last.step, last.over) != (view.episode, view.step, view.over)
        if moved:
            self._touch()
        flight = self._feed.flight
        if flight is not None and flight.plan.index == view.episode and self._feed.is_of_this_round(flight):
            self.tally.look(view)
        self.viewed.emit(view)
        if self._stepping and moved:
            self._stepping = False
            self.stepped.emit()
        self._refresh()

    def on_frame(self, frame: Any) -> None:
        if self._blind:
            return
        self.last_frame = frame
        self.framed.emit(frame)

    def on_question(self, question: HumanQuestion) -> None:
        self._questions[question.id] = question
        self.asked.emit(question)
        self._refresh()

    def on_withdrawn(self, question_id: int) -> None:
        if self._questions.pop(question_id, None) is not None:
            self.withdrawn.emit(question_id)
            self._refresh()

    def on_call(self, line: bytes) -> None:
        if self._run is not None:
            self._run.call(self.config.operator_id, line)

    def on_ended(self, listener: LiveListener, reason: str) -> None:
        session = self._link.session
        self._forget()
        if session is not None:
            self._link.dispose(session)
        self._break(reason)
