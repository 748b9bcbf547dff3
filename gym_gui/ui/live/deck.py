"""Up to eight live operators side by side: one seed, one step or one pace, one run folder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.services.operator import MultiOperatorService
from gym_gui.ui.live.deck_run import DeckRun
from gym_gui.ui.live.free_names import free_name, with_free_name
from gym_gui.ui.live.lock_step import LockStep
from gym_gui.ui.live.operator import LiveOperator
from gym_gui.ui.live.state import OperatorState

if TYPE_CHECKING:
    from gym_gui.controllers.live_run import LiveRun
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.live.engine import OpenLiveSession

MOST = 8
"""Operators side by side."""


@dataclass(frozen=True)
class Removed:
    """An operator that was taken off the table and can still be put back."""

    operator: LiveOperator
    position: int


class OperatorDeck(QObject):
    """Plays operators side by side on the same seeds, and records them as one run.

    Args:
        context: The window's services.
        seed: Environment seed of the first episode; the next ones count up from it.
        open_session: Makes an operator's session; a host process by default.
        parent: Qt parent.
    """

    added = pyqtSignal(object, int)
    removed = pyqtSignal(object)
    changed = pyqtSignal()
    run_changed = pyqtSignal()

    def __init__(
        self,
        context: AppContext,
        *,
        seed: int = 0,
        open_session: OpenLiveSession | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._context, self._open_session = context, open_session
        self._operators: list[LiveOperator] = []
        self.service = MultiOperatorService(self._launch)
        self.service.operators.seed(seed)
        self._seed = seed
        self._held: Removed | None = None
        self._run = DeckRun(context, self.run_changed.emit)
        self._running, self._lock_step = False, True
        self._rate: float | None = 15.0
        self._look: tuple[str, float] = ("rgb_array", 30.0)
        self._common = LockStep(self._everybody, self)
        self._common.rate = self._rate
        self._common.exhausted.connect(self.pause)

    # -- what there is ---------------------------------------------------------------

    @property
    def operators(self) -> Sequence[LiveOperator]:
        """The operators, in order."""
        return tuple(self._operators)

    def _everybody(self) -> Sequence[LiveOperator]:
        return self._operators

    @property
    def full(self) -> bool:
        """Whether no more fit."""
        return len(self._operators) >= MOST

    @property
    def seed(self) -> int:
        """Environment seed of the first episode."""
        return self._seed

    @property
    def running(self) -> bool:
        """Whether they play on by themselves."""
        return self._running

    @property
    def lock_step(self) -> bool:
        """Whether all take a step before any takes the next."""
        return self._lock_step

    @property
    def rate(self) -> float | None:
        """Most steps a second; ``None``: as many as come."""
        return self._rate

    @property
    def recording(self) -> LiveRun | None:
        """The run folder that finished episodes go to."""
        return self._run.recording

    @property
    def active(self) -> bool:
        """Whether any operator has a session."""
        return any(operator.is_running() for operator in self._operators)

    @property
    def touched(self) -> bool:
        """Whether anything has been played since the last reset."""
        return any(o.episodes_done or (o.last_view is not None and o.last_view.step) for o in self._operators)

    def find(self, operator_id: str) -> LiveOperator | None:
        """The operator of that id."""
        return next((o for o in self._operators if o.config.operator_id == operator_id), None)

    # -- who plays -------------------------------------------------------------------

    def add(self, config: OperatorConfig, *, start: bool = True) -> LiveOperator:
        """Put an operator on the table; where its id or name is taken, it gets another.

        Args:
            config: Who plays.
            start: Show its first frame at once. Where others have played already, all begin
                again, so that they stay comparable.

        Raises:
            UsageError: There are eight.
        """
        if self.full:
            raise UsageError(f"There is room for {MOST} operators", fix="Remove one first")
        others = [*self._operators, *([self._held.operator] if self._held else [])]
        config = with_free_name(config, [other.config for other in others])
        operator = LiveOperator(self._context, config, open_session=self._open_session, parent=self)
        operator.stepped.connect(self._on_stepped)
        operator.state_changed.connect(self._on_state)
        again = self.touched
        self.service.add_operator(config)
        self._operators.append(operator)
        self.added.emit(operator, len(self._operators) - 1)
        if self._run.recording is not None:
            self._run.recording.admit(config)
        if start:
            self.reset_all() if again else self._prepare()
        self.changed.emit()
        return operator

    def duplicate(self, operator_id: str) -> LiveOperator:
        """Put another one like this on the table."""
        return self.add(self._get(operator_id).config)

    def change(self, config: OperatorConfig) -> None:
        """Have the operator of this id be another; a new name alone interrupts nothing.

        Raises:
            UsageError: There is no such operator.
        """
        operator = self._get(config.operator_id)
        again = self.touched
        if not config.named:
            others = [other.config for other in self._operators if other is not operator]
            config = replace(config, display_name=free_name(config, others))
        renamed = operator.config == replace(config, display_name=operator.config.display_name, seats="fixed")
        operator.configure(config)
        if self._run.recording is not None:
            self._run.recording.describe(config)
        if not renamed:
            self.reset_all() if again else self._start(operator)
        self.changed.emit()

    def remove(self, operator_id: str) -> Removed:
        """Take an operator off the table; :meth:`put_back` undoes it until :meth:`forget_removed`."""
        self.forget_removed()
        operator = self._get(operator_id)
        removed = Removed(operator, self._operators.index(operator))
        self._operators.remove(operator)
        operator.pause()
        operator.drive(False)
        self._held = removed
        self.removed.emit(operator)
        self._after_change()
        return removed

    def put_back(self) -> LiveOperator | None:
        """Undo the last removal: the operator is where it was, and goes on where it stood."""
        held, self._held = self._held, None
        if held is None or self.full:
            return None
        position = min(held.position, len(self._operators))
        self._operators.insert(position, held.operator)
        self.added.emit(held.operator, position)
        if self._running:
            self._set_off(held.operator)
        self._after_change()
        return held.operator

    def forget_removed(self) -> None:
        """End what was removed last; it cannot be put back any more."""
        held, self._held = self._held, None
        if held is None:
            return
        self.service.remove_operator(held.operator.config.operator_id)
        self._run.retire(self._close_one(held.operator))

    async def _close_one(self, operator: LiveOperator) -> None:
        await operator.close()
        operator.deleteLater()

    def _get(self, operator_id: str) -> LiveOperator:
        operator = self.find(operator_id)
        if operator is None:
            raise UsageError(f"There is no operator {operator_id!r}")
        return operator

    # -- play ------------------------------------------------------------------------

    def set_seed(self, seed: int) -> None:
        """Another seed for all: they begin again.

        Raises:
            UsageError: It is out of range.
        """
        self.service.operators.seed(seed)
        self._seed = seed
        if self.active:
            self.reset_all()
        self.changed.emit()

    def set_pace(self, rate: float | None, *, lock_step: bool) -> None:
        """How fast they play.

        Args:
            rate: Most steps a second; ``None``: as many as come.
            lock_step: Nobody takes a step before all have taken the one before.
        """
        again = self._running and lock_step != self._lock_step
        self._rate, self._lock_step = rate, lock_step
        self._common.rate = rate
        if again:
            self.pause()
            self.run()
        for operator in self._operators:
            operator.set_rate(None if lock_step else rate)
        self.changed.emit()

    def set_look(self, render: str, fps: float) -> None:
        """What the hosts draw, and how often at most, from the next start on."""
        self._look = (render, fps)

    def run(self) -> None:
        """Play on; operators that have no session are started."""
        if not self._operators:
            return
        self._running = True
        self._prepare()
        for operator in self._operators:
            self._set_off(operator)
        if self._lock_step:
            self._common.start()
        self.changed.emit()

    def _set_off(self, operator: LiveOperator) -> None:
        operator.set_rate(None if self._lock_step else self._rate)
        operator.drive(self._lock_step)
        if not self._lock_step:
            operator.run()

    def pause(self) -> None:
        """Hold everybody before the next step."""
        self._running = False
        self._common.stop()
        for operator in self._operators:
            operator.drive(False)
            operator.pause()
        self.changed.emit()

    def step_all(self) -> None:
        """One step of every operator; while some have not taken the last one, nothing happens."""
        if self._running:
            self.pause()
        self._prepare()
        if not any(operator.stepping for operator in self._operators):
            for operator in self._operators:
                operator.step()
        self.changed.emit()

    def step_player(self, operator_id: str) -> None:
        """One agent's move in one operator; the others wait."""
        if self._running:
            self.pause()
        self._prepare()
        self._get(operator_id).step_agent()
        self.changed.emit()

    def reset_all(self) -> None:
        """Everybody plays from the seed on again, paused or running as they are; a new run begins."""
        self._run.begin(self._operators, self._seed)
        for operator in self._operators:
            if operator.is_running() or operator.trouble or operator.episodes_done:
                self._start(operator)
        self._prepare()
        if self._running and self._lock_step:
            self._common.start()
        self.changed.emit()

    def stop_all(self) -> None:
        """End every session and the run."""
        self._running = False
        self._common.stop()
        for operator in self._operators:
            operator.drive(False)
        self._stop_each()
        self._run.end(self._operators)
        self.changed.emit()

    def restart(self, operator_id: str) -> None:
        """A broken operator goes on with a new session."""
        operator = self._get(operator_id)
        operator.restart()
        if self._running:
            self._set_off(operator)
        self._common.nudge()

    async def close(self) -> None:
        """End everything; nothing that was started is left."""
        self._running = False
        self._common.stop()
        self.forget_removed()
        await asyncio.gather(*(operator.close() for operator in self._operators))
        self._run.end(self._operators)
        await self._run.ended()

    def _launch(self, config: OperatorConfig) -> LiveOperator:
        """Start an operator (the launcher of :class:`MultiOperatorService`)."""
        operator = self._get(config.operator_id)
        if not operator.trouble:  # what is broken waits for a person
            self._start(operator)
        return operator

    def _start(self, operator: LiveOperator) -> None:
        operator.record_into(self._run.recording)
        (seed,) = self.service.operators.schedule(operator.config.operator_id, 1)
        render, fps = self._look
        operator.start(seed, render=render, fps=fps, paused=self._lock_step or not self._running)

    def _prepare(self) -> None:
        """Start those that have no session."""
        if self._run.recording is None:
            self._run.begin(self._operators, self._seed)
        try:
            self.service.start_all()
        except MosaicError as exc:
            self._context.notify(str(exc), kind="error")

    def _stop_each(self) -> None:
        try:
            self.service.stop_all()
        except MosaicError as exc:
            self._context.notify(str(exc), kind="error")

    # -- what they say ---------------------------------------------------------------

    def _on_stepped(self) -> None:
        self._common.nudge()

    def _on_state(self, state: object) -> None:
        if state is not OperatorState.THINKING:  # said again and again, for its seconds
            self._after_change()

    def _after_change(self) -> None:
        self._common.nudge()
        self.changed.emit()
