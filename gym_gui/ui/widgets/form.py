"""Form with rows of a label at the left and a control at the right."""

from __future__ import annotations

from typing import TypeVar

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QAbstractScrollArea, QGridLayout, QLabel, QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets.labels import muted_label
from gym_gui.ui.widgets.layouts import empty

_W = TypeVar("_W", bound=QWidget)


_TEXT_TOP = 7
"""Distance from the top of a multi-line field to its first line of text, in pixels."""
LABEL_WIDTH = 92
"""Default width of a form's labels, in pixels; longer labels wrap."""


def all_settings(count: int) -> str:
    """Return the text of a link that opens the full form with ``count`` settings."""
    return "All settings…" if count == 1 else f"All {count} settings…"


class FormRows(QWidget):
    """Form with a column of labels and a column of controls.

    Args:
        label_width: Width of the labels, in pixels; longer labels wrap.
        parent: Qt owner.
    """

    def __init__(self, *, label_width: int = LABEL_WIDTH, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.ROW)
        self._grid.setVerticalSpacing(theme.ROW)
        self._grid.setColumnStretch(1, 1)
        self._label_width = label_width
        self._labels: dict[QWidget, QLabel] = {}

    def add_row(self, text: str, control: _W, *, tooltip: str = "") -> _W:
        """Add a control with its label and return the control.

        The label becomes the control's accessible name and buddy; both get the tooltip.
        """
        label = muted_label(text, wrap=True)
        label.setFixedWidth(self._label_width)
        label.setBuddy(control)
        if isinstance(control, QAbstractScrollArea):
            label.setContentsMargins(0, _TEXT_TOP, 0, 0)
        row = self._grid.rowCount()
        top = control.sizeHint().height() > 2 * theme.CONTROL_HEIGHT
        align = Qt.AlignmentFlag.AlignTop if top else Qt.AlignmentFlag.AlignVCenter
        self._grid.addWidget(label, row, 0, align)
        fixed = control.sizePolicy().horizontalPolicy() == QSizePolicy.Policy.Maximum
        # A control of fixed width must not keep its column from growing.
        self._grid.addWidget(control, row, 1, Qt.AlignmentFlag.AlignLeft if fixed else Qt.AlignmentFlag(0))
        if not control.accessibleName():
            control.setAccessibleName(text)
        if tooltip:
            label.setToolTip(tooltip)
            if not control.toolTip():
                control.setToolTip(tooltip)
        policy = control.sizePolicy()
        if policy.horizontalPolicy() == QSizePolicy.Policy.Preferred:
            policy.setHorizontalPolicy(QSizePolicy.Policy.Expanding)
            control.setSizePolicy(policy)
        control.setMinimumWidth(0)
        self._labels[control] = label
        return control

    def add_wide(self, widget: _W) -> _W:
        """Add a widget that spans both columns, and return the widget."""
        self._grid.addWidget(widget, self._grid.rowCount(), 0, 1, 2)
        return widget

    def set_row_visible(self, control: QWidget, visible: bool) -> None:
        """Show or hide a control together with its label."""
        control.setVisible(visible)
        label = self._labels.get(control)
        if label is not None:
            label.setVisible(visible)

    def align_label(self, control: QWidget, align: Qt.AlignmentFlag) -> None:
        """Align the label of a control vertically, for example with ``AlignTop``."""
        if (label := self._labels.get(control)) is not None:
            self._grid.setAlignment(label, align)

    def clear(self) -> None:
        """Remove and delete all rows."""
        self._labels.clear()
        empty(self._grid)
