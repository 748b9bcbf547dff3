"""What has no room in a window: words that are cut, and places that scroll sideways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def does_not_fit(window: Any) -> list[str]:
    """What of a window has no room where it stands, a sentence for each.

    Words may be cut where an ellipsis says so and the tooltip has the whole, which our own labels see to;
    tables scroll sideways where they have more columns than room.
    """
    from PyQt6.QtWidgets import QAbstractItemView, QScrollArea, QWidget

    found: list[str] = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or isinstance(widget, QAbstractItemView):
            continue
        bar = widget.horizontalScrollBar() if isinstance(widget, QScrollArea) else None
        if bar is not None and bar.maximum() > 0:
            found.append(f"scrolls sideways by {bar.maximum()} px: {_name(widget)}")
        found += _cut(widget)
    return found


def _cut(widget: Any) -> Iterator[str]:
    from PyQt6.QtWidgets import QAbstractButton, QLabel

    words = widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""
    if not words or widget.toolTip():
        return
    said = f"{words[:60]!r} in {_name(widget)}"
    if isinstance(widget, QLabel) and widget.wordWrap():
        short = widget.heightForWidth(widget.width()) - widget.height()
        if short > 2:
            yield f"{short} px too low: {said}"
        return
    short = widget.minimumSizeHint().width() - widget.width()
    if short > 1:
        yield f"{short} px too narrow: {said}"
    parent = widget.parentWidget()
    if parent is not None and not parent.rect().contains(widget.geometry()):
        yield f"reaches out of what it is in: {said}"


def _name(widget: Any) -> str:
    chain = [each for each in (widget, widget.parentWidget()) if each is not None]
    return " in ".join(each.objectName() or type(each).__name__ for each in chain)
