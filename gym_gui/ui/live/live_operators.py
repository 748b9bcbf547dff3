"""The live operators side by side, in order, and the operator that was removed last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, overload

from PyQt6.QtCore import QObject

from gym_gui.controllers.live_play.unique_names import following_id, with_free_name
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.operator_recording import OperatorRecording
from gym_gui.ui.timers import single_shot_timer

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.episode_player import EpisodePlayer
    from gym_gui.services.operator import MultiOperatorService

MOST: Final = 8
"""Largest number of operators side by side."""
HELD_MS: Final = 15_000
"""Time for which a removed operator keeps its processes, so that undo can continue it, in milliseconds."""


class LiveOperators(Sequence[LiveOperator]):
    """Sequence of the live operators side by side, which configurations add, change and remove.

    The operator service always holds the same operators.

    Args:
        service: Starts and stops operators.
        run: Records operators.
        make: Creates a live operator for a configuration.
        added: Called with a new operator and its index.
        removed: Called with an operator that was removed.
        forgotten: Called with a removed operator after its session ended, so that undo cannot continue it.
        parent: Qt owner.
    """

    def __init__(
        self,
        service: MultiOperatorService,
        run: OperatorRecording,
        make: Callable[[OperatorConfig], LiveOperator],
        *,
        added: Callable[[LiveOperator, int], object],
        removed: Callable[[LiveOperator], object],
        forgotten: Callable[[LiveOperator], object],
        parent: QObject,
    ) -> None:
        self._service, self._run, self._make = service, run, make
        self._added, self._removed, self._forgotten = added, removed, forgotten
        self._operators: list[LiveOperator] = []
        self._removed_last: LiveOperator | None = None
        self._hold_timer = single_shot_timer(parent, HELD_MS, self.forget_removed)

    @overload
    def __getitem__(self, index: int) -> LiveOperator: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[LiveOperator]: ...
    def __getitem__(self, index: int | slice) -> LiveOperator | Sequence[LiveOperator]:
        return self._operators[index]

    def __len__(self) -> int:
        return len(self._operators)

    @property
    def configs(self) -> tuple[OperatorConfig, ...]:
        """Configurations of the operators, in order."""
        return tuple(operator.player.config for operator in self._operators)

    def players(self) -> Sequence[EpisodePlayer]:
        """Return the episode players of the current operators."""
        return [operator.player for operator in self._operators]

    @property
    def full(self) -> bool:
        """Whether the largest number of operators is reached."""
        return len(self._operators) >= MOST

    @property
    def active(self) -> bool:
        """Whether any operator has a session."""
        return any(player.is_running() for player in self.players())

    @property
    def touched(self) -> bool:
        """Whether any operator has taken a step since the last reset."""
        return any(player.has_played for player in self.players())

    def find(self, operator_id: str) -> LiveOperator | None:
        """Return the operator with this current or former id, or ``None``."""
        known = {operator.player.config.operator_id: operator for operator in self._operators}
        return known.get(operator_id) or next(
            (operator for operator in self._operators if operator_id in operator.former_ids), None
        )

    def get(self, operator_id: str) -> LiveOperator:
        """Return the operator with this current or former id.

        Raises:
            UsageError: No operator has this id.
        """
        operator = self.find(operator_id)
        if operator is None:
            raise UsageError(f"There is no operator {operator_id!r}")
        return operator

    # -- ids -------------------------------------------------------------------------

    def with_free_name(self, config: OperatorConfig) -> OperatorConfig:
        """Return a configuration with an id and a name that no operator has, not even the last removed
        one."""
        held = [self._removed_last.player.config] if self._removed_last is not None else []
        return with_free_name(config, [*self.configs, *held])

    def following_id(self, operator: LiveOperator, before: OperatorConfig, after: OperatorConfig) -> str:
        """Return the id that an operator gets after its slots got other policies."""
        others = [other for other in self._operators if other is not operator]
        taken = {other.player.config.operator_id for other in others}
        return following_id(before, after, taken.union(*(other.former_ids for other in others)))

    def follow_rebinding(self, operator: LiveOperator) -> None:
        """Give an operator a new id if other policies play its slots, so that it is recorded separately."""
        config = operator.player.config
        named_for = replace(config, workers=operator.named_for.workers, manager=operator.named_for.manager)
        operator_id = self.following_id(operator, named_for, config)
        if operator_id != config.operator_id:
            self._identify(operator, replace(config, operator_id=operator_id))

    def identify(self, configs: Sequence[OperatorConfig]) -> tuple[OperatorConfig, ...]:
        """Give one operator a new configuration and id, if only this operator differs from ``configs``.

        Returns the configuration of that operator, or an empty tuple.
        """
        current = self.configs
        changed = [(a, b) for a, b in zip(current, configs, strict=False) if a != b]
        if len(current) != len(configs) or len(changed) != 1:
            return ()
        ((before, after),) = changed
        if before.operator_id == after.operator_id:
            return ()
        self._identify(self.get(before.operator_id), after)
        return (after,)

    def _identify(self, operator: LiveOperator, config: OperatorConfig) -> None:
        self._service.remove_operator(operator.player.config.operator_id, stop=False)
        self._service.add_operator(config, operator.player)
        operator.go_by(config)

    # -- adding and removing operators -----------------------------------------------

    def remove_others(self, ids: Sequence[str]) -> None:
        """Remove the operators whose ids are missing in ``ids``, or all if the rest would change order."""
        current = [config.operator_id for config in self.configs]
        places = [ids.index(operator_id) for operator_id in current if operator_id in ids]
        stay = ids if places == sorted(places) else ()
        gone = [operator for operator in self._operators if operator.player.config.operator_id not in stay]
        # If a single operator is removed, it keeps its processes for a while, so that undo can continue it.
        hold = len(gone) == 1 and len(ids) == len(current) - 1
        for operator in gone:
            self._remove(operator, hold=hold)

    def _remove(self, operator: LiveOperator, *, hold: bool) -> None:
        self.forget_removed()
        self._operators.remove(operator)
        operator.player.pause()
        operator.player.drive(False)
        self._service.remove_operator(operator.player.config.operator_id, stop=False)
        self._removed(operator)
        self._removed_last = operator
        if hold:
            self._hold_timer.start()
        else:
            self.forget_removed()

    def forget_removed(self) -> None:
        """End the processes of the operator that was removed last; undo can then only restart it."""
        self._hold_timer.stop()
        held, self._removed_last = self._removed_last, None
        if held is not None:
            self._run.abort_operator(held)
            self._forgotten(held)
            if not self._operators:
                self._run.end(())

    def put(self, config: OperatorConfig, place: int) -> bool:
        """Add or change an operator to match a configuration.

        Returns:
            Whether the operator is new or its configuration differs in more than the name; false if undo
            continues a removed operator.
        """
        operator = self.find(config.operator_id)
        if operator is None:
            return self._insert(config, place)
        if operator.player.config == config:
            return False
        renamed = operator.player.config == replace(config, display_name=operator.player.config.display_name)
        operator.player.configure(config)
        if renamed:
            self._run.describe(config)
        return not renamed

    def _insert(self, config: OperatorConfig, place: int) -> bool:
        """Insert an operator at an index; the operator that was removed last continues where it stopped."""
        operator = self._removed_last
        back = operator is not None and operator.player.config == config
        if operator is not None and back and operator.player.recording is self._run.recording:
            self._removed_last = None
            self._hold_timer.stop()
            self._service.add_operator(config, operator.player)
        else:
            back = False
            self.forget_removed()
            operator = self._make(config)
            self._service.add_operator(config)
        self._operators.insert(place, operator)
        self._added(operator, place)
        return not back
