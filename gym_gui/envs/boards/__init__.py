"""Readers that convert the position of a board game environment to a board that can be drawn."""

from __future__ import annotations

from gym_gui.envs.boards.board_helpers import OFF_BOARD

__all__ = ["OFF_BOARD"]
