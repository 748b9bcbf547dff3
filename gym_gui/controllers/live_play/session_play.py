"""Base class of the live player: handles the player's sessions, episodes and state."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from gym_gui.controllers.engine.operator_state import ALIVE, OperatorState, trouble_sentence
from gym_gui.controllers.engine.session_events import (
    CallMade,
    EpisodeFinished,
    EpisodePlayed,
    EpisodeUnrecorded,
    FrameDrawn,
    OnPlayerEvent,
    PlayerBroken,
    QuestionWithdrawn,
    RequestAnnounced,
    SessionEnded,
    SessionEvent,
    StateChanged,
    StepTaken,
    Thought,
    TurnTaken,
)
from gym_gui.controllers.live_play.episode_feed import PATIENCE_S, EpisodeFeed
from gym_gui.controllers.live_play.episode_totals import EpisodeTotals
from gym_gui.controllers.live_play.latest_task import LatestJob, Spawn
from gym_gui.controllers.live_play.session_link import Look, SessionLink
from gym_gui.controllers.setup.play_setup import seated_as_written
from gym_gui.core.config import OperatorConfig
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.slot_patterns import is_pattern
from gym_gui.core.live import Compiling, HumanQuestion, LiveView

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.live_run import LiveRun
    from gym_gui.controllers.live_play.session_link import OpenLiveSession

THINKING_S: Final = 0.6
"""Seconds after which the state of a step that is still due is shown as "thinking"."""
_WATCH_S: Final = 0.2


class SessionPlay:
    """Base class of :class:`EpisodePlayer`: sessions, episodes and state of a live operator.

    :class:`EpisodePlayer` describes the attributes and arguments.
    """

    def __init__(
        self,
        config: OperatorConfig,
        on_event: OnPlayerEvent,
        open_session: OpenLiveSession,
        spawn: Spawn,
        *,
        everything_shown: Callable[[], bool] = lambda: False,
        seeds: Sequence[int] | None = None,
        run: LiveRun | None = None,
    ) -> None:
        self._tell, self._spawn = on_event, spawn
        self.config, self.recording = seated_as_written(config), run
        self.link = SessionLink(self.on_event, open_session, spawn, everything_shown)
        self.feed = EpisodeFeed(seeds)
        self.state = OperatorState.IDLE
        self.trouble = self.budget_message = ""
        self.compiling: Compiling | None = None
        self.last_view: LiveView | None = None
        self.last_frame: Any = None
        self.tally = EpisodeTotals()
        self.paused = self.stepping = self.stopping = self.ending = self.closed = False
        self.rate: float | None = None
        self._questions: dict[int, HumanQuestion] = {}
        self._driven = False
        self._next_after_end = False
        self._early_step: bool | None = None  # a step that was requested before an episode was shown
        self._is_outdated = False  # the former session still shows another configuration
        self._view_options: Look = ("rgb_array", 30.0)
        self._job = LatestJob(spawn, self._on_job_done)
        self._lock = asyncio.Lock()
        self._last_event_at = time.monotonic()
        self._alarm: asyncio.TimerHandle | None = None

    # -- state ---------------------------------------------------------------

    @property
    def waiting_s(self) -> float:
        """Seconds since the player's last event."""
        return time.monotonic() - self._last_event_at

    @property
    def busy(self) -> bool:
        """Whether a session is being opened, ended, or restarted."""
        return self._job.busy

    def is_running(self) -> bool:
        """Return whether a session is open and stays, or is about to be opened."""
        return not self.ending and (self.link.session is not None or (self.busy and not self.trouble))

    def touch(self) -> None:
        """Restart the clock of :attr:`waiting_s`, because an event has happened."""
        self._last_event_at = time.monotonic()

    def _current_state(self) -> OperatorState:
        if self.closed:
            return OperatorState.CLOSED
        if self.trouble:
            return OperatorState.BROKEN
        if self.link.session is None:
            return OperatorState.STARTING if self.busy else OperatorState.IDLE
        if self.link.ready is None:
            return OperatorState.STARTING
        if self.stopping:
            return OperatorState.STOPPING
        if self._questions:
            return OperatorState.YOUR_MOVE
        if self.budget_message:
            return OperatorState.SPENT
        if self.feed.flight is None:
            return OperatorState.READY
        if self._is_slow:
            return OperatorState.THINKING
        if not self.paused or self._driven:
            return OperatorState.RUNNING
        fresh = self.last_view is None or self.last_view.step == 0
        return OperatorState.READY if fresh and not self.tally.episodes_done else OperatorState.PAUSED

    @property
    def _is_slow(self) -> bool:
        """Whether a due step takes longer than usual."""
        rate = None if self._driven else self.rate
        patience_s = max(THINKING_S, 1.5 / rate) if rate else THINKING_S
        return (self.stepping or not self.paused) and self.waiting_s > patience_s

    def _check_state(self, *, always: bool = False) -> None:
        """Report the state if it has changed, or if its text counts seconds or compiled functions."""
        state = self._current_state()
        # While a person is asked or nothing is played, only an event can change the state.
        waits = state is OperatorState.YOUR_MOVE or self.feed.flight is None
        watched = state in ALIVE and not waits and (not self.paused or self._driven or self.stepping)
        if self._alarm is not None and not watched:
            self._alarm.cancel()
            self._alarm = None
        elif self._alarm is None and watched:
            self._alarm = asyncio.get_running_loop().call_later(_WATCH_S, self._on_alarm)
        if state is not self.state or state in (OperatorState.THINKING, OperatorState.STARTING) or always:
            self.state = state
            self._tell(StateChanged(state))

    def _on_alarm(self) -> None:
        self._alarm = None
        self._check_state()

    def pause(self) -> None:
        """Pause the operator before its next step."""
        self.paused = True
        if self.link.playing is not None:
            self.link.playing.pause()
        self._check_state()

    def step(self, *, by_agent: bool = False) -> None:
        """Take one environment step; at the end of an episode, begin the next one.

        Args:
            by_agent: Take only one agent's move if agents take turns.
        """
        session = self.link.playing
        if self.stepping or (session is None and not self.busy):
            return
        if not self.paused:
            self.pause()
        if session is None:
            self._early_step = by_agent
            return
        if self.feed.done or self.budget_message:
            return
        self.stepping = True
        self.touch()
        if self.feed.flight is None:
            self._play_next()
        elif self._shown_to_its_end:
            self._next_after_end = True  # the episode's line is still on its way
        else:
            (session.step_agent if by_agent else session.step)()
        self._check_state()

    @property
    def _shown_to_its_end(self) -> bool:
        """Whether the newest view was the final view of the episode in flight."""
        flight, view = self.feed.flight, self.last_view
        return (
            flight is not None and view is not None and bool(view.over) and view.episode == flight.plan.index
        )

    def record_into(self, run: LiveRun | None) -> None:
        """Record episodes that end from now on in ``run``; ``None`` records nothing."""
        self.recording, ready = run, self.link.ready
        if run is not None and ready is not None:
            run.introduce(self.config.operator_id, ready)

    def _work(self, work: Coroutine[Any, Any, None]) -> None:
        self._job.start(work, f"playing {self.config.display_name}")
        self._check_state()

    def _on_job_done(self) -> None:
        """Report the state even if it is unchanged, because a listener may wait for the end of the job."""
        self._check_state(always=True)

    # -- sessions ----------------------------------------------------------------------

    async def _open(self) -> None:
        async with self._lock:
            await self._end_session(farewell=False)
            self.trouble, self.compiling = "", None
            self.touch()
            upcoming = (
                self.feed.upcoming(self.config.operator_id, self.recording) if self.feed.left != 0 else None
            )
            try:
                session = await self.link.make(self.config, self._view_options, upcoming)
            except MosaicError as exc:  # such as a host that the user has not configured
                self._report_trouble(str(exc))
                return
            self._is_outdated = False
            self._check_state()
            try:
                if not await self.link.start(session):
                    return
            except BaseException as exc:
                if self.link.session is session:
                    self._forget()
                if not isinstance(exc, MosaicError):
                    raise
                self._report_trouble(str(exc))
                return
            self.record_into(self.recording)
            if self.paused:
                session.pause()
            if self.rate is not None:
                session.pace(self.rate)
            self._play_next()
            self._check_state()

    async def _play_afresh(self) -> None:
        """Abort the running episode, wait until it has ended, and play from the round's first seed."""
        async with self._lock:
            session = self.link.session
            if session is not None and await self._abort():
                self._is_outdated = False  # the configuration was changed and changed back
                (session.pause if self.paused else session.resume)()
                self._play_next()
                return
        await self._open()

    async def _abort(self) -> bool:
        """Abort and record the episode in flight; return ``False`` if the session does not answer."""
        session = self.link.session
        assert session is not None
        self._withdraw_questions()
        self.stepping = self._next_after_end = False
        self.stopping = self.feed.flight is not None
        self._check_state()
        try:
            reported = await self.feed.abort(session)
        finally:
            self.stopping = False
        if not reported:
            name = self.config.display_name
            self._tell(
                EpisodeUnrecorded(
                    f"{name} did not answer for {PATIENCE_S:.0f} s: the episode in flight is not recorded"
                )
            )
        return reported and self.link.session is session

    async def _close_session(self) -> None:
        async with self._lock:
            await self._end_session(farewell=True)
        self._check_state()

    async def _end_session(self, *, farewell: bool) -> None:
        """End the session; with ``farewell``, first abort and record the episode in flight."""
        session = self.link.session
        if session is None:
            return
        if farewell and self.link.playing is not None:
            await self._abort()
        if self.link.session is session:
            self._forget()
            await asyncio.shield(self.link.dispose(session))

    def _forget(self) -> None:
        self.link.release()
        view = self.last_view
        asked = not self.paused or self.stepping or (view is not None and view.step > 0)
        self.stepping = self._next_after_end = False
        self.feed.lost(begun=asked)
        self._withdraw_questions()

    def _withdraw_questions(self) -> None:
        gone, self._questions = list(self._questions), {}
        for question_id in gone:
            self._tell(QuestionWithdrawn(question_id))

    def _report_trouble(self, sentence: str) -> None:
        if not self.closed:
            self.trouble = trouble_sentence(sentence)
            self._check_state()
            self._tell(PlayerBroken(self.trouble))

    async def _give_up(self, reason: str) -> None:
        async with self._lock:
            await self._end_session(farewell=False)
        self._report_trouble(reason)

    def _play_next(self) -> None:
        session, operator_id = self.link.session, self.config.operator_id
        if session is None or self.feed.flight is not None or self.feed.left == 0:
            return
        if self.feed.give(session, operator_id, self.recording):
            self.touch()
        elif self.recording is not None:  # wait until a person raises the budget
            self.budget_message = self.recording.budget_message(
                operator_id, self.feed.upcoming(operator_id, self.recording)
            )
            self.stepping = False
        self._next_after_end = False

    # -- events of the session ---------------------------------------------------------

    def on_event(self, event: SessionEvent) -> None:
        """Handle an event of the current session."""
        match event:
            case EpisodeFinished():
                self._on_finished(event)
            case Compiling():
                self.compiling = event
                self._check_state()
            case CallMade(line):
                self._on_call(line)
            case RequestAnnounced():
                self._on_announced(event)
            case Thought(line):
                self._on_turn(line)
            case LiveView():
                self._on_view(event)
            case FrameDrawn(frame):
                if not self._is_outdated:
                    self.last_frame = frame
                    self._tell(event)
            case HumanQuestion():
                self._questions[event.id] = event
                self._tell(event)
                self._check_state()
            case QuestionWithdrawn(question_id):
                if self._questions.pop(question_id, None) is not None:
                    self._tell(event)
                    self._check_state()
            case SessionEnded(reason):
                self._on_ended(reason)
            case _:  # steps, log lines and starts of episodes are known from elsewhere
                pass

    def _on_finished(self, episode: EpisodeFinished) -> None:
        flight = self.feed.clear_if_current(episode.index)
        if flight is None:
            return
        self.touch()
        if flight.run is not None:
            flight.run.episode(flight.operator_id, flight.plan, episode)
        row: dict[str, Any] = orjson.loads(episode.line)
        if self.tally.calls is not None:
            self.tally.calls.played(episode.steps, _slots(row))
        if episode.unplayed:
            self.feed.again(flight)
        elif not self.feed.is_of_this_round(flight) or episode.status is EpisodeStatus.ABORTED:
            return  # a start, reset or end came during the episode
        else:
            self.tally.end(row, decisions=episode.steps.count(b"\n"))
            self._tell(EpisodePlayed(row))
        if episode.status is EpisodeStatus.FAILED:
            # Another episode would most likely fail as fast as this one, so a person must look first.
            reason = str(row.get("error") or "the episode failed")
            self._spawn(self._give_up(reason), "ending a session")
        elif not self.paused or self._next_after_end:
            self._play_next()
        self._check_state()

    def _on_view(self, view: LiveView) -> None:
        if self._is_outdated:
            return
        last, self.last_view = self.last_view, view
        if self.tally.calls is not None:
            self.tally.calls.store_actions(view)
        moved = last is None or (last.episode, last.step, last.over) != (view.episode, view.step, view.over)
        if moved:
            self.touch()
        flight = self.feed.flight
        if flight is not None and flight.plan.index == view.episode and self.feed.is_of_this_round(flight):
            self.tally.count_view(view)
        self._tell(view)
        if self.stepping and moved:
            self.stepping = False
            self._tell(StepTaken())
        if self._early_step is not None and flight is not None and flight.plan.index == view.episode:
            by_agent, self._early_step = self._early_step, None
            self.step(by_agent=by_agent)
        self._check_state()

    def _on_call(self, line: bytes) -> None:
        run, operator_id = self._asking()
        if run is not None:
            run.call(operator_id, line)
        self._on_turn(line)

    def _on_announced(self, event: RequestAnnounced) -> None:
        run, operator_id = self._asking()
        may = run is None or run.announced(operator_id, event.episode, event.slot, event.most)
        if may and self.link.session is not None:
            self.link.session.noted(event.number)

    def _asking(self) -> tuple[LiveRun | None, str]:
        """Return the run of the episode in flight and the operator's id in that run."""
        flight = self.feed.flight
        if flight is None:
            return self.recording, self.config.operator_id
        return flight.run, flight.operator_id

    def _on_turn(self, line: bytes) -> None:
        turn = self.tally.call(line)
        if turn is not None:
            self.touch()
            self._tell(TurnTaken(turn))

    def _on_ended(self, reason: str) -> None:
        session = self.link.session
        self._forget()
        if session is not None:
            self.link.dispose(session)
        self._report_trouble(reason)


def _slots(row: dict[str, Any]) -> dict[str, str]:
    """Return the slot of each agent in an episode's line, without agents of pattern slots."""
    slots = {agent: str(about.get("slot", agent)) for agent, about in row.get("agents", {}).items()}
    return {agent: slot for agent, slot in slots.items() if not is_pattern(slot)}
