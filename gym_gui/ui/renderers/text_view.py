"""Widget that shows an environment's terminal text with its colors, in the largest font that fits."""

from __future__ import annotations

from functools import partial
from typing import Final

from PyQt6.QtCore import QRect, Qt
from PyQt6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
)
from PyQt6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from gym_gui.core.drawing import artwork
from gym_gui.ui import theme as themes
from gym_gui.ui.renderers.ansi import Style, parse
from gym_gui.ui.renderers.surface import SMALLEST, Surface
from gym_gui.ui.theme import STEP, Theme

SMALLEST_PX: Final = 11
LARGEST_PX: Final = 30
MARGIN: Final = 3 * STEP


class _Screen(QPlainTextEdit):
    """Read-only text that the user can select, copy and scroll."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("environmentText")
        self.setAccessibleName("Text of the environment")
        self.setToolTip(
            "Text output of the environment. Select text with the mouse or the keyboard to copy it."
        )
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        document = self.document()
        if document is not None:
            document.setDocumentMargin(0)


class TextView(Surface):
    """Widget that shows monospaced, colored text in its center.

    The font shrinks to a readable size before lines wrap. A text selection stays until the text changes.

    Args:
        theme: Color theme.
        parent: Qt owner.
        backdrop: Theme token of the color behind the rounded corners.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, backdrop: str = "panel") -> None:
        super().__init__(theme, parent, backdrop=backdrop)
        self.setObjectName("textView")
        self._text = ""
        self._pixels = SMALLEST_PX
        self._screen = _Screen(self)
        self._screen.hide()
        self.setFocusProxy(self._screen)
        self.set_hint("No text yet", "The text appears with the first step.")
        self._apply_style()

    def text(self) -> str:
        """Return the shown text, without colors."""
        return self._screen.toPlainText()

    def show_text(self, text: str) -> None:
        """Show a text in place of the previous one; an equal text keeps the selection."""
        if text == self._text:
            return
        self._text = text
        runs = parse(text.strip("\n"))
        document = self._screen.document()
        self._screen.clear()
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        for run in runs:
            cursor.insertText(run.text, self._format(run.style))
        cursor.endEditBlock()
        self._screen.setVisible(bool(text))
        self._fit()
        self.update()

    def clear(self) -> None:
        """Remove the text and show the hint."""
        self.show_text("")

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Fit the font size to the new size of the widget."""
        super().resizeEvent(a0)
        self._fit()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint the background and the corners; the inner text widget paints the text."""
        painter = QPainter(self)
        self.paint_ground(painter)
        if not self._text:
            self.paint_hint(painter)
        self.paint_corners(painter)

    def _fit(self) -> None:
        """Choose the font size and center the text."""
        lines = self._screen.toPlainText().split("\n")
        room = self.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        unit = QFontMetricsF(themes.mono_font(100))
        widest = max((unit.horizontalAdvance(line) for line in lines), default=0.0) / 100
        tall = unit.lineSpacing() * len(lines) / 100
        pixels = int(min(room.width() / max(widest, 0.1), room.height() / max(tall, 0.1), LARGEST_PX))
        wraps = pixels < SMALLEST_PX
        font = themes.mono_font(max(pixels, SMALLEST_PX))
        if font.pixelSize() != self._pixels:
            self._pixels = font.pixelSize()
            self._apply_style()
        mode = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere if wraps else QTextOption.WrapMode.NoWrap
        self._screen.setWordWrapMode(mode)
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if wraps else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self._screen.setVerticalScrollBarPolicy(policy)
        self._screen.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._screen.setGeometry(room if wraps else self._centered(room, font, lines))

    def _centered(self, room: QRect, font: QFont, lines: list[str]) -> QRect:
        metrics = QFontMetricsF(font)
        # The document rounds each line up to whole pixels; the slack keeps it from scrolling.
        width = min(room.width(), int(max(metrics.horizontalAdvance(line) for line in lines)) + MARGIN)
        height = min(room.height(), (int(metrics.lineSpacing()) + 2) * len(lines) + STEP)
        box = QRect(0, 0, max(width, SMALLEST.width() // 4), height)
        box.moveCenter(room.center())
        return box

    def _format(self, style: Style) -> QTextCharFormat:
        look = QTextCharFormat()
        fore = _color(style.foreground, style.bold)
        back = _color(style.background, False)
        if style.inverse:
            usual, stage = self.theme.color("stage_text"), self.theme.color("stage")
            fore, back = back or stage, fore or usual
        elif fore is None and back is not None:
            # The default light letters are unreadable on a bright background.
            inks = [self.theme.color(name) for name in ("stage", "stage_text")]
            fore = max(inks, key=partial(themes.contrast, back))
        if fore is not None:
            look.setForeground(fore)
        if back is not None:
            look.setBackground(back)
        if style.bold:
            look.setFontWeight(QFont.Weight.Bold)
        look.setFontUnderline(style.underline)
        look.setFontItalic(style.italic)
        return look

    def _apply_style(self) -> None:
        """Set the style sheet of the text widget, since the window's style sheet would override its font
        and colors.
        """
        stage, text, accent = (self.theme.color(name).name() for name in ("stage", "stage_text", "accent"))
        family = QFontInfo(themes.mono_font()).family()
        self._screen.setStyleSheet(
            f"QPlainTextEdit {{ background: {stage}; color: {text}; border: none; padding: 0;"
            f' font-family: "{family}"; font-size: {self._pixels}px;'
            f" selection-background-color: {accent}; }}"
        )

    def _on_theme_changed(self) -> None:
        super()._on_theme_changed()
        self._apply_style()
        again, self._text = self._text, ""
        self.show_text(again)


def _color(value: int | str | None, bold: bool) -> QColor | None:
    if value is None:
        return None
    if isinstance(value, int):
        # Terminals show bold text in the bright half of their colors.
        return QColor(artwork.ANSI[value + 8 if bold and value < 8 else value])
    return QColor(value)
