"""Controls for each kind of setting: text, number, path, flag and choice."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QSignalBlocker, Qt, pyqtSignal
from PyQt6.QtGui import QPainter, QPaintEvent, QPalette, QStandardItemModel
from PyQt6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QFileDialog,
    QLineEdit,
    QSizePolicy,
    QStyle,
    QStyleOptionFrame,
    QWidget,
)

from gym_gui.ui.numbers import read, written
from gym_gui.ui.widgets import IconButton, restyle
from gym_gui.ui.widgets.combo_box import SteadyComboBox
from gym_gui.ui.widgets.layouts import row_layout
from gym_gui.ui.widgets.number_fields import SteadyField, ThousandsSeparators
from gym_gui.workers.settings.settings_schema import Setting

_ASIDE_GAP, _LEAST_ASIDE = 12, 30
"""Gap between a value and its explanation, and least width for an explanation, in pixels."""


class SettingControl(QWidget):
    """Base class of the controls that edit one setting's value.

    Args:
        setting: The setting to edit.
        parent: Owner.
    """

    changed = pyqtSignal()

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setting = setting
        row = row_layout(self, spacing=4)
        self._row = row

    def value(self) -> Any:
        """Return the entered value, or the setting's default if nothing is entered."""
        raise NotImplementedError

    def set_value(self, value: Any) -> None:
        """Show a value without emitting ``changed``."""
        raise NotImplementedError

    def adapt(self, env_id: str, agent: str) -> None:
        """Adapt to the slot whose setting is edited; the base class does nothing.

        Args:
          env_id: Id of the environment.
          agent: Name of the slot.
        """

    def set_wrong(self, wrong: bool) -> None:
        """Mark the control as invalid, or remove the mark."""
        seen = self.focusProxy()
        if seen is not None and (seen.property("invalid") == "true") != wrong:
            seen.setProperty("invalid", "true" if wrong else "false")
            restyle(seen)

    def _adopt(self, control: QWidget) -> None:
        setting = self.setting
        control.setObjectName(f"setting_{setting.name}")
        control.setAccessibleName(setting.label)
        self._explanation = f"{setting.explanation} ({setting.name})".strip()
        control.setToolTip(self._explanation)
        control.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._row.addWidget(control, 1)
        self.setFocusProxy(control)

    def _on_edited(self, *_: object) -> None:
        self.changed.emit()


