"""Painting functions for each board game: background, pieces and marks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QFont, QImage, QPainter, QPainterPath, QPen, QRadialGradient

from gym_gui.controllers.human.square_names import column_label, row_label
from gym_gui.core.drawing import artwork
from gym_gui.core.live import Board
from gym_gui.ui import theme as themes
from gym_gui.ui.renderers.board_geometry import LABELED, BoardGeometry
from gym_gui.ui.renderers.chess_pieces import paint_piece

Square = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks that are painted over a board position.

    Attributes:
        selected: Square of the selected piece.
        targets: Squares to which the selected piece may move.
        ghost: Square and letter of a piece that a click would place; painted half transparent.
        cursor: Square of the keyboard cursor.
        lifted: Square of the piece that is being dragged; the piece is not painted on that square.
    """

    selected: Square | None = None
    targets: frozenset[Square] = field(default_factory=frozenset)
    ghost: tuple[Square, str] | None = None
    cursor: Square | None = None
    lifted: Square | None = None


class Sprites:
    """Cache of piece images for one square size, so that a board is painted by copying images."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._images: dict[str, QImage] = {}

    def image(self, kind: str, piece: str, side: int, ratio: float) -> QImage:
        """Return the image of a piece on a transparent background, ``side`` logical pixels wide."""
        key = (kind, side, ratio)
        if key != self._key:
            self._key, self._images = key, {}
        image = self._images.get(piece)
        if image is None:
            pixels = max(1, math.ceil(side * ratio))
            image = QImage(pixels, pixels, QImage.Format.Format_ARGB32_Premultiplied)
            image.setDevicePixelRatio(ratio)
            image.fill(Qt.GlobalColor.transparent)
            painter = QPainter(image)
            paint_any_piece(painter, kind, piece, QRectF(0, 0, side, side))
            painter.end()
            self._images[piece] = image
        return image


def paint_board(
    painter: QPainter, board: Board, place: BoardGeometry, marks: Marks, text: QColor, sprites: Sprites
) -> None:
    """Paint a board position with its pieces and marks.

    Args:
        painter: Painter of the widget.
        board: The position.
        place: Geometry of the board's squares.
        marks: Marks to paint, such as the selected square and its targets.
        text: Color of the coordinates.
        sprites: Cache of piece images.
    """
    device = painter.device()
    ratio = device.devicePixelRatioF() if device is not None else 1.0
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _GROUNDS.get(board.kind, _checked)(painter, board, place)
    if board.kind in LABELED:
        _coordinates(painter, board, place, text)
    _last_move(painter, board, place)
    if marks.selected is not None and board.kind in ("chess", "checkers"):
        painter.fillRect(place.rect(marks.selected), _faded(artwork.CHOSEN, 0.55))
    for index, piece in enumerate(board.cells):
        square = divmod(index, board.columns)
        if piece and square != marks.lifted:
            image = sprites.image(board.kind, piece, place.side, ratio)
            painter.drawImage(place.rect(square).topLeft(), image)
    if board.kind == "connect_four":
        _rack(painter, place)
    if board.line:
        _line(painter, board, place)
    else:
        _last_ring(painter, board, place)
    if marks.ghost is not None:
        square, piece = marks.ghost
        painter.setOpacity(0.45)
        paint_any_piece(painter, board.kind, piece, place.rect(square))
        painter.setOpacity(1.0)
    for square in marks.targets:
        _target(painter, board, place, square)
    if marks.cursor is not None:
        _cursor(painter, place.rect(marks.cursor))


def paint_any_piece(painter: QPainter, kind: str, piece: str, square: QRectF) -> None:
    """Paint one piece of a board game into a square."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if kind == "chess" and piece.lower() in set("kqrbnp"):
        paint_piece(painter, piece, square)
    elif kind in _PIECES:
        _PIECES[kind](painter, piece, square)
    else:
        _letter(painter, piece, square)


def _faded(color: str, alpha: float) -> QColor:
    result = QColor(color)
    result.setAlphaF(alpha)
    return result


# -------------------------------------------------------------------------- board backgrounds


def _checked(painter: QPainter, board: Board, place: BoardGeometry) -> None:
    light, dark = QColor(artwork.SQUARE_LIGHT), QColor(artwork.SQUARE_DARK)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for row in range(board.rows):
        for column in range(board.columns):
            painter.fillRect(place.rect((row, column)), dark if (row + column) % 2 else light)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def _wood(painter: QPainter, board: Board, place: BoardGeometry) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(artwork.WOOD))
    painter.drawRoundedRect(place.squares(), themes.STEP, themes.STEP)
    line = QColor(artwork.WOOD_LINE)
    painter.setPen(QPen(line, max(1.0, place.side / 34)))
    last_row, last_column = board.rows - 1, board.columns - 1
    for row in range(board.rows):
        painter.drawLine(place.centre((row, 0)), place.centre((row, last_column)))
    for column in range(board.columns):
        painter.drawLine(place.centre((0, column)), place.centre((last_row, column)))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(line)
    radius = max(1.8, place.side * 0.09)
    for star in star_points(board.rows):
        painter.drawEllipse(place.centre(star), radius, radius)


