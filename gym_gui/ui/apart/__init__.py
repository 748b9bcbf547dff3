"""Pictures and transcripts in windows of their own, on whatever screen."""

from __future__ import annotations

from gym_gui.ui.apart.berth import KEYS, Berth
from gym_gui.ui.apart.own_windows import OwnWindows

__all__ = ["KEYS", "Berth", "OwnWindows"]
