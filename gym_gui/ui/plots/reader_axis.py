"""Axis of pyqtgraph plots with numbers in the user's locale; importable only after pyqtgraph has loaded."""

from __future__ import annotations

from pyqtgraph import AxisItem

from gym_gui.ui.numbers import screen


class ReaderAxis(AxisItem):
    """Plot axis whose numbers have the locale's decimal separator and a true minus sign."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """Return the text of each tick in the user's locale."""
        return [screen().write(text) for text in super().tickStrings(values, scale, spacing)]
