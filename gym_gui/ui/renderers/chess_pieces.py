"""Chess pieces painted as vector paths, which need no font and no picture file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from gym_gui.core.drawing import artwork
from gym_gui.core.drawing.chess_shapes import BODY, EYES, FOOT, LINES, PEARLS, RULE


@dataclass(frozen=True, slots=True)
class PieceShape:
    """Vector paths of one chess piece: ``body`` is filled and outlined, ``lines`` and ``dots`` are painted
    over it.
    """

    body: QPainterPath
    lines: QPainterPath
    dots: QPainterPath


@cache
def shape(letter: str) -> PieceShape:
    """Return the vector shape of the chess piece ``k``, ``q``, ``r``, ``b``, ``n`` or ``p``.

    Raises:
        KeyError: ``letter`` is another letter.
    """
    body = _path(BODY[letter]).united(_path(FOOT))
    for x, y, radius in PEARLS.get(letter, ()):
        pearl = QPainterPath()
        pearl.addEllipse(QPointF(x, y), radius, radius)
        body = body.united(pearl)
    dots = QPainterPath()
    if letter in EYES:
        x, y, radius = EYES[letter]
        dots.addEllipse(QPointF(x, y), radius, radius)
    lines = _path(LINES[letter])
    lines.addPath(_path(RULE))
    return PieceShape(body.simplified(), lines, dots)


def paint_piece(painter: QPainter, piece: str, square: QRectF) -> None:
    """Paint a chess piece into a square; ``piece`` is a FEN letter, a capital for White."""
    form = shape(piece.lower())
    white = piece.isupper()
    fill = QColor(artwork.IVORY if white else artwork.EBONY)
    edge = QColor(artwork.IVORY_EDGE if white else artwork.EBONY_EDGE)
    detail = QColor(artwork.IVORY_EDGE if white else artwork.EBONY_DETAIL)
    scale = square.width() / 100
    place = QTransform.fromTranslate(square.left(), square.top()).scale(scale, scale)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setTransform(place, True)
    painter.setPen(_pen(edge, 4.2))
    painter.setBrush(fill)
    painter.drawPath(form.body)
    painter.setPen(_pen(detail, 3.2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(form.lines)
    painter.fillPath(form.dots, detail)
    painter.restore()


def _pen(color: QColor, width: float) -> QPen:
    return QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)


def _path(text: str) -> QPainterPath:
    """Return the path for a string in SVG path syntax."""
    path, words, at = QPainterPath(), text.split(), 0
    counts = {"M": 1, "L": 1, "Q": 2, "C": 3, "Z": 0}
    while at < len(words):
        command = words[at]
        values = [float(word) for word in words[at + 1 : at + 1 + 2 * counts[command]]]
        at += 1 + len(values)
        points = [QPointF(values[i], values[i + 1]) for i in range(0, len(values), 2)]
        match command:
            case "M":
                path.moveTo(points[0])
            case "L":
                path.lineTo(points[0])
            case "Q":
                path.quadTo(points[0], points[1])
            case "C":
                path.cubicTo(points[0], points[1], points[2])
            case _:
                path.closeSubpath()
    return path
