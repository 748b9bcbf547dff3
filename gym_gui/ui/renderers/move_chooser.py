"""Row of buttons over a board that asks which of several moves the player means."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PyQt6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QIcon, QKeyEvent, QPainter, QPixmap
from PyQt6.QtWidgets import QFrame, QToolButton, QWidget

from gym_gui.controllers.human.square_names import chess_word
from gym_gui.core.drawing import artwork
from gym_gui.core.live import Move
from gym_gui.ui.renderers.board_painters import paint_any_piece
from gym_gui.ui.theme import STEP
from gym_gui.ui.widgets.layouts import row_layout

PIECE: Final = 44


class MoveChooser(QFrame):
    """Row of buttons over a board, one per possible move: a piece picture for a promotion, else the move's
    name.

    The arrow keys move between the buttons, Enter chooses, Esc cancels.

    Args:
        parent: The board or frame that the row lies on.
    """

    chosen = pyqtSignal(int)
    given_up = pyqtSignal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("moveChooser")
        self.setAccessibleName("Choose a move")
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._row = row_layout(self, margin=STEP, spacing=STEP)
        self._buttons: list[QToolButton] = []
        self.hide()

    @property
    def buttons(self) -> list[QToolButton]:
        """Buttons of the possible moves, from left to right."""
        return list(self._buttons)

    def ask(self, moves: Sequence[Move], white: bool, near: QPoint, room: QRect) -> None:
        """Show one button per move, near a point and within a rectangle."""
        self.dismiss()
        for move in moves:
            self._buttons.append(self._button(move, white))
        for button in self._buttons:
            self._row.addWidget(button)
        self.adjustSize()
        x = min(max(near.x() - self.width() // 2, room.left() + STEP), room.right() - self.width() - STEP)
        y = min(max(near.y() - self.height() // 2, room.top() + STEP), room.bottom() - self.height() - STEP)
        self.move(x, y)
        self.show()
        self.raise_()
        self._buttons[0].setFocus(Qt.FocusReason.PopupFocusReason)

    def dismiss(self) -> None:
        """Remove the buttons and hide the row."""
        for button in self._buttons:
            button.removeEventFilter(self)
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = []
        self.hide()

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Handle keys on a button: move to a neighbor, choose, or cancel."""
        if not isinstance(a1, QKeyEvent) or a1.type() != QEvent.Type.KeyPress:
            return False
        at = next((i for i, button in enumerate(self._buttons) if button is a0), None)
        if at is None:
            return False
        key, count = a1.key(), len(self._buttons)
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Up):
            self._buttons[(at - 1) % count].setFocus(Qt.FocusReason.TabFocusReason)
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Down):
            self._buttons[(at + 1) % count].setFocus(Qt.FocusReason.TabFocusReason)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._buttons[at].click()
        elif key == Qt.Key.Key_Escape:
            self.given_up.emit()
        else:
            return False
        return True

    def _button(self, move: Move, white: bool) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("role", "button")
        name = chess_word(move.promotion).capitalize() if move.promotion else move.label or str(move.action)
        button.setObjectName(f"move_{move.action}")
        button.setAccessibleName(name)
        button.setToolTip(f"{name} ({move.label})" if move.label and move.label != name else name)
        if move.promotion.lower() in ("q", "r", "b", "n"):
            letter = move.promotion.upper() if white else move.promotion.lower()
            button.setProperty("role", "bare")  # No padding: the piece has all the room.
            button.setIcon(QIcon(self._picture(letter)))
            button.setIconSize(QSize(PIECE, PIECE))
            button.setFixedSize(PIECE + 2 * STEP, PIECE + 2 * STEP)
        else:
            button.setText(name)
        button.clicked.connect(partial(self.chosen.emit, move.action))
        button.installEventFilter(self)
        return button

    def _picture(self, piece: str) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(round(PIECE * ratio), round(PIECE * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(artwork.SQUARE_LIGHT if not piece.isupper() else artwork.SQUARE_DARK))
        painter.drawRoundedRect(QRectF(0, 0, PIECE, PIECE), STEP, STEP)
        paint_any_piece(painter, "chess", piece, QRectF(0, 0, PIECE, PIECE))
        painter.end()
        return picture
