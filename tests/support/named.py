"""Widgets of the window, found by what they are called."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TypeVar

from PyQt6.QtWidgets import QWidget

W = TypeVar("W", bound=QWidget)


def named(root: QWidget, kind: type[W], name: str) -> W:
    """The one widget of this kind and ``objectName`` below another.

    Raises:
        AssertionError: There is none, or more than one.
    """
    found = root.findChildren(kind, name)
    assert len(found) == 1, _why(root, kind, name, len(found))
    return found[0]


def _why(root: QWidget, kind: type[QWidget], name: str, count: int) -> str:
    where = f"{type(root).__name__} {root.objectName()!r}"
    if count:
        return f"{count} in {where} are called {name!r}: begin at what holds the one that is meant"
    kinds = {type(each).__name__ for each in root.findChildren(QWidget, name)}
    if kinds:
        return f"{name!r} in {where} is a {', a '.join(sorted(kinds))}, no {kind.__name__}"
    names = {each.objectName() for each in root.findChildren(kind)} - {""}
    near = ", ".join(get_close_matches(name, names, 5, 0.4)) or "none"
    return f"no {kind.__name__} in {where} is called {name!r}; near names: {near}"
