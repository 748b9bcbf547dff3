"""Keeps the score sheet of a game: its clocks, its moves, the way back to an earlier position."""

from __future__ import annotations

import time

from PyQt6.QtCore import QObject, QTimer

from gym_gui.core.live import Board, LiveView
from gym_gui.ui.play.analysis import Analysis
from gym_gui.ui.play.course import Course
from gym_gui.ui.play.game import PlayGame
from gym_gui.ui.play.score_sheet import ScoreSheet
from gym_gui.ui.play.seating import Seating
from gym_gui.ui.play.stage_card import StageCard

_TICK_MS = 250


class Scoring(QObject):
    """Shows on a sheet what is played, and does what is asked for there.

    Args:
        game: What is played.
        course: Takes moves back.
        seating: Says who plays.
        card: Shows the board.
        sheet: The sheet.
        analysis: Looks at games that are over.
        parent: Qt parent.

    Attributes:
        back_to: Moves that would stand after one was taken back; ``None``: there is none to be taken back.
    """

    def __init__(
        self,
        game: PlayGame,
        course: Course,
        seating: Seating,
        card: StageCard,
        sheet: ScoreSheet,
        analysis: Analysis,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("scoring")
        self._game, self._course, self._seating = game, course, seating
        self._card, self._sheet, self._analysis = card, sheet, analysis
        self._view: LiveView | None = None
        self._since = 0.0
        self._boards: dict[int, Board] = {}
        self._by_hand = False
        self._near = ""
        self.back_to: int | None = None
        self._ticks = QTimer(self)
        self._ticks.setInterval(_TICK_MS)
        self._ticks.timeout.connect(self._show_clocks)
        game.viewed.connect(self._on_viewed)
        game.changed.connect(self._on_changed)
        seating.shown.connect(self._show)
        sheet.move_chosen.connect(self.look_back)
        sheet.flip_wanted.connect(self.flip)
        sheet.back_wanted.connect(self.take_back)

    # -- what people do --------------------------------------------------------------

    def flip(self) -> None:
        """Show the board from the other side."""
        self._by_hand = not self._by_hand
        self._show_side()

    def take_back(self) -> None:
        """Go on from where a person here moved last; where none plays, from before the last move."""
        if self.back_to is not None:
            self._course.take_back(self.back_to)

    def look_back(self, moves: int) -> None:
        """Show the position after so many moves, as long as nobody moves; the last one is the game itself."""
        view = self._view
        if view is None:
            return
        past = self._boards.get(moves) if moves < view.step else None
        self._card.stage.look_back(past)
        self._analysis.show(past or view.board, over=self._game.is_over)
        self._sheet.moves.mark(moves if past is not None else len(view.moves))

    # -- what happens ----------------------------------------------------------------

    def _on_viewed(self, view: LiveView) -> None:
        last = self._view
        if last is None or (last.episode, last.seed) != (view.episode, view.seed) or last.step > view.step:
            self._boards.clear()
        if last is None or (last.episode, last.step) != (view.episode, view.step):
            self._since = time.monotonic()
        self._view = view
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
        self.back_to = self._last_own(view) if view is not None else None
        self._sheet.back.setEnabled(self.back_to is not None)
        self._analysis.show(view.board if view is not None else None, over=self._game.is_over)
        runs = view is not None and bool(view.turn) and not self._game.paused and not self._game.is_over
        if runs:
            self._ticks.start()
        else:
            self._ticks.stop()
        self._show_clocks()

    def _show_side(self) -> None:
        """A single person has the own side below; whoever flips the board has it so until seats change."""
        view = self._view
        near = view.board.near if view is not None and view.board is not None else ""
        mine = [a.agent for a in view.agents if a.slot in self._game.people] if view is not None else []
        wanted = mine[0] if near and len(mine) == 1 else near
        if wanted != self._near:
            self._near, self._by_hand = wanted, False
        self._card.stage.board.set_turned((wanted != near) != self._by_hand)

    def _show_clocks(self) -> None:
        view = self._view
        if view is None:
            return
        thinking = time.monotonic() - self._since if self._ticks.isActive() else 0.0
        self._sheet.show_clocks(
            [
                agent.used_ms / 1000 + (thinking if agent.agent in view.turn else 0.0)
                for agent in self._sheet.order(view)
            ]
        )

    def _last_own(self, view: LiveView) -> int | None:
        mine = {agent.agent for agent in view.agents if agent.slot in self._game.people}
        own = [i for i, move in enumerate(view.moves) if move.agent in mine or not mine]
        return own[-1] if own else None
