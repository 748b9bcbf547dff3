"""Parser that splits colored terminal text into pieces with one style each.
The parser interprets only SGR codes of ECMA-48 (color and weight), which environments print. It drops other
escape sequences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

_ESCAPE: Final = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b.")


@dataclass(frozen=True, slots=True)
class Style:
    """Style of a piece of terminal text.

    Attributes:
        foreground: Terminal color 0 to 15, ``#rrggbb``, or ``None`` for the default color.
        background: Color behind the text, in the same format.
        bold: Whether the text is bold.
        underline: Whether the text is underlined.
        italic: Whether the text is italic.
        inverse: Whether foreground and background are swapped.
    """

    foreground: int | str | None = None
    background: int | str | None = None
    bold: bool = False
    underline: bool = False
    italic: bool = False
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class StyledText:
    """Piece of terminal text with one style."""

    text: str
    style: Style


def parse(text: str) -> list[StyledText]:
    """Split terminal text into pieces with one style each, in order, without escape sequences."""
    runs: list[StyledText] = []
    style, at = Style(), 0
    for match in _ESCAPE.finditer(text):
        _add(runs, text[at : match.start()], style)
        at = match.end()
        if match.group(1) is not None:
            style = _styled(style, match.group(1))
    _add(runs, text[at:], style)
    return runs


def _add(runs: list[StyledText], text: str, style: Style) -> None:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text:
        return
    if runs and runs[-1].style == style:
        runs[-1] = StyledText(runs[-1].text + text, style)
    else:
        runs.append(StyledText(text, style))


def _styled(style: Style, codes: str) -> Style:
    numbers = [int(part or 0) for part in re.split("[;:]", codes)]
    while numbers:
        code = numbers.pop(0)
        if code in (38, 48):
            color = _extended(numbers)
            style = replace(style, **{"foreground" if code == 38 else "background": color})
        else:
            style = _simple(style, code)
    return style


def _simple(style: Style, code: int) -> Style:
    if code == 0:
        return Style()
    flags = {
        1: {"bold": True}, 22: {"bold": False},
        3: {"italic": True}, 23: {"italic": False},
        4: {"underline": True}, 24: {"underline": False},
        7: {"inverse": True}, 27: {"inverse": False},
        39: {"foreground": None}, 49: {"background": None},
    }  # fmt: skip
    if code in flags:
        return replace(style, **flags[code])
    for first, bright, what in ((30, 90, "foreground"), (40, 100, "background")):
        if first <= code < first + 8:
            return replace(style, **{what: code - first})
        if bright <= code < bright + 8:
            return replace(style, **{what: code - bright + 8})
    return style


def _extended(numbers: list[int]) -> int | str | None:
    """Parse the color after SGR code 38 or 48 (``5;n`` or ``2;r;g;b``) and remove its numbers from the
    list.
    """
    kind = numbers.pop(0) if numbers else 0
    if kind == 5 and numbers:
        return _of_256(numbers.pop(0))
    if kind == 2 and len(numbers) >= 3:
        red, green, blue = (min(255, numbers.pop(0)) for _ in range(3))
        return f"#{red:02x}{green:02x}{blue:02x}"
    return None


def _of_256(number: int) -> int | str | None:
    if number < 16:
        return number
    if number < 232:
        levels = (0, 95, 135, 175, 215, 255)
        cube = number - 16
        red, green, blue = levels[cube // 36], levels[cube // 6 % 6], levels[cube % 6]
        return f"#{red:02x}{green:02x}{blue:02x}"
    if number < 256:
        grey = 8 + 10 * (number - 232)
        return f"#{grey:02x}{grey:02x}{grey:02x}"
    return None
