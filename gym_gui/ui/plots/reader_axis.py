"""An axis whose numbers are written as others in the window are; imported once pyqtgraph is there."""

from __future__ import annotations

from pyqtgraph import AxisItem

from gym_gui.ui.numbers import screen


class ReaderAxis(AxisItem):
    """Its numbers have the reader's point and a minus sign."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """What stands beside each tick."""
        return [screen().write(text) for text in super().tickStrings(values, scale, spacing)]
