"""Edits a file that a setting names; the worker's module or command says what is wrong with it, line by line.

What is checked, coloured and offered to begin with is said there: the window knows no language.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtGui import QTextCursor
from PyQt6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.record_fields import count, items, mapping, text
from gym_gui.services.module_query import Conversation
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.code_edit import CodeEdit, Problem
from gym_gui.ui.language.file_request import FileRequest
from gym_gui.ui.widgets import ElidedLabel, InlineMessage, PrimaryButton, QuietButton, label, muted_label
from mosaic_worker.plain_files import read_file, replace_file

IDLE_MS: Final = 400
"""Quiet time after a key before the text is checked."""
MOST: Final = 1 << 20
_LINE, _LINES = 24, 5
"""Height of a mistake, and so many are seen at once."""


class _Form(NamedTuple):
    """What of a file is no part of its text, and stays as it was.

    Attributes:
        mark: The byte order mark, where it begins with one.
        line_break: Between its lines.
    """

    mark: str = ""
    line_break: str = "\n"

    @classmethod
    def of(cls, content: bytes) -> tuple[_Form, str]:
        """Of a file, with its text.

        Raises:
            ValueError: It is not UTF-8.
        """
        text = content.decode()
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        return cls(mark, "\r\n" if "\r\n" in text else "\n"), text[len(mark) :]

    def encoded(self, text: str) -> bytes:
        """A text as such a file has it."""
        return (self.mark + text.replace("\n", self.line_break)).encode()


class FileEditor(QDialog):
    """See the module.

    Args:
        context: The window's services.
        request: Which file, of which setting.
        parent: Qt owner.
    """

    def __init__(self, context: AppContext, request: FileRequest, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("file-editor")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(920, 640)
        self._context, self._request = context, request
        self._written = os.path.expanduser(request.path)  # noqa: PTH111
        self.path: Path | None = Path(self._written).absolute() if request.path else None
        self._asked = self.path
        self._kept = self._seen = ""
        self._form = _Form()
        self._on_disk: bytes | None = None
        self._ending = ""
        self._task: asyncio.Task[None] | None = None
        self._again = self._unanswered = False
        self._checker = Conversation(request.worker, request.setting)
        self._idle = QTimer(self)
        self._idle.setSingleShot(True)
        self._idle.setInterval(IDLE_MS)
        self._idle.timeout.connect(self.check)
        self._make()
        self._build()
        self._load()
        self._editor.textChanged.connect(self._on_typed)
        self._tell()
        self.check()

    def _make(self) -> None:
        title = self._request.setting.label
        self._title = label("", "title")
        self._where = ElidedLabel("", "muted", mode=Qt.TextElideMode.ElideMiddle)
        self._where.setObjectName("file-where")
        self._editor = CodeEdit(self)
        self._editor.setObjectName("file-text")
        self._editor.setAccessibleName(f"{title}: its text")
        self._trouble = InlineMessage("error", "")
        self._trouble.hide()
        self._unsaved = InlineMessage(
            "warning", "What you typed is not saved.", ("Throw it away", self._on_discard)
        )
        self._unsaved.hide()
        self._wrong = QListWidget(self)
        self._wrong.setObjectName("file-problems")
        self._wrong.setAccessibleName("What is wrong")
        self._wrong.setProperty("role", "field")
        self._wrong.setWordWrap(True)
        self._wrong.itemActivated.connect(self._on_problem)
        self._wrong.itemClicked.connect(self._on_problem)
        self._wrong.hide()
        self.state = muted_label("")
        self.state.setObjectName("file-state")
        self._menu = QMenu(self)
        self._menu.setObjectName("file-menu")
        self._new = QuietButton("New from", menu=self._menu, name="file-new", tooltip="Begin with an example")
        self._new.hide()
        self._save_as = QuietButton(
            "Save as…", name="file-save-as", tooltip="Save under another name", on_click=self._on_save_as
        )
        self.save = PrimaryButton("Save", name="file-save", key="Ctrl+S", on_click=self.keep)
        self.save.setShortcut("Ctrl+S")

    def _build(self) -> None:
        head, foot = QHBoxLayout(), QHBoxLayout()
        for row in (head, foot):
            row.setSpacing(theme.ROW)
        head.addWidget(self._title)
        head.addWidget(self._where, 1)
        foot.addWidget(self._new)
        foot.addWidget(self.state, 1)
        foot.addWidget(self._save_as)
        foot.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.PAGE, theme.PAGE, theme.PAGE, theme.PAGE)
        column.setSpacing(theme.GAP)
        column.addLayout(head)
        column.addWidget(self._trouble)
        column.addWidget(self._editor, 1)
        column.addWidget(self._wrong)
        column.addWidget(self._unsaved)
        column.addLayout(foot)

    # -- the file ----------------------------------------------------------------------

    @property
    def dirty(self) -> bool:
        """Whether the text differs from what is kept."""
        return self._editor.text != self._kept

    def _load(self) -> None:
        if self.path is None:
            return
        try:
            self._on_disk = read_file(self.path, links=True, limit=MOST)
            self._form, text = _Form.of(self._on_disk)
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or "it is no text in UTF-8"
            self._complain(f"{self.path} cannot be read: {reason}")
            self.path = None  # what could not be read is not written over
            return
        self._editor.setPlainText(text)
        self._kept = self._seen = self._editor.text

    def keep(self) -> None:
        """Save the text, and have the setting name its file."""
        if self.path is None:
            self._on_save_as()
            return
        written, before = self._editor.text, self._on_disk
        self._on_disk = _content(self.path)
        if self._on_disk not in (None, before):
            self._complain(
                f"{self.path} was changed by somebody else meanwhile. Save again to write over that"
            )
            return
        try:
            data = self._form.encoded(written)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Where a person's own link stands it stays: the file behind it is what they edit.
            replace_file(self.path.resolve(), data, mode=_mode(self.path), sync=False)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or "it holds what is no character"
            self._complain(f"{self.path} cannot be written: {reason}. Save it under another name")
            return
        self._kept, self._on_disk = written, data
        self._trouble.hide()
        # A path that was written relative stays so: experiments travel with the files that they name.
        self._request.choose(self._written if self.path == self._asked else str(self.path))
        self._tell()
        self.state.setText("Saved: it counts from the next start on")

    def save_to(self, path: str) -> None:
        """Save under a name; without an ending it gets the usual one."""
        chosen = Path(path)
        self.path = chosen if chosen.suffix or not self._ending else chosen.with_suffix(self._ending)
        self._on_disk = _content(self.path)  # the dialog has asked whether to write over it
        self.keep()

    def _on_save_as(self) -> None:
        dialog = QFileDialog(self, f"Save {self._request.setting.label.lower()}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(self._ending)  # so that it asks about the file that will be written over
        dialog.setDirectory(str(self.path.parent if self.path is not None else Path.cwd()))
        dialog.selectFile(self.path.name if self.path is not None else f"program{self._ending}")
        dialog.fileSelected.connect(self.save_to)
        dialog.open()

    def begin_with(self, words: str) -> None:
        """Put an example in place of the text; Undo brings it back."""
        cursor = QTextCursor(self._editor.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(words)
        self._editor.setFocus()

    def _tell(self) -> None:
        name = self.path.name if self.path is not None else "New file"
        self._title.setText(name)
        self.setWindowTitle(f"{name}{' (changed)' if self.dirty else ''}")
        self._where.setText(str(self.path.parent) if self.path is not None else "not saved yet")
        self.save.setEnabled(self.dirty)

    def _on_typed(self) -> None:
        if self._editor.text == self._seen:
            return  # its colours have changed
        self._seen = self._editor.text
        self._unsaved.hide()
        self._tell()
        self._idle.start()

    def _complain(self, sentence: str) -> None:
        self._trouble.set_text(sentence)
        self._trouble.show()

    # -- what is wrong -----------------------------------------------------------------

    def check(self) -> None:
        """Ask what is wrong with the text; one question at a time."""
        self._idle.stop()
        if self._task is not None and not self._task.done():
            self._again = True
            return
        self.state.setText("Checking…")
        self._task = self._context.spawn(self._check(), "Checking a file")

    async def _check(self) -> None:
        request, written = self._request, self._editor.text
        question: dict[str, Any] = {"name": self.path.name if self.path is not None else "", "text": written}
        if request.actions:
            question["actions"] = list(request.actions)
        try:
            said = await self._checker.ask(question)
        except MosaicError as error:
            self.state.setText("")
            self._unanswered = True
            self._complain(str(error))
        else:
            if self._unanswered:
                self._unanswered = False
                self._trouble.hide()
            self._learn(said)
            if written == self._editor.text:
                self._show(problems_of(said))
        if self._again or written != self._editor.text:
            self._again, self._task = False, None
            self._idle.start(0)

    def _learn(self, said: Mapping[str, Any]) -> None:
        """What is said of all such files is the same each time."""
        if self._ending:
            return
        self._ending = text(said.get("ending")) or ".txt"
        rules = [items(each) or () for each in items(said.get("colours")) or ()]
        self._editor.colouring.set_rules([(str(rule[0]), str(rule[1])) for rule in rules if len(rule) == 2])
        for each in items(said.get("templates")) or ():
            template = mapping(each) or {}
            words = text(template.get("text")) or ""
            action = self._menu.addAction(text(template.get("name")) or "Example")
            if action is not None:
                action.setData(words)
                action.triggered.connect(self._on_template)
        self._new.setVisible(bool(self._menu.actions()))

    def _on_template(self) -> None:
        action: Any = self.sender()
        self.begin_with(str(action.data()))

    def _show(self, problems: list[Problem]) -> None:
        self._editor.show_problems(problems)
        self._wrong.clear()
        for problem in problems:
            where = f"Line {problem.line}: " if problem.line else ""
            item = QListWidgetItem(f"{where}{problem.text}")
            item.setData(Qt.ItemDataRole.UserRole, problem.line)
            self._wrong.addItem(item)
        self._wrong.setVisible(bool(problems))
        self._wrong.setFixedHeight(min(len(problems), _LINES) * _LINE + _LINE // 2)
        many = f"{len(problems)} mistake{'' if len(problems) == 1 else 's'}"
        unchecked = "" if self._request.actions else " (actions are checked once the environment is known)"
        self.state.setText(many if problems else f"No mistake is known{unchecked}")

    def _on_problem(self, item: QListWidgetItem) -> None:
        self._editor.go_to(int(item.data(Qt.ItemDataRole.UserRole) or 1))

    # -- its end -----------------------------------------------------------------------

    def _on_discard(self) -> None:
        self._kept = self._editor.text
        self.done(0)

    def done(self, a0: int) -> None:
        """What is not saved is asked about first: save it, throw it away, or type on."""
        if self.dirty:
            self._unsaved.show()
            self.save.setFocus()
            return
        self._idle.stop()
        if self._task is not None:
            self._task.cancel()
        self._context.spawn(self._checker.close(), "Ending what checks a file")
        super().done(a0)


def _content(path: Path) -> bytes | None:
    """What a file holds; ``None`` where it is not there, or is none that can be edited."""
    try:
        return read_file(path, links=True, limit=MOST)
    except OSError:
        return None


def _mode(path: Path) -> int:
    """Who may read and write a file; what is usual where it is new."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0o666


def problems_of(said: Mapping[str, Any]) -> list[Problem]:
    """What is said to be wrong, by line."""
    found = [mapping(each) or {} for each in items(said.get("problems")) or ()]
    problems = [
        Problem(count(p.get("line")) or 0, text(p.get("text")) or "", text(p.get("word")) or "")
        for p in found
    ]
    return sorted(problems, key=lambda problem: problem.line)


def open_file_editor(context: AppContext, request: FileRequest, parent: QWidget | None) -> FileEditor:
    """Open the editor over a window.

    Raises:
        UsageError: Nothing checks the setting's file.
    """
    if not request.setting.checked:
        raise UsageError(f"{request.setting.label} has no module and no command that checks it")
    editor = FileEditor(context, request, parent)
    editor.open()
    return editor
