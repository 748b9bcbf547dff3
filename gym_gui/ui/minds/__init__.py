"""Views of what one agent observes and thinks."""

from __future__ import annotations

from gym_gui.ui.minds.mind import Mind
from gym_gui.ui.minds.mind_view import MindView

__all__ = ["Mind", "MindView"]
