"""A game that people play: its operator, clock, record and players."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.setup.play_setup import (
    Clock,
    asks_models,
    is_person,
    people,
    with_clock,
    with_player,
)
from gym_gui.core.enums import FALLBACKS
from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.execution import Opening
from gym_gui.ui.input.human_answers import HumanInput
from gym_gui.ui.live.live_operator import LiveOperator

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.live_run import LiveRun
    from gym_gui.core.config import OperatorConfig
    from gym_gui.core.experiment.assignment import WorkerAssignment
    from gym_gui.core.experiment.execution import TimeControl
    from gym_gui.core.live import HumanQuestion, LiveView
    from gym_gui.ui.context import AppContext


_NO_STEP = (-1, -1)
"""Marks the episode and step before the first view."""


class PlayGame(QObject):
    """Plays the episodes of one operator, one at a time, with people in some of its slots.

    In real time, an episode waits for the first key, then time runs. In turn-based play it begins at once and
    waits at every move of a person. If a language model acts first, the first episode waits until the user
    presses Start, because the model's answers may cost money.

    Args:
        context: The window's services.
        people_input: Shows requests to people and returns their actions.
        parent: Qt parent.

    Attributes:
        takes_turns: Whether agents of the environment move one after the other.
        time_control: Chosen time of each side for games with clocks; ``None`` for no limit.
        playing_on: Time control of the current game; ``None`` for no limit.
    """

    changed = pyqtSignal()
    """Emitted when state, configuration, clock or record of the game has changed."""
    viewed = pyqtSignal(object)
    framed = pyqtSignal(object)
    over = pyqtSignal(object, int)
    """Emits the record line of a finished episode, and the number of fallback actions played for people."""
    broke = pyqtSignal(str)

    def __init__(self, context: AppContext, people_input: HumanInput, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context, self._input = context, people_input
        self._operator: LiveOperator | None = None
        self._run: LiveRun | None = None
        self.clock = Clock(False, 5.0)
        self.takes_turns = False
        self.time_control: TimeControl | None = None
        self.playing_on: TimeControl | None = None
        self.recording = True
        self.seed = 0
        self.waits = False
        self._confirmed = False  # Whether Start was pressed or a person moved since the game was opened.
        self._binding: asyncio.Task[Any] | None = None
        self.is_over = False
        self._fallbacks: dict[str, int] = {}
        self._seen_step = _NO_STEP
        self._tasks: set[asyncio.Task[Any]] = set()
        self._render = "rgb_array"
        people_input.chosen.connect(self._on_chosen)
        people_input.key_pressed.connect(self._on_key_pressed)

    # -- state -----------------------------------------------------------------------

    @property
    def operator(self) -> LiveOperator | None:
        """Live operator of the game; ``None`` before the first game."""
        return self._operator

    @property
    def config(self) -> OperatorConfig | None:
        """Configuration of the game's operator; ``None`` before the first game."""
        return self._operator.player.config if self._operator is not None else None

    @property
    def people(self) -> tuple[str, ...]:
        """Names of the slots that people play."""
        return people(self._operator.player.config) if self._operator is not None else ()

    @property
    def state(self) -> OperatorState:
        """State of the game's session."""
        return self._operator.player.state if self._operator is not None else OperatorState.IDLE

    @property
    def paused(self) -> bool:
        """Whether the game is paused; a game that waits for Start or a first key is not."""
        return self._operator is not None and self._operator.player.paused and not self.waits

    @property
    def waits_for_key(self) -> bool:
        """Whether the game waits for a first key that starts the time."""
        return self.waits and self.clock.realtime and bool(self.people)

    @property
    def waits_for_go(self) -> bool:
        """Whether the game waits for Start, because the next move needs a request to a language model."""
        return self.waits and not self.waits_for_key and self._seen_step != _NO_STEP

    @property
    def run(self) -> LiveRun | None:
        """Run into which episodes are recorded; ``None`` if recording is off."""
        return self._run

    # -- user actions ----------------------------------------------------------------

    def open(self, config: OperatorConfig, clock: Clock, seed: int, *, render: str = "rgb_array") -> None:
        """Open a game and end the previous one.

        Args:
          config: Configuration of the operator.
          clock: Whether the game runs in real time, and its rate.
          seed: Seed of the first episode.
          render: Render mode of the environment.
        """
        self._leave()
        self.clock, self.seed, self._render = clock, seed, render
        config = with_clock(config, clock)
        self._run = self._new_run(config, seed) if self.recording else None
        operator = LiveOperator(self._context, config, run=self._run, parent=self)
        operator.state_changed.connect(self._on_state_changed)
        operator.viewed.connect(self._on_viewed)
        operator.framed.connect(self.framed)
        operator.asked.connect(self._input.offer)
        operator.withdrawn.connect(self._input.withdraw)
        operator.episode_over.connect(self._on_episode_over)
        operator.broke.connect(self._on_broke)
        self._operator = operator
        self._confirmed = False
        self._set_pace()
        self.play(seed)

    def play(self, seed: int, opening: Opening | None = None) -> None:
        """Play an episode in place of the current one.

        Args:
          seed: Seed of the episode.
          opening: Moves of an earlier episode to repeat first; ``None`` for none.
        """
        operator = self._operator
        if operator is None:
            return
        self.seed, self.is_over = seed, False
        self._fallbacks, self._seen_step = {}, _NO_STEP
        self._input.forget()
        held = not self._confirmed and asks_models(operator.player.config)
        self.waits = held or (self.clock.realtime and bool(self.people))
        fps = float(self._context.settings.values.frame_rate)
        if opening is None:  # A game with an opening keeps its time control.
            self.playing_on = self._wanted_control
        operator.player.start(
            seed,
            episodes=1,
            render=self._render,
            fps=fps,
            paused=self.waits,
            opening=opening,
            time_control=self.playing_on,
        )
        self.changed.emit()

    def take_back(self, step: int) -> None:
        """Continue from an earlier position of this game, in a new episode that no statistic counts.

        Args:
            step: Number of moves that are kept.
        """
        view = self._operator.player.last_view if self._operator is not None else None
        if view is not None and 0 <= step < view.step:
            self.play(self.seed, Opening(view.episode, step))

    def set_time_control(self, control: TimeControl | None) -> None:
        """Set the time of each side; a game with at least one move keeps its current time control.

        Args:
          control: The time control; ``None`` for no limit.
        """
        self.time_control = control
        view = self._operator.player.last_view if self._operator is not None else None
        if control != self.playing_on and not self.is_over and view is not None and not view.step:
            self.restart()
        self.changed.emit()

    @property
    def waits_for_next_game(self) -> bool:
        """Whether a changed time control applies only from the next game on."""
        return self._operator is not None and self._wanted_control != self.playing_on

    @property
    def can_be_on_clock(self) -> bool:
        """Whether the game can have chess clocks: several sides that move in turn, without real time."""
        config = self.config
        several = config is not None and len(config.resolved_slots()) > 1
        return self.takes_turns and several and not self.clock.realtime

    @property
    def _wanted_control(self) -> TimeControl | None:
        return self.time_control if self.can_be_on_clock else None

    def restart(self) -> None:
        """Play the current episode's seed again from its first step."""
        self.play(self.seed)

    def begin(self) -> None:
        """Start the time of a game that waits for Start or for a first key."""
        if self.waits and self._operator is not None:
            self._confirmed = True
            self._continue("Beginning the game")

    def _continue(self, what: str) -> None:
        assert self._operator is not None
        self.waits = False
        self._run_task(self._resume_when_settled(self._operator), what)
        self.changed.emit()

    def _start_if_people_first(self) -> None:
        """Start a waiting game if only people act first, because then no language model gets a request
        yet."""
        operator = self._operator
        if operator is None or not self.waits or self.clock.realtime or self._binding is not None:
            return
        view, people = operator.player.last_view, self.people
        seen = view is not None and self._seen_step == (view.episode, view.step)
        slots = {agent.agent: agent.slot for agent in view.agents} if view is not None else {}
        if seen and view is not None and view.turn and all(slots[agent] in people for agent in view.turn):
            self._continue("Beginning the first move")

    @staticmethod
    async def _resume_when_settled(operator: LiveOperator) -> None:
        """Resume the operator after its pending requests are done."""
        await operator.player.settled()
        operator.player.resume()

    def pause(self) -> None:
        """Pause the game before its next step."""
        if self._operator is not None and not self.waits and not self.is_over:
            self._operator.player.pause()
            self.changed.emit()

    def resume(self) -> None:
        """Continue a paused game."""
        if self._operator is not None and not self.is_over:
            self._confirmed = True
            self._continue("Continuing the game")

    def seat(self, slot: str, player: WorkerAssignment, name: str = "") -> asyncio.Task[Any] | None:
        """Replace the player of a slot, from the slot's next move on.

        Args:
            slot: The slot.
            player: The policy or person that plays it from then on.
            name: Name of the game with this player; used unless the user has set a name.

        Returns:
            The task that binds the slot; it fails if the player cannot be bound. ``None`` if no session
            has to be informed.
        """
        if self._operator is None:
            return None
        if not self._operator.player.alive:
            # Without a session to inform, a new session starts with the new player.
            config = with_player(self._operator.player.config, slot, player)
            if name and not config.named:
                config = replace(config, display_name=name)
            self.open(config, self.clock, self.seed, render=self._render)
            return None
        if not is_person(player):
            self._operator.player.set_rate(
                self.clock.rate
            )  # Otherwise the policy would move without a limit of its rate.
        if not self._confirmed and asks_models(with_player(self._operator.player.config, slot, player)):
            self._operator.player.pause()
            self.waits = True
        seating = self._binding = self._operator.player.rebind(slot, player, name)
        seating.add_done_callback(self._on_bound)
        return seating

    def _on_bound(self, task: asyncio.Task[Any]) -> None:
        if task is self._binding:
            self._binding = None
            self._start_if_people_first()

    def set_clock(self, clock: Clock) -> None:
        """Change the clock of the game.

        A new rate applies from the next move on. A change between real time and turn-based play restarts the
        episode.
        """
        before, self.clock = self.clock, clock
        operator = self._operator
        if operator is None or before == clock:
            return
        if before.realtime != clock.realtime or not operator.player.alive:
            self.open(operator.player.config, clock, self.seed, render=self._render)
            return
        config = with_clock(operator.player.config, clock)
        if clock.realtime:
            for slot in self.people:
                operator.player.rebind(slot, config.workers[slot])
        self._set_pace()
        self.changed.emit()

    def seated(self) -> None:
        """Update the pace after a slot was given another player."""
        self._set_pace()
        config = self.config
        if self.waits and config is not None and not self.people and not asks_models(config):
            self.begin()
        self.changed.emit()

    def ask_again(self) -> None:
        """Show people the requests that the session sent before their keys were read."""
        if self._operator is None:
            return
        known = {question.id for question in self._input.questions}
        for question in list(self._operator.player.questions):
            if question.id not in known:
                self._input.offer(question)

    def set_recording(self, on: bool) -> None:
        """Start or stop recording, from the next episode on."""
        if on == self.recording:
            return
        self.recording = on
        operator = self._operator
        if operator is not None:
            before, self._run = self._run, self._new_run(operator.player.config, self.seed) if on else None
            operator.player.record_into(self._run)
            if before is not None:
                self._run_task(self._close_after_flight(operator, before), "Closing the record")
        self.changed.emit()

    async def close(self) -> None:
        """End the game and wait until its session and record are closed."""
        self._leave()
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- internal --------------------------------------------------------------------

    def _set_pace(self) -> None:
        """Set the rate of steps: unlimited in turn-based play among people, else the clock's rate.

        A limited rate lets people see the moves of policies.
        """
        operator = self._operator
        if operator is None:
            return
        slots = operator.player.config.resolved_slots()
        alone = len(self.people) == len(slots) and not self.clock.realtime
        operator.player.set_rate(None if alone else self.clock.rate)

    def _new_run(self, config: OperatorConfig, seed: int) -> LiveRun:
        from gym_gui.controllers.live_play.live_run import LiveRun

        context = self._context
        compress = context.settings.values.compress_runs
        return LiveRun(context.store.runs_dir(), [config], seed, compress=compress, changed=self.changed.emit)

    def _leave(self) -> None:
        operator, self._operator = self._operator, None
        run, self._run = self._run, None
        self._input.forget()
        self.waits, self.is_over, self._binding = False, False, None
        if operator is not None:
            operator.blockSignals(True)
            self._run_task(self._end(operator, run), "Ending a game")

    def _run_task(self, job: Any, what: str) -> None:
        task = self._context.spawn(job, what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _end(operator: LiveOperator, run: LiveRun | None) -> None:
        await operator.player.close()
        if run is not None:
            await run.close()
        operator.deleteLater()

    @staticmethod
    async def _close_after_flight(operator: LiveOperator, run: LiveRun) -> None:
        """Close a run after the current episode, which began before recording was switched off."""
        over = asyncio.Event()

        def wake(*_: object) -> None:
            over.set()

        operator.episode_over.connect(wake)
        operator.state_changed.connect(wake)
        try:
            while operator.player.alive and not operator.player.done:
                over.clear()
                await over.wait()
        finally:
            operator.episode_over.disconnect(wake)
            operator.state_changed.disconnect(wake)
            await run.close()

    def _on_chosen(self, question: HumanQuestion, action: object) -> None:
        if self._operator is not None:
            self._confirmed = True
            self._operator.player.answer(question, action)

    def _on_key_pressed(self, _key: str) -> None:
        if self.waits_for_key:
            self.begin()

    def _on_state_changed(self, _state: object) -> None:
        self.changed.emit()

    def _on_viewed(self, view: LiveView) -> None:
        if (view.episode, view.step) != self._seen_step:
            self._seen_step = (view.episode, view.step)
            mine = self.people
            for agent in view.agents:
                if agent.slot in mine and agent.source in FALLBACKS and not agent.by:
                    self._fallbacks[agent.agent] = self._fallbacks.get(agent.agent, 0) + 1
        self._start_if_people_first()
        self.viewed.emit(view)

    def _on_episode_over(self, line: Mapping[str, Any]) -> None:
        self.is_over, self.waits = True, False
        self._input.forget()
        self.over.emit(dict(line), sum(self._fallbacks.values()))
        self.changed.emit()

    def _on_broke(self, sentence: str) -> None:
        self._input.forget()
        self.broke.emit(sentence)
        self.changed.emit()


async def seat_quietly(task: asyncio.Task[Any] | None) -> str:
    """Wait until a slot is bound to its new player.

    Returns:
        A sentence that says why the slot could not be bound; empty if it was bound.
    """
    if task is None:
        return ""
    try:
        await task
    except MosaicError as error:
        return error.sentence
    return ""
