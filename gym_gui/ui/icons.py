"""Icons of one set (Phosphor, from the package qtawesome) in the theme's colors.

The font file is read without importing the package, because the import loads every icon set, which takes too
long at the start.
"""

from __future__ import annotations

import json
import logging
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QPoint, QRect, QSize, Qt
from PyQt6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPixmap

from gym_gui.ui import theme

_log = logging.getLogger(__name__)

NAMES: Final = {
    "home": "house",
    "play": "play",
    "operators": "squares-four",
    "agents": "sliders-horizontal",
    "train": "chart-line",
    "results": "chart-bar-horizontal",
    "settings": "gear-six",
    "search": "magnifying-glass",
    "dark": "moon",
    "light": "sun",
    "run": "play-fill",
    "pause": "pause-fill",
    "stop": "stop-fill",
    "step": "skip-forward",
    "restart": "arrow-counter-clockwise",
    "seed": "arrows-clockwise",
    "record": "record-fill",
    "add": "plus",
    "remove": "trash",
    "close": "x",
    "more": "dots-three",
    "down": "caret-down",
    "up": "caret-up",
    "left": "caret-left",
    "right": "caret-right",
    "open": "folder-open",
    "file": "file-text",
    "export": "export",
    "save": "floppy-disk",
    "copy": "copy",
    "undo": "arrow-u-up-left",
    "redo": "arrow-u-up-right",
    "info": "info",
    "warning": "warning",
    "error": "warning-circle",
    "ok": "check-circle",
    "check": "check",
    "keyboard": "keyboard",
    "mouse": "mouse-simple",
    "link": "link",
    "lock": "lock-simple",
    "eye": "eye",
    "help": "question",
    "log": "terminal-window",
    "transcript": "chat-text",
    "trophy": "trophy",
    "video": "film-strip",
    "filter": "funnel",
    "star": "star",
    "starred": "star-fill",
    "clock": "clock",
    "menu": "list",
    "pin": "push-pin",
    "pinned": "push-pin-fill",
    "expand": "arrows-out",
    "apart": "arrow-square-out",
    "back_in": "arrow-square-in",
    "shrink": "arrows-in",
    "robot": "robot",
    "person": "user",
}
"""Phosphor's icon name by this program's name; :func:`icon` accepts both."""


def icon(name: str, color: str = "") -> QIcon:
    """Return an icon whose color follows the theme.

    Args:
        name: A key of :data:`NAMES`, or a name of Phosphor's.
        color: Color token; empty for ``muted``, or ``accent`` in a checked control.
    """
    return QIcon(_IconEngine(_glyph(NAMES.get(name, name)), color))


class _IconEngine(QIconEngine):
    """Paints one glyph in a color of the active theme."""

    def __init__(self, glyph: str, color: str) -> None:
        super().__init__()
        self._glyph = glyph
        self._color = color

    def paint(self, painter: QPainter | None, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Draw the glyph into a rectangle."""
        if painter is None or not self._glyph:
            return
        side = min(rect.width(), rect.height())
        # The glyph is at the left of a wide rectangle; the rest is space between icon and text.
        square = QRect(rect.left(), rect.top() + (rect.height() - side) // 2, side, side)
        painter.save()
        painter.setFont(_font(side))
        painter.setPen(self._pen(mode, state))
        painter.drawText(square, Qt.AlignmentFlag.AlignCenter, self._glyph)
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return the icon as a pixmap, for callers that cannot paint it."""
        result = QPixmap(size)
        result.fill(Qt.GlobalColor.transparent)
        painter = QPainter(result)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return result

    def clone(self) -> QIconEngine:
        """Return a copy of the icon engine."""
        return _IconEngine(self._glyph, self._color)

    def _pen(self, mode: QIcon.Mode, state: QIcon.State) -> QColor:
        current = theme.current()
        if mode == QIcon.Mode.Disabled:
            return current.color("faint")
        if self._color:
            return current.color(self._color)
        return current.color("accent" if state == QIcon.State.On else "muted")


@cache
def _charmap() -> dict[str, str]:
    folder = _font_folder()
    path = next(iter(sorted(folder.glob("phosphor-charmap-*.json"))), None) if folder else None
    if path is None:
        _log.warning("no icons: the qtawesome package is not installed. Run: mosaic install gui")
        return {}
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def _family() -> str:
    folder = _font_folder()
    path = next(iter(sorted(folder.glob("phosphor-[0-9]*.ttf"))), None) if folder else None
    number = QFontDatabase.addApplicationFont(str(path)) if path else -1
    families = QFontDatabase.applicationFontFamilies(number) if number >= 0 else []
    return families[0] if families else ""


def _font_folder() -> Path | None:
    spec = find_spec("qtawesome")
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) / "fonts" if places else None


def _glyph(name: str) -> str:
    code = _charmap().get(name, "")
    if not code and _charmap():
        _log.warning("there is no icon %r", name)
    return chr(int(code, 16)) if code else ""


def _font(pixels: int) -> QFont:
    font = QFont(_family())
    font.setPixelSize(max(pixels, 1))
    return font
