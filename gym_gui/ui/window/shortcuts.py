"""The sheet of all shortcuts (Shift+F1), made from the registered commands."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QKeyEvent, QKeySequence
from PyQt6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.commands import CommandRegistry
from gym_gui.ui.widgets.badges import KeyCap
from gym_gui.ui.widgets.buttons import QuietButton
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.labels import label, section_label, title_label
from gym_gui.ui.widgets.scrolling import scroll_over

_EVERYWHERE = (
    ("Alt", "Show the menus"),
    ("Tab", "Move to the next control"),
    ("Space", "Press the button that has the focus"),
    ("Esc", "Close the topmost dialog, menu or message"),
)


class ShortcutSheet(Dialog):
    """Lists every shortcut that works now, in groups; the window stays usable."""

    def __init__(self, commands: CommandRegistry, parent: QWidget) -> None:
        super().__init__("shortcut-sheet", "Shortcuts", parent)
        self.setModal(False)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.PAGE)
        self._grid.setVerticalSpacing(theme.ROW)
        self._grid.setColumnStretch(0, 1)
        for title, rows in _groups(commands):
            self._add(title, rows)
        self._add("Everywhere", _EVERYWHERE)
        content = QWidget()
        content.setProperty("role", "scrolled")
        content.setLayout(self._grid)
        scroll = scroll_over(content, called="Shortcuts")
        head = QHBoxLayout()
        head.addWidget(title_label("Shortcuts"))
        head.addStretch(1)
        head.addWidget(QuietButton("Close", name="close-shortcuts", on_click=self.close))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.PAGE, theme.PAGE, theme.PAGE, theme.PAGE)
        layout.addLayout(head)
        layout.addWidget(scroll, 1)
        self.resize(460, 560)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Close the sheet on Shift+F1, which also opens it."""
        if (
            a0 is not None
            and a0.key() == Qt.Key.Key_F1
            and a0.modifiers() & Qt.KeyboardModifier.ShiftModifier
        ):
            self.close()
            return
        super().keyPressEvent(a0)

    def _add(self, title: str, rows: tuple[tuple[str, str], ...]) -> None:
        row = self._grid.rowCount()
        if row > 1:
            self._grid.setRowMinimumHeight(row, theme.ROW)
            row += 1
        self._grid.addWidget(section_label(title), row, 0, 1, 2)
        for number, (keys, words) in enumerate(rows):
            self._grid.addWidget(label(words), row + 1 + number, 0)
            self._grid.addWidget(KeyCap(keys), row + 1 + number, 1, Qt.AlignmentFlag.AlignRight)


def _groups(registry: CommandRegistry) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for command in registry.all():
        if shortcut := registry.shortcut(command):
            keys = QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)
            title = "Go to" if command.id.startswith("go.") else command.menu or "More"
            groups.setdefault(title, []).append((keys, command.title))
    return [(title, tuple(rows)) for title, rows in groups.items()]
