"""Spacing and type of the window, and its colors: those of :mod:`gym_gui.core.drawing.colors`, light or
dark.

A widget that paints itself asks :func:`current` when it paints; everything else is done by
the style sheet (:mod:`gym_gui.ui.style_sheet`) and the palette. Changing the theme restyles
the application, which repaints every widget.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import asdict, fields
from importlib import resources
from typing import Final

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PyQt6.QtWidgets import QApplication

from gym_gui.core import enums
from gym_gui.core.drawing import colors
from gym_gui.core.drawing.colors import DARK, LIGHT, Tokens
from gym_gui.ui.style_sheet import style_sheet

PAGE: Final = 16
"""Margin of a page, in pixels."""
GAP: Final = 12
"""Between cards."""
ROW: Final = 8
"""Inside a row."""
STEP: Final = 4
"""What every distance is a multiple of."""
RADIUS_PANEL: Final = 10
RADIUS_CONTROL: Final = 7
CONTROL_HEIGHT: Final = 30
RAIL_WIDTH: Final = 72
BAR_HEIGHT: Final = 44
STATUS_HEIGHT: Final = 28
INSPECTOR_WIDTH: Final = 300
ICON: Final = 18

TEXT_PX: Final = 13
SECTION_PX: Final = 12
SMALL_PX: Final = 11


def kind_color(kind: str) -> QColor:
    """The color of a kind of agent; that of a baseline for a kind that is not known."""
    return QColor(colors.KIND_COLORS.get(kind.lower(), colors.KIND_COLORS["baseline"]))


def kind_word(kind: str) -> str:
    """What a badge says for a kind of agent."""
    word = enums.kind_word(kind.lower()) or "agent"
    return word[0].upper() + word[1:]


def luminance(color: QColor | str) -> float:
    """Relative luminance as WCAG 2 defines it, 0 to 1."""
    return colors.luminance(QColor(color).name())


def contrast(one: QColor | str, other: QColor | str) -> float:
    """WCAG contrast of two colors, 1 to 21; text needs 4.5."""
    return colors.contrast(QColor(one).name(), QColor(other).name())


def fill_for_white(color: QColor) -> QColor:
    """The color, darkened just enough for white text on it to be readable (4.5)."""
    result = QColor(color)
    while contrast(result, "#ffffff") < 4.5:
        result = result.darker(104)
    return result


def text_on(background: QColor | str, color: QColor) -> QColor:
    """The color, shifted just enough to be readable as text on the background (4.5)."""
    result = QColor(color)
    lighten = luminance(QColor(background)) < 0.2
    for _ in range(40):
        if contrast(result, background) >= 4.5:
            break
        hue, saturation, lightness, alpha = result.getHslF()
        lightness = min(1.0, lightness + 0.02) if lighten else max(0.0, lightness - 0.02)
        result = QColor.fromHslF(max(hue, 0.0), saturation, lightness, alpha)
    return result


class Theme(QObject):
    """Which tokens are in force; follows the system until told otherwise.

    Args:
        mode: ``system``, ``light`` or ``dark``.
        parent: Qt owner.
    """

    changed = pyqtSignal()

    def __init__(self, mode: str = "system", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._mode = mode
        self._scaling = "auto"
        self._tokens = self._wanted()
        hints = QGuiApplication.styleHints()
        if hints is not None:
            hints.colorSchemeChanged.connect(self._on_system_scheme_changed)

    @property
    def tokens(self) -> Tokens:
        """The colors in force."""
        return self._tokens

    @property
    def dark(self) -> bool:
        """Whether they are the dark ones."""
        return self._tokens is DARK

    @property
    def scaling(self) -> str:
        """How frames are brought to size: ``auto``, ``sharp`` or ``smooth``."""
        return self._scaling

    def set_scaling(self, scaling: str) -> None:
        """Bring frames to size another way."""
        if scaling != self._scaling:
            self._scaling = scaling
            self.changed.emit()

    @property
    def mode(self) -> str:
        """What was asked for."""
        return self._mode

    def set_mode(self, mode: str) -> None:
        """Follow the system, or stay light or dark."""
        self._mode = mode
        self._follow()

    def apply(self) -> None:
        """Style the whole application with these tokens and emit ``changed``."""
        global _current
        _current = self
        app = QApplication.instance()
        if isinstance(app, QApplication):
            # From one sheet to the next, Qt walks down from every widget, and polishes each once for each it
            # lies in: ten times on average. With none in between it walks over all of them twice.
            app.setStyleSheet("")
            # In this order: a new palette first would have every widget polished twice.
            app.setStyleSheet(style_sheet(asdict(self._tokens), dark=self.dark))
            app.setPalette(_palette(self._tokens))
        self.changed.emit()

    def color(self, token: str) -> QColor:
        """A token by its name."""
        return QColor(getattr(self._tokens, token))

    def _wanted(self) -> Tokens:
        dark = self._mode == "dark" or (self._mode == "system" and _system_is_dark())
        return DARK if dark else LIGHT

    def _follow(self) -> None:
        tokens = self._wanted()
        if tokens is not self._tokens:
            self._tokens = tokens
            self.apply()

    def _on_system_scheme_changed(self) -> None:
        self._follow()


_current: Theme | None = None


def current() -> Theme:
    """The theme in force; a light one where none was made (a widget on its own, in a test)."""
    global _current
    if _current is None:
        _current = Theme("light")
    return _current


def token_names() -> tuple[str, ...]:
    """Names of all tokens."""
    return tuple(field.name for field in fields(Tokens))


def use_fonts(app: QApplication, family: str = "Inter") -> None:
    """A family where it is there, else the system's; 13 px, tabular digits.

    To be called before the first text is laid out, or the font that the program brings is not seen.
    """
    _bring_inter()
    font = QFont(app.font())
    if family in QFontDatabase.families():
        font.setFamily(family)
    font.setPixelSize(TEXT_PX)
    app.setFont(tabular(font))


def _bring_inter() -> None:
    """Tell fontconfig of the package's Inter; without package or fontconfig, the system's fonts do.

    Not ``QFontDatabase.addApplicationFont``: of a variable font that knows the regular weight alone.
    """
    try:
        folder = resources.files("fontpkg_inter") / "files"
        fontconfig = ctypes.CDLL("libfontconfig.so.1")
    except (ModuleNotFoundError, OSError):
        return
    fontconfig.FcConfigAppFontAddDir(None, os.fsencode(str(folder)))


def tabular(font: QFont) -> QFont:
    """The font with digits of one width, so that figures do not dance, and every letter as it is written.

    Inter draws the x of ``8x8`` as a multiplication sign, and ``->`` as an arrow: who types an id or an
    option as it looks would not type what it is.
    """
    result = QFont(font)
    set_feature = getattr(result, "setFeature", None)
    if set_feature is not None:  # Qt 6.7
        set_feature(QFont.Tag(b"tnum"), 1)
        set_feature(QFont.Tag(b"calt"), 0)
    return result


def font(pixels: int = TEXT_PX, *, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The window's font at another size or weight, for widgets that paint themselves."""
    result = QFont(QApplication.font())
    result.setPixelSize(pixels)
    result.setWeight(weight)
    return result


def mono_font(pixels: int = TEXT_PX) -> QFont:
    """The system's fixed-width font."""
    result = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    result.setPixelSize(pixels)
    return result


def _system_is_dark() -> bool:
    hints = QGuiApplication.styleHints()
    return hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark


def _palette(tokens: Tokens) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for name, color in {
        role.Window: tokens.window,
        role.WindowText: tokens.text,
        role.Base: tokens.panel,
        role.AlternateBase: tokens.window,
        role.Text: tokens.text,
        role.Button: tokens.raised,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.on_accent,
        role.Highlight: tokens.accent,
        role.HighlightedText: tokens.on_accent,
        role.ToolTipBase: tokens.text,
        role.ToolTipText: tokens.panel,
        role.PlaceholderText: tokens.muted,
        role.Link: tokens.accent,
        role.LinkVisited: tokens.accent,
        role.Mid: tokens.line,
        role.Midlight: tokens.line,
        role.Dark: tokens.muted,
        role.Light: tokens.panel,
        role.Shadow: tokens.line,
    }.items():
        palette.setColor(name, QColor(color))
    disabled = QPalette.ColorGroup.Disabled
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(disabled, name, QColor(tokens.faint))
    return palette
