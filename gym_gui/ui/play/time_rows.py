"""Rows for the time control of a game: none, a common one, or a custom one."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.core.experiment.execution import TimeControl
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.widgets import FormRows, muted_label
from gym_gui.ui.widgets.combo_box import SteadyComboBox
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.number_fields import IntegerField, NumberField

PRESETS: Final = (
    TimeControl(60),
    TimeControl(180, 2),
    TimeControl(300),
    TimeControl(600, 5),
    TimeControl(900, 10),
)
_KINDS: Final = ("Bullet", "Blitz", "Blitz", "Rapid", "Rapid")
_NONE = "none"
_CUSTOM = "own"
_SETTLE_MS: Final = 400
_MOST_MINUTES: Final = 600.0


class TimeRows(QWidget):
    """Row ``Clock [5+0 Blitz]``; a custom time control adds the rows ``Minutes`` and ``Increment``.

    Args:
        parent: Qt parent.
    """

    chosen = pyqtSignal(object)
    """Emits the chosen :class:`~gym_gui.core.experiment.execution.TimeControl`, or ``None`` for no limit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("time-rows")
        rows = FormRows(parent=self)
        self._choice = SteadyComboBox()
        self._choice.setObjectName("time-control")
        self._choice.addItem("None", _NONE)
        for control, kind in zip(PRESETS, _KINDS, strict=True):
            self._choice.addItem(f"{control.words} {kind}", control.words)
        self._choice.addItem("Other…", _CUSTOM)
        rows.add_row(
            "Clock",
            self._choice,
            tooltip="Minutes per side for the whole game, and seconds added with each move. "
            "A side without time left loses",
        )
        self._minutes = NumberField()
        self._minutes.setObjectName("time-minutes")
        self._minutes.setRange(0.1, _MOST_MINUTES)
        self._minutes.setDecimals(2)
        self._minutes.setValue(5)
        self._minutes.setSuffix(" min")
        self._increment = IntegerField()
        self._increment.setObjectName("time-increment")
        self._increment.setRange(0, 600)
        self._increment.setSuffix(" s")
        self._custom = FormRows(parent=self)
        self._custom.add_row("Minutes", self._minutes, tooltip="Minutes per side for the whole game")
        self._custom.add_row("Increment", self._increment, tooltip="Seconds that are added with each move")
        self._note = muted_label("Applies from the next game on", parent=self, name="time-note")
        layout = column_layout(self)
        for part in (rows, self._custom, self._note):
            layout.addWidget(part)
        self._settle = single_shot_timer(self, _SETTLE_MS, self._on_settled)
        self._choice.activated.connect(self._on_chosen)
        self._minutes.valueChanged.connect(self._on_typed)
        self._increment.valueChanged.connect(self._on_typed)
        self._custom.hide()
        self._note.hide()

    @property
    def value(self) -> TimeControl | None:
        """Time control that the rows show; ``None`` for no limit."""
        chosen = self._choice.currentData()
        if chosen == _CUSTOM:
            return TimeControl(60 * self._minutes.value(), self._increment.value())
        return next((control for control in PRESETS if control.words == chosen), None)

    def set_value(self, control: TimeControl | None) -> None:
        """Show a time control without emitting a signal."""
        self._settle.stop()
        known = control is None or control in PRESETS
        if control is not None and not known:
            for box, shown in ((self._minutes, control.seconds / 60), (self._increment, control.increment_s)):
                blocked = box.blockSignals(True)
                box.setValue(shown if box is self._minutes else int(shown))  # type: ignore[arg-type]
                box.blockSignals(blocked)
        place = _NONE if control is None else control.words if known else _CUSTOM
        self._choice.setCurrentIndex(self._choice.findData(place))
        self._custom.setVisible(place == _CUSTOM)

    def open(self) -> None:
        """Open the list of time controls and move the focus to it."""
        self._choice.setFocus()
        self._choice.showPopup()

    def set_waiting(self, waiting: bool) -> None:
        """Show or hide the note that the time control applies from the next game on."""
        self._note.setVisible(waiting)

    def _on_chosen(self, _index: int) -> None:
        self._custom.setVisible(self._choice.currentData() == _CUSTOM)
        self._on_settled()

    def _on_typed(self, _value: float) -> None:
        self._settle.start()

    def _on_settled(self) -> None:
        self._settle.stop()
        self.chosen.emit(self.value)
