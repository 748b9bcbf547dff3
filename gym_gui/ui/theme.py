"""Spacing, fonts and the light or dark colors of the window.

The colors come from :mod:`gym_gui.core.drawing.colors`. A widget that paints itself calls :func:`current`
when it paints; the style sheet (:mod:`gym_gui.ui.style_sheet`) and the palette do the rest. A change of theme
restyles the application, which repaints every widget.
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
"""Distance between cards, in pixels."""
ROW: Final = 8
"""Distance inside a row, in pixels."""
STEP: Final = 4
"""Base distance in pixels, of which every distance is a multiple."""
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
    """Return the color of a kind of agent; an unknown kind gets the color of ``baseline``."""
    return QColor(colors.KIND_COLORS.get(kind.lower(), colors.KIND_COLORS["baseline"]))


def kind_word(kind: str) -> str:
    """Return the word for a kind of agent on a badge."""
    word = enums.kind_word(kind.lower()) or "agent"
    return word[0].upper() + word[1:]


def luminance(color: QColor | str) -> float:
    """Return the relative luminance of a color as WCAG 2 defines it, from 0 to 1."""
    return colors.luminance(QColor(color).name())


def contrast(one: QColor | str, other: QColor | str) -> float:
    """Return the WCAG contrast of two colors, from 1 to 21; readable text needs 4.5."""
    return colors.contrast(QColor(one).name(), QColor(other).name())


def fill_for_white(color: QColor) -> QColor:
    """Return a color, darkened until white text on it is readable (contrast 4.5)."""
    result = QColor(color)
    while contrast(result, "#ffffff") < 4.5:
        result = result.darker(104)
    return result


def text_on(background: QColor | str, color: QColor) -> QColor:
    """Return a color, lightened or darkened until it is readable as text on a background (contrast 4.5)."""
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
    """The active color tokens; mode ``system`` follows the system's color scheme.

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
        """The active color tokens."""
        return self._tokens

    @property
    def dark(self) -> bool:
        """Whether the dark colors are active."""
        return self._tokens is DARK

    @property
    def scaling(self) -> str:
        """How frames are scaled: ``auto``, ``sharp`` or ``smooth``."""
        return self._scaling

    def set_scaling(self, scaling: str) -> None:
        """Set how frames are scaled: ``auto``, ``sharp`` or ``smooth``."""
        if scaling != self._scaling:
            self._scaling = scaling
            self.changed.emit()

    @property
    def mode(self) -> str:
        """The chosen mode: ``system``, ``light`` or ``dark``."""
        return self._mode

    def set_mode(self, mode: str) -> None:
        """Set the mode: ``system``, ``light`` or ``dark``."""
        self._mode = mode
        self._update_tokens()

    def apply(self) -> None:
        """Style the whole application with the active colors, and emit ``changed``."""
        global _current
        _current = self
        app = QApplication.instance()
        if isinstance(app, QApplication):
            # Changing from one sheet to another, Qt descends from every widget and polishes each widget
            # once for each of its ancestors: ten times on average. With an empty sheet in between it
            # visits all widgets only twice, and passes over those that are not polished the first time.
            polished = [widget for widget in app.allWidgets() if widget.testAttribute(_POLISHED)]
            for widget in polished:
                widget.setAttribute(_POLISHED, False)
            app.setStyleSheet("")
            for widget in polished:
                widget.setAttribute(_POLISHED)
            # The order matters: with the new palette first, every widget would be polished twice.
            app.setStyleSheet(style_sheet(asdict(self._tokens), dark=self.dark))
            app.setPalette(_palette(self._tokens))
        self.changed.emit()

    def color(self, token: str) -> QColor:
        """Return the color of a token, by the token's name."""
        return QColor(getattr(self._tokens, token))

    def _wanted(self) -> Tokens:
        dark = self._mode == "dark" or (self._mode == "system" and _system_is_dark())
        return DARK if dark else LIGHT

    def _update_tokens(self) -> None:
        tokens = self._wanted()
        if tokens is not self._tokens:
            self._tokens = tokens
            self.apply()

    def _on_system_scheme_changed(self) -> None:
        self._update_tokens()


_POLISHED: Final = Qt.WidgetAttribute.WA_WState_Polished
_current: Theme | None = None


def current() -> Theme:
    """Return the active theme; a light one if none was created, as in tests of single widgets."""
    global _current
    if _current is None:
        _current = Theme("light")
    return _current


def token_names() -> tuple[str, ...]:
    """Return the names of all color tokens."""
    return tuple(field.name for field in fields(Tokens))


def use_fonts(app: QApplication, family: str = "Inter") -> None:
    """Set the application's font to a family, or to the system's font if the family is not installed.

    The size is 13 px, with digits of equal width. Call this before the first text is laid out, because Qt
    otherwise does not find the bundled font.
    """
    _register_inter()
    font = QFont(app.font())
    if family in QFontDatabase.families():
        font.setFamily(family)
    font.setPixelSize(TEXT_PX)
    app.setFont(tabular(font))


def _register_inter() -> None:
    """Register the bundled Inter font with fontconfig, if both are available.

    ``QFontDatabase.addApplicationFont`` is not used, because it knows only the regular weight of a variable
    font.
    """
    try:
        folder = resources.files("fontpkg_inter") / "files"
        fontconfig = ctypes.CDLL("libfontconfig.so.1")
    except (ModuleNotFoundError, OSError):
        return
    fontconfig.FcConfigAppFontAddDir(None, os.fsencode(str(folder)))


def tabular(font: QFont) -> QFont:
    """Return the font with digits of equal width and without contextual alternates.

    With contextual alternates, Inter draws the x of ``8x8`` as a multiplication sign and ``->`` as an arrow,
    so that people would type ids and options wrongly.
    """
    result = QFont(font)
    set_feature = getattr(result, "setFeature", None)
    if set_feature is not None:  # Qt 6.7
        set_feature(QFont.Tag(b"tnum"), 1)
        set_feature(QFont.Tag(b"calt"), 0)
    return result


def font(pixels: int = TEXT_PX, *, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the window's font at a size and weight, for widgets that paint their text."""
    result = QFont(QApplication.font())
    result.setPixelSize(pixels)
    result.setWeight(weight)
    return result


def mono_font(pixels: int = TEXT_PX) -> QFont:
    """Return the system's fixed-width font at a size in pixels."""
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
