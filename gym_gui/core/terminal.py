"""The console that reports and commands print to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from gym_gui.core.printable_text import raw, visible

PLAIN_WIDTH = 100
"""Columns where the output is no terminal and ``COLUMNS`` does not say."""


class _Console(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Segments whose text shows what others wrote; rich's own commands are in segments of their own."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich does it, with characters that are as wide as they are measured to be."""
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Pass the error on to the caller: it is no failure when the reader of the output is gone."""
        raise  # called where the error is being handled


def console(*, stderr: bool = False, file: TextIO | None = None, width: int | None = None) -> Console:
    """A console for people: colors in a terminal alone, ``NO_COLOR`` and ``COLUMNS`` respected.

    Names and other text of others are no markup and no commands in it.

    Args:
        stderr: Print to standard error.
        file: Print there instead, without colors.
        width: Columns.

    Raises:
        BrokenPipeError: While printing, where the reader of the output is gone.
    """
    if file is not None:
        # In a notebook rich would show it there and then, whatever the file.
        return _Console(
            file=file,
            width=width or plain_width(),
            highlight=False,
            markup=False,
            emoji=False,
            color_system=None,
            force_jupyter=False,
        )
    stream = sys.stderr if stderr else sys.stdout
    behind = None if raw(stream) is stream else raw(stream)
    made = _Console(file=behind, stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = plain_width()
    return made


def plain_width() -> int:
    """Columns of what is not printed to a terminal."""
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdigit() and int(given) > 0 else PLAIN_WIDTH


class Heading(NamedTuple):
    """The head of a column.

    Attributes:
        text: What stands there.
        words: Whether its cells are words: at the left, broken over lines where there is little room. Figures
            are broken only where the terminal is narrower than the first column and one figure.
    """

    text: str
    words: bool = False


_GAP = 2
_WORDS_AT_LEAST = 14


def print_table(
    out: Console,
    headings: Sequence[Heading],
    rows: Sequence[Sequence[Text]],
    *,
    title: str = "",
    total: bool = False,
) -> None:
    """Print a table in which nothing is cut off and nothing left out.

    Where all columns do not fit beside each other, the table is printed in parts, one below the other; each
    part begins with the first column, which says whose row it is.

    Args:
        out: Where to; its width counts.
        headings: Of the columns.
        rows: A cell for each heading.
        title: Above the table.
        total: Whether a line stands above the last row.
    """
    columns = [[heading.text, *(row[i].plain for row in rows)] for i, heading in enumerate(headings)]
    natural = [max(cell_len(line) for text in column for line in text.split("\n")) for column in columns]
    least = [
        min(wide, _WORDS_AT_LEAST) if heading.words else wide
        for heading, wide in zip(headings, natural, strict=True)
    ]
    for number, part in enumerate(_parts(least, out.width)):
        shown = Table(
            title=Text(title) if title and not number else None,
            title_justify="left",
            title_style="bold",
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            padding=(0, 1, 0, 0),
        )
        widths = _widths([least[i] for i in part], [natural[i] for i in part], out.width)
        for i, width in zip(part, widths, strict=True):
            justify = "left" if headings[i].words else "right"
            shown.add_column(Text(headings[i].text), justify=justify, overflow="fold", width=width)
        for k, row in enumerate(rows):
            if total and k == len(rows) - 1:
                shown.add_section()
            shown.add_row(*(row[i] for i in part))
        if number:
            out.print()
        out.print(shown)


def print_rows(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", words: Sequence[str] = ()
) -> None:
    """Print a table of plain text to standard output.

    Args:
        headings: Of the columns.
        rows: A cell for each heading.
        title: Above the table.
        words: Headings of columns whose cells are words, beside the first.
    """
    shown = [Heading(text, not i or text in words) for i, text in enumerate(headings)]
    print_table(console(), shown, [list(map(Text, row)) for row in rows], title=title)


def _parts(least: Sequence[int], width: int) -> list[list[int]]:
    """Which columns stand beside each other, each part with the first of all."""
    parts, used = [[0]], least[0]
    for i, wide in enumerate(least[1:], 1):
        if used + _GAP + wide > width and len(parts[-1]) > 1:
            parts.append([0])
            used = least[0]
        parts[-1].append(i)
        used += _GAP + wide
    return parts


def _widths(least: Sequence[int], natural: Sequence[int], width: int) -> list[int]:
    """The room of each column: what is left over goes to those that want more, the narrowest first."""
    left = width - sum(least) - _GAP * (len(least) - 1)
    given = list(least)
    while left > 0 and (wanting := [i for i, wide in enumerate(natural) if given[i] < wide]):
        given[min(wanting, key=lambda i: given[i])] += 1
        left -= 1
    while (
        left < 0 and max(given) > 1
    ):  # narrower than the first column and a figure: these are broken after all
        given[max(range(len(given)), key=lambda i: given[i])] -= 1
        left += 1
    return given
