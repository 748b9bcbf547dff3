"""The inspector of the Play page: players, clock, score sheet, keys, pace and description."""

from __future__ import annotations

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.controllers.setup.play_setup import Clock
from gym_gui.ui.environments.documentation import AboutSummary
from gym_gui.ui.input.keyboards_panel import Find, KeyboardsPanel
from gym_gui.ui.input.keys_panel import KeysPanel
from gym_gui.ui.play.score_sheet import ScoreSheet
from gym_gui.ui.play.time_rows import TimeRows
from gym_gui.ui.play.who_plays import PlayerList
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.widgets import FormRows, Inspector, SegmentedControl
from gym_gui.ui.widgets.number_fields import NumberField


class SidePanel:
    """Fills the inspector of the Play page, and holds its widgets.

    Args:
        inspector: The page's right column.
        find_keyboards: Finds the keyboards that are connected.
        environment: Widget for the environment's arguments.
    """

    def __init__(self, inspector: Inspector, find_keyboards: Find, environment: QWidget) -> None:
        self._inspector = inspector
        inspector.add_section("Players")
        self.who = PlayerList()
        inspector.add(self.who)
        self.time = TimeRows()
        inspector.add(self.time)
        self.sheet = ScoreSheet(inspector.add_section("Game"))
        inspector.add(self.sheet)
        self.keyboards = KeyboardsPanel(find_keyboards)
        inspector.add(self.keyboards)
        inspector.add_section("Keys")
        self.keys = KeysPanel()
        inspector.add(self.keys)
        inspector.add_section("Pace")
        self.clock = ClockRows()
        inspector.add(self.clock)
        inspector.add_section("About")
        inspector.add(environment)
        self.about = AboutSummary()
        inspector.add(self.about)
        self.set_keyboards_shown(False)

    def set_keyboards_shown(self, shown: bool) -> None:
        """Show the choice of keyboards, which several people need, or hide it."""
        self.keyboards.setVisible(shown)

    def set_shown(self, shown: bool, *, filled: bool = True) -> None:
        """Show the inspector, or hide it before an environment is chosen.

        Args:
            shown: Whether the column is visible.
            filled: Whether its contents are visible. Without contents, the column keeps its width, so
                that the picture beside it stays in its place.
        """
        self._inspector.content.setVisible(filled)
        self._inspector.setVisible(shown)


# -- pace ----------------------------------------------------------------------------------


_SETTLE_MS = 400


class ClockRows(QWidget):
    """Rows that edit the clock: ``Time [Waits for you | Runs]`` and ``Speed [10 steps/s]``.

    Args:
        parent: Qt parent.
    """

    chosen = pyqtSignal(object)
    """Emits the edited :class:`~gym_gui.controllers.setup.play_setup.Clock`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("clock-rows")
        rows = FormRows(parent=self)
        self._mode = SegmentedControl([("waits", "Waits for you"), ("runs", "Runs")], name="time")
        self._mode.setToolTip(
            "Waits for you: time stops until you move. "
            "Runs: without a key in time, a fallback action is played and recorded"
        )
        self._rate = NumberField()
        self._rate.setObjectName("play-rate")
        self._rate.setRange(0.5, 60.0)
        self._rate.setDecimals(1)
        self._rate.setSingleStep(1.0)
        self._rate.setSuffix(" steps/s")
        rows.add_row("Time", self._mode)
        rows.add_row(
            "Speed",
            self._rate,
            tooltip="Environment steps per second; if time waits, rate of the moves of policies",
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(rows)
        # Wait until typing stops, because every change sets a new deadline for people.
        self._settle = single_shot_timer(self, _SETTLE_MS, self._on_settled)
        self._mode.chosen.connect(self._on_mode_chosen)
        self._rate.valueChanged.connect(self._on_rate_changed)

    @property
    def clock(self) -> Clock:
        """Clock with the values of the rows."""
        return Clock(self._mode.value == "runs", self._rate.value())

    def set_clock(self, clock: Clock) -> None:
        """Show a clock without emitting a signal."""
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
