"""Row of chips that show each agent's last action, in the color of the agent's kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from PyQt6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PyQt6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gym_gui.core.live import AgentView, LiveView
from gym_gui.core.types import AgentID
from gym_gui.ui import theme as themes
from gym_gui.ui.renderers.agent_words import (
    SlotPlayer,
    agent_sentence,
    number_words,
    on_turn,
    option_words,
    outcome_words,
    score_words,
    seat_words,
    source_words,
    view_sentence,
)
from gym_gui.ui.renderers.joint_agents import JointGroup
from gym_gui.ui.theme import RADIUS_CONTROL, ROW, SMALL_PX, STEP, Theme

HEIGHT: Final = 20
MOST_LINES: Final = 2
DOT: Final = 8
DIAMOND: Final = 8
LONGEST_ACTION: Final = 32


@dataclass(slots=True)
class _Chip:
    """Chip of an agent or the score: texts, color of the dot, tooltip, and link to other agents."""

    key: str
    words: list[tuple[str, bool, str]]
    dot: QColor | None
    sentence: str
    urgent: bool = False
    link: JointGroup | None = None
    box: QRect = field(default_factory=QRect)


class Overlay(QWidget):
    """Widget with one or two rows of chips, one per agent; a last chip counts the chips that do not fit.

    A chip does not shrink during an episode, so that the other chips keep their positions.

    Args:
        theme: Color theme.
        parent: Qt owner.
    """

    agent_chosen = pyqtSignal(str)
    """Emits the id of the agent whose chip the user clicked."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("overlay")
        self.setAccessibleName("Last actions of the agents")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._seats: dict[AgentID, SlotPlayer] = {}
        self._seats_now = self._seats
        self._view: LiveView | None = None
        self._scores = True
        self._chips: list[_Chip] = []
        self._shown: list[_Chip] = []
        self._widths: dict[str, int] = {}
        self._lines = 1
        self._compact = self._clickable = False
        theme.changed.connect(self.update)

    def set_seats(self, seats: Mapping[AgentID, SlotPlayer]) -> None:
        """Set the policy or person of each slot; the chips of a finished episode keep their names."""
        self._seats_now = dict(seats)
        if self._view is None or not self._view.over:
            self._seats, self._widths = self._seats_now, {}
            self._renew()

    def set_scores_shown(self, shown: bool) -> None:
        """Show or hide the chip with the score; views that show the score elsewhere hide it."""
        self._scores = shown
        self._renew()

    def show_view(self, view: LiveView | None) -> None:
        """Show the agents' last actions of an episode; ``None`` removes all chips."""
        if view is None or self._view is None or view.episode != self._view.episode:
            self._widths = {}
            self._lines = 1
            self._compact = False
        if view is None or not view.over:
            self._seats = self._seats_now
        else:
            self._widths = {}  # nothing changes any more
        self._view = view
        self._renew()

    def chip_texts(self) -> list[str]:
        """Return the text of each visible chip."""
        return [" ".join(text for text, _, _ in chip.words) for chip in self._shown]

    def chip_boxes(self) -> list[QRect]:
        """Return the rectangle of each visible chip."""
        return [QRect(chip.box) for chip in self._shown]

    def sizeHint(self) -> QSize:
        """Return the height of one or two rows of chips."""
        return QSize(4 * HEIGHT, self._lines * HEIGHT + (self._lines - 1) * STEP)

    def minimumSizeHint(self) -> QSize:
        """Return :meth:`sizeHint`, because the size policy ignores the width."""
        return self.sizeHint()

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Place the chips again for the new width."""
        super().resizeEvent(a0)
        if a0 is None or a0.size().width() != a0.oldSize().width():
            self._compact = False
            self._widths = {}
            before, self._lines = self._lines, 1
            self._renew()
            if self._lines < before:
                self.updateGeometry()

    def event(self, a0: QEvent | None) -> bool:
        """Show the sentence of the chip under the mouse as a tooltip."""
        if isinstance(a0, QHelpEvent) and a0.type() == QEvent.Type.ToolTip:
            chip = next((chip for chip in self._shown if chip.box.contains(a0.pos())), None)
            if chip is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(a0.globalPos(), chip.sentence, self, chip.box)
            return True
        return super().event(a0)

    def set_clickable(self, clickable: bool) -> None:
        """Set whether a click on an agent's chip emits :attr:`agent_chosen`."""
        self._clickable = clickable
        self.setMouseTracking(clickable)

    def mouseMoveEvent(self, a0: QMouseEvent | None) -> None:
        """Show a hand cursor over chips of agents if they are clickable."""
        super().mouseMoveEvent(a0)
        if a0 is not None and self._clickable:
            hand = Qt.CursorShape.PointingHandCursor
            self.setCursor(hand if self._agent_at(a0.pos()) else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, a0: QMouseEvent | None) -> None:
        """Emit :attr:`agent_chosen` after a click on an agent's chip."""
        agent = self._agent_at(a0.pos()) if a0 is not None and self._clickable else ""
        if a0 is not None and agent and a0.button() == Qt.MouseButton.LeftButton:
            a0.accept()
            self.agent_chosen.emit(agent)
            return
        super().mouseReleaseEvent(a0)

    def _agent_at(self, point: QPoint) -> str:
        agents = {agent.agent for agent in self._view.agents} if self._view is not None else set[str]()
        return next((c.key for c in self._shown if c.box.contains(point) and c.key in agents), "")

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint all chips in one pass, because one widget per chip would cost a layout pass at every step."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for chip in self._shown:
            self._paint(painter, chip)

    # --------------------------------------------------------------------------------------- chips

    def _renew(self) -> None:
        """Create the chips of the current view; leave out the names of policies if the chips do not fit."""
        self._chips = self._make()
        if not self._place() and not self._compact:
            self._compact = True
            self._widths = {}
            self._chips = self._make()
            self._place()
        sentence = view_sentence(self._view, self._seats) if self._view is not None else ""
        if sentence != self.accessibleDescription():
            self.setAccessibleDescription(sentence)
        self.update()

    def _make(self) -> list[_Chip]:
        view = self._view
        if view is None:
            return []
        chips: list[_Chip] = []
        head = " · ".join(
            words for words in (score_words(view) if self._scores else "", outcome_words(view)) if words
        )
        if head:
            chips.append(_Chip("score", [(head, True, "text")], None, f"{head}."))
        waiting = on_turn(view)
        alone = len(view.agents) == 1
        chips.extend(self._chip(agent, alone, agent.agent in waiting) for agent in view.agents)
        return chips

    def _chip(self, agent: AgentView, alone: bool, to_move: bool) -> _Chip:
        seat = self._seats.get(agent.slot, SlotPlayer())
        # A single agent's own name ("agent") says less than its policy's name.
        names = [seat.player] if alone and seat.player else [seat_words(agent), seat.player]
        if self._compact:
            names = names[:1]
        words: list[tuple[str, bool, str]] = [(" · ".join(name for name in names if name), False, "muted")]
        action = agent.action
        if len(action) > LONGEST_ACTION:
            action = action[: LONGEST_ACTION - 1] + "…"
        if action:
            words.append((action, True, "text"))
        source = source_words(agent)
        if source:
            words.append((f"({source})", False, "text"))
        if agent.option:
            words.append((f"→ {option_words(agent)}", False, "muted"))
        if agent.value is not None:
            words.append((f"V {number_words(agent.value)}", False, "muted"))
        if to_move:
            words.append(("to move", False, "text"))
        everybody = self._view.agents if self._view is not None else ()
        sentence = agent_sentence(agent, seat, to_move=to_move, agents=everybody)
        link = (
            seat.joint_group
            if seat.joint_group and seat.joint_group.other_agents(agent.agent, everybody)
            else None
        )
        return _Chip(agent.agent, words, themes.kind_color(seat.kind), sentence, to_move, link)

    def _place(self) -> bool:
        """Place the chips in rows and return whether all fit; otherwise add a chip that counts the rest."""
        all_placed = True
        self._shown = []
        x, line = 0, 0
        width = max(self.width(), 1)
        for at, chip in enumerate(self._chips):
            wanted = min(self._width(chip), width)
            if x and x + wanted > width:
                x, line = 0, line + 1
            if line >= MOST_LINES:
                self._count_rest(len(self._chips) - at)
                all_placed = False
                break
            chip.box = QRect(x, line * (HEIGHT + STEP), wanted, HEIGHT)
            self._shown.append(chip)
            x += wanted + STEP + STEP // 2
        lines = max(self._lines, min(line + 1, MOST_LINES))
        if lines != self._lines:
            self._lines = lines
            self.updateGeometry()
        return all_placed

    def _count_rest(self, count: int) -> None:
        """Replace the last chips by a chip that shows how many chips do not fit."""
        more = _Chip("more", [("", False, "muted")], None, "")
        while self._shown:
            more.words = [(f"+{count} more", False, "muted")]
            wanted = self._measure(more)
            last = self._shown[-1].box
            if last.right() + STEP + wanted <= self.width():
                break
            self._shown.pop()
            count += 1
        hidden = self._chips[len(self._shown) :]
        more.words = [(f"+{count} more", False, "muted")]
        more.sentence = "\n".join(chip.sentence for chip in hidden)
        left = self._shown[-1].box.right() + STEP + STEP // 2 if self._shown else 0
        more.box = QRect(left, (MOST_LINES - 1) * (HEIGHT + STEP), self._measure(more), HEIGHT)
        self._shown.append(more)

    def _width(self, chip: _Chip) -> int:
        width = max(self._measure(chip), self._widths.get(chip.key, 0))
        self._widths[chip.key] = width
        return width

    def _measure(self, chip: _Chip) -> int:
        words = sum(QFontMetrics(_font(bold)).horizontalAdvance(text) for text, bold, _ in chip.words)
        dot = DOT + STEP if chip.dot is not None else 0
        if chip.link is not None:
            dot += DIAMOND + 2 + QFontMetrics(_font(True)).horizontalAdvance(chip.link.letter) + STEP
        return 2 * ROW + dot + words + STEP * (len(chip.words) - 1) + 1

    def _paint(self, painter: QPainter, chip: _Chip) -> None:
        tokens = self._theme
        box = QRectF(chip.box).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(tokens.color("accent" if chip.urgent else "line"), 1))
        painter.setBrush(tokens.color("panel"))
        painter.drawRoundedRect(box, RADIUS_CONTROL - 1, RADIUS_CONTROL - 1)
        x = chip.box.left() + ROW
        if chip.dot is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(chip.dot)
            painter.drawEllipse(QRectF(x, chip.box.center().y() - DOT / 2 + 1, DOT, DOT))
            x += DOT + STEP
        if chip.link is not None:
            x = self._paint_link(painter, chip.link, x, chip.box)
        right = chip.box.right() - ROW + 1
        for text, bold, token in chip.words:
            font = _font(bold)
            metrics = QFontMetrics(font)
            painter.setFont(font)
            painter.setPen(tokens.color(token))
            room = QRect(x, chip.box.top(), max(right - x, 0), HEIGHT)
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)
            x += metrics.horizontalAdvance(text) + STEP

    def _paint_link(self, painter: QPainter, link: JointGroup, x: int, box: QRect) -> int:
        """Paint a link's diamond and letter, and return the x coordinate at their right end."""
        color = themes.text_on(self._theme.color("panel"), QColor(link.color))
        half, middle = DIAMOND / 2, box.center().y() + 1
        painter.setPen(QPen(color, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        corners = ((half, -half), (DIAMOND, 0.0), (half, half), (0.0, 0.0))
        painter.drawPolygon(QPolygonF([QPointF(x + right, middle + down) for right, down in corners]))
        x += DIAMOND + 2
        painter.setFont(_font(True))
        wide = QFontMetrics(_font(True)).horizontalAdvance(link.letter)
        painter.drawText(QRect(x, box.top(), wide + 1, HEIGHT), Qt.AlignmentFlag.AlignVCenter, link.letter)
        return x + wide + STEP


def _font(bold: bool) -> QFont:
    return themes.font(SMALL_PX, weight=QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
