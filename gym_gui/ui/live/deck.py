"""Up to eight live operators side by side: one seed, one step or one pace, one run folder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtGui import QUndoStack

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.live_play.free_names import following_id, free_name, with_free_name
from gym_gui.controllers.setup.play_setup import asks_models, seated_as_written
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.seeding import check_seed
from gym_gui.services.operator_table import OperatorTable
from gym_gui.ui.live.deck_run import DeckRun
from gym_gui.ui.live.evening import Evening
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.lock_step import LockStep
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.undo import Edit

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.episode_player import EpisodePlayer
    from gym_gui.controllers.live_play.live_run import LiveRun
    from gym_gui.controllers.live_play.session_link import OpenLiveSession
    from gym_gui.ui.context import AppContext

MOST = 8
"""Operators side by side."""
HELD_MS = 15_000
"""How long one that was removed keeps its processes, so that undo finds it as it stood."""


@dataclass(frozen=True)
class _Push:
    """How a table that somebody has just made comes about; one that undo brings back begins held.

    Attributes:
        starts: Whether first frames are shown.
        anew: Whether whoever stays begins again, too.
    """

    starts: bool = True
    anew: bool = False


class OperatorDeck(QObject):
    """Plays operators side by side on the same seeds, and records them as one run.

    Args:
        context: The window's services.
        seed: Environment seed of the first episode; the next ones count up from it.
        open_session: Makes an operator's session; a host process by default.
        parent: Qt parent.

    Attributes:
        undo_stack: The history of who plays, and of the seed.
        evening: Has those play on that have finished fewer episodes; ends with whatever else is asked for.
    """

    added = pyqtSignal(object, int)
    removed = pyqtSignal(object)
    forgotten = pyqtSignal(object)
    """One that was removed has ended: it does not come back as it stood."""
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
        self.service = context.services.new_operators(self._launch)
        self.service.operators.seed(seed)
        self._seed = seed
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(200)
        self._push: _Push | None = None
        self._held: LiveOperator | None = None
        self._hold = single_shot_timer(self, HELD_MS, self.forget_removed)
        self._run = DeckRun(context, self._on_run_changed)
        self._running, self._lock_step = False, True
        self._rate: float | None = 15.0
        self._look: tuple[str, float] = ("rgb_array", 30.0)
        self._common = LockStep(self._players, self)
        self._common.rate = self._rate
        self._common.exhausted.connect(self.pause)
        self.evening = Evening(self._players, self.changed.emit)

    # -- what there is ---------------------------------------------------------------

    @property
    def operators(self) -> Sequence[LiveOperator]:
        """The operators, in order."""
        return tuple(self._operators)

    def _players(self) -> Sequence[EpisodePlayer]:
        return [operator.player for operator in self._operators]

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
        return any(operator.player.is_running() for operator in self._operators)

    @property
    def touched(self) -> bool:
        """Whether anything has been played since the last reset."""
        return any(operator.player.has_played for operator in self._operators)

    def find(self, operator_id: str) -> LiveOperator | None:
        """The operator of that id, or that had it before its player changed."""
        known = {operator.player.config.operator_id: operator for operator in self._operators}
        return known.get(operator_id) or next(
            (operator for operator in self._operators if operator_id in operator.former_ids), None
        )

    # -- who plays -------------------------------------------------------------------

    @property
    def table(self) -> OperatorTable:
        """Who plays, and from which seed on."""
        return OperatorTable(tuple(operator.player.config for operator in self._operators), self._seed)

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
        table = self.table
        held = [self._held.player.config] if self._held is not None else []
        config = with_free_name(config, [*table.operators, *held])
        table = replace(table, operators=(*table.operators, config))
        self._edit(table, f"add {config.display_name}", push=_Push(start))
        return self._get(config.operator_id)

    def duplicate(self, operator_id: str) -> LiveOperator:
        """Put another one like this on the table."""
        return self.add(self._get(operator_id).player.config)

    def change(self, config: OperatorConfig) -> None:
        """Have the operator of this id be another; a new name alone interrupts nothing.

        Its id follows who plays, unless a file has given it.

        Raises:
            UsageError: There is no such operator.
        """
        operator, table = self._get(config.operator_id), self.table
        before = operator.player.config
        same = before.operator_id
        others = [other for other in table.operators if other.operator_id != same]
        if not config.named:
            config = replace(config, display_name=free_name(config, others))
        config = replace(config, operator_id=self._following_id(operator, before, config))
        operators = tuple(config if o.operator_id == same else o for o in table.operators)
        self._edit(replace(table, operators=operators), f"change {config.display_name}")

    def replace(
        self, configs: Sequence[OperatorConfig], seed: int | None = None, *, run: bool = False
    ) -> None:
        """Put these on the table instead of what is there, from the seed on.

        Args:
            configs: Who plays.
            seed: Environment seed of the first episode; as it is by default.
            run: Play at once; otherwise their first frames are shown.

        Raises:
            UsageError: There are more than eight, or the seed is out of range.
        """
        if len(configs) > MOST:
            raise UsageError(f"There is room for {MOST} operators, and these are {len(configs)}")
        before, named = self.table, list[OperatorConfig]()
        for config in configs:
            named.append(with_free_name(config, named))
        self.pause()
        table = OperatorTable(tuple(named), self._seed if seed is None else check_seed(seed))
        if table != before:
            self._edit(table, "replace the operators", push=_Push(not run, anew=True))
        elif self.touched:
            self._begin_again()
        if run:
            self.run()

    def _following_id(self, operator: LiveOperator, before: OperatorConfig, after: OperatorConfig) -> str:
        others = [other for other in self._operators if other is not operator]
        taken = {other.player.config.operator_id for other in others}
        return following_id(before, after, taken.union(*(other.former_ids for other in others)))

    def restore(self, table: OperatorTable) -> None:
        """Put operators there that were there the last time: nothing is started, and no step to undo."""
        self._arrange(table, _Push(starts=False))

    def show_beginnings(self) -> None:
        """Start those that have no session, to show their first frames."""
        if self._operators:
            self._prepare()

    def remove(self, operator_id: str) -> None:
        """Take an operator off the table."""
        operator, table = self._get(operator_id), self.table
        left = tuple(o for o in table.operators if o.operator_id != operator_id)
        self._edit(replace(table, operators=left), f"remove {operator.player.config.display_name}")

    def forget_removed(self) -> None:
        """End what was removed last: undo begins it anew."""
        self._hold.stop()
        held, self._held = self._held, None
        if held is not None:
            self._run.leave(held)
            self.forgotten.emit(held)
            if not self._operators:
                self._run.end(())

    # -- from one table to another -----------------------------------------------------

    def _edit(self, table: OperatorTable, text: str, field: str = "", push: _Push = _Push()) -> None:
        """Have the table be another, undoably."""
        table = replace(table, operators=tuple(map(seated_as_written, table.operators)))
        if table == self.table:
            return
        self._push = push
        try:
            self.undo_stack.push(Edit(self._show, self.table, table, text, field))
        finally:
            self._push = None

    def _show(self, table: OperatorTable) -> None:
        push, self._push = self._push, None
        self._arrange(table, push)

    def _arrange(self, table: OperatorTable, push: _Push | None) -> None:
        """Have these play; whoever stays goes on, unless others begin beside them.

        Args:
            table: What it becomes.
            push: How; ``None``: undo has brought it back.
        """
        self.evening.end()
        played, seeded = self.touched, table.seed != self._seed
        renamed = () if push is not None and push.anew else self._identify(table)
        self._seed = table.seed
        self.service.operators.seed(table.seed)
        gone = self._gone(table)
        # One that is taken off by itself can be had back as it stood.
        hold = len(gone) == 1 and len(table.operators) == len(self._operators) - 1
        for operator in gone:
            self._take_off(operator, hold=hold)
        put = [self._put(config, place) for place, config in enumerate(table.operators)]
        fresh = [c for c, is_fresh in zip(table.operators, put, strict=True) if is_fresh or c in renamed]
        if not self._operators or (fresh and (push is None or any(map(asks_models, fresh)))):
            self.pause()  # nobody has said that these are to play, and asking a model costs money
        mixed = fresh and (played or not self._run.admit(fresh))
        # What the run before has in flight is of the id before.
        moved = bool(renamed) and self._run.recording is not None
        again = mixed or moved or (seeded and self.active) or (played and push is not None and push.anew)
        if again:
            self._begin_again()
        if fresh and (push is None or push.starts):
            if not again:
                self._start_anew(fresh)
            self._prepare()
        if self._running:
            for operator in self._operators:
                self._set_off(operator)
        self._after_change()

    def _identify(self, table: OperatorTable) -> tuple[OperatorConfig, ...]:
        """Have one that alone is another, and goes by another id, be that one at its place; returns it."""
        here = self.table.operators
        if len(here) != len(table.operators) or table.seed != self._seed:
            return ()
        changed = [(a, b) for a, b in zip(here, table.operators, strict=True) if a != b]
        if len(changed) != 1 or changed[0][0].operator_id == changed[0][1].operator_id:
            return ()
        ((before, after),) = changed
        self._be(self._get(before.operator_id), after)
        return (after,)

    def _be(self, operator: LiveOperator, config: OperatorConfig) -> None:
        """Have an operator be another, of another id."""
        before = operator.player.config.operator_id
        self.service.remove_operator(before, stop=False)
        self.service.add_operator(config, operator.player)
        operator.go_by(config)

    def _gone(self, table: OperatorTable) -> list[LiveOperator]:
        """Who leaves; all do where the others would have to change places."""
        ids = table.ids
        here = [operator.player.config.operator_id for operator in self._operators]
        places = [ids.index(operator_id) for operator_id in here if operator_id in ids]
        if places != sorted(places):
            return list(self._operators)
        return [o for o in self._operators if o.player.config.operator_id not in ids]

    def _take_off(self, operator: LiveOperator, *, hold: bool) -> None:
        self.forget_removed()
        self._operators.remove(operator)
        operator.player.pause()
        operator.player.drive(False)
        self.service.remove_operator(operator.player.config.operator_id, stop=False)
        self.removed.emit(operator)
        self._held = operator
        if hold:
            self._hold.start()
        else:
            self.forget_removed()

    def _put(self, config: OperatorConfig, place: int) -> bool:
        """Have an operator be there as written.

        Returns:
            Whether somebody plays now who did not before.
        """
        operator = self.find(config.operator_id)
        if operator is None:
            return self._seat(config, place)
        if operator.player.config == config:
            return False
        renamed = operator.player.config == replace(config, display_name=operator.player.config.display_name)
        operator.player.configure(config)
        if renamed:
            self._run.describe(config)
        return not renamed

    def _seat(self, config: OperatorConfig, place: int) -> bool:
        """Put an operator on the table; one that was just removed goes on where it stood."""
        operator = self._held
        back = operator is not None and operator.player.config == config
        if operator is not None and back and operator.player.recording is self._run.recording:
            self._held = None
            self._hold.stop()
            self.service.add_operator(config, operator.player)
        else:
            back = False
            self.forget_removed()
            operator = LiveOperator(self._context, config, open_session=self._open_session, parent=self)
            operator.stepped.connect(self._on_stepped)
            operator.episode_over.connect(self._on_episode_over)
            operator.state_changed.connect(self._on_state)
            self.service.add_operator(config)
        self._operators.insert(place, operator)
        self.added.emit(operator, place)
        return not back

    def _start_anew(self, fresh: Sequence[OperatorConfig]) -> None:
        """Those that were changed, and had a session, begin with what they are now."""
        for config in fresh:
            operator = self._get(config.operator_id)
            if operator.player.busy:
                self._start(operator)

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
        self._edit(replace(self.table, seed=check_seed(seed)), f"seed {seed}", "seed")

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
            operator.player.set_rate(None if lock_step else rate)
        self.changed.emit()

    def set_look(self, render: str, fps: float) -> None:
        """What the hosts draw, and how often at most, from the next start on."""
        self._look = (render, fps)

    def run(self) -> None:
        """Play on; operators that have no session are started."""
        if not self._operators:
            return
        self.evening.end()
        self._running = True
        self._prepare()
        for operator in self._operators:
            self._set_off(operator)
        if self._lock_step:
            self._common.start()
        self.changed.emit()

    def _set_off(self, operator: LiveOperator) -> None:
        operator.player.set_rate(None if self._lock_step else self._rate)
        operator.player.drive(self._lock_step)
        if not self._lock_step:
            operator.player.resume()

    def even_out(self) -> None:
        """Play the episodes that some have finished and others have not."""
        self.pause()
        self._prepare()
        self.evening.begin()

    def pause(self) -> None:
        """Hold everybody before the next step."""
        self.evening.end()
        self._running = False
        self._common.stop()
        for operator in self._operators:
            operator.player.drive(False)
            operator.player.pause()
        self.changed.emit()

    def step_all(self) -> None:
        """One step of every operator; while some have not taken the last one, nothing happens."""
        if self._running or self.evening.target:
            self.pause()
        self._prepare()
        if not any(operator.player.stepping for operator in self._operators):
            for operator in self._operators:
                operator.player.step()
        self.changed.emit()

    def step_player(self, operator_id: str) -> None:
        """One agent's move in one operator; the others wait."""
        if self._running or self.evening.target:
            self.pause()
        self._prepare()
        self._get(operator_id).player.step(by_agent=True)
        self.changed.emit()

    def reset_all(self) -> None:
        """Everybody plays from the seed on again, paused or running as they are; a new run begins."""
        self._begin_again()
        self._prepare()
        self.changed.emit()

    def _begin_again(self) -> None:
        """A new run, in which all that have a session begin at the seed."""
        self.evening.end()
        self.forget_removed()
        for operator in self._operators:
            self._follow_rebinding(operator)
        self._run.begin(self._operators, self._seed)
        for operator in self._operators:
            if operator.player.is_running() or operator.player.trouble or operator.player.tally.episodes_done:
                self._start(operator)
        if self._running and self._lock_step:
            self._common.start()

    def _follow_rebinding(self, operator: LiveOperator) -> None:
        """One whose slots were taken over while it played is recorded from now on under an id of its own."""
        config = operator.player.config
        named_for = replace(config, workers=operator.named_for.workers, manager=operator.named_for.manager)
        operator_id = self._following_id(operator, named_for, config)
        if operator_id != config.operator_id:
            self._be(operator, replace(config, operator_id=operator_id))

    def stop_all(self) -> None:
        """End every session and the run."""
        self.evening.end()
        self.forget_removed()
        self._running = False
        self._common.stop()
        for operator in self._operators:
            operator.player.drive(False)
        self._stop_each()
        self._run.end(self._operators)
        self.changed.emit()

    def restart(self, operator_id: str) -> None:
        """A broken operator goes on with a new session."""
        operator = self._get(operator_id)
        if operator.player.recording is self._run.recording:
            operator.player.restart()
        else:
            self._start(operator)
        if self._running:
            self._set_off(operator)
        self._common.nudge()

    async def close(self) -> None:
        """End everything; nothing that was started is left."""
        self._running = False
        self._common.stop()
        self.forget_removed()
        await asyncio.gather(*(operator.player.close() for operator in self._operators))
        self._run.end(self._operators)
        await self._run.ended()

    def _launch(self, config: OperatorConfig) -> EpisodePlayer:
        """Start an operator (the launcher of :class:`MultiOperatorService`)."""
        operator = self._get(config.operator_id)
        if not operator.player.trouble:  # what is broken waits for a person
            self._start(operator)
        return operator.player

    def _start(self, operator: LiveOperator) -> None:
        if self._run.recording is None:
            self._run.begin(self._operators, self._seed)
        operator.player.record_into(self._run.recording)
        (first,) = self.service.operators.schedule(operator.player.config.operator_id)
        render, fps = self._look
        operator.player.start(first.seed, render=render, fps=fps, paused=self._lock_step or not self._running)

    def _prepare(self) -> None:
        """Start those that have no session; what can be recorded no more begins again in a new run."""
        if self._run.recording is not None and self._run.recording.problem:
            self._begin_again()
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

    def _on_run_changed(self) -> None:
        """Nothing is played on that is not on record."""
        run = self._run.recording
        if run is not None and run.problem and self._running:
            self.pause()
        self.run_changed.emit()

    def _on_episode_over(self, _row: object) -> None:
        self.evening.look()

    def _on_stepped(self) -> None:
        self._common.nudge()

    def _on_state(self, state: object) -> None:
        if state is not OperatorState.THINKING:  # said again and again, for its seconds
            self._after_change()

    def _after_change(self) -> None:
        self._common.nudge()
        if self.evening.target:
            self.evening.look()
        self.changed.emit()