def star_points(size: int) -> list[Square]:
    """Return the star points of a go board with ``size`` lines; empty for sizes without star points."""
    if size < 7 or size % 2 == 0:
        return []
    rim = 2 if size < 13 else 3
    middle = size // 2
    lines = (rim, middle, size - 1 - rim) if size >= 15 else (rim, size - 1 - rim)
    stars = [(row, column) for row in lines for column in lines]
    return stars if (middle, middle) in stars else [*stars, (middle, middle)]


def _hash_lines(painter: QPainter, board: Board, place: BoardGeometry) -> None:
    area = place.squares()
    pen = QPen(QColor(artwork.SLATE_LINE), max(2.0, place.side / 26))
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    inset = place.side * 0.08
    for i in range(1, board.columns):
        x = area.left() + i * place.side
        painter.drawLine(QPointF(x, area.top() + inset), QPointF(x, area.bottom() - inset))
    for i in range(1, board.rows):
        y = area.top() + i * place.side
        painter.drawLine(QPointF(area.left() + inset, y), QPointF(area.right() - inset, y))


def _slots(painter: QPainter, board: Board, place: BoardGeometry) -> None:
    """Paint the background of connect four, which is visible through empty holes of the rack."""
    painter.fillRect(place.squares(), QColor(artwork.HOLE))


def _rack(painter: QPainter, place: BoardGeometry) -> None:
    rim = max(3.0, place.side * 0.09)
    body = QPainterPath()
    body.addRoundedRect(place.squares().adjusted(-rim, -rim, rim, rim), 2.5 * rim, 2.5 * rim)
    holes = QPainterPath()
    radius = place.side * 0.4
    for row in range(place.rows):
        for column in range(place.columns):
            holes.addEllipse(place.centre((row, column)), radius, radius)
    painter.fillPath(body.subtracted(holes), QColor(artwork.RACK))
    painter.setPen(QPen(QColor(artwork.RACK_EDGE), max(1.5, place.side * 0.035)))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(holes)


_GROUNDS: Final[dict[str, Callable[[QPainter, Board, BoardGeometry], None]]] = {
    "go": _wood,
    "tic_tac_toe": _hash_lines,
    "connect_four": _slots,
}


# ------------------------------------------------------------------------------------- pieces


