"""Positions of detached windows: saved for the next start and fitted to the screens that exist then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from PyQt6.QtCore import QPoint, QRect, QSettings, QSize

_KEPT = "window/apart"
_MOST = 40
"""Largest number of saved positions; the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class SavedPosition:
    """Saved position and state of a window.

    Attributes:
        open: Whether the window was open when its position was saved.
        rect: Left and top of the frame, width and height without it, in pixels; ``None`` if unknown.
        screen: Name of the window's screen.
        full: Whether the window was full screen.
    """

    open: bool = False
    rect: tuple[int, int, int, int] | None = None
    screen: str = ""
    full: bool = False


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen on which windows can be placed.

    Attributes:
        name: The system's name of the screen.
        room: Area of the desktop on this screen, without panels, in pixels.
    """

    name: str
    room: QRect


def fitted(place: SavedPosition, screens: Sequence[Screen], first: QSize) -> tuple[Screen, QRect]:
    """Return the screen and the rectangle for a window, always inside that screen.

    Args:
        place: Saved position of the window.
        screens: Existing screens, the main window's first; at least one.
        first: Size for a window that was never shown.

    Returns:
        The window's last screen if it exists, else the first screen; left and top are of the frame.
    """
    rect = QRect(*place.rect) if place.rect is not None else None
    named = [each for each in screens if each.name == place.screen]
    # Screens of one model may share a name: prefer the one that the window overlapped.
    overlapped = [each for each in named if rect is not None and each.room.intersects(rect)]
    screen = (overlapped or named or list(screens))[0]
    size = (rect.size() if rect is not None else first).boundedTo(screen.room.size())
    if rect is None or not named:
        corner = screen.room.center() - QPoint(size.width() // 2, size.height() // 2)
    else:
        right = screen.room.left() + screen.room.width() - size.width()
        bottom = screen.room.top() + screen.room.height() - size.height()
        left = min(max(rect.left(), screen.room.left()), right)
        corner = QPoint(left, min(max(rect.top(), screen.room.top()), bottom))
    return screen, QRect(corner, size)


class SavedPositions:
    """Saved positions of windows by name, written at every change so that they survive a killed process.

    Args:
        layout: Settings that store the positions.
    """

    def __init__(self, layout: QSettings) -> None:
        self._layout = layout
        self._places = _read(str(layout.value(_KEPT, "") or ""))

    def of(self, key: str) -> SavedPosition:
        """Return the saved position of a window; an empty one if the window was never shown."""
        return self._places.get(key, SavedPosition())

    def save(self, key: str, place: SavedPosition) -> None:
        """Save the position of a window."""
        if self._places.get(key) == place:
            return
        self._places.pop(key, None)
        self._places[key] = place
        for oldest in list(self._places)[:-_MOST]:
            del self._places[oldest]
        self._layout.setValue(_KEPT, json.dumps({name: asdict(p) for name, p in self._places.items()}))

    def close(self, key: str) -> None:
        """Save that a window is closed, so that it does not open again by itself; keep its position."""
        if self.of(key).open:
            self.save(key, replace(self.of(key), open=False))


def _read(text: str) -> dict[str, SavedPosition]:
    """Return the positions by name, parsed from the stored JSON; empty if the JSON is invalid."""
    try:
        found = json.loads(text or "{}")
        return {name: _place(**values) for name, values in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def _place(*, open: bool, rect: list[int] | None, screen: str, full: bool) -> SavedPosition:
    numbers = None if rect is None else [int(each) for each in rect]
    four = None if numbers is None or len(numbers) != 4 else (numbers[0], numbers[1], numbers[2], numbers[3])
    return SavedPosition(bool(open), four, str(screen), bool(full))
