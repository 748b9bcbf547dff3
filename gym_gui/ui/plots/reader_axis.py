"""Plot axis with numbers in the window's format; import it only after pyqtgraph has loaded."""

from __future__ import annotations

from pyqtgraph import AxisItem

from gym_gui.ui.numbers import screen


class ReaderAxis(AxisItem):
    """Axis whose numbers have the reader's decimal separator and a minus sign."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """Return the text beside each tick."""
        return [screen().write(text) for text in super().tickStrings(values, scale, spacing)]
