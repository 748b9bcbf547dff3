"""Small marks: the kind of an agent, a state, a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PyQt6.QtCore import QRect, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PyQt6.QtWidgets import QLabel, QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets.buttons import keycap_width, paint_keycap
from gym_gui.ui.widgets.layouts import row_layout

BADGE_HEIGHT: Final = 19
PILL_GAP: Final = 4


def badge_font() -> QFont:
    """Of words in pills."""
    return theme.font(theme.SMALL_PX, weight=QFont.Weight.DemiBold)


def pill_width(word: str) -> int:
    """Of a pill with a word in it."""
    return QFontMetrics(badge_font()).horizontalAdvance(word) + 16


def pills_width(words: Sequence[str]) -> int:
    """Room that pills of these words take, and a gap behind each."""
    return sum(pill_width(word) + PILL_GAP for word in words)


def badges_width(kinds: Sequence[str]) -> int:
    """Room that badges of these kinds take."""
    return pills_width(list(map(theme.kind_word, kinds)))


def words_in(room: float, words: Sequence[str]) -> tuple[int, str]:
    """How many words of pills fit beside one another, and the word that counts those that do not.

    Args:
        room: Pixels.
        words: In order.
    """
    if pills_width(words) - PILL_GAP <= room:
        return len(words), ""
    shown = len(words) - 1
    while shown and pills_width([*words[:shown], f"+{len(words) - shown}"]) - PILL_GAP > room:
        shown -= 1
    return shown, f"+{len(words) - shown}"


def paint_badges(
    painter: QPainter, rect: QRect, kinds: Sequence[str], color: QColor | str | None = None
) -> None:
    """Draw the pills of these kinds from the left of a rectangle, in their colors or in this one.

    Of those that have no room there, one says how many they are.
    """
    area = QRectF(rect)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setClipRect(area)
    painter.setFont(badge_font())
    words = list(map(theme.kind_word, kinds))
    shown, rest = words_in(area.width(), words)
    fills = [QColor(color) if color else theme.kind_color(kind) for kind in kinds[:shown]]
    pills = list(zip(words, fills, strict=False))
    if rest:
        pills.append((rest, theme.current().color("muted")))
    at = area.left()
    for word, fill in pills:
        pill = QRectF(at, area.center().y() - BADGE_HEIGHT / 2, pill_width(word), BADGE_HEIGHT)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.fill_for_white(fill))
        painter.drawRoundedRect(pill, BADGE_HEIGHT / 2, BADGE_HEIGHT / 2)
        painter.setPen(QColor("white"))
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, word)
        at += pill.width() + PILL_GAP


class KindBadge(QWidget):
    """A pill with the word of a kind of agent (``rl``, ``llm``, …) in its color."""

    def __init__(self, kind: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = ""
        self._color: QColor | None = None
        self.setObjectName("kind-badge")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_kind(kind)

    @property
    def kind(self) -> str:
        """The kind it shows."""
        return self._kind

    def set_kind(self, kind: str, everybody: str = "") -> None:
        """Show another kind.

        Args:
            kind: The kind.
            everybody: Who decides, a line for each, where they are several.
        """
        self._kind = kind
        told = everybody.replace("\n", ", ")
        self.setAccessibleName(f"Kind: {theme.kind_word(kind)}" + (f" ({told})" if told else ""))
        self.setToolTip(everybody or _KIND_TIPS.get(kind.lower(), ""))
        self.updateGeometry()
        self.update()

    def set_color(self, color: QColor) -> None:
        """Take a color of its own, where several of a kind are told apart."""
        self._color = color
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as its word."""
        return QSize(pill_width(theme.kind_word(self._kind)), BADGE_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Its word is never cut."""
        return self.sizeHint()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the pill."""
        paint_badges(QPainter(self), self.rect(), [self._kind], self._color)


_KIND_TIPS = {
    "llm": "A language model decides",
    "vlm": "A language model that sees the picture decides",
    "rl": "A trained policy decides",
    "human": "A person decides",
    "baseline": "A fixed rule decides",
    "bdi": "A program with beliefs, goals and plans decides",
    "planner": "A search or a plan made anew for each action decides",
}


class Dot(QWidget):
    """A colored dot, 8 px; of a token (``ok``, ``warning``, …) or of any color."""

    def __init__(self, color: str | QColor = "muted", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._color: str | QColor = color
        self.setFixedSize(10, 10)

    def set_color(self, color: str | QColor) -> None:
        """Take another token or color."""
        if color != self._color:
            self._color = color
            self.update()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        known = isinstance(self._color, str) and self._color in theme.token_names()
        painter.setBrush(theme.current().color(str(self._color)) if known else QColor(self._color))
        painter.drawEllipse(QRectF(1, 1, 8, 8))


_DOT_SPACING = 6


class StatusDot(QWidget):
    """A dot with its word, so that the color never stands alone.

    Args:
        state: A token: ``ok``, ``warning``, ``error``, ``accent``, ``muted``.
        text: The word.
        parent: Qt owner.
    """

    def __init__(self, state: str = "muted", text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dot = Dot(state, self)
        self._label = QLabel(text, self)
        self._label.setObjectName("status-words")
        self._label.setProperty("role", "muted")
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        layout = row_layout(self, spacing=_DOT_SPACING)
        layout.addWidget(self._dot)
        layout.addWidget(self._label)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.set_state(state, text)

    @property
    def text(self) -> str:
        """The word."""
        return self._label.text()

    @property
    def whole_width(self) -> int:
        """Room for the dot and its word."""
        return self._dot.width() + _DOT_SPACING + self._label.sizeHint().width()

    def set_word_shown(self, shown: bool) -> None:
        """Where there is no room for all of the word, the dot's tooltip has it."""
        self._label.setVisible(shown)
        self._dot.setToolTip("" if shown else self.text)

    def set_state(self, state: str, text: str) -> None:
        """Show another state."""
        self._dot.set_color(state)
        if text != self._label.text():
            self._label.setText(text)
            if self._label.isHidden():
                self._dot.setToolTip(text)
        self.setAccessibleName(text)


_KEY_SIGNS = {"Up": "↑", "Down": "↓", "Left": "←", "Right": "→", "Return": "Enter"}


class KeyCap(QWidget):
    """A key, drawn as a key. ``"Ctrl+N"`` is shown as written, arrows as arrows."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    @property
    def text(self) -> str:
        """What is drawn."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show another key."""
        self._text = " ".join(_KEY_SIGNS.get(part, part) for part in text.split("+")) if text != "+" else "+"
        self.setAccessibleName(f"Key {text}")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as its text."""
        return QSize(keycap_width(self._text), 18)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw it."""
        paint_keycap(QPainter(self), self.rect(), self._text, enabled=self.isEnabled())
