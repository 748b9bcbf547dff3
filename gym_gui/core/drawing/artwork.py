"""Colors of game material: wood, discs, stones, pieces, and a terminal's sixteen colors.

These colors belong to the drawn object, not to the window, and are the same in the light and the dark
theme. The colors of the window come from :mod:`gym_gui.ui.theme`.
"""

from __future__ import annotations

from typing import Final

# Chess and checkers.
SQUARE_LIGHT: Final = "#e4e8ef"
SQUARE_DARK: Final = "#8799b5"
IVORY: Final = "#fbf9f4"
IVORY_EDGE: Final = "#2b3442"
EBONY: Final = "#333c4b"
EBONY_EDGE: Final = "#10151d"
EBONY_DETAIL: Final = "#c4ccd9"
MAN_RED: Final = "#c9473f"
MAN_RED_EDGE: Final = "#7d2520"

# Connect four.
RACK: Final = "#2f62d4"
RACK_EDGE: Final = "#2450b4"
HOLE: Final = "#101a30"
DISC_RED: Final = "#ef5350"
DISC_RED_EDGE: Final = "#c23330"
DISC_YELLOW: Final = "#fbc73b"
DISC_YELLOW_EDGE: Final = "#cf9713"

# Tic-tac-toe.
SLATE_LINE: Final = "#3a4557"
CROSS: Final = "#6b9bff"
NOUGHT: Final = "#f5a13d"

# Go.
WOOD: Final = "#ddb670"
WOOD_LINE: Final = "#6b4f23"
STONE_BLACK: Final = ("#5a6272", "#171b22")
STONE_WHITE: Final = ("#ffffff", "#d4d8df")

# Marks on any board.
LAST_MOVE: Final = "#f2c94c"
TARGET: Final = "#14532d"
TARGET_ON_DARK: Final = "#5eead4"
CHOSEN: Final = "#3b6fe0"

ANSI: Final = (
    "#242b36", "#f0625d", "#46c46e", "#e0b040", "#5c9dff", "#c58af9", "#35c2d1", "#c3ccd8",
    "#6b788c", "#ff8a85", "#74e096", "#ffd166", "#8db9ff", "#dcb3ff", "#6fe3ee", "#ffffff",
)  # fmt: skip
"""A terminal's colors 0 to 15, chosen to be readable on the stage color."""
