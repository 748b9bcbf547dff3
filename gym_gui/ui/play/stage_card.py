"""The card with the stage: score and step above it, prompt or result below it."""

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
from gym_gui.ui.widgets import Card, ElidedLabel, InlineMessage, StatusDot, focus_if_visible, muted_label
from gym_gui.ui.widgets.layouts import row_layout
from gym_gui.ui.widgets.message_panels import Action

_TICK_MS = 50
_LEAST_SHOWN_S = 0.75
"""Shortest deadline that is shown as a countdown, in seconds."""


class StageCard(Card):
    """Card with headline, stage, prompt and result.

    The stage has the focus during the game; a click anywhere on the card returns it there.

    Args:
        colors: Theme of the stage.
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
        self.stage.setAccessibleName("Game; accepts keys")
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
        self._prompt_or_result = QStackedWidget(self)
        self._prompt_or_result.setFixedHeight(FOOT)
        self._prompt_or_result.addWidget(waiting)
        self._prompt_or_result.addWidget(self.result)
        self.body.addLayout(head)
        self.add(self.dock_slot, 1)
        self.add(self._trouble)
        self.add(self._prompt_or_result)

    def show_view(self, view: LiveView, title: str) -> None:
        """Show a view of the game; the headline is its score, or the title if it has no score."""
        self.dock_slot.set_title(title)
        self.headline.setText(score_words(view) or title)
        self.stage.show_view(view)

    def set_prompt(self, tone: str, text: str) -> None:
        """Show the line that says what the game waits for.

        Args:
          tone: Name of the color.
          text: The line; an empty text hides it.
        """
        self._prompt.setVisible(bool(text))
        self._prompt.set_state(tone, text)
        self._awaited = text
        self._update_window_note()

    def show_result(self, shown: bool) -> None:
        """Show the result below the stage, or the prompt."""
        self._prompt_or_result.setCurrentIndex(1 if shown else 0)
        self._update_window_note()

    def _update_window_note(self) -> None:
        over = self._prompt_or_result.currentWidget() is self.result
        self.dock_slot.set_note(
            f"{self.result.accessibleName()} · Enter: play again" if over else self._awaited
        )

    def show_trouble(self, sentence: str, action: Action | None = None, link: Action | None = None) -> None:
        """Show why the game does not continue; an empty sentence hides the message.

        Args:
            sentence: The reason.
            action: Button that solves the problem; by default **Restart**.
            link: Link to the line of a file that the reason names.
        """
        self._trouble.set_action(action or ("Restart", self.enter_pressed.emit))
        self._trouble.set_text(sentence)
        self._trouble.lead_to(link)
        self._trouble.setVisible(bool(sentence))

    def announce(self, words: str) -> None:
        """Add words to the accessible name of the stage, for screen readers; an empty text removes them."""
        for taker in (self.stage, self.stage.board):
            name = taker.accessibleName().partition("; now: ")[0]
            taker.setAccessibleName(f"{name}; now: {words}" if words else name)

    def focus_stage(self) -> None:
        """Move the keyboard focus to the stage."""
        board = self.stage.board
        taker = board if self.stage.way == "board" and board.interactive else self.stage
        window = self.dock_slot.own_window
        if window is not None and self.isActiveWindow():
            window.bring_to_front()
        focus_if_visible(taker)

    def mousePressEvent(self, a0: QMouseEvent | None) -> None:
        """Move the focus to the stage on a click anywhere on the card."""
        super().mousePressEvent(a0)
        self.focus_stage()
        self.clicked_on_stage.emit()

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Emit ``enter_pressed`` if the game itself does not use Enter."""
        if a0 is not None and a0.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not a0.isAutoRepeat():
            self.enter_pressed.emit()
            return
        super().keyPressEvent(a0)


class CountdownBar(QWidget):
    """Bar that shows the remaining time of a move, with the seconds in its tool tip.

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
        """Start the countdown; a time below 0.75 s, or ``None``, is not shown."""
        if seconds is None or seconds < _LEAST_SHOWN_S:
            self.stop()
            return
        self._total = self._left = seconds
        self._timer.start()
        self._show_time_left()
        self.show()

    def stop(self) -> None:
        """Stop and hide the countdown."""
        self._timer.stop()
        self.hide()

    def _on_tick(self) -> None:
        self._left = max(0.0, self._left - _TICK_MS / 1000)
        if not self._left:
            self._timer.stop()
        self._show_time_left()

    def _show_time_left(self) -> None:
        self.setToolTip(f"{local(self._left):.1f} s left, then the fallback action is played")
        self.setAccessibleName(f"{local(self._left):.0f} seconds left")
        self.update()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        groove = self.rect().adjusted(0, 4, 0, -4)
        painter.setBrush(theme.current().color("line"))
        painter.drawRoundedRect(groove, 2, 2)
        groove.setWidth(round(groove.width() * (self._left / self._total if self._total else 0)))
        painter.setBrush(theme.current().color("accent"))
        painter.drawRoundedRect(groove, 2, 2)
