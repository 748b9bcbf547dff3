"""The console that reports and commands print to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from gym_gui.core.visible import raw, visible

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
        """Leave it to who called: that nobody reads any more is no failure."""
        raise  # called where the error is being handled


def console(*, stderr: bool = False, file: TextIO | None = None, width: int | None = None) -> Console:
    """A console for people: colours in a terminal alone, ``NO_COLOR`` and ``COLUMNS`` respected.

    Names and other text of others are no markup and no commands in it.

    Args:
        stderr: Print to standard error.
        file: Print there instead, without colours.
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
