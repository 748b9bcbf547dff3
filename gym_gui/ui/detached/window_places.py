"""Places of detached windows: saved for the next start and fitted to the screens that exist then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from PyQt6.QtCore import QPoint, QRect, QSettings, QSize

_KEPT = "window/apart"
_MOST = 40
"""Number of places that are kept, the last used ones."""


@dataclass(frozen=True, slots=True)
class KeptPlace:
    """Place of a window.

    Attributes:
        open: Whether the window was open when the program ended.
        rect: Left, top (both with the frame), width, height (both without), in desktop pixels.
        screen: Name of the screen.
        full: Whether the window was full screen.
    """

    open: bool = False
    rect: tuple[int, int, int, int] | None = None
    screen: str = ""
    full: bool = False


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen that windows can be placed on.

    Attributes:
        name: The system's name of the screen.
        room: Part of the desktop that the screen shows, without panels.
    """

    name: str
    room: QRect


def fitted(place: KeptPlace, screens: Sequence[Screen], first: QSize) -> tuple[Screen, QRect]:
    """Return the screen and the rectangle for a window, always inside the screen.

    Args:
        place: Last place of the window.
        screens: Existing screens, the main one first; at least one.
        first: Size for a window that was never shown.

    Returns:
        The window's last screen if it exists, else the main one; left and top include the frame.
    """
    rect = QRect(*place.rect) if place.rect is not None else None
    named = [each for each in screens if each.name == place.screen]
    # Screens of one model may share a name: prefer the one that the window overlapped.
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
    """Places by name, written at every change, so that they survive a killed process.

    Args:
        layout: Settings that store the places.
    """

    def __init__(self, layout: QSettings) -> None:
        self._layout = layout
        self._places = _read(str(layout.value(_KEPT, "") or ""))

    def of(self, key: str) -> KeptPlace:
        """Return the place of a window; an empty place if the window was never shown."""
        return self._places.get(key, KeptPlace())

    def keep(self, key: str, place: KeptPlace) -> None:
        """Save the place of a window."""
        if self._places.get(key) == place:
            return
        self._places.pop(key, None)
        self._places[key] = place
        for oldest in list(self._places)[:-_MOST]:
            del self._places[oldest]
        self._layout.setValue(_KEPT, json.dumps({name: asdict(p) for name, p in self._places.items()}))

    def close(self, key: str) -> None:
        """Mark a window as closed, so that it does not open again by itself; its place stays known."""
        if self.of(key).open:
            self.keep(key, replace(self.of(key), open=False))


def _read(text: str) -> dict[str, KeptPlace]:
    """Return the places by name, parsed from the stored JSON; empty if the JSON is not valid."""
    try:
        found = json.loads(text or "{}")
        return {name: _place(**values) for name, values in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def _place(*, open: bool, rect: list[int] | None, screen: str, full: bool) -> KeptPlace:
    numbers = None if rect is None else [int(each) for each in rect]
    four = None if numbers is None or len(numbers) != 4 else (numbers[0], numbers[1], numbers[2], numbers[3])
    return KeptPlace(bool(open), four, str(screen), bool(full))
