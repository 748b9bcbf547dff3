"""Read-only form rows, each with a name and a value."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence
from PyQt6.QtWidgets import QApplication, QLabel, QMenu, QSizePolicy, QWidget

from gym_gui.ui.widgets.form import LABEL_WIDTH, FormRows
from gym_gui.ui.widgets.labels import ElidedLabel


class FactRows(FormRows):
    """Form rows of names and selectable values; a row with an empty value is hidden.

    Args:
        prefix: Start of each value's ``objectName``, followed by the name of its row; ``""`` sets no names.
        cut: Names of rows whose values, such as paths, stay on one line and are shortened in the middle.
        label_width: Width of the names, in pixels; longer names wrap.
        parent: Qt owner.
    """

    def __init__(
        self,
        prefix: str = "",
        *,
        cut: Collection[str] = (),
        label_width: int = LABEL_WIDTH,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(label_width=label_width, parent=parent)
        self._prefix, self._cut = prefix, cut
        self._values: dict[str, QLabel] = {}

    @property
    def texts(self) -> dict[str, str]:
        """Non-empty values by the names of their rows."""
        return {name: _whole(value.text()) for name, value in self._values.items() if value.text()}

    def show_facts(self, facts: Mapping[str, str]) -> None:
        """Show names and values in the given order; a value that has not changed keeps its text selection."""
        if list(facts) != list(self._values):
            self.clear()
            self._values = {name: self._add(name) for name in facts}
        for name, value in self._values.items():
            text = facts[name] if name in self._cut else _breakable(facts[name])
            if value.text() != text:
                value.setText(text)
            self.set_row_visible(value, bool(text))

    def _add(self, name: str) -> QLabel:
        value = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle) if name in self._cut else _Value()
        if self._prefix:
            value.setObjectName(f"{self._prefix}{name.lower().replace(' ', '-')}")
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.add_row(name, value)
        # Align the first line of a name with the first line of its value, however many lines follow.
        self.align_label(value, Qt.AlignmentFlag.AlignTop)
        value.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        value.setMinimumWidth(1)  # A word that is too long is cut, so that the column keeps its width.
        return value


class _Value(QLabel):
    """Label that may wrap a value within a path or an id; copied text has no break characters."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    def keyPressEvent(self, ev: QKeyEvent | None) -> None:
        if ev is not None and ev.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        else:
            super().keyPressEvent(ev)

    def contextMenuEvent(self, ev: QContextMenuEvent | None) -> None:
        """Open a menu that copies the selected text, or the whole value if nothing is selected."""
        if ev is not None:
            menu = QMenu(self)
            menu.addAction("Copy", self._copy)
            menu.exec(ev.globalPos())
            menu.deleteLater()

    def _copy(self) -> None:
        if (clipboard := QApplication.clipboard()) is not None:
            clipboard.setText(_whole(self.selectedText() or self.text()))


_BREAK = "\u200b"


def _breakable(text: str) -> str:
    """Insert invisible break characters after ``,``, ``/`` and ``_``, so that lists, paths and ids can wrap.

    A text that begins with a digit is not changed.
    """
    return text if text[:1].isdigit() else re.sub("([,/_])", f"\\1{_BREAK}", text)


def _whole(text: str) -> str:
    return text.replace(_BREAK, "")
