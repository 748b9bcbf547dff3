"""Where windows lay: kept for the next start, and found again on the screens that there are then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from PyQt6.QtCore import QPoint, QRect, QSettings, QSize

_KEPT = "window/apart"
_MOST = 40
"""So many places are remembered, those that were used last."""


@dataclass(frozen=True, slots=True)
class KeptPlace:
    """Where a window lay.

    Attributes:
        open: Whether it was there when the program ended.
        rect: Left, top (with its frame), width, height (without), in pixels of the desktop.
        screen: Name of its screen.
        full: Whether it filled the screen.
    """

    open: bool = False
    rect: tuple[int, int, int, int] | None = None
    screen: str = ""
    full: bool = False


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen as far as windows are put on it.

    Attributes:
        name: The system's.
        room: What of the desktop it shows, without panels.
    """

    name: str
    room: QRect


def fitted(place: KeptPlace, screens: Sequence[Screen], first: QSize) -> tuple[Screen, QRect]:
    """The screen to lie on, and where on it: never outside.

    Args:
        place: Where it lay.
        screens: What there is, the main one first; at least one.
        first: Size of a window that was never shown.

    Returns:
        The screen it was on where that is there, else the main one; left and top count with the frame.
    """
    rect = QRect(*place.rect) if place.rect is not None else None
    named = [each for each in screens if each.name == place.screen]
    # Screens of one kind may have one name: the one that it lay on counts.
    lain = [each for each in named if rect is not None and each.room.intersects(rect)]
    screen = (lain or named or list(screens))[0]
    size = (rect.size() if rect is not None else first).boundedTo(screen.room.size())
    if rect is None or not named:
        corner = screen.room.center() - QPoint(size.width() // 2, size.height() // 2)
    else:
        right = screen.room.left() + screen.room.width() - size.width()
        bottom = screen.room.top() + screen.room.height() - size.height()
        left = min(max(rect.left(), screen.room.left()), right)
        corner = QPoint(left, min(max(rect.top(), screen.room.top()), bottom))
    return screen, QRect(corner, size)


class KeptPlaces:
    """The places by name, written at once: a window that is killed comes back, too.

    Args:
        layout: Where they are written.
    """

    def __init__(self, layout: QSettings) -> None:
        self._layout = layout
        self._places = _read(str(layout.value(_KEPT, "") or ""))

    def of(self, key: str) -> KeptPlace:
        """Where a window lay; nowhere yet where it was never shown."""
        return self._places.get(key, KeptPlace())

    def keep(self, key: str, place: KeptPlace) -> None:
        """Remember a place."""
        if self._places.get(key) == place:
            return
        self._places.pop(key, None)
        self._places[key] = place
        for oldest in list(self._places)[:-_MOST]:
            del self._places[oldest]
        self._layout.setValue(_KEPT, json.dumps({name: asdict(p) for name, p in self._places.items()}))

    def close(self, key: str) -> None:
        """It does not come back by itself; where it lay stays known."""
        if self.of(key).open:
            self.keep(key, replace(self.of(key), open=False))


def _read(text: str) -> dict[str, KeptPlace]:
    """The places by name, parsed from the stored JSON; empty where the JSON is not valid."""
    try:
        found = json.loads(text or "{}")
        return {name: _place(**values) for name, values in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def _place(*, open: bool, rect: list[int] | None, screen: str, full: bool) -> KeptPlace:
    numbers = None if rect is None else [int(each) for each in rect]
    four = None if numbers is None or len(numbers) != 4 else (numbers[0], numbers[1], numbers[2], numbers[3])
    return KeptPlace(bool(open), four, str(screen), bool(full))
