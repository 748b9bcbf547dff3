"""Small marks: the kind of an agent, a state, or a key."""

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
    """Return the font for the text of pill-shaped badges."""
    return theme.font(theme.SMALL_PX, weight=QFont.Weight.DemiBold)


def pill_width(word: str) -> int:
    """Return the width of a pill-shaped badge with the given text, in pixels."""
    return QFontMetrics(badge_font()).horizontalAdvance(word) + 16


def pills_width(words: Sequence[str]) -> int:
    """Return the total width of pill-shaped badges with the given texts, with a gap after each, in pixels."""
    return sum(pill_width(word) + PILL_GAP for word in words)


def badges_width(kinds: Sequence[str]) -> int:
    """Return the total width of badges for the given kinds of agents, in pixels."""
    return pills_width(list(map(theme.kind_word, kinds)))


def words_in(room: float, words: Sequence[str]) -> tuple[int, str]:
    """Return how many pill-shaped badges fit side by side, and a text such as ``+2`` that counts the rest.

    The text is ``""`` if all badges fit.

    Args:
        room: Available width, in pixels.
        words: Texts of the badges, in order.
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
    """Draw badges for kinds of agents from the left of a rectangle, in the kinds' colors or in ``color``.

    If some badges do not fit, a last badge shows their number.
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
    """Pill-shaped badge that shows the kind of an agent (``rl``, ``llm``, …) in the kind's color."""

    def __init__(self, kind: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = ""
        self._color: QColor | None = None
        self.setObjectName("kind-badge")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_kind(kind)

    @property
    def kind(self) -> str:
        """Kind of agent that the badge shows, such as ``rl``."""
        return self._kind

    def set_kind(self, kind: str, everybody: str = "") -> None:
        """Show another kind of agent.

        Args:
            kind: Kind of agent, such as ``rl``.
            everybody: Tooltip with the kind of each slot, one per line.
        """
        self._kind = kind
        slots = everybody.replace("\n", ", ")
        self.setAccessibleName(f"Kind: {theme.kind_word(kind)}" + (f" ({slots})" if slots else ""))
        self.setToolTip(everybody or _KIND_TIPS.get(kind.lower(), ""))
        self.updateGeometry()
        self.update()

    def set_color(self, color: QColor) -> None:
        """Replace the kind's color, so that several badges of one kind can be distinguished."""
        self._color = color
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size that fits the text of the badge."""
        return QSize(pill_width(theme.kind_word(self._kind)), BADGE_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return the size that fits the text of the badge, which is never cut."""
        return self.sizeHint()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the badge."""
        paint_badges(QPainter(self), self.rect(), [self._kind], self._color)


_KIND_TIPS = {
    "llm": "A language model decides",
    "vlm": "A vision language model decides",
    "rl": "A trained policy decides",
    "human": "A person decides",
    "baseline": "A fixed rule decides",
    "bdi": "A program with beliefs, goals and plans decides",
    "planner": "A search or planning algorithm decides",
}


class Dot(QWidget):
    """Colored dot, 8 px wide; the color is a theme token (``ok``, ``warning``, …) or any other color."""

    def __init__(self, color: str | QColor = "muted", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._color: str | QColor = color
        self.setFixedSize(10, 10)

    def set_color(self, color: str | QColor) -> None:
        """Change the color to a theme token or any color."""
        if color != self._color:
            self._color = color
            self.update()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the dot."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        known = isinstance(self._color, str) and self._color in theme.token_names()
        painter.setBrush(theme.current().color(str(self._color)) if known else QColor(self._color))
        painter.drawEllipse(QRectF(1, 1, 8, 8))


_DOT_SPACING = 6


class StatusDot(QWidget):
    """Colored dot with a word beside it, so that no state is shown by color alone.

    Args:
        state: Theme token of the dot's color: ``ok``, ``warning``, ``error``, ``accent`` or ``muted``.
        text: Word for the state.
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
        """Word for the state, shown beside the dot."""
        return self._label.text()

    @property
    def whole_width(self) -> int:
        """Width of the dot with its word, in pixels."""
        return self._dot.width() + _DOT_SPACING + self._label.sizeHint().width()

    def set_word_shown(self, shown: bool) -> None:
        """Show the word beside the dot, or hide it and use it as the dot's tooltip."""
        self._label.setVisible(shown)
        self._dot.setToolTip("" if shown else self.text)

    def set_state(self, state: str, text: str) -> None:
        """Change the color and the word of the state."""
        self._dot.set_color(state)
        if text != self._label.text():
            self._label.setText(text)
            if self._label.isHidden():
                self._dot.setToolTip(text)
        self.setAccessibleName(text)


_KEY_SIGNS = {"Up": "↑", "Down": "↓", "Left": "←", "Right": "→", "Return": "Enter"}


class KeyCap(QWidget):
    """Picture of keyboard keys: ``"Ctrl+N"`` appears as ``Ctrl N``, and arrow keys appear as arrows."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    @property
    def text(self) -> str:
        """Text that is drawn on the key."""
        return self._text

    def set_text(self, text: str) -> None:
        """Change the key, such as ``"Ctrl+N"``."""
        self._text = " ".join(_KEY_SIGNS.get(part, part) for part in text.split("+")) if text != "+" else "+"
        self.setAccessibleName(f"Key {text}")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size that fits the key's text."""
        return QSize(keycap_width(self._text), 18)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the key."""
        paint_keycap(QPainter(self), self.rect(), self._text, enabled=self.isEnabled())
