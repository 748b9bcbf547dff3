"""Strip on an operator's card that sums up the last model call or decision and the cost so far.

The strip shows the last prompt and reply of a model, the intention of a program, or the scores of actions. It
paints itself, because labels that change with every call would force a layout of the whole card.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from PyQt6.QtCore import QEvent, QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QFrame, QSizePolicy, QWidget

from gym_gui.analysis.transcripts.action_scores import in_a_line, listed
from gym_gui.analysis.transcripts.bdi_thoughts import BdiChanges
from gym_gui.analysis.transcripts.turn import DRY, Turn
from gym_gui.analysis.words.wording import written
from gym_gui.controllers.live_play.call_log import Spending
from gym_gui.ui import theme
from gym_gui.ui.numbers import count, in_sentences

_LINE = 18
HEIGHT = 3 * _LINE + 8
_TIP = 1500
_TIP_COLUMNS = 80
_LONGEST = 4000
_SEEN = "<observation>"
_BAR_PX, _BAR_HEIGHT = 120, 8
"""Length of the longest score bar and its height, in pixels."""


class _Row(NamedTuple):
    """Line of the strip: a heading and a text, or an action's score with a bar."""

    head: str
    text: str
    color: str
    share: float | None = None


class CallStrip(QFrame):
    """Strip of three short lines about the last model call or program decision; a click opens the transcript.

    Args:
        parent: Qt owner.
    """

    opened = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("call-strip")
        self.setProperty("role", "wash")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._rows: tuple[_Row, ...] = ()
        self._tip: Turn | None = None
        self.clear()

    @property
    def lines(self) -> tuple[str, ...]:
        """Text of each line that the strip shows."""
        return tuple(f"{row.head} {row.text}".strip() for row in self._rows)

    def show_call(self, turn: Turn, spending: Spending, *, several: bool = False) -> None:
        """Show the last turn (a model call or a program's decision) and the cost of all calls.

        Args:
            turn: The newest turn.
            spending: Cost of all calls.
            several: Whether several agents have turns, so that the agent is named.
        """
        with in_sentences():
            rows = _decision_rows(turn) if turn.is_decision else _call_rows(turn)
            costs = [written(spending.words)] if spending.calls else []
        whose = [turn.agent] if several else []
        told = count(len(turn.scores), _scored(turn)) if turn.scores else ""
        told = turn.thought.changes if turn.thought is not None else told
        last = " \N{MIDDLE DOT} ".join(filter(None, [*whose, told, *costs, f"at step {turn.step}"]))
        rows = (*rows, _Row("", last, "muted"))
        if rows == self._rows:
            return
        self._rows, self._tip = rows, turn
        self.setAccessibleName(". ".join(self.lines))
        self.update()

    def clear(self, words: str = "No model calls yet") -> None:
        """Show that there is no turn yet; keep the height, so that the card does not resize."""
        self._rows, self._tip = (_Row("", words, "muted"),), None
        self.setToolTip("")
        self.setAccessibleName(". ".join(self.lines))
        self.update()

    def sizeHint(self) -> QSize:
        """Return a size with the height of three lines."""
        return QSize(160, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size, at which longer lines are shortened."""
        return QSize(60, HEIGHT)

    def event(self, e: QEvent | None) -> bool:
        """Create the tooltip with the full text only when Qt requests it."""
        if e is not None and e.type() == QEvent.Type.ToolTip and self._tip is not None:
            words = whole_words(self._tip)
            cut = f"{words[:_TIP]}…" if len(words) > _TIP else words
            lines = [part for line in cut.splitlines() for part in textwrap.wrap(line, _TIP_COLUMNS) or [""]]
            self.setToolTip("\n".join((*lines, "", "Click to show the whole text")))
        return super().event(e)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw each line, shortened at the right edge."""
        super().paintEvent(a0)
        painter, now = QPainter(self), theme.current()
        painter.setFont(theme.tabular(theme.font(theme.SMALL_PX + 1)))
        metrics = QFontMetrics(painter.font())
        widest = max((metrics.horizontalAdvance(row.head) for row in self._rows), default=0)
        head_width = min(widest + 2, self.width() // 2)  # 2 px more, because font hinting rounds widths
        top = (self.height() - len(self._rows) * _LINE) // 2
        for i, row in enumerate(self._rows):
            rect = QRect(8, top + i * _LINE, self.width() - 16, _LINE)
            if row.head:
                painter.setPen(now.color("muted"))
                head = metrics.elidedText(row.head, Qt.TextElideMode.ElideRight, head_width)
                painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, head)
                rect.setLeft(rect.left() + head_width + 8)
            if row.share is not None:
                self._paint_bar(painter, rect, row)
            painter.setPen(theme.text_on(now.tokens.wash, now.color(row.color)))
            elided = metrics.elidedText(row.text, Qt.TextElideMode.ElideRight, rect.width())
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, elided)
        if self.hasFocus():
            painter.setPen(now.color("accent"))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 7, 7)

    def _paint_bar(self, painter: QPainter, rect: QRect, row: _Row) -> None:
        """Draw a row's score bar and move its text to the right of the longest possible bar."""
        now, longest = theme.current(), min(_BAR_PX, rect.width() // 2)
        bar = QRectF(rect.left(), rect.center().y() + 1 - _BAR_HEIGHT / 2, longest, _BAR_HEIGHT)
        painter.fillRect(bar, now.color("line"))
        bar.setWidth(longest * (row.share or 0.0))
        painter.fillRect(bar, now.color("accent" if row.color == "text" else "muted"))
        rect.setLeft(rect.left() + longest + 8)

    def mouseReleaseEvent(self, a0: QMouseEvent | None) -> None:
        """Emit :attr:`opened` after a click with the left button."""
        if a0 is not None and a0.button() == Qt.MouseButton.LeftButton and self._tip is not None:
            self.opened.emit()
            a0.accept()

    def mousePressEvent(self, a0: QMouseEvent | None) -> None:
        """Accept the event, so that the card below the strip does not receive the click."""
        if a0 is not None:
            a0.accept()

    def mouseDoubleClickEvent(self, a0: QMouseEvent | None) -> None:
        """Accept the event, so that the card below the strip does not receive the double click."""
        if a0 is not None:
            a0.accept()

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Emit :attr:`opened` on Enter."""
        if a0 is not None and a0.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._tip is not None:
            self.opened.emit()
            return
        super().keyPressEvent(a0)


def _scored(turn: Turn) -> str:
    """Return the word for the scored items: ``action``, or ``choice`` for plans that lead to an action."""
    return "action" if any(score.word == turn.word for score in turn.scores) else "choice"


def _call_rows(turn: Turn) -> tuple[_Row, ...]:
    answer = _Row(*_answer(turn), "error" if turn.failed else "text")
    return _Row("Prompt", asked_line(turn), "muted"), answer


def _decision_rows(turn: Turn) -> tuple[_Row, ...]:
    return _score_rows(turn) if turn.thought is None else _thought_rows(turn, turn.thought)


def _thought_rows(turn: Turn, thought: BdiChanges) -> tuple[_Row, ...]:
    """Return lines with the goal and plan of a program; the plan is shown without its source position."""
    if turn.failed:
        return _Row("Goal", thought.intention or "none", "muted"), _Row("Idle", idle_reason(turn), "error")
    plan = thought.plan.partition(": ")[2] or thought.plan
    return _Row("Goal", thought.intention or "none", "text"), _Row("Plan", plan or "none", "muted")


def _score_rows(turn: Turn) -> tuple[_Row, ...]:
    """Return lines with the score of the played action and the best scores of other actions."""
    own = [score for score in turn.scores if score.word == turn.word]
    others = [score for score in turn.scores if score.word != turn.word]
    shown = [*own[:1], *others[: 2 - len(own[:1])]]
    return tuple(_Row(s.word, s.written, "text" if s in own else "muted", s.share) for s in shown)


def idle_reason(turn: Turn) -> str:
    """Return a text that says why a program chose no action."""
    failed = turn.thought.failed if turn.thought is not None else ()
    return failed[-1] if failed else "nothing is left to do"


def whole_words(turn: Turn) -> str:
    """Return the full text of a model's reply or of a program's decision."""
    if turn.thought is not None:
        return "\n\n".join(f"{heading}\n{words}" for heading, words in turn.thought.pieces())
    if turn.is_decision:
        with in_sentences():
            return "\n".join(f"{score.written}  {score.word}" for score in listed(turn.scores, turn.word))
    return turn.error or turn.reply


def _answer(turn: Turn) -> tuple[str, str]:
    if turn.error:
        return "No reply", turn.error
    if turn.kind == DRY:
        return "Not sent", "dry run"
    words = answer_line(turn)
    return ("Unusable" if turn.refused else "Reply"), words or "(nothing)"


def asked_line(turn: Turn) -> str:
    """Return the observation in the last message to the model, in one line."""
    text = turn.messages[-1].text if turn.messages else ""
    # Prompts begin and end with constant text; the observation is between tags.
    seen = text[:_LONGEST].partition(_SEEN)[2].partition("</")[0] or text[:_LONGEST]
    return " ".join(seen.split())


def answer_line(turn: Turn) -> str:
    """Return a model call or program decision in one line.

    For a model: the last line of its reply, which usually has the decision, and the tools it calls. For a
    program: its intention or the best scores, then the action that was played.
    """
    if turn.is_decision:
        played = turn.word or str(turn.action)
        with in_sentences():
            why = in_a_line(turn.scores) if turn.thought is None else turn.thought.intention
        return f"{why} \N{RIGHTWARDS ARROW} {played}" if why else played
    words = last_line(turn.reply)
    return " ".join(filter(None, [words, *turn.tools]))


def last_line(text: str) -> str:
    """Return the last non-empty line of a text, with collapsed white space."""
    end = text[-4000:]
    return next((" ".join(line.split()) for line in reversed(end.splitlines()) if line.strip()), "")
