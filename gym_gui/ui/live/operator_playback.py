"""How the operators of a deck play: in common steps or each at its pace, on and on or step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.controllers.live_play.episode_player import EpisodePlayer
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.live_operators import LiveOperators


class OperatorPlayback(QObject):
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
        self.catch_up = CatchUp(operators.players, self.changed.emit)

    @property
    def rate(self) -> float | None:
        """Most steps a second; ``None``: as many as come."""
        return self.beat.rate

    def set_pace(self, rate: float | None, *, lock_step: bool) -> None:
        """Set how fast the operators play.

        Args:
            rate: Most steps a second; ``None``: no limit.
            lock_step: No operator takes a step before all operators have taken the previous one.
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
        self.catch_up.end()
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
        self.catch_up.begin()

    def pause(self) -> None:
        """Hold all before the next step."""
        self.stop()
        for player in self._operators.players():
            player.pause()
        self.changed.emit()

    def stop(self) -> None:
        """Have no more steps taken; sessions that run by themselves go on until they are held or ended."""
        self.catch_up.end()
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
        if self.running or self.catch_up.target:
            self.pause()
        self._prepare()

    def look(self) -> None:
        """An operator stands elsewhere: go on where that was waited for."""
        self.beat.nudge()
        self.catch_up.look()


# -- common steps --------------------------------------------------------------------------


class LockStep(QObject):
    """Beats at a rate, as long as everybody keeps up.

    Args:
        players: Who steps, as they are at that moment.
        parent: Qt owner.

    Attributes:
        rate: Most steps a second; ``None``: as many as come.
    """

    exhausted = pyqtSignal()
    """No operator can take another step by itself."""

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
        """Beat from now on; where it does already, the next beat is due at once."""
        self._on = True
        self._due = time.monotonic()
        self.nudge()

    def stop(self) -> None:
        """No step more."""
        self._on = False
        self._beat.stop()

    def nudge(self) -> None:
        """Have the next step taken when it is due, if everybody has taken the last."""
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
    """Lets players that are behind go on until all have finished as many episodes, of the same seeds.

    Args:
        players: Returns all players of the deck at that moment.
        on_changed: Called when it begins, advances and ends.

    Attributes:
        target: Episodes that each player is to finish; 0 while no evening is on.
        missing: How many episodes were missing when it began.
    """

    def __init__(
        self, players: Callable[[], Sequence[EpisodePlayer]], on_changed: Callable[[], None]
    ) -> None:
        self._players, self._on_changed = players, on_changed
        self._behind: list[EpisodePlayer] = []
        self.target = self.missing = 0

    def lacking(self) -> int:
        """Episodes that some have finished and others have not, summed up; 0: all stand alike."""
        counts = [player.feed.played for player in self._players()]
        return sum(max(counts) - count for count in counts) if counts else 0

    @property
    def left(self) -> int:
        """Episodes that are still missing, while it is on."""
        return sum(max(self.target - player.feed.played, 0) for player in self._behind)

    def begin(self) -> None:
        """Play what is missing, each at its own pace; the others wait."""
        players, self.missing = self._players(), self.lacking()
        if not self.missing:
            return
        self.target = max(player.feed.played for player in players)
        self._behind = [player for player in players if player.feed.played < self.target]
        for player in self._behind:
            player.play_until(self.target)
        self._on_changed()

    def look(self) -> None:
        """Call this when a player has moved on or has stopped; ends the evening once no player plays."""
        if self.target and not any(self._plays(player) for player in self._behind):
            self.end()
        elif self.target:
            self._on_changed()

    def _plays(self, player: EpisodePlayer) -> bool:
        return not (player.done or player.trouble or player.budget_message) and player.is_running()

    def end(self) -> None:
        """Hold everybody where they are; when asked, they play on without end."""
        if not self.target:
            return
        behind, self._behind, self.target = self._behind, [], 0
        for player in behind:
            player.pause()
            player.play_until(None)
        self._on_changed()
