"""The dialog that asks where to save a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFileDialog, QWidget


def save_dialog(
    parent: QWidget | None, title: str, name: str, kind: str, file: str, on_file: Callable[[str], object]
) -> QFileDialog:
    """Create a dialog that asks where to save a file; ``open()`` shows it.

    Args:
        parent: The window.
        title: Title of the dialog.
        name: The dialog's ``objectName``.
        kind: Plural noun for the files, such as ``Experiments``.
        file: Suggested file name; its suffix is added to names without a suffix.
        on_file: Called with the path of the chosen file.
    """
    suffix = PurePath(file).suffix
    dialog = QFileDialog(parent, title)
    dialog.setObjectName(name)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter(f"{kind} (*{suffix})")
    dialog.setDefaultSuffix(suffix)
    dialog.selectFile(file)
    dialog.fileSelected.connect(on_file)
    return dialog
