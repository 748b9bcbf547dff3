"""Chess in the words that chess players and their programs use."""

from __future__ import annotations

from typing import Any

from gym_gui.core.types import AgentID
from gym_gui.core.view import Mode
from gym_gui.envs.describers.boards import BoardDescriber


class ChessDescriber(BoardDescriber):
    """FEN, board, check and the legal moves in standard algebraic notation, of a ``chess.Board``."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        import chess

        game: chess.Board = self.environment.env.board
        # The environment keeps the board turned for black: FEN and moves are those of the real one.
        lines = [super().text(agent, observation, mode), f"FEN: {game.fen()}"]
        if game.is_check():
            lines.append("You are in check.")
        lines.append(f"Legal moves: {', '.join(sorted(game.san(move) for move in game.legal_moves))}")
        return "\n".join(lines)
