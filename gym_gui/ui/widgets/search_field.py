"""Function that creates a search field."""

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
    """Return a one-line search field with a button that clears it.

    Args:
        name: ``objectName`` of the field.
        placeholder: Text shown while the field is empty.
        on_text: Called with the text after each change.
        called: Accessible name; by default the placeholder.
        tooltip: Tooltip, which says what the search matches.
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