def _disc(painter: QPainter, piece: str, square: QRectF) -> None:
    """Paint a connect four disc; a ring (red) or dot (yellow) distinguishes the sides without color."""
    red = piece == "X"
    side = square.width()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(artwork.DISC_RED if red else artwork.DISC_YELLOW))
    painter.drawEllipse(square.center(), side * 0.41, side * 0.41)
    edge = QColor(artwork.DISC_RED_EDGE if red else artwork.DISC_YELLOW_EDGE)
    if red:
        painter.setPen(QPen(edge, max(1.2, side * 0.05)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(square.center(), side * 0.27, side * 0.27)
    else:
        painter.setBrush(edge)
        painter.drawEllipse(square.center(), side * 0.13, side * 0.13)


def _mark(painter: QPainter, piece: str, square: QRectF) -> None:
    side = square.width()
    box = square.adjusted(side * 0.24, side * 0.24, -side * 0.24, -side * 0.24)
    pen = QPen(QColor(artwork.CROSS if piece == "X" else artwork.NOUGHT), side * 0.11)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if piece == "X":
        painter.drawLine(box.topLeft(), box.bottomRight())
        painter.drawLine(box.topRight(), box.bottomLeft())
    else:
        painter.drawEllipse(box)


def _stone(painter: QPainter, piece: str, square: QRectF) -> None:
    radius = square.width() * 0.46
    bright, deep = artwork.STONE_BLACK if piece == "X" else artwork.STONE_WHITE
    light = QRadialGradient(square.center() - QPointF(radius * 0.35, radius * 0.4), radius * 1.3)
    light.setColorAt(0, QColor(bright))
    light.setColorAt(1, QColor(deep))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_faded("#000000", 0.22))
    painter.drawEllipse(square.center() + QPointF(0, radius * 0.09), radius, radius)
    painter.setBrush(light)
    painter.drawEllipse(square.center(), radius * 0.98, radius * 0.98)


def _man(painter: QPainter, piece: str, square: QRectF) -> None:
    """Paint a checkers piece; a king gets a crown."""
    red = piece.startswith("X")
    side, middle = square.width(), square.center()
    edge = QColor(artwork.MAN_RED_EDGE if red else artwork.IVORY_EDGE)
    painter.setPen(QPen(edge, max(1.2, side * 0.035)))
    painter.setBrush(edge)
    painter.drawEllipse(middle + QPointF(0, side * 0.045), side * 0.36, side * 0.36)
    painter.setBrush(QColor(artwork.MAN_RED if red else artwork.IVORY))
    painter.drawEllipse(middle, side * 0.36, side * 0.36)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if len(piece) > 1:
        painter.fillPath(_crown(square), QColor(artwork.IVORY) if red else edge)
    else:
        painter.setPen(QPen(edge, max(1.0, side * 0.025)))
        painter.drawEllipse(middle, side * 0.25, side * 0.25)


def _crown(square: QRectF) -> QPainterPath:
    side = square.width()
    path = QPainterPath()
    points = ((0.32, 0.62), (0.29, 0.4), (0.41, 0.5), (0.5, 0.34), (0.59, 0.5), (0.71, 0.4), (0.68, 0.62))
    for i, (x, y) in enumerate(points):
        at = QPointF(square.left() + x * side, square.top() + y * side)
        if i:
            path.lineTo(at)
        else:
            path.moveTo(at)
    path.closeSubpath()
    return path


def _letter(painter: QPainter, piece: str, square: QRectF) -> None:
    """Paint the letters of a piece on a disc, for games without piece shapes."""
    painter.setPen(QPen(QColor(artwork.IVORY_EDGE), 1.5))
    painter.setBrush(QColor(artwork.IVORY))
    painter.drawEllipse(square.center(), square.width() * 0.38, square.width() * 0.38)
    painter.setFont(themes.font(max(8, int(square.width() * 0.4)), weight=QFont.Weight.DemiBold))
    painter.drawText(square, Qt.AlignmentFlag.AlignCenter, piece)


_PIECES: Final[dict[str, Callable[[QPainter, str, QRectF], None]]] = {
    "connect_four": _disc,
    "tic_tac_toe": _mark,
    "go": _stone,
    "checkers": _man,
}


# -------------------------------------------------------------------------------------- marks


def _last_move(painter: QPainter, board: Board, place: BoardGeometry) -> None:
    """Highlight the squares of the last move below the pieces; not for go and connect four."""
    if board.kind in ("connect_four", "go"):
        return
    for square in board.last:
        area = place.rect(square)
        if board.kind == "tic_tac_toe":
            inset = place.side * 0.08
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(_faded(artwork.LAST_MOVE, 0.16))
            painter.drawRoundedRect(area.adjusted(inset, inset, -inset, -inset), 6, 6)
        else:
            painter.fillRect(area, _faded(artwork.LAST_MOVE, 0.5))


def _last_ring(painter: QPainter, board: Board, place: BoardGeometry) -> None:
    """Paint a ring on the piece of the last move in go and connect four, where pieces cover squares."""
    if board.kind not in ("connect_four", "go") or not board.last:
        return
    square = board.last[-1]
    if not (0 <= square[0] < board.rows and 0 <= square[1] < board.columns):
        return
    piece = board.cells[square[0] * board.columns + square[1]]
    share = 0.4 if board.kind == "connect_four" else 0.22
    color = artwork.IVORY if board.kind == "connect_four" or piece == "X" else artwork.EBONY_EDGE
    painter.setPen(QPen(QColor(color), max(2.0, place.side * 0.055)))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(place.centre(square), place.side * share, place.side * share)


def _line(painter: QPainter, board: Board, place: BoardGeometry) -> None:
    """Paint a dark and a bright ring on every piece of the winning line, visible on every color."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    width = max(2.0, place.side * 0.05)
    radius = place.side * 0.4
    for square in board.line:
        for color, inset in ((artwork.EBONY_EDGE, 0.0), (artwork.IVORY, width)):
            painter.setPen(QPen(QColor(color), width))
            painter.drawEllipse(place.centre(square), radius - inset, radius - inset)


def _target(painter: QPainter, board: Board, place: BoardGeometry, square: Square) -> None:
    """Paint a dot on an empty target square, or a ring around a piece that the move would capture."""
    occupied = bool(board.cells[square[0] * board.columns + square[1]])
    dark_ground = board.kind in ("tic_tac_toe", "connect_four")
    color = _faded(artwork.TARGET_ON_DARK if dark_ground else artwork.TARGET, 0.62)
    if occupied:
        painter.setPen(QPen(color, place.side * 0.075))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(place.centre(square), place.side * 0.45, place.side * 0.45)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(place.centre(square), place.side * 0.14, place.side * 0.14)


def _cursor(painter: QPainter, area: QRectF) -> None:
    """Paint the keyboard cursor as a dark and a bright line, visible on every background."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    width = max(2.0, area.width() * 0.05)
    for color, inset in ((artwork.EBONY_EDGE, width * 0.5), (artwork.TARGET_ON_DARK, width * 1.3)):
        painter.setPen(QPen(QColor(color), width))
        painter.drawRoundedRect(area.adjusted(inset, inset, -inset, -inset), width, width)


def _coordinates(painter: QPainter, board: Board, place: BoardGeometry, color: QColor) -> None:
    pixels = max(8, min(12, int(place.edge * 0.6)))
    painter.setFont(themes.font(pixels))
    painter.setPen(color)
    area = place.squares()
    rim = place.side * 0.09 if board.kind == "connect_four" else 0
    for column in range(board.columns):
        x = place.rect((0, column)).left()
        box = QRectF(x, area.bottom() + rim, place.side, place.edge - rim)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, column_label(board, column))
    for row in range(board.rows):
        y = place.rect((row, 0)).top()
        box = QRectF(area.left() - place.edge, y, place.edge, place.side)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, row_label(board, row))
