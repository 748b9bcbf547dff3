"""Runs the operators of a deck: in common steps or each at its own pace, continuously or step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.controllers.live_play.episode_player import EpisodePlayer
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.live_operators import LiveOperators


class OperatorPlayback(QObject):
    """Runs, steps and pauses the operators of a deck.

    Args:
        operators: The operators.
        prepare: Starts the operators that have no session.
        parent: Qt owner.

    Attributes:
        running: Whether the operators play continuously.
        lock_step: Whether all operators take a step before any takes the next.
        beat: Requests the common steps.
        catch_up: Lets operators that have finished fewer episodes play on; any other command ends this.
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
            lock_step: Whether no operator takes a step before all have taken the previous one.
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
        """Play continuously; operators that have no session are started."""
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
        """Let a started operator play like the others: at their rate, or in common steps."""
        operator.player.set_rate(None if self.lock_step else self.rate)
        operator.player.drive(self.lock_step)
        if not self.lock_step:
            operator.player.resume()

    def even_out(self) -> None:
        """Play the episodes that some operators have finished and others have not."""
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
        """Request no more steps; sessions that run by themselves go on until they are paused or ended."""
        self.catch_up.end()
        self.running = False
        self.beat.stop()
        for player in self._operators.players():
            player.drive(False)

    def step_all(self) -> None:
        """Let every operator take one step; does nothing while some operator is still taking the last one."""
        self._hold()
        players = self._operators.players()
        if not any(player.stepping for player in players):
            for player in players:
                player.step()
        self.changed.emit()

    def step_player(self, operator_id: str) -> None:
        """Let one agent of one operator move; the other operators wait."""
        self._hold()
        self._operators.get(operator_id).player.step(by_agent=True)
        self.changed.emit()

    def _hold(self) -> None:
        if self.running or self.catch_up.target:
            self.pause()
        self._prepare()

    def look(self) -> None:
        """Continue common steps and catching up after an operator's state has changed."""
        self.beat.nudge()
        self.catch_up.look()


# -- common steps --------------------------------------------------------------------------


class LockStep(QObject):
    """Requests a common step of all players at a rate, but not before all have taken the last one.

    Args:
        players: Returns the players at that moment.
        parent: Qt owner.

    Attributes:
        rate: Largest number of steps per second; ``None`` for no limit.
    """

    exhausted = pyqtSignal()
    """Emitted when no player can take another step by itself."""

    def __init__(self, players: Callable[[], Sequence[EpisodePlayer]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._players = players
        self.rate: float | None = None
        self._on = False
        self._due = 0.0
        self._beat = QTimer(self)
        self._beat.setSingleShot(True)
        self._beat.timeout.connect(self._on_beat)

    def start(self) -> None:
        """Begin to request steps; if it has begun already, the next step is due at once."""
        self._on = True
        self._due = time.monotonic()
        self.nudge()

    def stop(self) -> None:
        """Request no more steps."""
        self._on = False
        self._beat.stop()

    def nudge(self) -> None:
        """Request the next step at its time, if all players have taken the last one."""
        if self._on and not self._beat.isActive() and not self._waited_for():
            wait = self._due - time.monotonic()
            self._beat.start(max(0, round(wait * 1000)))

    def _waited_for(self) -> bool:
        return any(player.stepping or player.busy for player in self._players())

    def _on_beat(self) -> None:
        if not self._on or self._waited_for():
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
    """Lets players that are behind play on until all have finished as many episodes, of the same seeds.

    Args:
        players: Returns all players of the deck at that moment.
        on_changed: Called when catching up begins, advances and ends.

    Attributes:
        target: Number of episodes that each player is to finish; 0 while no player is catching up.
        missing: Number of episodes that were missing at the beginning.
    """

    def __init__(
        self, players: Callable[[], Sequence[EpisodePlayer]], on_changed: Callable[[], None]
    ) -> None:
        self._players, self._on_changed = players, on_changed
        self._behind: list[EpisodePlayer] = []
        self.target = self.missing = 0

    def lacking(self) -> int:
        """Return the number of episodes that players lack, compared with the one that has finished most."""
        counts = [player.feed.played for player in self._players()]
        return sum(max(counts) - count for count in counts) if counts else 0

    @property
    def left(self) -> int:
        """Number of episodes that are still missing while players catch up."""
        return sum(max(self.target - player.feed.played, 0) for player in self._behind)

    def begin(self) -> None:
        """Let the players that are behind play the missing episodes at their own pace; the others wait."""
        players, self.missing = self._players(), self.lacking()
        if not self.missing:
            return
        self.target = max(player.feed.played for player in players)
        self._behind = [player for player in players if player.feed.played < self.target]
        for player in self._behind:
            player.play_until(self.target)
        self._on_changed()

    def look(self) -> None:
        """Check the progress after a player has moved on or stopped; end once no player is catching up."""
        if self.target and not any(self._plays(player) for player in self._behind):
            self.end()
        elif self.target:
            self._on_changed()

    def _plays(self, player: EpisodePlayer) -> bool:
        return not (player.done or player.trouble or player.budget_message) and player.is_running()

    def end(self) -> None:
        """End catching up: pause its players and remove their limit of episodes."""
        if not self.target:
            return
        behind, self._behind, self.target = self._behind, [], 0
        for player in behind:
            player.pause()
            player.play_until(None)
        self._on_changed()
