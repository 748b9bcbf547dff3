"""Registry of open file editors: one window for each file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QWidget

from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.file_editor import FileEditor
from gym_gui.ui.editor.file_request import FileRequest, Problem


class Editors(QObject):
    """Registry that opens one editor window per file, and shows an editor the problems found by a run.

    Args:
        context: The window's services.
        window: Window over which the editors are shown.
    """

    def __init__(self, context: AppContext, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        self._open: list[FileEditor] = []

    def open(self, request: FileRequest) -> FileEditor:
        """Open a file in an editor, or bring its open editor to the front at the requested line."""
        editor = self._of(request.path)
        if editor is not None:
            editor.show_request(request)
        else:
            editor = FileEditor(self._context, request, self._window)
            editor.closed.connect(self._on_closed)
            self._open.append(editor)
            editor.show()
        editor.raise_()
        editor.activateWindow()
        return editor

    def show_problems(self, path: str, problems: Sequence[Problem]) -> None:
        """Show a file's problems (an empty list removes them) if the file is open in an editor."""
        editor = self._of(path)
        if editor is not None:
            editor.show_problems(problems)

    def _of(self, path: str) -> FileEditor | None:
        wanted = Path(path).expanduser().absolute() if path else None
        return next((each for each in self._open if wanted is not None and each.path == wanted), None)

    def _on_closed(self) -> None:
        editor = self.sender()
        if isinstance(editor, FileEditor) and editor in self._open:
            self._open.remove(editor)

    async def close(self) -> None:
        """Close all editors when the window closes; keep unsaved text as drafts."""
        for editor in self._open:
            await editor.shut_down()
        self._open.clear()
