"""Runs operators side by side: in common steps or each at its own pace, continuously or step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.controllers.live_play.episode_player import EpisodePlayer
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.live_operators import LiveOperators


class OperatorPlayback(QObject):
    """Runs, steps and pauses the operators side by side.

    Args:
        operators: The operators.
        prepare: Starts sessions for the operators that have none.
        parent: Qt owner.

    Attributes:
        running: Whether the operators play continuously.
        lock_step: Whether all operators finish a step before any begins the next.
        beat: Requests the common steps.
        catch_up: Plays the missing episodes of operators that have finished fewer; any other command ends
            this.
    """

    changed = pyqtSignal()

    def __init__(self, operators: LiveOperators, prepare: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._operators, self._prepare = operators, prepare
        self.running, self.lock_step = False, True
        self.beat = LockStep(operators.players, self)
        self.beat.rate = 15.0
        self.beat.exhausted.connect(self.pause)
        self.catch_up = CatchUp(operators.players, self.changed.emit)

    @property
    def rate(self) -> float | None:
        """Largest number of steps per second; ``None`` for no limit."""
        return self.beat.rate

    def set_pace(self, rate: float | None, *, lock_step: bool) -> None:
        """Set how fast the operators play.

        Args:
            rate: Largest number of steps per second; ``None`` for no limit.
            lock_step: Whether all operators finish a step before any begins the next.
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
        """Play continuously; start sessions for the operators that have none."""
        if not self._operators:
            return
        self.catch_up.end()
        self.running = True
        self._prepare()
        for operator in self._operators:
            self.set_off(operator)
        if self.lock_step:
            self.beat.start()
        self.changed.emit()

    def set_off(self, operator: LiveOperator) -> None:
        """Let a started operator play at the common rate or in common steps."""
        operator.player.set_rate(None if self.lock_step else self.rate)
        operator.player.drive(self.lock_step)
        if not self.lock_step:
            operator.player.resume()

    def even_out(self) -> None:
        """Play the missing episodes of operators that have finished fewer than others."""
        self.pause()
        self._prepare()
        self.catch_up.begin()

    def pause(self) -> None:
        """Pause all operators before their next step."""
        self.stop()
        for player in self._operators.players():
            player.pause()
        self.changed.emit()

    def stop(self) -> None:
        """Request no more steps; sessions that run without requests continue until they are paused or
        ended."""
        self.catch_up.end()
        self.running = False
        self.beat.stop()
        for player in self._operators.players():
            player.drive(False)

    def step_all(self) -> None:
        """Let every operator take one step; do nothing while some operator still takes a step."""
        self._pause_and_prepare()
        players = self._operators.players()
        if not any(player.stepping for player in players):
            for player in players:
                player.step()
        self.changed.emit()

    def step_player(self, operator_id: str) -> None:
        """Let one agent of one operator act; the other operators wait."""
        self._pause_and_prepare()
        self._operators.get(operator_id).player.step(by_agent=True)
        self.changed.emit()

    def _pause_and_prepare(self) -> None:
        if self.running or self.catch_up.target:
            self.pause()
        self._prepare()

    def continue_playback(self) -> None:
        """Continue common steps and catching up after an operator's state has changed."""
        self.beat.nudge()
        self.catch_up.update()


# -- common steps --------------------------------------------------------------------------


class LockStep(QObject):
    """Requests a common step of all players at a rate, after all have finished the previous step.

    Args:
        players: Returns the current players.
        parent: Qt owner.

    Attributes:
        rate: Largest number of steps per second; ``None`` for no limit.
    """

    exhausted = pyqtSignal()
    """Emitted when no player can take another step."""

    def __init__(self, players: Callable[[], Sequence[EpisodePlayer]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._players = players
        self.rate: float | None = None
        self._is_on = False
        self._due = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_beat)

    def start(self) -> None:
        """Begin to request steps; the first step is due at once."""
        self._is_on = True
        self._due = time.monotonic()
        self.nudge()

    def stop(self) -> None:
        """Request no more steps."""
        self._is_on = False
        self._timer.stop()

    def nudge(self) -> None:
        """Request the next step when it is due, if all players have finished the previous one."""
        if self._is_on and not self._timer.isActive() and not self._is_step_pending():
            wait = self._due - time.monotonic()
            self._timer.start(max(0, round(wait * 1000)))

    def _is_step_pending(self) -> bool:
        return any(player.stepping or player.busy for player in self._players())

    def _on_beat(self) -> None:
        if not self._is_on or self._is_step_pending():
            return
        now = time.monotonic()
        self._due = max(self._due + (1.0 / self.rate if self.rate else 0.0), now)
        players = self._players()
        for player in players:
            player.step()
        if not any(p.stepping or (p.is_running() and not p.done and not p.budget_message) for p in players):
            self.exhausted.emit()


# -- equal episode counts ------------------------------------------------------------------


class CatchUp:
    """Lets players with fewer finished episodes play on, until all have finished the same seeds.

    Args:
        players: Returns the current players of all operators.
        on_changed: Called when catching up begins, advances and ends.

    Attributes:
        target: Number of episodes that each player has to finish; 0 while no player is catching up.
        missing: Number of missing episodes when catching up began.
    """

    def __init__(
        self, players: Callable[[], Sequence[EpisodePlayer]], on_changed: Callable[[], None]
    ) -> None:
        self._players, self._on_changed = players, on_changed
        self._behind: list[EpisodePlayer] = []
        self.target = self.missing = 0

    def lacking(self) -> int:
        """Return how many episodes all players together lack, compared with the player that has finished
        most.
        """
        counts = [player.feed.played for player in self._players()]
        return sum(max(counts) - count for count in counts) if counts else 0

    @property
    def left(self) -> int:
        """Number of episodes that are still missing while players catch up."""
        return sum(max(self.target - player.feed.played, 0) for player in self._behind)

    def begin(self) -> None:
        """Let players with fewer finished episodes play the missing ones at their own pace; the others
        wait."""
        players, self.missing = self._players(), self.lacking()
        if not self.missing:
            return
        self.target = max(player.feed.played for player in players)
        self._behind = [player for player in players if player.feed.played < self.target]
        for player in self._behind:
            player.play_until(self.target)
        self._on_changed()

    def update(self) -> None:
        """End catching up if all its players have finished or stopped; otherwise report the progress."""
        if self.target and not any(self._plays(player) for player in self._behind):
            self.end()
        elif self.target:
            self._on_changed()

    def _plays(self, player: EpisodePlayer) -> bool:
        return not (player.done or player.trouble or player.budget_message) and player.is_running()

    def end(self) -> None:
        """End catching up: pause its players and remove their limits of episodes."""
        if not self.target:
            return
        behind, self._behind, self.target = self._behind, [], 0
        for player in behind:
            player.pause()
            player.play_until(None)
        self._on_changed()
