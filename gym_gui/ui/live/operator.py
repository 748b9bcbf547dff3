"""One operator that is watched and played: a session host process behind Qt signals."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.live import Compiling, HumanQuestion, LiveView
from gym_gui.ui.live.engine import seated_as_written
from gym_gui.ui.live.episode_player import EpisodePlayer
from gym_gui.ui.live.state import ALIVE, OperatorState, state_words
from gym_gui.ui.live.tally import Tally

if TYPE_CHECKING:
    from gym_gui.analysis.transcript import Turn
    from gym_gui.controllers.live_run import LiveRun
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.language.call_log import CallLog
    from gym_gui.ui.live.engine import OpenLiveSession

__all__ = ["LiveOperator", "OperatorState"]

THINKING_S = 0.6
"""A step that takes longer is said to be thought about."""
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
    """

    state_changed = pyqtSignal(object)
    """An :class:`OperatorState`; said again and again while somebody thinks."""
    viewed = pyqtSignal(object)
    """A :class:`LiveView`."""
    framed = pyqtSignal(object)
    """A picture, ``(height, width, 3)``, ``uint8``."""
    asked = pyqtSignal(object)
    """A :class:`HumanQuestion`."""
    withdrawn = pyqtSignal(int)
    """Id of a question whose answer nobody waits for any more."""
    episode_over = pyqtSignal(object)
    """The line of an episode that ended by itself, as recorded."""
    called = pyqtSignal(object)
    """A model was asked: the :class:`~gym_gui.analysis.transcript.Turn`; it is in :attr:`calls` too."""
    broke = pyqtSignal(str)
    """Why it cannot go on."""
    stepped = pyqtSignal()
    """A step that was asked for has been taken."""
    config_changed = pyqtSignal(object)
    """The new :class:`OperatorConfig`."""

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
        self._context = context
        self.player = EpisodePlayer(
            context, seated_as_written(config), self, seeds=seeds, run=run, open_session=open_session
        )
        self._state = OperatorState.IDLE
        self._driven = False
        self._watch = QTimer(self)
        self._watch.setInterval(_WATCH_MS)
        self._watch.timeout.connect(self.on_changed)

    # -- where it stands -------------------------------------------------------------

    @property
    def config(self) -> OperatorConfig:
        """Who plays, as it is now."""
        return self.player.config

    @property
    def state(self) -> OperatorState:
        """Where it stands."""
        return self._state

    @property
    def trouble(self) -> str:
        """Why it is broken, as a sentence; ``""`` while it is not."""
        return self.player.trouble

    @property
    def words(self) -> str:
        """Where it stands, as its card says it."""
        if self._state is OperatorState.BROKEN:
            return self.trouble
        if self._state is OperatorState.SPENT:
            return self.player.shortage
        if self._state is OperatorState.STARTING and self.compiling is not None:
            return f"Compiling {len(self.compiling.functions)} of {self.compiling.total}…"
        return state_words(self._state, thinking_s=self.waiting_s, done=self.done)

    @property
    def compiling(self) -> Compiling | None:
        """How far the compiling is of what its environment needs; ``None`` where nothing is compiled."""
        return self.player.compiling

    @property
    def waiting_s(self) -> float:
        """Seconds since something last happened."""
        return self.player.waiting_s

    @property
    def alive(self) -> bool:
        """Whether there is a session that answers."""
        return self._state in ALIVE

    @property
    def busy(self) -> bool:
        """Whether a session is being opened, ended, or told to begin anew."""
        return self.player.busy

    @property
    def paused(self) -> bool:
        """Whether it waits for :meth:`run` or :meth:`step`."""
        return self.player.paused

    @property
    def stepping(self) -> bool:
        """Whether a step that was asked for has not been taken yet."""
        return self.player.stepping

    @property
    def done(self) -> bool:
        """Whether every episode that was asked for has been played."""
        return self.player.feed.done

    @property
    def waits_for_budget(self) -> bool:
        """Whether a budget does not carry its next episode."""
        return bool(self.player.shortage)

    @property
    def episode_limit(self) -> int | None:
        """How many episodes it plays; ``None``: for ever."""
        return self.player.feed.limit

    @property
    def last_view(self) -> LiveView | None:
        """The newest look."""
        return self.player.last_view

    @property
    def last_frame(self) -> Any:
        """The newest picture, or ``None``."""
        return self.player.last_frame

    @property
    def episodes_done(self) -> list[dict[str, Any]]:
        """Lines of the last 1,000 episodes that ended by themselves since the last start or reset."""
        return self.player.episodes_done

    @property
    def tally(self) -> Tally:
        """What has come together since the last start or reset."""
        return self.player.tally

    @property
    def calls(self) -> CallLog | None:
        """What models were asked since the last start or reset; ``None`` where none was."""
        return self.player.calls

    @property
    def questions(self) -> Sequence[HumanQuestion]:
        """What people have not answered yet, oldest first."""
        return tuple(self.player.questions.values())

    @property
    def recording(self) -> LiveRun | None:
        """Where finished episodes are written."""
        return self.player.run

    @property
    def host_pid(self) -> int:
        """Process id of its session host; 0 where there is none."""
        return self.player.link.pid

    def is_running(self) -> bool:
        """Whether it has a session that stays, or is about to have one."""
        player = self.player
        return not player.ending and (player.link.session is not None or (self.busy and not self.trouble))

    def _derive(self) -> OperatorState:
        player = self.player
        if player.closed:
            return OperatorState.CLOSED
        if player.trouble:
            return OperatorState.BROKEN
        if player.link.session is None:
            return OperatorState.STARTING if player.busy else OperatorState.IDLE
        if player.link.ready is None:
            return OperatorState.STARTING
        if player.stopping:
            return OperatorState.STOPPING
        if player.questions:
            return OperatorState.YOUR_MOVE
        if player.shortage:
            return OperatorState.SPENT
        if player.feed.flight is None:
            return OperatorState.READY
        waits = player.stepping if player.paused else True
        rate = None if self._driven else player.rate
        if waits and player.waiting_s > (max(THINKING_S, 1.5 / rate) if rate else THINKING_S):
            return OperatorState.THINKING
        if not player.paused or self._driven:
            return OperatorState.RUNNING
        fresh = player.last_view is None or player.last_view.step == 0
        return OperatorState.READY if fresh and not player.episodes_done else OperatorState.PAUSED

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
        if not self.player.closed:
            self.player.paused = paused
            self.player.begin(seed, episodes, (render, float(fps)))
            self.on_changed()

    def reset(self, seed: int) -> None:
        """Leave the running episode and play from this seed on; it stays paused if it was."""
        if not self.player.closed:
            self.player.begin(seed, self.player.feed.limit)
            self.on_changed()

    def restart(self) -> None:
        """After trouble: a new session, which goes on with the episode that was lost or is next."""
        if not self.player.closed and self.trouble:
            self.player.begin_again()
            self.on_changed()

    def configure(self, config: OperatorConfig) -> None:
        """Be another operator of the same id from the next start on.

        A new name alone changes nothing else.
        """
        config = seated_as_written(config)
        same = config == replace(self.config, display_name=config.display_name)
        self.player.become(config, same=same)
        self.on_changed()
        self.config_changed.emit(config)

    def run(self) -> None:
        """Play on without waiting."""
        self.player.resume()
        self.on_changed()

    def pause(self) -> None:
        """Hold before the next step."""
        self.player.pause()
        self.on_changed()

    def step(self) -> None:
        """One environment step; at the end of an episode, the beginning of the next one."""
        self.player.step(by_agent=False)
        self.on_changed()

    def step_agent(self) -> None:
        """One agent's move, where agents take turns; else as :meth:`step`."""
        self.player.step(by_agent=True)
        self.on_changed()

    def drive(self, driven: bool) -> None:
        """Have its state say that it runs although somebody else takes every step (lock-step)."""
        self._driven = driven
        self.player.touch()
        self.on_changed()

    def set_rate(self, steps_per_s: float | None) -> None:
        """At most so many steps a second; ``None``: as fast as they come."""
        self.player.set_rate(steps_per_s)

    def record_into(self, run: LiveRun | None) -> None:
        """Write episodes that end from now on into ``run``."""
        self.player.record_into(run)

    def answer(self, question: HumanQuestion, action: Any) -> None:
        """What a person chose; an answer that comes too late changes nothing.

        Args:
            question: What was asked.
            action: Plain JSON data of the action.
        """
        self.player.answer(question.id, action)
        self.on_changed()

    def rebind(self, agent: str, assignment: WorkerAssignment, name: str = "") -> asyncio.Task[Any]:
        """Have somebody else play a slot from its next decision on.

        Args:
            agent: The slot.
            assignment: Who plays it.
            name: What the operator is called from now on; empty, or where somebody chose its name: as before.

        Returns:
            Done when it is so; a :class:`UsageError` says why it cannot be, and nothing has changed.
        """
        name = "" if self.config.named else name
        return self._context.spawn(self._rebind(agent, assignment, name), f"changing who plays {agent}")

    async def _rebind(self, agent: str, assignment: WorkerAssignment, name: str) -> None:
        await self.player.rebind(agent, assignment, name)
        self.config_changed.emit(self.config)

    async def present(self, agent: str) -> Mapping[str, Any]:
        """What a slot is shown at this moment: the slot and its open question, as its worker has them.

        Raises:
            UsageError: Nothing plays, or the slot is not asked now.
        """
        return await self.player.present(agent)

    def stop(self) -> None:
        """End the session host; what was played stays on show, :meth:`start` begins anew."""
        if not self.player.closed:
            self.player.stop()
            self.on_changed()

    async def settled(self) -> None:
        """Wait until what was asked for last has been done."""
        await self.player.settled()

    async def close(self) -> None:
        """End for good; nothing it started is left."""
        if not self.player.closed:
            self._watch.stop()
            await self.player.close()
            self.on_changed()

    # -- what the player tells -------------------------------------------------------

    def on_changed(self) -> None:
        """Say the state again where it has changed, or where its words count seconds or functions."""
        state = self._derive()
        # While it waits for a person, or plays nothing, only what is told can change it.
        waits = state is OperatorState.YOUR_MOVE or self.player.feed.flight is None
        watching = state in ALIVE and not waits and (not self.paused or self._driven or self.stepping)
        if watching != self._watch.isActive():
            (self._watch.start if watching else self._watch.stop)()
        if state is not self._state or state in (OperatorState.THINKING, OperatorState.STARTING):
            self._state = state
            self.state_changed.emit(state)

    def on_worked(self) -> None:
        """Said in any case: whoever waits until it is no longer busy looks again."""
        self.on_changed()
        self.state_changed.emit(self._state)

    def on_viewed(self, view: LiveView) -> None:
        self.viewed.emit(view)

    def on_framed(self, frame: Any) -> None:
        self.framed.emit(frame)

    def on_stepped(self) -> None:
        self.stepped.emit()

    def on_asked(self, question: HumanQuestion) -> None:
        self.asked.emit(question)
        self.on_changed()

    def on_lapsed(self, question_id: int) -> None:
        self.withdrawn.emit(question_id)

    def on_episode_over(self, row: dict[str, Any]) -> None:
        self.episode_over.emit(row)

    def on_called(self, turn: Turn) -> None:
        self.called.emit(turn)

    def on_broke(self, sentence: str) -> None:
        self.on_changed()
        self.broke.emit(sentence)
