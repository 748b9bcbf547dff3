"""Chess in the words that chess players and their programs use."""

from __future__ import annotations

from gym_gui.core.live import Board
from gym_gui.envs.describers.boards import BoardDescriber


class ChessDescriber(BoardDescriber):
    """FEN, board, check and the legal moves in standard algebraic notation, of a ``chess.Board``."""

    def notation(self, board: Board) -> list[str]:
        import chess

        game: chess.Board = self.environment.env.board
        # The environment keeps the board turned for black: FEN and moves are those of the real one.
        lines = [f"FEN: {game.fen()}"]
        if game.is_check():
            lines.append("You are in check.")
        lines.append(f"Legal moves: {', '.join(sorted(game.san(move) for move in game.legal_moves))}")
        return lines
