"""Chess pieces as paths: no font and no picture file has to be there to see them.

Shapes are drawn in a square of 100 by 100 and written in the path language of SVG (the
commands M, L, C, Q and Z, absolute).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from gym_gui.ui.renderers import artwork

_FOOT: Final = (
    "M 22 88 L 22 84 Q 22 78 29 77 L 71 77 Q 78 78 78 84 L 78 88 Q 78 90 76 90 L 24 90 Q 22 90 22 88 Z"
)

_BODY: Final = {
    "p": (
        "M 50 20 C 59 20 65 27 65 35 C 65 40 62.5 44 59 46.5 L 64 49 Q 66 51 64 53 L 58 54"
        " C 59 63 62 69 69 77 L 31 77 C 38 69 41 63 42 54 L 36 53 Q 34 51 36 49 L 41 46.5"
        " C 37.5 44 35 40 35 35 C 35 27 41 20 50 20 Z"
    ),
    "r": (
        "M 27 18 Q 27 16 29 16 L 37 16 Q 39 16 39 18 L 39 24 L 44.5 24 L 44.5 18 Q 44.5 16 46.5 16"
        " L 53.5 16 Q 55.5 16 55.5 18 L 55.5 24 L 61 24 L 61 18 Q 61 16 63 16 L 71 16 Q 73 16 73 18"
        " L 73 34 Q 73 36 71.5 37 L 65 42 C 65 56 66 66 71 77 L 29 77 C 34 66 35 56 35 42"
        " L 28.5 37 Q 27 36 27 34 Z"
    ),
    "n": (
        "M 43 11 Q 45 9 47 11.5 L 51 18 C 66 20 77 34 76.5 56 Q 76 68 72 77 L 32 77"
        " C 31.5 66 36 60 43.5 53.5 C 47 50.5 48 47.5 47.5 44.5 C 43.5 49 38.5 49.5 34 51.5"
        " C 31.5 52.7 30.5 56.3 27.5 57.3 C 22.5 58.8 17.5 54 19.5 48.5 C 22.5 41.5 27 36 30 29.5"
        " C 31.5 26 35 22.5 39.5 20.5 Z"
    ),
    "b": (
        "M 50 9 C 54 9 57 12 57 15.5 C 57 18 55.7 20 54 21.2 C 62 26 69.5 34.5 69.5 43.5"
        " C 69.5 49.5 66 54.5 60.5 57.5 L 65.5 60 Q 67.5 62 65.5 64 L 59.5 65.5 C 61 70.5 64 74 70 77"
        " L 30 77 C 36 74 39 70.5 40.5 65.5 L 34.5 64 Q 32.5 62 34.5 60 L 39.5 57.5"
        " C 34 54.5 30.5 49.5 30.5 43.5 C 30.5 34.5 38 26 46 21.2 C 44.3 20 43 18 43 15.5"
        " C 43 12 46 9 50 9 Z"
    ),
    "q": (
        "M 26 77 C 30 70 31.5 65 31 60 L 15.5 33 Q 14.8 30.8 17 31.2 L 31.5 43.5 L 30.8 21.5"
        " Q 31.3 19.5 33.2 20.8 L 43.5 39.5 L 48.5 16 Q 50 13.5 51.5 16 L 56.5 39.5 L 66.8 20.8"
        " Q 68.7 19.5 69.2 21.5 L 68.5 43.5 L 83 31.2 Q 85.2 30.8 84.5 33 L 69 60"
        " C 68.5 65 70 70 74 77 Z"
    ),
    "k": (
        "M 45.8 7 L 54.2 7 L 54.2 13 L 60.5 13 L 60.5 21 L 54.2 21 L 54.2 28.7 C 57 29.5 59.5 32.5 60 36.5"
        " C 69 30.5 83 34.5 83 46.5 C 83 55 76 60.5 70 66.5 C 70 70.5 71.5 74 74 77 L 26 77"
        " C 28.5 74 30 70.5 30 66.5 C 24 60.5 17 55 17 46.5 C 17 34.5 31 30.5 40 36.5"
        " C 40.5 32.5 43 29.5 45.8 28.7 L 45.8 21 L 39.5 21 L 39.5 13 L 45.8 13 Z"
    ),
}
_LINES: Final = {
    "p": "M 41 54 L 59 54",
    "r": "M 35 42 L 65 42 M 33.5 67.5 L 66.5 67.5",
    "n": "M 56 28 C 65 34 68.5 45 67.5 60",
    "b": "M 50 31 L 50 45 M 43.5 38 L 56.5 38 M 40 65.5 L 60 65.5",
    "q": "M 31 60 Q 50 54.5 69 60 M 29.5 68.5 Q 50 63 70.5 68.5",
    "k": "M 30 66.5 Q 50 59.5 70 66.5 M 50 38 L 50 62",
}
_EYES: Final = {"n": (39.5, 31.5, 2.7)}
_PEARLS: Final = {"q": ((15.5, 29, 4.6), (32, 18, 4.6), (50, 12.5, 4.9), (68, 18, 4.6), (84.5, 29, 4.6))}


@dataclass(frozen=True, slots=True)
class PieceShape:
    """One piece: what is filled and outlined, and the lines upon it."""

    body: QPainterPath
    lines: QPainterPath
    dots: QPainterPath


@cache
def shape(letter: str) -> PieceShape:
    """The shape of ``k``, ``q``, ``r``, ``b``, ``n`` or ``p``; KeyError for another letter."""
    body = _path(_BODY[letter]).united(_path(_FOOT))
    for x, y, radius in _PEARLS.get(letter, ()):
        pearl = QPainterPath()
        pearl.addEllipse(QPointF(x, y), radius, radius)
        body = body.united(pearl)
    dots = QPainterPath()
    if letter in _EYES:
        x, y, radius = _EYES[letter]
        dots.addEllipse(QPointF(x, y), radius, radius)
    lines = _path(_LINES[letter])
    lines.addPath(_path("M 28.5 77 L 71.5 77"))
    return PieceShape(body.simplified(), lines, dots)


def paint_piece(painter: QPainter, piece: str, square: QRectF) -> None:
    """Paint a FEN letter (capitals are white) into a square."""
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


def _pen(colour: QColor, width: float) -> QPen:
    return QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)


def _path(text: str) -> QPainterPath:
    """A path written in SVG's language."""
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
