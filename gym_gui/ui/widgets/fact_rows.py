"""What is known of something, a name and its value in each row."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence
from PyQt6.QtWidgets import QApplication, QLabel, QMenu, QSizePolicy, QWidget

from gym_gui.ui.widgets.form import LABEL_WIDTH, FormRows
from gym_gui.ui.widgets.labels import ElidedLabel


class FactRows(FormRows):
    """Rows that are read, and copied from; what has no value has no row.

    Args:
        prefix: Before a name, the ``objectName`` of its value; ``""``: values have none.
        cut: Names of values that stay on one line, as paths do, their middle left out.
        label_width: Width of the names; longer ones wrap.
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
        """Values by their names, of those that have one."""
        return {name: _whole(value.text()) for name, value in self._values.items() if value.text()}

    def show_facts(self, facts: Mapping[str, str]) -> None:
        """Show these, in their order; what stays as it was keeps what is selected in it."""
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
        # The first line of a name and that of its value stand beside each other, however many there are.
        self.align_label(value, Qt.AlignmentFlag.AlignTop)
        value.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        value.setMinimumWidth(1)  # a word that is too long is cut, the column stays as wide as it is
        return value


class _Value(QLabel):
    """Wraps also within a path or an id, and is copied without what makes it do so."""

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
        """Copy what is selected, else all of it."""
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
    """Lists, paths and ids, which have no spaces, may break where their parts end; numbers do not."""
    return text if text[:1].isdigit() else re.sub("([,/_])", f"\\1{_BREAK}", text)


def _whole(text: str) -> str:
    return text.replace(_BREAK, "")
