"""Readers that convert the state of a board game environment to a board for drawing and clicking."""

from __future__ import annotations

from gym_gui.envs.boards.board_helpers import OFF_BOARD

__all__ = ["OFF_BOARD"]
