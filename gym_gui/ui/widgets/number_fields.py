"""Number fields that show and read numbers in the format of the user's locale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QSize, Qt
from PyQt6.QtGui import QValidator, QWheelEvent
from PyQt6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from gym_gui.ui.numbers import read, regrouped, screen, written

NARROW = 80
"""Preferred width of a number field, in pixels; a form makes the field wider."""
_TYPED = "+-\N{MINUS SIGN}.,'eE_"
"""Characters besides digits that may occur in numbers in every locale."""
_INTEGER = {"type": "integer"}
_NUMBER = {"type": "number"}

if TYPE_CHECKING:
    _Mixed = QAbstractSpinBox
else:
    _Mixed = object


class SteadyField(_Mixed):
    """Base class of number fields in which the mouse wheel changes the value only if the field has the focus.

    The form's layout sets the width of the field, not the longest number that fits.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # Qt's default policy lets the wheel take the focus.

    def sizeHint(self) -> QSize:
        return QSize(NARROW, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def wheelEvent(self, e: QWheelEvent | None) -> None:
        if e is not None and not self.hasFocus():
            e.ignore()
        else:
            super().wheelEvent(e)


class IntegerField(SteadyField, QSpinBox):
    """Field for a whole number, which shows no thousands separators but accepts them."""

    def textFromValue(self, v: int) -> str:
        return written(v, grouped=False)

    def valueFromText(self, text: str | None) -> int:
        value = _read(self, text, _INTEGER)
        return value if isinstance(value, int) else self.value()

    def validate(self, input: str | None, pos: int) -> tuple[QValidator.State, str, int]:
        return _judge(self, _read(self, input, _INTEGER), self.minimum(), self.maximum()), input or "", pos


class NumberField(SteadyField, QDoubleSpinBox):
    """Field for a decimal number, which keeps hidden decimals of a set number until the user edits it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._given = (0.0, 0.0)

    def setValue(self, val: float) -> None:
        """Show a number and keep the decimals that the field does not show."""
        super().setValue(val)
        self._given = super().value(), float(min(max(val, self.minimum()), self.maximum()))

    def value(self) -> float:
        """Return the number that was set or typed last, with all its decimals."""
        shown = super().value()
        return self._given[1] if shown == self._given[0] else shown

    def textFromValue(self, v: float) -> str:
        return written(v, grouped=False, decimals=self.decimals())

    def valueFromText(self, text: str | None) -> float:
        value = _read(self, text, _NUMBER)
        return float(value) if isinstance(value, int | float) else self.value()

    def validate(self, input: str | None, pos: int) -> tuple[QValidator.State, str, int]:
        return _judge(self, _read(self, input, _NUMBER), self.minimum(), self.maximum()), input or "", pos


class ThousandsSeparators(QObject):
    """Corrector of thousands separators while the user types: ``20,000`` and another 0 become ``200,000``.

    Args:
        line: Field in which the user types a number. Connect other handlers to ``textEdited`` after this.
    """

    def __init__(self, line: QLineEdit) -> None:
        super().__init__(line)
        self._line = line
        self._before = line.text()
        line.textChanged.connect(self._on_changed)
        line.textEdited.connect(self._on_edited)

    def _on_changed(self, _text: str) -> None:
        # textChanged follows textEdited, and comes once more with the text from before the separators
        # were changed.
        self._before = self._line.text()

    def _on_edited(self, text: str) -> None:
        new = regrouped(self._before, text)
        if new == text:
            return
        behind = sum(each.isdigit() for each in text[self._line.cursorPosition() :])
        self._line.setText(new)
        at = len(new)
        while behind and at:
            at -= 1
            behind -= new[at].isdigit()
        self._line.setCursorPosition(at)


def _read(field: QSpinBox | QDoubleSpinBox, text: str | None, schema: dict[str, str]) -> object:
    words = (text or "").removeprefix(field.prefix())
    suffix = field.suffix()
    words = words.removesuffix(suffix).removesuffix(suffix.strip()).strip() if suffix else words.strip()
    if field.specialValueText() and words in (field.specialValueText(), ""):
        return field.minimum()
    return read(words, schema)


def _judge(field: QAbstractSpinBox, value: object, least: float, most: float) -> QValidator.State:
    """Return whether a typed value is acceptable, invalid, or intermediate because further typing may make
    it valid.
    """
    if isinstance(value, int | float):
        if least <= value <= most:
            return QValidator.State.Acceptable
        beyond = value > most >= 0 or value < least <= 0
        return QValidator.State.Invalid if beyond else QValidator.State.Intermediate
    text, marks = str(value), screen()
    typing = all(
        each.isdigit() or each.isspace() or each in _TYPED + marks.point + marks.group for each in text
    )
    on_the_way = typing or field.specialValueText().startswith(text)
    return QValidator.State.Intermediate if on_the_way else QValidator.State.Invalid
