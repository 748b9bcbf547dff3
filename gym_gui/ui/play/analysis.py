"""Evaluates positions of a finished chess game with Stockfish when the user requests it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from gym_gui.core.errors import MosaicError
from gym_gui.ui.numbers import in_sentences
from gym_gui.ui.play.score_sheet import ScoreSheet
from gym_gui.ui.play.stage_card import StageCard

if TYPE_CHECKING:
    from gym_gui.core.live import Board
    from gym_gui.services.chess_evaluation import ChessEngine
    from gym_gui.ui.context import AppContext

_TIP = "Let Stockfish evaluate each position for White"
_LATER = "Available after the game: Stockfish must not help a player during the game"
_NONE = "Stockfish is not installed. Run: apt-get install stockfish"


class Analysis(QObject):
    """Shows Stockfish's evaluation beside the board on request, but never during a game.

    The engine therefore helps no player, so no record has to note its help.

    Args:
        context: Runs background tasks and shows messages.
        card: Card that shows the board.
        sheet: Score sheet with the **Evaluate** button.
        parent: Qt parent.
    """

    def __init__(
        self, context: AppContext, card: StageCard, sheet: ScoreSheet, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._context, self._bar, self._button = context, card.stage.evaluation, sheet.evaluate
        self._engine: ChessEngine | None = None
        self._task: asyncio.Task[None] | None = None
        self._fen = ""
        self._wanted = False
        self._board: Board | None = None
        sheet.evaluate_wanted.connect(self.toggle)

    def show(self, board: Board | None, *, over: bool) -> None:
        """Set the position to evaluate, and update the button and the evaluation bar.

        Args:
          board: The shown position; ``None`` for a game without a board.
          over: Whether the game is over.
        """
        chess = board is not None and board.kind == "chess"
        self._button.setVisible(chess)
        self._board = board if chess and over else None
        available = self._board is not None and self._has_engine()
        self._button.setEnabled(available)
        self._button.setToolTip(_TIP if available else _NONE if over else _LATER)
        if self._board is None:
            self._wanted = False
        self._refresh()

    def toggle(self) -> None:
        """Show the evaluation bar, or hide it."""
        self._wanted = not self._wanted and self._board is not None
        self._refresh()

    async def closed(self) -> None:
        """Cancel the evaluation and close the engine's process."""
        self._stop()
        if self._engine is not None:
            await self._engine.close()

    @staticmethod
    def _has_engine() -> bool:
        from gym_gui.services.chess_evaluation import find_stockfish

        return bool(find_stockfish())

    def _refresh(self) -> None:
        if not self._wanted or self._board is None:
            self._stop()
            self._fen = ""
            self._bar.hide()
            return
        if self._board.fen != self._fen:
            self._stop()
            self._fen = self._board.fen
            self._bar.show_evaluation(0.5, "")
            self._task = self._context.spawn(self._evaluate(self._fen), "Asking Stockfish")

    def _stop(self) -> None:
        task, self._task = self._task, None
        if task is not None and not task.done():
            task.cancel()

    async def _evaluate(self, fen: str) -> None:
        from gym_gui.services.chess_evaluation import ChessEngine

        self._engine = self._engine or ChessEngine()
        try:
            found = await self._engine.evaluate(fen)
        except MosaicError as error:
            self._wanted = False
            self._bar.hide()
            self._context.notify(error.sentence, "error")
            return
        if fen == self._fen and self._wanted:
            with in_sentences():
                self._bar.show_evaluation(found.share, found.words)
