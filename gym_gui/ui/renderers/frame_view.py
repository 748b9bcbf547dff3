"""Widget that shows an environment's frames, with sharp pixel edges at large scales."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import QPoint, QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QToolTip, QWidget

from gym_gui.core.live import Move, Pointing
from gym_gui.ui.renderers.move_chooser import MoveChooser
from gym_gui.ui.renderers.surface import Surface
from gym_gui.ui.theme import Theme

CRISP_FROM: Final = 2.0
"""Scale, in screen pixels per frame pixel, from which a frame is enlarged with sharp pixel edges."""
WHOLE_FROM: Final = 0.93
"""Smallest share of the widget that a frame must fill at a whole-number scale."""

NOTHING_HERE: Final = (
    "No action here: only cells that the agent sees have actions. Use keys for other actions."
)
"""Tooltip after a click on a picture cell that has no action."""


class FrameView(Surface):
    """Widget that shows an environment's newest frame and paints each frame at most once.

    Args:
        theme: Color theme.
        parent: Qt owner.
        backdrop: Theme token of the color behind the rounded corners.
    """

    painted = pyqtSignal(int)
    move_chosen = pyqtSignal(int)
    """Emits the index of the action that belongs to the clicked cell."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, backdrop: str = "panel") -> None:
        super().__init__(theme, parent, backdrop=backdrop)
        self.setObjectName("frameView")
        self.setAccessibleName("Picture of the environment")
        self._frame: QImage | None = None
        self._late: NDArray[np.uint8] | None = None
        self._scaled: QImage | None = None
        self._number = 0
        self._painted = 0
        self._pointing: Pointing | None = None
        self._interactive = False
        self._chooser = MoveChooser(self)
        self._chooser.chosen.connect(self._on_chosen)
        self._chooser.given_up.connect(self._chooser.dismiss)
        self.setMouseTracking(True)
        self.set_hint("No picture yet", "The picture appears with the first step.")

    def show_frame(self, frame: NDArray[np.uint8], number: int | None = None) -> None:
        """Show a frame in place of the previous one.

        Args:
            frame: RGB array of shape ``(height, width, 3)``, type ``uint8``. The view copies the array.
            number: Sequence number that :attr:`painted` emits; without a number the view counts frames
                itself.

        Raises:
            ValueError: The frame has another shape or type, or is empty.
        """
        if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8 or not frame.size:
            raise ValueError(
                f"A frame must be a uint8 array of shape (height, width, 3), but is {frame.dtype} "
                f"{frame.shape}. Convert it to RGB first."
            )
        if not self.filled:
            self.setAccessibleDescription("")
        self._number = self._number + 1 if number is None else number
        if self.isVisible() and not self.window().isMinimized():  # type: ignore[union-attr]
            self._take(np.ascontiguousarray(frame))
            self.update()
        else:  # a hidden view converts no frame: most are replaced before the user sees one
            self._late = np.array(frame)

    def _take(self, rows: NDArray[np.uint8]) -> None:
        height, width, _ = rows.shape
        image = QImage(rows.data, width, height, 3 * width, QImage.Format.Format_RGB888)  # type: ignore[call-overload]
        # The conversion copies the frame, into a format that Qt paints without a further conversion.
        self._frame = image.convertToFormat(QImage.Format.Format_RGB32)
        self._scaled = self._late = None

    def set_pointing(self, pointing: Pointing | None) -> None:
        """Set which picture cells have actions that a person may choose."""
        if pointing != self._pointing:
            self._pointing = pointing
            self._chooser.dismiss()
            self.unsetCursor()

    def set_interactive(self, interactive: bool) -> None:
        """Set whether a person may choose an action by clicking a cell of the picture."""
        self._interactive = interactive
        self._chooser.dismiss()
        self.unsetCursor()

    def moves_at(self, point: QPoint) -> list[Move]:
        """Return the actions that a person may choose at a point of this widget."""
        pointing, whole = self._pointing, self.picture_rect()
        if pointing is None or not self._interactive:
            return []
        left, top, width, height = pointing.part
        area = QRectF(
            whole.left() + left * whole.width(),
            whole.top() + top * whole.height(),
            width * whole.width(),
            height * whole.height(),
        )
        row = math.floor((point.y() - area.top()) * pointing.rows / max(area.height(), 1))
        column = math.floor((point.x() - area.left()) * pointing.columns / max(area.width(), 1))
        return [move for move in pointing.moves if move.target == (row, column)]

    def _is_asked_at(self, point: QPoint) -> bool:
        """Return whether a point lies in the picture while a person may choose an action by clicking."""
        return self._interactive and self._pointing is not None and self.picture_rect().contains(point)

    def mouseMoveEvent(self, a0: QMouseEvent | None) -> None:
        """Show a hand cursor and a tooltip over cells that have an action."""
        super().mouseMoveEvent(a0)
        moves = self.moves_at(a0.position().toPoint()) if a0 is not None else []
        self.setToolTip(" or ".join(move.label for move in moves))
        if moves:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.unsetCursor()

    def mousePressEvent(self, a0: QMouseEvent | None) -> None:
        """Choose the action of the clicked cell; if the cell has several actions, ask which one."""
        super().mousePressEvent(a0)
        if a0 is None or a0.button() != Qt.MouseButton.LeftButton:
            return
        point = a0.position().toPoint()
        moves = self.moves_at(point)
        if moves or self._is_asked_at(point):
            a0.accept()  # otherwise the card would get the release
        if len(moves) == 1:
            self._on_chosen(moves[0].action)
        elif moves:
            self._chooser.ask(moves, True, point, self.rect())
        else:
            self._chooser.dismiss()

    def mouseReleaseEvent(self, a0: QMouseEvent | None) -> None:
        """Explain in a tooltip that the clicked cell has no action; Qt would hide a tooltip shown at the
        press.
        """
        super().mouseReleaseEvent(a0)
        if a0 is None or a0.button() != Qt.MouseButton.LeftButton:
            return
        point = a0.position().toPoint()
        if self._is_asked_at(point) and not self.moves_at(point):
            QToolTip.showText(a0.globalPosition().toPoint(), NOTHING_HERE, self)
            a0.accept()  # the card would hide the tooltip

    def _on_chosen(self, action: int) -> None:
        self._chooser.dismiss()
        self.move_chosen.emit(action)

    def clear(self) -> None:
        """Remove the frame and show the hint."""
        self._frame = self._scaled = self._late = None
        self.set_hint_description()
        self.update()

    @property
    def filled(self) -> bool:
        """Whether the view has a frame."""
        return self._frame is not None or self._late is not None

    def image(self) -> QImage | None:
        """Return the frame at its original size, for a picture file or the clipboard; ``None`` without a
        frame.
        """
        if self._late is not None:
            self._take(self._late)
        return self._frame

    def picture_rect(self) -> QRect:
        """Return the frame's rectangle in this widget's coordinates; empty without a frame."""
        frame = self.image()
        if frame is None:
            return QRect()
        ratio = self.devicePixelRatioF()
        size = self._fitted(frame.size(), ratio)
        shown = QSize(round(size.width() / ratio), round(size.height() / ratio))
        corner = QPoint((self.width() - shown.width()) // 2, (self.height() - shown.height()) // 2)
        return QRect(corner, shown)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Discard the scaled frame after a change of size."""
        super().resizeEvent(a0)
        self._scaled = None

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint the background, the frame and the rounded corners."""
        painter = QPainter(self)
        self.paint_ground(painter)
        frame = self.image()
        if frame is None:
            self.paint_hint(painter)
        else:
            painter.drawImage(self.picture_rect().topLeft(), self._fit(frame))
        self.paint_corners(painter)
        painter.end()
        if frame is not None and self._number != self._painted:
            self._painted = self._number
            self.painted.emit(self._number)

    def _on_theme_changed(self) -> None:
        self._scaled = None  # the theme may change how the frame is scaled
        super()._on_theme_changed()

    def _fit(self, frame: QImage) -> QImage:
        """Return the frame scaled to screen pixels; the scaled image is cached for further paintings."""
        ratio = self.devicePixelRatioF()
        if self._scaled is None or self._scaled.devicePixelRatio() != ratio:
            size = self._fitted(frame.size(), ratio)
            big = size.width() >= CRISP_FROM * frame.width()
            crisp = big if self.theme.scaling == "auto" else self.theme.scaling == "sharp"
            mode = Qt.TransformationMode
            self._scaled = (
                QImage(frame)
                if size == frame.size()
                else frame.scaled(
                    size,
                    Qt.AspectRatioMode.IgnoreAspectRatio,
                    mode.FastTransformation if crisp else mode.SmoothTransformation,
                )
            )
            self._scaled.setDevicePixelRatio(ratio)
        return self._scaled

    def _fitted(self, frame: QSize, ratio: float) -> QSize:
        """Return the largest size in screen pixels that fits the widget and keeps the aspect ratio."""
        room = QSize(max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio)))
        scale = min(room.width() / frame.width(), room.height() / frame.height())
        whole = int(scale)
        if whole >= CRISP_FROM and whole >= WHOLE_FROM * scale:
            scale = whole
        return QSize(max(1, round(frame.width() * scale)), max(1, round(frame.height() * scale)))
