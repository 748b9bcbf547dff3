"""Playback controls of a replay: start, back, play, forward, end, speed and a scrub bar."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QSlider, QWidget

from gym_gui.ui import theme
from gym_gui.ui.numbers import local
from gym_gui.ui.widgets import Card, ElidedLabel, IconButton, PrimaryButton, SegmentedControl, muted_label

SPEEDS: Final = ("2", "5", "10", "30", "60")
"""Playback speeds to choose from, in steps per second."""
USUAL: Final = "10"
FAR: Final = 10
"""Number of steps that Page Up and Page Down move."""
_USUAL_WORDS: Final = "Step 1,000 of 1,000"
"""Longest usual text of the position label, for which width is reserved."""
_PLACE_OF_STEP: Final = 6
"""Index of the position label in the row of controls, after the buttons and a gap."""


class Transport(Card):
    """Playback controls that move the position of a replay; a timer advances the position during play.

    The parent view forwards its key events to :meth:`on_key`.
    """

    moved = pyqtSignal(int)
    """Emits the new position."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("replay-transport")
        self._playing = self._complete = False
        self._roomy = True
        self._unit_word = "Step"
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_tick)
        self.scrub = ScrubBar(self)
        self.scrub.valueChanged.connect(self.moved)
        self._first = IconButton(
            "skip-back", "Go to the start (Home)", name="replay-first", on_click=self.to_first
        )
        self._back = IconButton(
            "caret-left", "Go one step back (Left)", name="replay-back", on_click=self.step_back
        )
        self.play = PrimaryButton(
            "Play", icon_name="run", tooltip="Play or pause (Space)", name="replay-play", on_click=self.toggle
        )
        self.play.setFixedWidth(92)
        self._on = IconButton(
            "caret-right", "Go one step forward (Right)", name="replay-on", on_click=self.step_on
        )
        self.last = IconButton(
            "skip-forward", "Go to the end (End)", name="replay-last", on_click=self.to_last
        )
        self._where = ElidedLabel("", "muted", name="replay-where")
        self.speed = SegmentedControl(SPEEDS, USUAL, name="replay-speed")
        self.speed.setToolTip("Set the playback speed in steps per second")
        self.speed.setAccessibleName("Steps per second")
        self.speed.chosen.connect(self._on_speed_chosen)
        row = self._controls = QHBoxLayout()
        row.setSpacing(theme.STEP)
        for widget in (self._first, self._back, self.play, self._on, self.last):
            row.addWidget(widget)
        row.addSpacing(theme.ROW)
        row.addWidget(self._where, 1)
        row.addStretch()  # takes the space if the step is shown elsewhere
        row.addWidget(self.speed)
        row.addSpacing(theme.STEP)
        self._unit = muted_label("steps/s", name="replay-unit")
        row.addWidget(self._unit)
        self.add(self.scrub)
        self.body.addLayout(row)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Move the position label to its own line in a narrow window, and hide the speed unit if
        necessary.
        """
        super().resizeEvent(a0)
        room = self.body.contentsRect().width() - self._buttons_width()
        roomy = room >= self._where.fontMetrics().horizontalAdvance(_USUAL_WORDS)
        self._unit.setVisible(room >= 0)
        if roomy != self._roomy:
            self._roomy = roomy
            if roomy:
                self._controls.insertWidget(_PLACE_OF_STEP, self._where, 1)
            else:
                self.body.insertWidget(1, self._where)

    def _buttons_width(self) -> int:
        """Return the width of the row of controls without the position label, in pixels."""
        widgets = (self._first, self._back, self.play, self._on, self.last, self.speed, self._unit)
        gaps = self._controls.count() * self._controls.spacing() + theme.ROW + theme.STEP
        return sum(max(each.sizeHint().width(), each.minimumWidth()) for each in widgets) + gaps

    @property
    def position(self) -> int:
        """Current position of the replay."""
        return self.scrub.value()

    @property
    def playing(self) -> bool:
        """Whether the replay is playing."""
        return self._playing

    def set_unit(self, unit: str) -> None:
        """Set the word for one position, such as "Step" or "Decision"."""
        self._unit_word = unit
        self._update_label()

    def set_extent(self, last: int, loaded: int, *, complete: bool) -> None:
        """Set the last position, the last loaded position, and whether the replay has ended."""
        self._complete = complete
        self.scrub.set_extent(last, loaded)
        self._update_label()

    def go(self, position: int) -> None:
        """Go to a position, or to the nearest loaded one."""
        self.scrub.setValue(min(max(position, 0), self.scrub.loaded))
        self._update_label()

    def to_first(self) -> None:
        """Go to position 0, the state after reset."""
        self.go(0)

    def to_last(self) -> None:
        """Go to the last loaded position."""
        self.go(self.scrub.loaded)

    def step_back(self) -> None:
        """Pause the replay and go one step back."""
        self.set_playing(False)
        self.go(self.position - 1)

    def step_on(self) -> None:
        """Pause the replay and go one step forward."""
        self.set_playing(False)
        self.go(self.position + 1)

    def toggle(self) -> None:
        """Start or pause playback; at the end, start from position 0."""
        if not self._playing and self._complete and self.position >= self.scrub.loaded:
            self.go(0)
        self.set_playing(not self._playing)

    def set_playing(self, playing: bool) -> None:
        """Start or pause playback."""
        if playing == self._playing:
            return
        self._playing = playing
        self.play.set_text("Pause" if playing else "Play", "pause" if playing else "run")
        if playing:
            self._timer.start(round(1000 / float(self.speed.value)))
        else:
            self._timer.stop()

    def on_key(self, key: int) -> bool:
        """Handle a playback key and return ``True``; return ``False`` for other keys."""
        if key == Qt.Key.Key_Space:
            self.toggle()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            (self.step_back if key == Qt.Key.Key_Left else self.step_on)()
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self.go(self.position + (FAR if key == Qt.Key.Key_PageDown else -FAR))
        elif key == Qt.Key.Key_Home:
            self.to_first()
        elif key == Qt.Key.Key_End:
            self.to_last()
        else:
            return False
        return True

    def _on_tick(self) -> None:
        if self.position < self.scrub.loaded:
            self.go(self.position + 1)
        elif self._complete:
            self.set_playing(False)

    def _on_speed_chosen(self, speed: str) -> None:
        self._timer.setInterval(round(1000 / float(speed)))

    def _update_label(self) -> None:
        last = self.scrub.maximum()
        words = f"{self._unit_word} {local(self.position):,} of {local(last):,}"
        if not self._complete:
            words += f" · {local(self.scrub.loaded):,} ready"
        self._where.setText(words)
        self._back.setEnabled(self.position > 0)
        self._first.setEnabled(self.position > 0)
        self._on.setEnabled(self.position < self.scrub.loaded)
        self.last.setEnabled(self.position < self.scrub.loaded)


# -- transport bar -------------------------------------------------------------------------


_GROOVE, _HANDLE, _HEIGHT = 4, 14, 24
_EDGE = _HANDLE / 2 + 1


class ScrubBar(QSlider):
    """Slider over the positions of a replay; a click goes to the clicked position, arrow keys move by one.

    Positions that are not loaded yet are drawn paler and cannot be reached.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setObjectName("scrub-bar")
        self.setAccessibleName("Step of the episode")
        self.setToolTip(
            "Drag to any step. Arrow keys move one step, Page keys ten; Home and End move to the ends; "
            "Space plays"
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setPageStep(10)
        self.setTracking(True)
        self._loaded = 0

    @property
    def loaded(self) -> int:
        """Last position that can be reached."""
        return self._loaded

    def set_extent(self, last: int, loaded: int) -> None:
        """Set the last position of the bar and the last loaded position."""
        self._loaded = loaded
        self.setMaximum(max(last, 0))
        self.update()

    def sizeHint(self) -> QSize:
        """Return the preferred size; the slider expands to the available width."""
        return QSize(200, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest usable size, 80 pixels wide."""
        return QSize(80, _HEIGHT)

    def mousePressEvent(self, ev: QMouseEvent | None) -> None:
        """Go to the position under the pointer."""
        if ev is None or ev.button() != Qt.MouseButton.LeftButton:
            return
        self.setSliderDown(True)
        self._go(ev.position().x())

    def mouseMoveEvent(self, ev: QMouseEvent | None) -> None:
        """Follow the pointer while the button is pressed."""
        if ev is not None and self.isSliderDown():
            self._go(ev.position().x())

    def mouseReleaseEvent(self, ev: QMouseEvent | None) -> None:
        """Stop following the pointer."""
        self.setSliderDown(False)

    def position_at(self, x: float) -> int:
        """Return the position at an x coordinate of the bar."""
        room = max(self.width() - 2 * _EDGE, 1)
        share = min(max((x - _EDGE) / room, 0.0), 1.0)
        return round(share * self.maximum())

    def place_of(self, position: int) -> float:
        """Return the x coordinate of a position on the bar."""
        share = position / self.maximum() if self.maximum() else 0.0
        return _EDGE + share * (self.width() - 2 * _EDGE)

    def paintEvent(self, ev: QPaintEvent | None) -> None:
        """Draw the groove, the loaded part, the played part and the handle."""
        tokens = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        middle = self.height() / 2
        start, here = self.place_of(0), self.place_of(self.value())
        for end, token in (
            (self.width() - _EDGE, "line"),
            (self.place_of(self._loaded), "scroll"),
            (here, "accent"),
        ):
            painter.setBrush(tokens.color(token))
            groove = QRectF(start, middle - _GROOVE / 2, max(end - start, 0.0), _GROOVE)
            painter.drawRoundedRect(groove, _GROOVE / 2, _GROOVE / 2)
        if not self.isEnabled():
            return
        painter.setBrush(tokens.color("accent"))
        painter.drawEllipse(QPointF(here, middle), _HANDLE / 2, _HANDLE / 2)
        if self.hasFocus():
            painter.setBrush(tokens.color("on_accent"))
            painter.drawEllipse(QPointF(here, middle), _HANDLE / 4, _HANDLE / 4)

    def _go(self, x: float) -> None:
        self.setValue(min(self.position_at(x), self._loaded))
