"""Finds the colours of a text off the window's thread, after each pause in typing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QObject

from gym_gui.ui.editor.lexing import LEXERS, spans_of
from gym_gui.ui.timers import single_shot_timer

if TYPE_CHECKING:
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.editor.code_edit import CodeEdit

COLOUR_MS: Final = 40
"""Quiet time after a key before the text is coloured."""


class Colourer(QObject):
    """Colours a text by the suffix of its file; one whose suffix has no lexer is left as it is.

    Args:
        context: The window's services.
        edit: The text.
        suffix: Of its file, now.
    """

    def __init__(self, context: AppContext, edit: CodeEdit, suffix: Callable[[], str]) -> None:
        super().__init__(edit)
        self._context, self._edit, self._suffix = context, edit, suffix
        self._task: asyncio.Task[None] | None = None
        self._stale = False
        self._timer = single_shot_timer(self, COLOUR_MS, self.begin)

    def typed(self) -> None:
        """Something was typed."""
        self._timer.start()

    def begin(self) -> None:
        """Find its colours now."""
        suffix = self._suffix()
        if suffix not in LEXERS:
            return
        if self._task is not None and not self._task.done():
            self._stale = True
            return
        self._task = self._context.spawn(self._find(suffix), "Colouring a file")

    def let_go(self) -> None:
        """Colour nothing more."""
        self._timer.stop()
        if self._task is not None:
            self._task.cancel()

    async def _find(self, suffix: str) -> None:
        written = self._edit.text
        spans = await asyncio.to_thread(spans_of, suffix, written)
        if written == self._edit.text:
            self._edit.colouring.set_spans(spans)
        elif self._stale:
            self._timer.start()
        self._stale = False
