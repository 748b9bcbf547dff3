"""Up to eight live operators side by side, with a common seed, pace and run folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtGui import QUndoStack

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.live_play.unique_names import free_name, with_free_name
from gym_gui.controllers.setup.play_setup import asks_models, seated_as_written
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.seeding import check_seed
from gym_gui.services.operator_table import OperatorTable
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.live_operators import MOST, LiveOperators
from gym_gui.ui.live.operator_playback import OperatorPlayback
from gym_gui.ui.live.operator_recording import OperatorRecording
from gym_gui.ui.undo import Edit

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.episode_player import EpisodePlayer
    from gym_gui.controllers.live_play.live_run import LiveRun
    from gym_gui.controllers.live_play.session_link import OpenLiveSession
    from gym_gui.ui.context import AppContext


@dataclass(frozen=True)
class _Push:
    """How to apply a change of the operators that the user has made.

    An earlier state that undo restores has no push; it begins paused.

    Attributes:
        starts: Whether sessions of new operators start at once to show a first frame.
        anew: Whether unchanged operators also restart.
    """

    starts: bool = True
    anew: bool = False


class OperatorDeck(QObject):
    """Plays operators side by side on the same seeds, and records them as one run.

    Args:
        context: The window's services.
        seed: Environment seed of the first episode; each following episode adds one.
        open_session: Creates an operator's session; by default in a host process.
        parent: Qt parent.

    Attributes:
        operators: The operators, in order.
        play: Runs, steps and pauses the operators.
        undo_stack: History of the operators and of the seed.
        seed: Environment seed of the first episode; :meth:`set_seed` changes it.
        look: Render mode (``rgb_array``, ``ansi`` or ``none``) and largest number of frames per second. A
            change applies from the next start on.
    """

    added = pyqtSignal(object, int)
    removed = pyqtSignal(object)
    forgotten = pyqtSignal(object)
    """Emits a removed operator after its session ended, so that undo cannot continue it."""
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
        self.service = context.services.new_operators(self._launch)
        self.service.operators.seed(seed)
        self.seed = seed
        self.look: tuple[str, float] = ("rgb_array", 30.0)
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(200)
        self._push: _Push | None = None
        self._run = OperatorRecording(context, self._on_run_changed)
        self.operators = LiveOperators(
            self.service,
            self._run,
            self._make,
            added=self.added.emit,
            removed=self.removed.emit,
            forgotten=self.forgotten.emit,
            parent=self,
        )
        self.play = OperatorPlayback(self.operators, self._prepare, self)
        self.play.changed.connect(self.changed)

    def _make(self, config: OperatorConfig) -> LiveOperator:
        operator = LiveOperator(self._context, config, open_session=self._open_session, parent=self)
        operator.stepped.connect(self.play.beat.nudge)
        operator.episode_over.connect(self.play.continue_playback)
        operator.state_changed.connect(self._on_state)
        return operator

    @property
    def recording(self) -> LiveRun | None:
        """Run into which finished episodes are written, or ``None``."""
        return self._run.recording

    # -- the operators ---------------------------------------------------------------

    @property
    def table(self) -> OperatorTable:
        """The operators' configurations and the first seed."""
        return OperatorTable(self.operators.configs, self.seed)

    def add(self, config: OperatorConfig, *, start: bool = True) -> LiveOperator:
        """Add an operator, with another id or name if its own is taken.

        Args:
            config: Configuration of the operator.
            start: Whether to show a first frame at once. If other operators have played, all operators
                restart, so that they stay comparable.

        Raises:
            UsageError: There are already eight operators.
        """
        if self.operators.full:
            raise UsageError(f"at most {MOST} operators can be shown", fix="Remove an operator first")
        table, config = self.table, self.operators.with_free_name(config)
        table = replace(table, operators=(*table.operators, config))
        self._edit(table, f"add {config.display_name}", push=_Push(start))
        return self.operators.get(config.operator_id)

    def duplicate(self, operator_id: str) -> LiveOperator:
        """Add a copy of an operator."""
        return self.add(self.operators.get(operator_id).player.config)

    def change(self, config: OperatorConfig) -> None:
        """Change the operator that has the configuration's id; a change of the name alone interrupts nothing.

        If no file set the id, a new id is made from the operator's policies.

        Raises:
            UsageError: No operator has this id.
        """
        operator, table = self.operators.get(config.operator_id), self.table
        before = operator.player.config
        same = before.operator_id
        others = [other for other in table.operators if other.operator_id != same]
        if not config.named:
            config = replace(config, display_name=free_name(config, others))
        config = replace(config, operator_id=self.operators.following_id(operator, before, config))
        operators = tuple(config if o.operator_id == same else o for o in table.operators)
        self._edit(replace(table, operators=operators), f"change {config.display_name}")

    def replace(
        self, configs: Sequence[OperatorConfig], seed: int | None = None, *, run: bool = False
    ) -> None:
        """Replace all operators and restart at a seed.

        Args:
            configs: Configurations of the new operators.
            seed: Environment seed of the first episode; by default the current one.
            run: Whether to play at once; otherwise only the first frames are shown.

        Raises:
            UsageError: There are more than eight configurations, or the seed is out of range.
        """
        if len(configs) > MOST:
            raise UsageError(f"at most {MOST} operators can be shown, not {len(configs)}")
        before, named = self.table, list[OperatorConfig]()
        for config in configs:
            named.append(with_free_name(config, named))
        self.play.pause()
        table = OperatorTable(tuple(named), self.seed if seed is None else check_seed(seed))
        if table != before:
            self._edit(table, "replace the operators", push=_Push(not run, anew=True))
        elif self.operators.touched:
            self._begin_new_run()
        if run:
            self.play.run()

    def restore(self, table: OperatorTable) -> None:
        """Restore the operators of the last session, without starting them and without an undo step."""
        self._arrange(table, _Push(starts=False))

    def show_beginnings(self) -> None:
        """Start sessions for the operators that have none, to show their first frames."""
        if self.operators:
            self._prepare()

    def remove(self, operator_id: str) -> None:
        """Remove an operator from those side by side."""
        operator, table = self.operators.get(operator_id), self.table
        left = tuple(o for o in table.operators if o.operator_id != operator_id)
        self._edit(replace(table, operators=left), f"remove {operator.player.config.display_name}")

    # -- changes of the table ------------------------------------------------------------

    def _edit(self, table: OperatorTable, text: str, field: str = "", push: _Push = _Push()) -> None:
        """Replace the operators and the seed, with an undo step."""
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
        """Replace the operators; unchanged operators continue, but restart if a new run begins.

        Args:
            table: The new operators and seed.
            push: How to apply the table; ``None`` if undo restored it.
        """
        self.play.catch_up.end()
        operators, played, seeded = self.operators, self.operators.touched, table.seed != self.seed
        anew = push is not None and push.anew
        renamed = () if anew or seeded else operators.identify(table.operators)
        self.seed = table.seed
        self.service.operators.seed(table.seed)
        operators.remove_others(table.ids)
        put = [operators.put(config, place) for place, config in enumerate(table.operators)]
        fresh = [c for c, is_fresh in zip(table.operators, put, strict=True) if is_fresh or c in renamed]
        if not operators or (fresh and (push is None or any(map(asks_models, fresh)))):
            self.play.pause()  # the user has not started these operators, and requests to a model cost money
        mixed = fresh and (played or not self._run.admit(fresh))
        # Episodes in flight of the current run belong to the old id.
        moved = bool(renamed) and self._run.recording is not None
        again = mixed or moved or (seeded and operators.active) or (played and anew)
        if again:
            self._begin_new_run()
        if fresh and (push is None or push.starts):
            if not again:
                self._start_anew(fresh)
            self._prepare()
        if self.play.running:
            for operator in operators:
                self.play.set_off(operator)
        self._after_change()

    def _start_anew(self, fresh: Sequence[OperatorConfig]) -> None:
        """Restart changed operators that had a session, with their new configurations."""
        for config in fresh:
            operator = self.operators.get(config.operator_id)
            if operator.player.busy:
                self._start(operator)

    # -- play ------------------------------------------------------------------------

    def set_seed(self, seed: int) -> None:
        """Set the first seed and restart all operators.

        Raises:
            UsageError: The seed is out of range.
        """
        self._edit(replace(self.table, seed=check_seed(seed)), f"seed {seed}", "seed")

    def reset_all(self) -> None:
        """Restart all operators at the first seed in a new run; they stay paused or running."""
        self._begin_new_run()
        self._prepare()
        self.changed.emit()

    def _begin_new_run(self) -> None:
        """Begin a new run, and restart all operators that have played."""
        self.play.catch_up.end()
        self.operators.forget_removed()
        for operator in self.operators:
            self.operators.follow_rebinding(operator)
        self._run.begin(self.operators, self.seed)
        for operator in self.operators:
            if operator.player.is_running() or operator.player.trouble or operator.player.tally.episodes_done:
                self._start(operator)
        if self.play.running and self.play.lock_step:
            self.play.beat.start()

    def stop_all(self) -> None:
        """End all sessions and the run."""
        self.play.stop()
        self.operators.forget_removed()
        self._notify_errors(self.service.stop_all)
        self._run.end(self.operators)
        self.changed.emit()

    def restart(self, operator_id: str) -> None:
        """Continue a broken operator in a new session."""
        operator = self.operators.get(operator_id)
        if operator.player.recording is self._run.recording:
            operator.player.restart()
        else:
            self._start(operator)
        if self.play.running:
            self.play.set_off(operator)
        self.play.beat.nudge()

    async def close(self) -> None:
        """End all sessions and runs, and wait until they have ended."""
        self.stop_all()
        await self._run.ended()
        await asyncio.gather(*(player.close() for player in self.operators.players()))

    def _launch(self, config: OperatorConfig) -> EpisodePlayer:
        """Start an operator's session; this is the launcher of :class:`MultiOperatorService`."""
        operator = self.operators.get(config.operator_id)
        if not operator.player.trouble:  # A broken operator waits for the user.
            self._start(operator)
        return operator.player

    def _start(self, operator: LiveOperator) -> None:
        if self._run.recording is None:
            self._run.begin(self.operators, self.seed)
        operator.player.record_into(self._run.recording)
        (first,) = self.service.operators.schedule(operator.player.config.operator_id)
        render, fps = self.look
        paused = self.play.lock_step or not self.play.running
        operator.player.start(first.seed, render=render, fps=fps, paused=paused)

    def _prepare(self) -> None:
        """Start sessions for the operators that have none; after a recording error begin a new run first."""
        if self._run.recording is not None and self._run.recording.problem:
            self._begin_new_run()
        self._notify_errors(self.service.start_all)

    def _notify_errors(self, action: Callable[[], None]) -> None:
        try:
            action()
        except MosaicError as exc:
            self._context.notify(str(exc), kind="error")

    # -- events of runs and operators --------------------------------------------------

    def _on_run_changed(self) -> None:
        """Pause all operators if the run can no longer be recorded, so that no step goes unrecorded."""
        run = self._run.recording
        if run is not None and run.problem and self.play.running:
            self.play.pause()
        self.run_changed.emit()

    def _on_state(self, state: object) -> None:
        if state is not OperatorState.THINKING:  # This state is emitted repeatedly while the time passes.
            self._after_change()

    def _after_change(self) -> None:
        self.play.continue_playback()
        self.changed.emit()
