"""One control per kind of setting; all say their value, take one, and tell when a person changed it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QSignalBlocker, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPaintEvent, QStandardItemModel, QWheelEvent
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from gym_gui.ui.widgets import IconButton
from gym_gui.workers.settings_schema import Setting

_NARROW = 80
_PLAIN = re.compile(r"(?!(?:true|false|null|NaN|Infinity)$)[A-Za-z][\w.:/-]*")
"""Words that a list shows without quotation marks: read again, they are the same."""
_POPUP_EDGE = 12
"""Border and padding of a list, both sides."""
_WHOLE = 2.0**53
"""Beyond this a spin box no longer counts in ones."""


class SettingControl(QWidget):
    """Base of all controls.

    Args:
        setting: What it edits.
        parent: Owner.
    """

    changed = pyqtSignal()

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setting = setting
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self._row = row

    def value(self) -> Any:
        """What stands in it; ``None`` for nothing."""
        raise NotImplementedError

    def set_value(self, value: Any) -> None:
        """Show ``value`` without telling anybody."""
        raise NotImplementedError

    def adapt(self, env_id: str, agent: str) -> None:
        """The slot is known: a control that depends on it takes note."""

    def _adopt(self, control: QWidget) -> None:
        setting = self.setting
        control.setObjectName(f"setting_{setting.name}")
        control.setAccessibleName(setting.label)
        control.setToolTip(setting.meaning or setting.label)
        control.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._row.addWidget(control, 1)
        self.setFocusProxy(control)

    def _on_edited(self, *_: object) -> None:
        self.changed.emit()


class TextControl(SettingControl):
    """A line of text; a secret's reference (``env:NAME``) is one too."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self.line = QLineEdit(self)
        if setting.type == "secret":
            self.line.setPlaceholderText("env:NAME or keyring:NAME")
        elif setting.default not in (None, ""):
            self.line.setPlaceholderText(self._written(setting.default))
        self._adopt(self.line)
        self.line.textEdited.connect(self._on_edited)

    def value(self) -> Any:
        return self.line.text().strip() or None

    def _written(self, value: Any) -> str:
        """A value as a person would type it."""
        return str(value)

    def set_value(self, value: Any) -> None:
        text = "" if value is None else self._written(value)
        if self.line.text() != text:
            self.line.setText(text)
            self.line.setCursorPosition(0)  # a long text shows its beginning


class ListControl(TextControl):
    """A list, written as JSON or as words between commas: ``0, 1, "left"``."""

    def value(self) -> Any:
        written = self.line.text().strip()
        if not written:
            return None
        for attempt in (written, f"[{written}]"):
            try:
                read = json.loads(attempt)
            except ValueError:
                continue
            return read if isinstance(read, list) else [read]
        return [word.strip() for word in written.split(",") if word.strip()]

    def _written(self, value: Any) -> str:
        if not isinstance(value, list):
            return str(value)
        if all(isinstance(word, str) and _PLAIN.fullmatch(word) for word in value):
            return ", ".join(value)
        return json.dumps(value, ensure_ascii=False)[1:-1]


class ObjectControl(TextControl):
    """A JSON object: ``{"top_k": 20}``; what is none stands as it was typed, for the check to refuse."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        episode = setting.type == "episode"
        self.line.setPlaceholderText('{"run": "runs/…", "episode": 0}' if episode else '{"name": value}')

    def value(self) -> Any:
        written = self.line.text().strip()
        if not written:
            return None
        try:
            return json.loads(written)
        except ValueError:
            return written

    def _written(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


class PathControl(TextControl):
    """The path of a file or folder, with a button that opens the chooser."""

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

    def _on_browse(self) -> None:
        dialog = QFileDialog(self.window(), f"Choose {self.setting.label.lower()}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # A policy is a folder, or a single file (.pth of a joint training): its description
        # or the file itself is pointed at, and a description stands for its folder.
        folder = self.setting.type == "prompts"
        dialog.setFileMode(QFileDialog.FileMode.Directory if folder else QFileDialog.FileMode.ExistingFile)
        if self.setting.type == "policy":
            dialog.setNameFilters(["Policies (policy.json *.safetensors *.pt *.pth *.zip)", "All files (*)"])
        start = Path(self.line.text()).expanduser() if self.line.text() else Path.cwd()
        dialog.setDirectory(str(start if start.is_dir() else start.parent))
        dialog.fileSelected.connect(self._on_chosen)
        dialog.open()

    def _on_chosen(self, path: str) -> None:
        chosen = Path(path)
        described = self.setting.type == "policy" and (chosen.parent / "policy.json").is_file()
        self.set_value(str(chosen.parent if described else chosen))
        self.changed.emit()


class FlagControl(SettingControl):
    """Yes or no."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self.box = QCheckBox(self)
        self._adopt(self.box)
        self.box.toggled.connect(self._on_edited)

    def value(self) -> Any:
        return self.box.isChecked()

    def set_value(self, value: Any) -> None:
        with QSignalBlocker(self.box):
            self.box.setChecked(bool(self.setting.default if value is None else value))


