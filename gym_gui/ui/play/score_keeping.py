"""Keeps the score sheet of a game up to date, and takes moves back."""

from __future__ import annotations

import time

from PyQt6.QtCore import QObject, QTimer

from gym_gui.core.live import AgentView, Board, LiveView
from gym_gui.ui.play.analysis import Analysis
from gym_gui.ui.play.game import PlayGame
from gym_gui.ui.play.game_controller import GameController
from gym_gui.ui.play.score_sheet import ScoreSheet, SideClock
from gym_gui.ui.play.seating import Seating
from gym_gui.ui.play.stage_card import StageCard
from gym_gui.ui.renderers import seat_words

_TICK_MS = 250
_LOW_TICK_MS = 100
_LOW_SHARE = 8
_LOW_S = (10.0, 60.0)
"""Share of a side's initial time, with bounds in seconds, below which its time counts as low (as on lichess).
"""


class Scoring(QObject):
    """Shows moves and clocks of the game on the score sheet, and carries out the sheet's commands.

    Args:
        game: The game.
        controller: Restarts the game from an earlier position.
        seating: Provides the names of the players.
        card: Card that shows the board.
        sheet: The score sheet.
        analysis: Evaluates positions of finished games.
        parent: Qt parent.

    Attributes:
        back_to: Number of moves that remain after a take-back; ``None`` if no move can be taken back.
    """

    def __init__(
        self,
        game: PlayGame,
        controller: GameController,
        seating: Seating,
        card: StageCard,
        sheet: ScoreSheet,
        analysis: Analysis,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._game, self._controller, self._seating = game, controller, seating
        self._card, self._sheet, self._analysis = card, sheet, analysis
        self._view: LiveView | None = None
        self._step_began = self._received_at = 0.0
        self._low: tuple[str, ...] = ()
        self._boards: dict[int, Board] = {}
        self._flipped = False
        self._bottom_side = ""
        self.back_to: int | None = None
        self._ticks = QTimer(self)
        self._ticks.setInterval(_TICK_MS)
        self._ticks.timeout.connect(self._show_clocks)
        game.viewed.connect(self._on_viewed)
        game.changed.connect(self._on_changed)
        seating.shown.connect(self._show)
        sheet.move_chosen.connect(self.show_earlier)
        sheet.flip_wanted.connect(self.flip)
        sheet.back_wanted.connect(self.take_back)

    # -- user actions ----------------------------------------------------------------

    def flip(self) -> None:
        """Turn the board to show it from the other side."""
        self._flipped = not self._flipped
        self._show_side()

    def take_back(self) -> None:
        """Take back the last move of a person at this window, or the last move if only policies play."""
        if self.back_to is not None:
            self._controller.take_back(self.back_to)

    def show_earlier(self, moves: int) -> None:
        """Show the position after ``moves`` moves, until the next move is played."""
        view = self._view
        if view is None:
            return
        past = self._boards.get(moves) if moves < view.step else None
        self._card.stage.show_earlier(past)
        self._analysis.show(past or view.board, over=self._game.is_over)
        self._sheet.moves.mark(moves if past is not None else len(view.moves))

    # -- events ----------------------------------------------------------------------

    def _on_viewed(self, view: LiveView) -> None:
        last = self._view
        if last is None or (last.episode, last.seed) != (view.episode, view.seed) or last.step > view.step:
            self._boards.clear()
        if last is None or (last.episode, last.step) != (view.episode, view.step):
            self._step_began = time.monotonic()
        self._view, self._received_at = view, time.monotonic()
        if view.board is not None:
            self._boards[view.step] = view.board
            self._show_side()
        self._show()

    def _on_changed(self) -> None:
        if self._game.operator is None or self._game.operator.player.last_view is None:
            self._view = None
        self._show()

    def _show(self) -> None:
        view = self._view
        players = {slot: seat.player for slot, seat in self._seating.seats().items()}
        self._sheet.show_view(view, players)
        self.back_to = self._last_own_move(view) if view is not None else None
        self._sheet.back.setEnabled(self.back_to is not None)
        self._analysis.show(view.board if view is not None else None, over=self._game.is_over)
        runs = view is not None and bool(view.turn) and not self._game.paused and not self._game.is_over
        if runs:
            self._ticks.start()
        else:
            self._ticks.stop()
        self._show_clocks()

    def _show_side(self) -> None:
        """Turn the board so that the side of a single person is at the bottom."""
        view = self._view
        near = view.board.near if view is not None and view.board is not None else ""
        own_agents = [a.agent for a in view.agents if a.slot in self._game.people] if view is not None else []
        wanted = own_agents[0] if near and len(own_agents) == 1 else near
        if wanted != self._bottom_side:
            self._bottom_side, self._flipped = wanted, False
        self._card.stage.board.set_turned((wanted != near) != self._flipped)

    def _show_clocks(self) -> None:
        view = self._view
        if view is None:
            return
        now, counts = time.monotonic(), self._ticks.isActive()
        clocks = [self._clock_of(agent, view, now, counts) for agent in self._sheet.order(view)]
        self._sheet.show_clocks(clocks)
        low = [agent for agent, clock in zip(self._sheet.order(view), clocks, strict=True) if clock.low]
        self._ticks.setInterval(_LOW_TICK_MS if low else _TICK_MS)
        self._announce_low(low)

    def _clock_of(self, agent: AgentView, view: LiveView, now: float, counts: bool) -> SideClock:
        """Return a side's clock: the session's value plus the time since the last view."""
        if agent.left_ms is None:
            thinking = now - self._step_began if counts and agent.agent in view.turn else 0.0
            return SideClock(agent.used_ms / 1000 + thinking, runs=thinking > 0)
        runs = agent.clock_runs and counts
        left = max(agent.left_ms / 1000 - (now - self._received_at if runs else 0.0), 0.0)
        playing = self._game.playing_on
        least, most = _LOW_S
        low = playing is not None and left < min(most, max(least, playing.seconds / _LOW_SHARE))
        return SideClock(left, counts_down=True, runs=runs, low=low)

    def _announce_low(self, low: list[AgentView]) -> None:
        """Announce to screen readers which sides have little time, once per change."""
        sides = tuple(seat_words(agent) for agent in low)
        if sides != self._low:
            self._low = sides
            self._card.announce(". ".join(f"{side} has little time left" for side in sides))

    def _last_own_move(self, view: LiveView) -> int | None:
        own_agents = {agent.agent for agent in view.agents if agent.slot in self._game.people}
        own = [i for i, move in enumerate(view.moves) if move.agent in own_agents or not own_agents]
        return own[-1] if own else None
