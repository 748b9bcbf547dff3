"""Widget that paints a chart of results and shows a tooltip for the part under the pointer."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PyQt6.QtWidgets import QFrame, QSizePolicy, QToolTip, QWidget

from gym_gui.analysis.charts import Area, Box, Chart, Curve, Drawing, HoverRegion, Line, Mark, Patch
from gym_gui.analysis.charts.shapes import role_colors
from gym_gui.ui import theme as themes
from gym_gui.ui.numbers import in_sentences
from gym_gui.ui.theme import GAP, TEXT_PX, Theme

_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


class ChartView(QFrame):
    """Widget that paints a :class:`~gym_gui.analysis.charts.Chart`, with a tooltip for each part of it.

    With an invitation, a click on a part emits :attr:`chosen`. Left, Right, Home and End move along the
    parts,
    Enter chooses.

    Args:
        theme: Color theme.
        name: ``objectName``.
        hint: Text shown without a chart, unless the chart itself says why it is empty.
        invitation: Sentence that says what a click does; ``""`` if clicks do nothing.
        parent: Qt owner.
    """

    chosen = pyqtSignal(int)
    """Emits the key of the chosen part of the chart."""

    def __init__(
        self, theme: Theme, name: str, hint: str, *, invitation: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._theme, self._hint, self._invitation = theme, hint, invitation
        self._chart: Chart | None = None
        self._hover: int | None = None
        self._current: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        if invitation:
            self.setMouseTracking(True)
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.changed.connect(self.update)
        self.set_chart(None)

    def set_chart(self, chart: Chart | None) -> None:
        """Show a chart; ``None`` or an empty chart shows the hint."""
        self._chart = chart or None
        self._said = (chart.nothing if chart is not None else "") or self._hint
        self._hover = self._current = None
        if chart is not None:
            self.setAccessibleName(chart.title)
        self.updateGeometry()
        self._renew()

    @property
    def chart(self) -> Chart | None:
        """Chart that is shown; ``None`` while there is nothing to draw."""
        return self._chart

    @property
    def drawing(self) -> Drawing | None:
        """Marks of the chart at the widget's current size, or ``None``."""
        if self._chart is None:
            return None
        with in_sentences():
            return self._chart.draw(self.width(), self.height(), _measure)

    def spot_rect(self, index: int) -> QRectF:
        """Return the rectangle of a part of the chart, by its index from 0."""
        return _rect(self._spots[index].area)

    def sizeHint(self) -> QSize:
        """Return a size wider than the minimum, with the minimum's height."""
        return QSize(420, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size at which the chart is readable."""
        return QSize(220, round(self._chart.heights[0]) if self._chart is not None else 120)

    # ---------------------------------------------------------------------------------------- mouse

    def mouseMoveEvent(self, a0: QMouseEvent | None) -> None:
        """Highlight the part of the chart under the pointer."""
        at = self._at(a0.position()) if a0 is not None else None
        if self._invitation and at != self._hover:
            self._hover = at
            hand = Qt.CursorShape.PointingHandCursor if at is not None else Qt.CursorShape.ArrowCursor
            self.setCursor(hand)
            self.update()

    def leaveEvent(self, a0: QEvent | None) -> None:
        """Remove the highlight."""
        self._hover = None
        self.update()

    def mouseReleaseEvent(self, a0: QMouseEvent | None) -> None:
        """Choose the clicked part of the chart."""
        if a0 is not None and self._invitation and a0.button() == Qt.MouseButton.LeftButton:
            at = self._at(a0.position())
            if at is not None:
                self._choose(at)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Move along the parts with Left, Right, Home and End; choose one with Enter or Space."""
        last = len(self._spots) - 1
        if a0 is None or last < 0 or not self._invitation:
            super().keyPressEvent(a0)
            return
        current = -1 if self._current is None else self._current
        steps = {
            Qt.Key.Key_Left: max(current - 1, 0),
            Qt.Key.Key_Right: min(current + 1, last),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        key = Qt.Key(a0.key())
        if key in steps:
            self._current = steps[key]
            self._renew()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._current is not None:
            self._choose(self._current)
        else:
            super().keyPressEvent(a0)

    def event(self, e: QEvent | None) -> bool:
        """Show the sentence of the part under the pointer as a tooltip."""
        if isinstance(e, QHelpEvent) and e.type() == QEvent.Type.ToolTip:
            at = self._at(QPointF(e.pos()))
            if at is not None:
                QToolTip.showText(e.globalPos(), self._sentence(at), self)
            return True
        return super().event(e)

    @property
    def _spots(self) -> tuple[HoverRegion, ...]:
        return drawing.spots if (drawing := self.drawing) is not None else ()

    def _at(self, point: QPointF) -> int | None:
        spots = enumerate(self._spots)
        return next((i for i, spot in spots if spot.area.holds(point.x(), point.y())), None)

    def _choose(self, at: int) -> None:
        self._current = at
        self._renew()
        self.chosen.emit(self._spots[at].key)

    def _sentence(self, at: int) -> str:
        return f"{self._spots[at].sentence} {self._invitation}".rstrip()

    def _renew(self) -> None:
        with in_sentences():
            said = self._chart.describe() if self._chart is not None else self._said
        current = f" {self._sentence(self._current)}" if self._current is not None else ""
        self.setAccessibleDescription(said + current)
        self.update()

    # -------------------------------------------------------------------------------------- drawing

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint the chart, or the hint."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        drawing = self.drawing
        if drawing is None:
            painter.setFont(themes.font(TEXT_PX))
            painter.setPen(self._theme.color("muted"))
            flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
            painter.drawText(self.rect().adjusted(GAP, GAP, -GAP, -GAP), flags, self._said)
            return
        colors = role_colors(self._theme.tokens)
        marked = (self._hover, self._current if self.hasFocus() else None)
        for mark in drawing.marks:
            _paint(painter, mark, colors)
        for index, spot in enumerate(drawing.spots):
            for mark in spot.marks:
                _paint(painter, mark, colors, marked=index in marked)


def _paint(painter: QPainter, mark: Mark, colors: dict[str, str], *, marked: bool = False) -> None:
    color = QColor(colors[mark.role])
    if isinstance(mark, Line):
        painter.setPen(QPen(color, 1))
        half = QPointF(0.5, 0.5)  # On whole pixels.
        ends = (QPointF(mark.x1, mark.y1), QPointF(mark.x2, mark.y2))
        painter.drawLine(*(end.toPoint().toPointF() + half for end in ends))
    elif isinstance(mark, Box):
        color.setAlphaF(1.0 if marked else mark.opacity)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(_rect(mark.area), mark.radius, mark.radius)
        if marked:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colors["text"]), 1.2))
            painter.drawRect(_rect(mark.area.inset(-1.5)))
    elif isinstance(mark, Patch):
        color.setAlphaF(mark.opacity)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawPolygon(QPolygonF([QPointF(*point) for point in mark.points]))
    elif isinstance(mark, Curve):
        color.setAlphaF(1.0 if marked else mark.opacity)
        painter.setPen(QPen(color, mark.width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF([QPointF(*point) for point in mark.points]))
    else:
        painter.setFont(_letters(mark.pixels))
        painter.setPen(color)
        left = mark.x - _ANCHORS[mark.anchor] * _measure(mark.text, mark.pixels)
        painter.drawText(QPointF(left, mark.y), mark.text)


def _rect(area: Area) -> QRectF:
    return QRectF(area.x, area.y, area.width, area.height)


def _letters(pixels: int) -> QFont:
    """Return the window's font with digits of equal width."""
    return themes.tabular(themes.font(pixels))


def _measure(text: str, pixels: int) -> float:
    return QFontMetricsF(_letters(pixels)).horizontalAdvance(text)