class SteadySpinBox(QDoubleSpinBox):
    """A number; a wheel that scrolls the page does not change it, and it shows no idle digits.

    Its width follows the form, not the longest number it could hold.
    """

    def sizeHint(self) -> QSize:
        return QSize(_NARROW, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def wheelEvent(self, e: QWheelEvent | None) -> None:
        if e is not None and not self.hasFocus():
            e.ignore()
        else:
            super().wheelEvent(e)

    def textFromValue(self, v: float) -> str:
        return f"{v:.0f}" if self.decimals() == 0 else f"{v:.10g}"


class SteadyComboBox(QComboBox):
    """A choice that a wheel which scrolls the page does not change; as wide as the form has room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setItemDelegate(QStyledItemDelegate(self))  # its own one draws no item of the style sheet
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def showPopup(self) -> None:
        """The list has room for its words, however narrow the form is."""
        view = self.view()
        if view is not None:
            view.setMinimumWidth(view.sizeHintForColumn(0) + _POPUP_EDGE)
        super().showPopup()

    def paintEvent(self, e: QPaintEvent | None) -> None:
        """What has no room ends in dots; Qt would cut it within a letter."""
        if self.isEditable():
            super().paintEvent(e)
            return
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        style = self.style()
        if style is not None:
            part = QStyle.SubControl.SC_ComboBoxEditField
            room = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self).width()
            text = option.currentText
            option.currentText = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def wheelEvent(self, e: QWheelEvent | None) -> None:
        if e is not None and not self.hasFocus():
            e.ignore()
        else:
            super().wheelEvent(e)


class NumberControl(SettingControl):
    """A number between limits; at its lowest place it reads "default" where the worker decides."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self.spin = SteadySpinBox(self)
        whole = setting.type == "whole"
        self._step = 1.0 if whole else 0.1
        self.spin.setDecimals(0 if whole else 4)
        self.spin.setSingleStep(self._step)
        low = -_WHOLE if setting.minimum is None else setting.minimum
        high = _WHOLE if setting.maximum is None else setting.maximum
        self._optional = not setting.required
        self.spin.setRange(low - self._step if self._optional else low, high)
        if self._optional:
            default = setting.default
            self.spin.setSpecialValueText("default" if default is None else f"{default:g} (default)")
        self.spin.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.spin.setKeyboardTracking(True)
        self._adopt(self.spin)
        self.spin.valueChanged.connect(self._on_edited)

    def value(self) -> Any:
        if self._optional and self.spin.value() <= self.spin.minimum():
            return None
        return int(self.spin.value()) if self.setting.type == "whole" else self.spin.value()

    def set_value(self, value: Any) -> None:
        with QSignalBlocker(self.spin):
            known = isinstance(value, int | float) and not isinstance(value, bool)
            self.spin.setValue(float(value) if known else self.spin.minimum())


class ChoiceControl(SettingControl):
    """One of some options; those that do not fit the slot are shown, disabled, with the reason."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self.box = SteadyComboBox(self)
        self.box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if setting.default is None and not setting.required:
            self.box.addItem("default", None)
        for option in setting.options:
            self.box.addItem(option.label, option.value)
            self.box.setItemData(self.box.count() - 1, option.meaning, Qt.ItemDataRole.ToolTipRole)
        self._adopt(self.box)
        self.box.activated.connect(self._on_edited)

    def value(self) -> Any:
        return self.box.currentData()

    def set_value(self, value: Any) -> None:
        wanted = self.setting.default if value is None else value
        place = self.box.findData(wanted)
        if place < 0 and wanted is not None:
            # Shown as it stands: an unknown value is the person's to correct, not ours to swap.
            self.box.addItem(str(wanted), wanted)
            place = self.box.count() - 1
        self.box.setCurrentIndex(place)

    def adapt(self, env_id: str, agent: str) -> None:
        model = self.box.model()
        if not isinstance(model, QStandardItemModel):
            return
        for row in range(model.rowCount()):
            option = self.setting.option(self.box.itemData(row))
            item = model.item(row)
            if option is None or item is None:
                continue
            reason = option.incompatibility(env_id, agent)
            item.setEnabled(not reason)
            item.setToolTip(reason or option.meaning)
