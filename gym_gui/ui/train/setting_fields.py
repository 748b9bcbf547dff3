"""One field per setting of a training: a line, a list or a tick, made from its JSON Schema."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from PyQt6.QtCore import QSignalBlocker, pyqtSignal
from PyQt6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QSizePolicy, QWidget

from gym_gui.ui.agents.setting_controls import SteadyComboBox
from gym_gui.ui.train.run_words import setting_in_words
from gym_gui.ui.widgets.card import restyle

NONE_WORDS: Final = ("", "none", "null")


class FieldError(ValueError):
    """What stands in a field is no value of its kind; the message says what would be."""


class SettingField(QWidget):
    """Base of all fields.

    Args:
        name: The setting's.
        schema: Its part of the JSON Schema.
        control: What is seen.
        parent: Qt owner.
    """

    changed = pyqtSignal()

    def __init__(
        self, name: str, schema: Mapping[str, Any], control: QWidget, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.name, self.schema = name, schema
        self.control = control
        self.title = str(schema.get("title", name.replace("_", " ").capitalize()))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(control, 1)
        control.setObjectName(f"train-setting-{name}")
        control.setAccessibleName(self.title)
        control.setToolTip(_tip(name, schema))
        control.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(control)

    @property
    def default(self) -> Any:
        """What holds where nothing is set."""
        return self.schema.get("default")

    @property
    def main(self) -> bool:
        """Whether it is one of the few that are shown first."""
        return self.schema.get("x-group") == "main"

    def value(self) -> Any:
        """What stands in it.

        Raises:
            FieldError: No value of its kind.
        """
        raise NotImplementedError

    def set_value(self, value: Any) -> None:
        """Show a value without telling anybody."""
        raise NotImplementedError

    def set_wrong(self, wrong: bool) -> None:
        """Mark it, or not."""
        if (self.control.property("invalid") == "true") != wrong:
            self.control.setProperty("invalid", "true" if wrong else "false")
            restyle(self.control)

    def _on_edited(self, *_: object) -> None:
        self.changed.emit()


class LineField(SettingField):
    """A number (``3e-4``, ``500,000``), a text, or a list of numbers (``64, 64``)."""

    def __init__(self, name: str, schema: Mapping[str, Any], parent: QWidget | None = None) -> None:
        self.line = QLineEdit()
        super().__init__(name, schema, self.line, parent)
        self._kinds = kinds_of(schema)
        self.set_value(self.default)
        self.line.textEdited.connect(self._on_edited)

    def value(self) -> Any:
        return read_value(self.line.text(), self._kinds)

    def set_value(self, value: Any) -> None:
        text = setting_in_words(value)
        if self.line.text() != text:
            self.line.setText(text)
            self.line.setCursorPosition(0)


class ChoiceField(SettingField):
    """One of some words."""

    def __init__(self, name: str, schema: Mapping[str, Any], parent: QWidget | None = None) -> None:
        self.box = SteadyComboBox()
        super().__init__(name, schema, self.box, parent)
        for value in schema["enum"]:
            self.box.addItem(setting_in_words(value), value)
        self.set_value(self.default)
        self.box.activated.connect(self._on_edited)

    def value(self) -> Any:
        return self.box.currentData()

    def set_value(self, value: Any) -> None:
        place = self.box.findData(value)
        if place < 0 and value is not None:
            # Shown as it stands, so that whoever wrote it sees it named as wrong.
            self.box.addItem(setting_in_words(value), value)
            place = self.box.count() - 1
        self.box.setCurrentIndex(place)


class FlagField(SettingField):
    """Yes or no."""

    def __init__(self, name: str, schema: Mapping[str, Any], parent: QWidget | None = None) -> None:
        self.box = QCheckBox()
        super().__init__(name, schema, self.box, parent)
        self.set_value(self.default)
        self.box.toggled.connect(self._on_edited)

    def value(self) -> Any:
        return self.box.isChecked()

    def set_value(self, value: Any) -> None:
        with QSignalBlocker(self.box):
            self.box.setChecked(bool(value))


def field_for(name: str, schema: Mapping[str, Any], parent: QWidget | None = None) -> SettingField:
    """The field of a setting."""
    if "enum" in schema:
        return ChoiceField(name, schema, parent)
    if kinds_of(schema) == ("boolean",):
        return FlagField(name, schema, parent)
    return LineField(name, schema, parent)


def kinds_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Its JSON types."""
    kinds = schema.get("type", "string")
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


def read_value(text: str, kinds: tuple[str, ...]) -> Any:
    """A value from what somebody typed.

    Raises:
        FieldError: It is none of these kinds.
    """
    written = text.strip()
    if "null" in kinds and written.lower() in NONE_WORDS:
        return None
    if "array" in kinds:
        return _read_list(written)
    if "integer" in kinds or "number" in kinds:
        return _read_number(written, whole="number" not in kinds)
    return written


def _read_number(written: str, *, whole: bool) -> int | float:
    plain = written.replace(",", "").replace("_", "").replace("\N{MINUS SIGN}", "-").replace(" ", "")
    try:
        number = float(plain)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or not plain:
        raise FieldError("A whole number, like 500,000." if whole else "A number, like 0.001 or 3e-4.")
    if whole and number != int(number):
        raise FieldError("A whole number, like 500,000.")
    if number == int(number) and abs(number) < 2**53 and (whole or plain.lstrip("-").isdigit()):
        return int(number)
    return number


def _read_list(written: str) -> list[Any]:
    inner = written.strip("[]()")
    if not inner:
        return []
    try:
        read = json.loads(f"[{inner}]")
    except ValueError:
        raise FieldError("Numbers between commas, like 64, 64.") from None
    return list(read)


def _tip(name: str, schema: Mapping[str, Any]) -> str:
    default = setting_in_words(schema.get("default"))
    text = str(schema.get("description", "")).strip()
    limits = _limits(schema)
    parts = [text if not text or text.endswith(".") else f"{text}.", f"Default: {default}."]
    if limits:
        parts.append(f"{limits}.")
    return " ".join(part for part in [*parts, f"({name})"] if part)


def _limits(schema: Mapping[str, Any]) -> str:
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    high, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    lower = f"from {setting_in_words(low)}" if low is not None else ""
    lower = f"above {setting_in_words(above)}" if above is not None else lower
    upper = f"to {setting_in_words(high)}" if high is not None else ""
    upper = f"below {setting_in_words(below)}" if below is not None else upper
    words = " ".join(part for part in (lower, upper) if part)
    return words[:1].upper() + words[1:]
