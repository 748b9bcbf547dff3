"""Whether time waits for people, and how fast it runs."""

from __future__ import annotations

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.controllers.setup.play_setup import Clock
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.widgets import FormRows, SegmentedControl
from gym_gui.ui.widgets.number_fields import NumberField

_SETTLE_MS = 400


class ClockRows(QWidget):
    """``Time [Waits | Runs]`` and ``Speed [10 steps/s]``.

    Args:
        parent: Qt parent.
    """

    chosen = pyqtSignal(object)
    """A :class:`~gym_gui.controllers.setup.play_setup.Clock`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("clock-rows")
        rows = FormRows(parent=self)
        self._mode = SegmentedControl([("waits", "Waits for you"), ("runs", "Runs")], name="time")
        self._mode.setToolTip(
            "Waits for you: every move is yours to take your time over. "
            "Runs: who presses no key in time does nothing, and that is recorded"
        )
        self._rate = NumberField()
        self._rate.setObjectName("play-rate")
        self._rate.setRange(0.5, 60.0)
        self._rate.setDecimals(1)
        self._rate.setSingleStep(1.0)
        self._rate.setSuffix(" steps/s")
        rows.add_row("Time", self._mode)
        rows.add_row(
            "Speed", self._rate, tooltip="Environment steps a second; of the others' moves where time waits"
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(rows)
        # People get a new deadline with every change: not one for every digit that is typed.
        self._settle = single_shot_timer(self, _SETTLE_MS, self._on_settled)
        self._mode.chosen.connect(self._on_mode_chosen)
        self._rate.valueChanged.connect(self._on_rate_changed)

    @property
    def clock(self) -> Clock:
        """As it is shown."""
        return Clock(self._mode.value == "runs", self._rate.value())

    def set_clock(self, clock: Clock) -> None:
        """Show a clock, without a signal."""
        self._settle.stop()
        self._mode.set_value("runs" if clock.realtime else "waits")
        blocked = self._rate.blockSignals(True)
        self._rate.setValue(clock.rate)
        self._rate.blockSignals(blocked)

    def _on_mode_chosen(self, _value: str) -> None:
        self._on_settled()

    def _on_rate_changed(self, _value: float) -> None:
        self._settle.start()

    def _on_settled(self) -> None:
        self._settle.stop()
        self.chosen.emit(self.clock)
