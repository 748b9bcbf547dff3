"""Widgets and text functions that show an episode: pictures, boards, texts and the agents' actions."""

from __future__ import annotations

from gym_gui.ui.renderers.agent_words import (
    SlotPlayer,
    facts_in_words,
    outcome_words,
    score_words,
    seat_words,
    slot_players,
)
from gym_gui.ui.renderers.board_view import BoardView
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.renderers.overlay import Overlay
from gym_gui.ui.renderers.stage_view import StageView
from gym_gui.ui.renderers.text_view import TextView

__all__ = [
    "BoardView",
    "FrameView",
    "Overlay",
    "SlotPlayer",
    "StageView",
    "TextView",
    "facts_in_words",
    "outcome_words",
    "score_words",
    "seat_words",
    "slot_players",
]
