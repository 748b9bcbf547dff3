"""Base class of live plots, with batched redraws, theme colors and a hint while there is no data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from PyQt6.QtCore import QPointF, QRect, QSize, Qt
from PyQt6.QtGui import QFontMetrics, QHideEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QShowEvent
from PyQt6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QToolTip, QWidget

from gym_gui.ui import theme as themes
from gym_gui.ui.plots.loading import library
from gym_gui.ui.plots.series import Series, SeriesStyle, series_styles
from gym_gui.ui.theme import ROW, SMALL_PX, STEP, Theme
from gym_gui.ui.timers import single_shot_timer

REDRAW_MS: Final = 200
"""Time within which several new values lead to one redraw, in ms."""
LABEL_WIDTH: Final = 128
LINE_MARK: Final = 22


class LivePlot(QWidget):
    """Plot that receives values while operators play.

    A plot draws nothing while it is hidden. It imports pyqtgraph when it first becomes visible with data.

    Args:
        theme: Color theme.
        hint: Text shown while there is nothing to draw.
        parent: Qt owner.
    """

    def __init__(self, theme: Theme, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._series: list[Series] = []
        self._plot: Any = None
        self._compact = False
        self._hint = QLabel(hint, self)
        self._hint.setProperty("role", "muted")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint.setWordWrap(True)
        self._names = EndLabels(theme, self)
        self._names.hide()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(0)
        self._grid.addWidget(self._hint, 0, 0, 1, 2)
        self._timer = single_shot_timer(self, REDRAW_MS, self._on_redraw_due)
        library().loaded.connect(self._on_library_loaded)
        theme.changed.connect(self._on_theme_changed)

    # ------------------------------------------------------------------------------- for subclasses

    def show_tip(self, position: QPointF, text: str) -> None:
        """Show a tooltip at a position of the plot's scene; ``""`` shows no tooltip."""
        if text:
            QToolTip.showText(self._plot.mapToGlobal(self._plot.mapFromScene(position)), text, self._plot)

    @abstractmethod
    def has_values(self) -> bool:
        """Return whether there is something to draw."""
        raise NotImplementedError

    @abstractmethod
    def build(self, pg: Any, plot: Any) -> None:
        """Set up the axes and labels of the empty plot."""
        raise NotImplementedError

    @abstractmethod
    def draw(self, pg: Any, plot: Any, look: dict[str, SeriesStyle]) -> None:
        """Update the plot to the current values."""
        raise NotImplementedError

    @abstractmethod
    def describe(self) -> str:
        """Return the content of the plot as sentences, for screen readers."""
        raise NotImplementedError

    def renewed(self) -> None:
        """Schedule a redraw after values have changed."""
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    # -------------------------------------------------------------------------------------- public

    @property
    def series(self) -> tuple[Series, ...]:
        """Series that are drawn."""
        return tuple(self._series)

    def set_series(self, series: Sequence[Series]) -> None:
        """Set the series to draw, in the order of their colors."""
        self._series = list(series)
        self.renewed()

    @property
    def compact(self) -> bool:
        """Whether axis labels and line names are left out, because widgets outside the plot show them."""
        return self._compact

    def set_compact(self) -> None:
        """Leave out axis labels and line names; must be called before the plot is shown."""
        self._compact = True

    def sizeHint(self) -> QSize:
        """Return the preferred size of a small plot."""
        return QSize(360, 200)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size at which the axes are readable."""
        return QSize(160, 110)

    @property
    def drawn(self) -> bool:
        """Whether the plot is visible instead of the hint."""
        return self._plot is not None and self._plot.isVisibleTo(self)

    def showEvent(self, a0: QShowEvent | None) -> None:
        """Draw the values that arrived while the plot was hidden."""
        super().showEvent(a0)
        self.renewed()

    def hideEvent(self, a0: QHideEvent | None) -> None:
        """Stop drawing while the plot is hidden."""
        super().hideEvent(a0)
        self._timer.stop()

    # ------------------------------------------------------------------------------------ internal

    def _draw(self) -> None:
        filled = self.has_values()
        self.setAccessibleDescription(self.describe() if filled else self._hint.text())
        pg = library().module
        if filled and pg is None:
            library().load()
        if filled and pg is not None:
            if self._plot is None:
                self._make(pg)
            self.draw(pg, self._plot, self._looks())
        ready = filled and self._plot is not None
        self._hint.setVisible(not filled)
        if self._plot is not None:
            self._plot.setVisible(ready)
        if not ready:
            self._names.hide()

    def _make(self, pg: Any) -> None:
        # pyqtgraph is loaded by now; without it this module must be importable quickly.
        from gym_gui.ui.plots.reader_axis import ReaderAxis

        axes = {side: ReaderAxis(side) for side in ("left", "bottom")}
        plot = pg.PlotWidget(self, enableMenu=False, axisItems=axes)
        plot.setObjectName(f"{self.objectName()}Canvas")
        plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        plot.viewport().setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # pyqtgraph creates a menu nevertheless, without a Qt owner: it would outlive the plot.
        menu = plot.getPlotItem().ctrlMenu
        menu.setParent(plot, menu.windowFlags())
        plot.setMouseEnabled(x=False, y=False)
        plot.hideButtons()
        plot.setFrameShape(plot.Shape.NoFrame)
        plot.getPlotItem().setContentsMargins(0, STEP, 0, 0)
        self._plot = plot
        self._grid.addWidget(plot, 0, 0)
        self._grid.addWidget(self._names, 0, 1)
        self._grid.setColumnStretch(0, 1)
        self._dress()
        self.build(pg, plot)

    def _dress(self) -> None:
        """Set colors and fonts of the axes from the theme."""
        self._plot.setBackground(self._theme.color("panel"))
        letters = themes.tabular(themes.font(SMALL_PX))
        for side in ("left", "bottom"):
            axis = self._plot.getAxis(side)
            axis.setPen(self._theme.color("line"))
            axis.setTextPen(self._theme.color("muted"))
            axis.setTickFont(letters)
            axis.setStyle(tickLength=0, autoExpandTextSpace=True)
            axis.label.setFont(letters)
            axis.setLabel(axis.labelText, color=self._theme.tokens.muted)

    def _looks(self) -> dict[str, SeriesStyle]:
        return series_styles(self._series)

    def _on_redraw_due(self) -> None:
        self._draw()

    def _on_library_loaded(self) -> None:
        self.renewed()

    def _on_theme_changed(self) -> None:
        if self._plot is not None:
            self._dress()
            self._draw()


class EndLabels(QWidget):
    """Names of lines at their right ends, in place of a legend.

    Args:
        theme: Color theme.
        parent: Qt owner.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entries: list[tuple[str, SeriesStyle, float]] = []
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)

    def show_names(self, entries: Sequence[tuple[str, SeriesStyle, float]]) -> None:
        """Show names, each with its line's color and the y coordinate of the line's end, in pixels."""
        self._entries = sorted(entries, key=lambda entry: entry[2])
        metrics = QFontMetrics(themes.font(SMALL_PX))
        widest = max((metrics.horizontalAdvance(name) for name, _, _ in entries), default=0)
        self.setFixedWidth(min(widest + 2 * ROW, LABEL_WIDTH) if entries else 0)
        self.setVisible(bool(entries))
        self.update()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint the names from top to bottom, moved apart so that they do not overlap."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("panel"))
        font = themes.font(SMALL_PX)
        painter.setFont(font)
        metrics = QFontMetrics(font)
        room = self.width() - ROW
        background = self._theme.tokens.panel
        for (name, look, _), top in zip(self._entries, self.tops(), strict=True):
            painter.setPen(themes.text_on(background, look.color))
            text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room - STEP)
            box = QRect(STEP, int(top), room, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)

    def tops(self) -> list[float]:
        """Return the y coordinate of each name's upper edge, from top to bottom."""
        height = QFontMetrics(themes.font(SMALL_PX)).height()
        tops: list[float] = []
        for _, _, y in self._entries:
            lowest = tops[-1] + height if tops else 0.0
            tops.append(max(y - height / 2, lowest))
        over = tops[-1] + height - self.height() if tops else 0.0
        if over > 0:  # Move the lowest names up again, as far as the names above leave space.
            limit = float(self.height())
            for i in reversed(range(len(tops))):
                tops[i] = min(tops[i], limit - height)
                limit = tops[i]
        return tops


