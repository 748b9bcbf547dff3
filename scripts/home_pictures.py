"""Draws the small pictures the window carries: the control marks and the cards of the Home page.

The cards show real positions: each environment is played for a few steps with a fixed seed and
rendered at twice the size at which it is shown. Run it after a change of an environment's looks:
``python scripts/home_pictures.py``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PyQt6.QtCore import QPointF, QRectF, QSizeF, Qt
from PyQt6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPen, QPolygonF

from gym_gui.ui.style_sheet import ASSETS
from gym_gui.ui.theme import DARK, LIGHT, kind_colour

_MARKS = {
    "caret-down": [(0.12, 0.32), (0.5, 0.7), (0.88, 0.32)],
    "caret-up": [(0.12, 0.68), (0.5, 0.3), (0.88, 0.68)],
    "check": [(0.18, 0.52), (0.42, 0.76), (0.84, 0.26)],
}
_MARK_PX = 12


def draw_marks(folder: Path) -> None:
    """Carets and ticks in both themes, at one and two pixels per point."""
    for shade, tokens in (("light", LIGHT), ("dark", DARK)):
        for mark, points in _MARKS.items():
            colour = tokens.on_accent if mark == "check" else tokens.muted
            for scale, suffix in ((1, ""), (2, "@2x")):
                _mark(points, colour, _MARK_PX * scale).save(str(folder / f"{mark}-{shade}{suffix}.png"))


def _mark(points: list[tuple[float, float]], colour: str, size: int) -> QImage:
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(QColor(colour), size / 7.5)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.drawPolyline(QPolygonF([QPointF(x * size, y * size) for x, y in points]))
    painter.end()
    return image


def draw_logo(path: Path, size: int = 256) -> None:
    """The program's icon: four seats, four kinds."""
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    side, step = size * 0.44, size * 0.5
    for i, kind in enumerate(("rl", "llm", "human", "bdi")):
        painter.setBrush(kind_colour(kind))
        corner = QPointF(size * 0.03 + step * (i % 2), size * 0.03 + step * (i // 2))
        painter.drawRoundedRect(QRectF(corner, QSizeF(side, side)), size * 0.1, size * 0.1)
    painter.end()
    image.save(str(path))


def main() -> int:
    """Draw everything into the package."""
    app = QGuiApplication(sys.argv)
    ASSETS.mkdir(exist_ok=True)
    draw_marks(ASSETS)
    draw_logo(ASSETS / "logo.png")
    del app
    return 0


if __name__ == "__main__":
    sys.exit(main())
