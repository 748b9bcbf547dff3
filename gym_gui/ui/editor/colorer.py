"""Background syntax coloring of a text after each pause in typing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.code_edit import CodeEdit
from gym_gui.ui.editor.lexing import LEXERS, spans_of
from gym_gui.ui.typing_pause import TypingPause

COLOR_MS: Final = 40
"""Pause in typing, in ms, after which the text is colored."""


class Colorer(TypingPause):
    """Timer that colors a text after a pause in typing, in a thread.

    Args:
        context: The window's services.
        edit: The text field.
        suffix: Returns the file's suffix; an unknown suffix keeps the colors.
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