class ExplainedLineEdit(QLineEdit):
    """Field that shows an explanation of its value in muted text behind it, such as ``0  no limit``.

    Args:
        parent: Owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._aside = ""

    @property
    def aside(self) -> str:
        """Explanation of the value."""
        return self._aside

    def show_explanation(self, aside: str) -> None:
        """Show an explanation behind the value."""
        if aside != self._aside:
            self._aside = aside
            self.update()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the field, and the explanation in the space behind its text."""
        super().paintEvent(a0)
        if not self._aside or not self.text():
            return
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        style, metrics, margins = self.style(), self.fontMetrics(), self.textMargins()
        assert style is not None
        room = style.subElementRect(QStyle.SubElement.SE_LineEditContents, option, self)
        behind = margins.left() + _ASIDE_GAP + metrics.horizontalAdvance(self.text())
        room.adjust(behind, 0, -margins.right() - _ASIDE_GAP // 2, 0)
        if room.width() < _LEAST_ASIDE:
            return
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        text = metrics.elidedText(self._aside, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)


class TextControl(SettingControl):
    """Field for a typed value: text, a list or a JSON object.

    An empty field stands for the default, which is shown as a gray placeholder. Text that is not a valid
    value stays in the field, and the check reports it.

    Args:
        setting: The setting to edit.
        parent: Owner.
        editor: Widget that contains the field; ``None`` for a plain field.
    """

    def __init__(
        self, setting: Setting, parent: QWidget | None = None, editor: QAbstractSpinBox | None = None
    ) -> None:
        super().__init__(setting, parent)
        self.line = ExplainedLineEdit(self if editor is None else editor)
        if editor is not None:
            self.line.setObjectName("qt_spinbox_lineedit")  # Otherwise Qt reports the line twice.
            editor.setLineEdit(self.line)
            ThousandsSeparators(self.line)
        self.line.setPlaceholderText(_hint(setting))
        self._adopt(self.line if editor is None else editor)
        self.line.textChanged.connect(self._on_text_changed)
        self.line.textEdited.connect(self._on_edited)

    def _on_text_changed(self, text: str) -> None:
        said = self.setting.said_of(self.value()) if text.strip() else ""
        self.line.show_explanation(said)
        if (control := self.focusProxy()) is not None:
            control.setAccessibleDescription(said)

    def value(self) -> Any:
        text = self.line.text().strip()
        return read(text, self.setting.schema) if text else self.setting.default

    def set_value(self, value: Any) -> None:
        text = "" if value is None and not self.setting.nullable else written(value)
        if self.line.text() != text:
            self.line.setText(text)
            self.line.setCursorPosition(0)  # A long text shows its beginning.


def _hint(setting: Setting) -> str:
    hints = {
        "secret": "env:NAME or keyring:NAME",
        "episode": '{"run": "runs/…", "episode": 0}',
        "object": '{"name": value}',
    }
    if setting.default in (None, "") and (said := setting.said_of(setting.default)):
        return said
    if setting.default not in (None, ""):
        return written(setting.default)
    return "default" if setting.kind in ("integer", "number") else hints.get(setting.kind, "")


class PathControl(TextControl):
    """Field for the path of a file or folder, with a button that opens a file dialog."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self.button = IconButton(
            "open",
            f"Choose {setting.label.lower()}",
            name=f"setting_{setting.name}_browse",
            on_click=self._on_browse,
            parent=self,
        )
        self._row.addWidget(self.button)

    def set_value(self, value: Any) -> None:
        """Show a path, scrolled to its end; the tool tip has the whole path."""
        super().set_value(value)
        if not self.line.hasFocus():
            self.line.setCursorPosition(len(self.line.text()))
        self.line.setToolTip("\n".join(filter(None, [self.line.text(), self._explanation])))

    def _on_browse(self) -> None:
        dialog = QFileDialog(self.window(), f"Choose {self.setting.label.lower()}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # A policy is a folder or a single file (.pth of a joint training). The user chooses its
        # description or the file itself; a description stands for its folder.
        folder = self.setting.kind == "prompts"
        dialog.setFileMode(QFileDialog.FileMode.Directory if folder else QFileDialog.FileMode.ExistingFile)
        if self.setting.kind == "policy":
            dialog.setNameFilters(["Policies (policy.json *.safetensors *.pt *.pth *.zip)", "All files (*)"])
        start = Path(self.line.text()).expanduser() if self.line.text() else Path.cwd()
        dialog.setDirectory(str(start if start.is_dir() else start.parent))
        dialog.fileSelected.connect(self._on_chosen)
        dialog.open()

    def _on_chosen(self, path: str) -> None:
        chosen = Path(path)
        described = self.setting.kind == "policy" and (chosen.parent / "policy.json").is_file()
        self.set_value(str(chosen.parent if described else chosen))
        self.changed.emit()


class FlagControl(SettingControl):
    """Checkbox for a setting with the values true and false."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self._box = QCheckBox(self)
        self._adopt(self._box)
        self._box.toggled.connect(self._on_edited)

    def value(self) -> Any:
        return self._box.isChecked()

    def set_value(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setChecked(bool(value))


class NumberBox(SteadyField, QAbstractSpinBox):
    """Number field that accepts any text, with arrows that count; the form checks the text.

    Args:
        setting: The setting, with its minimum and maximum.
        parent: Owner.
    """

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._setting = setting
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def stepEnabled(self) -> QAbstractSpinBox.StepEnabledFlag:
        return (
            QAbstractSpinBox.StepEnabledFlag.StepUpEnabled | QAbstractSpinBox.StepEnabledFlag.StepDownEnabled
        )

    def stepBy(self, steps: int) -> None:
        """Add steps to the number, within its limits.

        Numbers below 0.1 change by one unit of their first digit, so that 3e-4 becomes 4e-4.
        """
        line, schema = self.lineEdit(), self._setting.schema
        now = read(self.text(), schema) if self.text().strip() else self._setting.default
        if line is None or isinstance(now, str):
            return
        low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
        if now is None:
            new = low if math.isfinite(low) else 0
        elif self._setting.kind == "integer":
            new = now + steps
        else:
            new = now + steps * _step(now, down=steps < 0)
        new = min(max(new, low), high)
        if new != schema.get("exclusiveMinimum"):
            whole = self._setting.kind == "integer"
            line.setText(written(int(new) if whole else float(f"{new:.10g}")))
            line.textEdited.emit(line.text())


def _step(number: float, *, down: bool) -> float:
    """Return the step size for a number: 0.1, or one unit of the first digit if it is smaller."""
    if not 0 < abs(number) < 0.1:
        return 0.1
    power = math.floor(math.log10(abs(number)) + 1e-9)
    return 10.0 ** (power - (down and abs(number) < 1.5 * 10.0**power))


class NumberControl(TextControl):
    """Field for a number; also accepts forms such as ``3e-4`` and ``500,000``."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent, NumberBox(setting))


class ChoiceControl(SettingControl):
    """List of options; options that do not fit the slot are disabled, with the reason as tool tip."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self._box = SteadyComboBox(self)
        self._box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if setting.nullable or (setting.default is None and not setting.required):
            usual = "none" if setting.nullable else "default"
            self._box.addItem(setting.said_of(None) or usual, None)
        for option in setting.options:
            self._box.addItem(option.label, option.value)
            self._box.setItemData(self._box.count() - 1, option.meaning, Qt.ItemDataRole.ToolTipRole)
        self._adopt(self._box)
        self._box.activated.connect(self._on_edited)

    def value(self) -> Any:
        return self._box.currentData()

    def set_value(self, value: Any) -> None:
        place = self._box.findData(value)
        if place < 0 and value is not None:
            # Show an unknown value as it is: the user has to correct it.
            self._box.addItem(written(value), value)
            place = self._box.count() - 1
        self._box.setCurrentIndex(place)

    def adapt(self, env_id: str, agent: str) -> None:
        model = self._box.model()
        if not isinstance(model, QStandardItemModel):
            return
        for row in range(model.rowCount()):
            option = self.setting.option(self._box.itemData(row))
            item = model.item(row)
            if option is None or item is None:
                continue
            reason = option.incompatibility(env_id, agent)
            item.setEnabled(not reason)
            item.setToolTip(reason or option.meaning)
