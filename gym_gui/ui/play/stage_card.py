"""The frame with all the room: score and step above it, whose move below."""

from __future__ import annotations

from PyQt6.QtCore import Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QStackedWidget, QWidget

from gym_gui.core.live import LiveView
from gym_gui.ui import theme
from gym_gui.ui.detached import DockSlot
from gym_gui.ui.numbers import local
from gym_gui.ui.play.result_banner import FOOT, ResultBanner
from gym_gui.ui.renderers import StageView, score_words
from gym_gui.ui.theme import Theme
from gym_gui.ui.widgets import Card, ElidedLabel, InlineMessage, StatusDot, muted_label, take_focus
from gym_gui.ui.widgets.layouts import row_layout
from gym_gui.ui.widgets.message_panels import Action

_TICK_MS = 50
_LONG_S = 0.75
"""A deadline that is shown counting down; shorter ones would only flicker."""


class StageCard(Card):
    """Header, stage, the line that says what is awaited, and the result.

    The stage has the keyboard while it is played; a click on the picture gives it back.

    Args:
        colors: The theme.
        parent: Qt parent.
    """

    enter_pressed = pyqtSignal()
    clicked_on_stage = pyqtSignal()

    def __init__(self, colors: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("stage-card")
        self.setAccessibleName("Game")
        self.headline = ElidedLabel("", "strong", parent=self, name="stage-headline")
        self.facts = muted_label("", parent=self, name="stage-facts")
        self.stage = StageView(colors, self)
        self.stage.overlay.set_scores_shown(False)
        self.stage.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.stage.setAccessibleName("The game; keys count here")
        self.dock_slot = DockSlot(self.stage, parent=self)
        self._awaited = ""
        self._prompt = StatusDot("muted", "", self)
        self._prompt.setObjectName("prompt")
        self.countdown = CountdownBar(self)
        self._trouble = InlineMessage("error", "", ("Restart", self.enter_pressed.emit))
        self._trouble.hide()
        self.result = ResultBanner(self)
        self._build()

    def _build(self) -> None:
        head = row_layout(spacing=None)
        head.addWidget(self.headline, 1)
        head.addWidget(self.facts)
        head.addWidget(self.dock_slot.button())
        foot = row_layout(spacing=None)
        foot.addWidget(self._prompt)
        foot.addWidget(self.countdown)
        foot.addStretch(1)
        waiting = QWidget(self)
        waiting.setLayout(foot)
        self._foot = QStackedWidget(self)
        self._foot.setFixedHeight(FOOT)
        self._foot.addWidget(waiting)
        self._foot.addWidget(self.result)
        self.body.addLayout(head)
        self.add(self.dock_slot, 1)
        self.add(self._trouble)
        self.add(self._foot)

    def show_view(self, view: LiveView, title: str) -> None:
        """Show a look; the score is the headline where there is one."""
        self.dock_slot.set_title(title)
        self.headline.setText(score_words(view) or title)
        self.stage.show_view(view)

    def set_prompt(self, tone: str, text: str) -> None:
        """Say what is awaited."""
        self._prompt.setVisible(bool(text))
        self._prompt.set_state(tone, text)
        self._awaited = text
        self._tell_window()

    def show_result(self, shown: bool) -> None:
        """Show the result in the line below the stage, or what is awaited."""
        self._foot.setCurrentIndex(1 if shown else 0)
        self._tell_window()

    def _tell_window(self) -> None:
        over = self._foot.currentWidget() is self.result
        self.dock_slot.set_note(
            f"{self.result.accessibleName()} · Enter: play again" if over else self._awaited
        )

    def show_trouble(self, sentence: str, action: Action | None = None, link: Action | None = None) -> None:
        """Say why it does not go on; empty: it does.

        Args:
            sentence: Why.
            action: The way out; by default a restart.
            link: Leads to the line that it is about.
        """
        self._trouble.set_action(action or ("Restart", self.enter_pressed.emit))
        self._trouble.set_text(sentence)
        self._trouble.lead_to(link)
        self._trouble.setVisible(bool(sentence))

    def announce(self, words: str) -> None:
        """Have what has the keyboard say something to those who hear it; empty: nothing more."""
        for taker in (self.stage, self.stage.board):
            name = taker.accessibleName().partition("; now: ")[0]
            taker.setAccessibleName(f"{name}; now: {words}" if words else name)

    def take_keys(self) -> None:
        """Give the stage the keyboard."""
        board = self.stage.board
        taker = board if self.stage.way == "board" and board.interactive else self.stage
        window = self.dock_slot.own_window
        if window is not None and self.isActiveWindow():
            window.come_forward()
        take_focus(taker)

    def mousePressEvent(self, a0: QMouseEvent | None) -> None:
        """A click anywhere on the card means to play."""
        super().mousePressEvent(a0)
        self.take_keys()
        self.clicked_on_stage.emit()

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Enter, where it is no move: play again."""
        if a0 is not None and a0.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not a0.isAutoRepeat():
            self.enter_pressed.emit()
            return
        super().keyPressEvent(a0)


class CountdownBar(QWidget):
    """The time that is left for a move, as a bar and in seconds.

    Args:
        parent: Qt parent.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("countdown")
        self.setFixedSize(120, 12)
        self._total = self._left = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        self.hide()

    def start(self, seconds: float | None) -> None:
        """Count down from here; a short time, or none, is not shown."""
        if seconds is None or seconds < _LONG_S:
            self.stop()
            return
        self._total = self._left = seconds
        self._timer.start()
        self._tell_time_left()
        self.show()

    def stop(self) -> None:
        """Nothing is counted."""
        self._timer.stop()
        self.hide()

    def _on_tick(self) -> None:
        self._left = max(0.0, self._left - _TICK_MS / 1000)
        if not self._left:
            self._timer.stop()
        self._tell_time_left()

    def _tell_time_left(self) -> None:
        self.setToolTip(f"{local(self._left):.1f} s left, then the fallback is played")
        self.setAccessibleName(f"{local(self._left):.0f} seconds left")
        self.update()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        groove = self.rect().adjusted(0, 4, 0, -4)
        painter.setBrush(theme.current().color("line"))
        painter.drawRoundedRect(groove, 2, 2)
        groove.setWidth(round(groove.width() * (self._left / self._total if self._total else 0)))
        painter.setBrush(theme.current().color("accent"))
        painter.drawRoundedRect(groove, 2, 2)
