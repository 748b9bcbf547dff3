"""Finds the colors of a text off the window's thread, after each pause in typing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.code_edit import CodeEdit
from gym_gui.ui.editor.lexing import LEXERS, spans_of
from gym_gui.ui.typing_pause import TypingPause

COLOR_MS: Final = 40
"""Quiet time after a key before the text is colored."""


class Colorer(TypingPause):
    """Colors a text by the suffix of its file; one whose suffix has no lexer is left as it is.

    Args:
        context: The window's services.
        edit: The text.
        suffix: Of its file, now.
    """

    def __init__(self, context: AppContext, edit: CodeEdit, suffix: Callable[[], str]) -> None:
        super().__init__(context.spawn, self._find, "Coloring a file", COLOR_MS, edit)
        self._edit, self._suffix = edit, suffix

    async def _find(self) -> None:
        suffix = self._suffix()
        if suffix not in LEXERS:
            return
        written = self._edit.text
        spans = await asyncio.to_thread(spans_of, suffix, written)
        if written == self._edit.text:
            self._edit.coloring.set_spans(spans)
