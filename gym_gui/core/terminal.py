"""The console that reports and commands print to."""

from __future__ import annotations

import os

from rich.console import Console

PLAIN_WIDTH = 100
"""Columns where the output is no terminal and ``COLUMNS`` does not say."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to who called: that nobody reads any more is no failure."""
        raise  # called where the error is being handled


def console(*, stderr: bool = False) -> Console:
    """A console for people: colours in a terminal alone, ``NO_COLOR`` and ``COLUMNS`` respected.

    Raises:
        BrokenPipeError: While printing, where the reader of the output is gone.
    """
    made = _Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = plain_width()
    return made


def plain_width() -> int:
    """Columns of what is not printed to a terminal."""
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdigit() and int(given) > 0 else PLAIN_WIDTH
