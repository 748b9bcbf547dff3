"""A field in which words to look for are typed."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtWidgets import QLineEdit, QWidget


def search_field(
    name: str,
    placeholder: str,
    on_text: Callable[..., object],
    *,
    called: str = "",
    tooltip: str = "",
    parent: QWidget | None = None,
) -> QLineEdit:
    """A field of one line with a button that empties it.

    Args:
        name: Its ``objectName``.
        placeholder: What is shown while it is empty.
        on_text: Called with the words after each change.
        called: Its accessible name; by default the placeholder.
        tooltip: What fits.
        parent: Qt owner.
    """
    field = QLineEdit(parent)
    field.setObjectName(name)
    field.setPlaceholderText(placeholder)
    field.setAccessibleName(called or placeholder)
    field.setToolTip(tooltip)
    field.setClearButtonEnabled(True)
    field.textChanged.connect(on_text)
    return field
