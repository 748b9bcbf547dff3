"""Colors and letters that distinguish teams and link groups."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.controllers.setup.configuration_draft import Draft, Link
from gym_gui.core.experiment.assignment import GROUP_COLORS, group_color
from gym_gui.ui import theme
from gym_gui.ui.renderers.joint_agents import letter_of

_BY_NAME = {"blue": 0, "orange": 1, "green": 2, "purple": 3, "yellow": 4, "red": 5}


def team_color(team: str, teams: Sequence[str]) -> QColor:
    """Return a team's color: the color in the team's name, such as blue, else one by its position."""
    place = _BY_NAME.get(team.casefold())
    return QColor(GROUP_COLORS[place if place is not None else list(teams).index(team) % len(GROUP_COLORS)])


def link_letter(draft: Draft, link: Link) -> str:
    """Return the letter of a link group: ``A`` for the first, ``B`` for the second, and so on."""
    return letter_of(draft.links.index(link))


def link_color(link: Link) -> QColor:
    """Return the color of a link group's mark."""
    return QColor(link.color or group_color(link.primary))


class LinkMark(QWidget):
    """Mark of a link group: a diamond and a letter, filled for the slot whose file is shared."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._letter, self._color, self._filled = "", QColor(), False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_link(self, draft: Draft, agent: str) -> None:
        """Show the link group of a slot, or a dash if the slot is not linked."""
        link = draft.link_of(agent)
        self._letter = "" if link is None else link_letter(draft, link)
        self._color = QColor() if link is None else link_color(link)
        self._filled = link is not None and link.primary == agent
        if link is None:
            words = f"{agent} is not linked"
        elif self._filled:
            words = f"Link {self._letter}: {', '.join(link.linked)} share the file of {agent}"
        else:
            words = f"Link {self._letter}: {agent} plays its part of the file of {link.primary}"
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the diamond and its letter."""
        return QSize(44, 20)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the diamond and its letter, or the dash."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        current = theme.current()
        middle = self.height() / 2
        if not self._letter:
            painter.setPen(QPen(current.color("muted"), 1.5))
            painter.drawLine(QPointF(4, middle), QPointF(16, middle))
            return
        color = theme.text_on(current.color("panel"), self._color)
        painter.setPen(QPen(color, 1.5))
        painter.setBrush(color if self._filled else Qt.BrushStyle.NoBrush)
        corners = [QPointF(10, middle - 6), QPointF(16, middle), QPointF(10, middle + 6), QPointF(4, middle)]
        painter.drawPolygon(QPolygonF(corners))
        painter.setFont(theme.font(weight=painter.font().Weight.DemiBold))
        painter.drawText(QRectF(22, 0, 22, self.height()), Qt.AlignmentFlag.AlignVCenter, self._letter)
