"""How the operators of a deck play: in common steps or each at its pace, on and on or step by step."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.ui.live.evening import Evening
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.live_operators import LiveOperators
from gym_gui.ui.live.lock_step import LockStep


class DeckPlay(QObject):
    """Has operators take steps, and holds them.

    Args:
        operators: Who plays.
        prepare: Starts those that have no session.
        parent: Qt owner.

    Attributes:
        running: Whether they play on by themselves.
        lock_step: Whether all take a step before any takes the next.
        beat: Takes the common steps.
        evening: Has those play on that have finished fewer episodes; ends with whatever else is asked for.
    """

    changed = pyqtSignal()

    def __init__(self, operators: LiveOperators, prepare: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._operators, self._prepare = operators, prepare
        self.running, self.lock_step = False, True
        self.beat = LockStep(operators.players, self)
        self.beat.rate = 15.0
        self.beat.exhausted.connect(self.pause)
        self.evening = Evening(operators.players, self.changed.emit)

    @property
    def rate(self) -> float | None:
        """Most steps a second; ``None``: as many as come."""
        return self.beat.rate

    def set_pace(self, rate: float | None, *, lock_step: bool) -> None:
        """How fast they play.

        Args:
            rate: Most steps a second; ``None``: as many as come.
            lock_step: Nobody takes a step before all have taken the one before.
        """
        again = self.running and lock_step != self.lock_step
        self.beat.rate, self.lock_step = rate, lock_step
        if again:
            self.pause()
            self.run()
        for player in self._operators.players():
            player.set_rate(None if lock_step else rate)
        self.changed.emit()

    def run(self) -> None:
        """Play on; operators that have no session are started."""
        if not self._operators:
            return
        self.evening.end()
        self.running = True
        self._prepare()
        for operator in self._operators:
            self.set_off(operator)
        if self.lock_step:
            self.beat.start()
        self.changed.emit()

    def set_off(self, operator: LiveOperator) -> None:
        """Have one that has begun play on as the others do."""
        operator.player.set_rate(None if self.lock_step else self.rate)
        operator.player.drive(self.lock_step)
        if not self.lock_step:
            operator.player.resume()

    def even_out(self) -> None:
        """Play the episodes that some have finished and others have not."""
        self.pause()
        self._prepare()
        self.evening.begin()

    def pause(self) -> None:
        """Hold all before the next step."""
        self.stop()
        for player in self._operators.players():
            player.pause()
        self.changed.emit()

    def stop(self) -> None:
        """Have no more steps taken; sessions that run by themselves go on until they are held or ended."""
        self.evening.end()
        self.running = False
        self.beat.stop()
        for player in self._operators.players():
            player.drive(False)

    def step_all(self) -> None:
        """One step of every operator; while some have not taken the last one, nothing happens."""
        self._hold()
        players = self._operators.players()
        if not any(player.stepping for player in players):
            for player in players:
                player.step()
        self.changed.emit()

    def step_player(self, operator_id: str) -> None:
        """One agent's move in one operator; the others wait."""
        self._hold()
        self._operators.get(operator_id).player.step(by_agent=True)
        self.changed.emit()

    def _hold(self) -> None:
        if self.running or self.evening.target:
            self.pause()
        self._prepare()

    def look(self) -> None:
        """An operator stands elsewhere: go on where that was waited for."""
        self.beat.nudge()
        self.evening.look()
