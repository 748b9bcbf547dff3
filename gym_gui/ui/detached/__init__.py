"""Pictures and transcripts in their own windows, on any screen."""

from __future__ import annotations

from gym_gui.ui.detached.detached_windows import DetachedWindows
from gym_gui.ui.detached.dock_slot import KEYS, DockSlot

__all__ = ["KEYS", "DetachedWindows", "DockSlot"]
