"""What an episode looks like: pictures, boards, texts, and what the agents did."""

from __future__ import annotations

from gym_gui.ui.renderers.board_view import BoardView
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.renderers.text_view import TextView

__all__ = ["BoardView", "FrameView", "TextView"]
