"""A form for actions that no key can express, for any action space."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QWidget,
)

from gym_gui.controllers.human.human_input import ActionBounds
from gym_gui.ui.numbers import local
from gym_gui.ui.widgets import FormRows, InlineMessage, QuietButton
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.number_fields import IntegerField, NumberField

_MOST: Final = 12
"""Largest number of components that each get a field; larger actions are typed as JSON."""
_UNBOUNDED_LIMIT: Final = 1e6


class ActionForm(QWidget):
    """Form with fields for one action, and a button that plays it.

    Args:
        parent: Qt parent.
    """

    submitted = pyqtSignal(object)
    """Emits the action as plain JSON data."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("action-form")
        self._read: Callable[[], Any] | None = None
        self._rows = FormRows(label_width=72, parent=self)
        self.message = InlineMessage("warning", "")
        self.message.hide()
        self.play = QuietButton(
            "Play this action",
            name="play-action",
            tooltip="Play the action in the fields",
            on_click=self._on_play,
        )
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.play)
        layout = column_layout(self)
        layout.addWidget(self._rows)
        layout.addWidget(self.message)
        layout.addLayout(foot)

    def set_space(self, space: Mapping[str, Any]) -> None:
        """Show fields for an action space.

        Args:
          space: The space as JSON data.
        """
        self._rows.clear()
        self.message.hide()
        self._read = self._fields(space, "Action")

    def set_asked(self, asked: bool) -> None:
        """Enable the button if a person is asked for an action."""
        self.play.setEnabled(asked)

    def value(self) -> Any:
        """Return the action in the fields as plain JSON data, or ``None`` without a space.

        Raises:
            ValueError: A JSON field contains invalid JSON.
        """
        return None if self._read is None else self._read()

    def _on_play(self) -> None:
        try:
            action = self.value()
        except ValueError as error:
            self.message.set_text(f"{error}. Write numbers, lists and texts as JSON, such as [0, 1].")
            self.message.show()
            return
        self.message.hide()
        if action is not None:
            self.submitted.emit(action)

    # -- fields by kind of space -----------------------------------------------------

    def _fields(self, space: Mapping[str, Any], label: str) -> Callable[[], Any]:
        kind = space["kind"]
        if kind == "Discrete":
            first = int(space.get("start", 0))
            return self._integer_row(label, first, first + int(space["n"]) - 1).value
        if kind == "Box" and ActionBounds.read(space).size <= _MOST:
            return self._box(ActionBounds.read(space), label)
        if kind == "MultiDiscrete" and _flat_list(space["nvec"]) and len(space["nvec"]) <= _MOST:
            return self._several(space, label)
        if kind == "MultiBinary" and len(space["shape"]) == 1 and space["shape"][0] <= _MOST:
            return self._switches(int(space["shape"][0]), label)
        if kind == "Text":
            return self._line(label, "Text of the action").text
        if kind in ("Dict", "Tuple"):
            return self._part_fields(space)
        return self._json(label, kind)

    def _integer_row(self, label: str, low: int, high: int) -> IntegerField:
        spin = IntegerField(self)
        spin.setRange(low, high)
        spin.setObjectName(f"action-{label.lower().replace(' ', '-')}")
        return self._rows.add_row(label, spin, tooltip=f"A whole number from {low} to {high}")

    def _box(self, box: ActionBounds, label: str) -> Callable[[], Any]:
        spins: list[NumberField] = []
        for i, (low, high) in enumerate(zip(box.low, box.high, strict=True)):
            spin = NumberField(self)
            least, most = (v if math.isfinite(v) else math.copysign(_UNBOUNDED_LIMIT, v) for v in (low, high))
            spin.setRange(least, most)
            spin.setDecimals(6)
            spin.setSingleStep(min((most - least) / 20, 1.0))
            spin.setValue(min(max(0.0, least), most))
            name = label if box.size == 1 else f"{label} {i + 1}"
            spin.setObjectName(f"action-{name.lower().replace(' ', '-')}")
            spins.append(self._rows.add_row(name, spin, tooltip=f"From {local(least):g} to {local(most):g}"))
        return lambda: box.action([spin.value() for spin in spins])

    def _several(self, space: Mapping[str, Any], label: str) -> Callable[[], Any]:
        starts = space.get("start", 0)
        firsts = starts if isinstance(starts, list) else [starts] * len(space["nvec"])
        spins = [
            self._integer_row(f"{label} {i + 1}", int(first), int(first) + int(n) - 1)
            for i, (first, n) in enumerate(zip(firsts, space["nvec"], strict=True))
        ]
        return lambda: [spin.value() for spin in spins]

    def _switches(self, count: int, label: str) -> Callable[[], Any]:
        boxes = [self._rows.add_row(f"{label} {i + 1}", QCheckBox("on", self)) for i in range(count)]
        return lambda: [int(box.isChecked()) for box in boxes]

    def _part_fields(self, space: Mapping[str, Any]) -> Callable[[], Any]:
        if space["kind"] == "Dict":
            named = {key: self._fields(child, str(key)) for key, child in space["spaces"]}
            return lambda: {key: read() for key, read in named.items()}
        listed = [self._fields(child, f"Part {i + 1}") for i, child in enumerate(space["spaces"])]
        return lambda: [read() for read in listed]

    def _line(self, label: str, hint: str) -> QLineEdit:
        line = QLineEdit(self)
        line.setPlaceholderText(hint)
        line.setObjectName(f"action-{label.lower().replace(' ', '-')}")
        return self._rows.add_row(label, line, tooltip=hint)

    def _json(self, label: str, kind: str) -> Callable[[], Any]:
        line = self._line(label, f"JSON of a {kind} action")

        def read() -> Any:
            try:
                return json.loads(line.text())
            except ValueError as error:
                raise ValueError(f"“{line.text()}” is not valid JSON ({error})") from error

        return read


def _flat_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, int) for part in value)