class Legend(QWidget):
    """Legend with a color patch and a name for each entry.

    Args:
        theme: Color theme.
        lines: Whether to draw a piece of line in place of a patch.
        parent: Qt owner.
    """

    def __init__(self, theme: Theme, *, lines: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._mark = theme, LINE_MARK if lines else ROW
        self._entries: list[tuple[str, SeriesStyle]] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_names(self, entries: Sequence[tuple[str, SeriesStyle]]) -> None:
        """Show the entries of the legend; an empty list hides the legend."""
        self._entries = list(entries)
        self._take_room()
        self.setVisible(bool(entries))
        self.update()

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Adapt the height to the number of lines that the names need."""
        super().resizeEvent(a0)
        self._take_room()

    @property
    def places(self) -> list[tuple[str, QRect]]:
        """Shortened text and rectangle of each entry, arranged in lines like words of a text."""
        metrics = QFontMetrics(themes.font(SMALL_PX))
        line, places = metrics.height() + STEP, list[tuple[str, QRect]]()
        x = y = 0
        for name, _ in self._entries:
            room = self.width() - self._mark - STEP
            text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
            wide = self._mark + STEP + metrics.horizontalAdvance(text)
            if x and x + wide > self.width():
                x, y = 0, y + line
            places.append((text, QRect(x, y, wide, line)))
            x += wide + 2 * ROW
        return places

    def _take_room(self) -> None:
        self.setFixedHeight(max((place.bottom() + 1 for _, place in self.places), default=0))

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint the mark and the name of each entry."""
        painter = QPainter(self)
        painter.setFont(themes.font(SMALL_PX))
        for (_, look), (text, place) in zip(self._entries, self.places, strict=True):
            self._paint_mark(painter, place, look)
            painter.setPen(self._theme.color("text"))
            words = place.adjusted(self._mark + STEP, 0, ROW, 0)
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_mark(self, painter: QPainter, place: QRect, look: SeriesStyle) -> None:
        x, middle = place.left(), place.center().y()
        if self._mark == ROW:
            painter.fillRect(QRect(x, middle - ROW // 2, ROW, ROW), look.color)
            return
        pen = QPen(look.color, 2, look.dash)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawLine(x, middle, x + self._mark, middle)
