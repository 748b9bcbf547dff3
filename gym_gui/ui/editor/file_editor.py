"""Edits a file, with what is wrong with it at its line.

What is checked, and by whom, is the request's affair (:mod:`gym_gui.ui.editor.checks`): the editor knows no
language.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from PyQt6.QtCore import QFileSystemWatcher, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QKeySequence, QShortcut
from PyQt6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from gym_gui.core.errors import MosaicError
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.code_edit import CodeEdit
from gym_gui.ui.editor.drafts import Drafts
from gym_gui.ui.editor.file_request import Checked, FileRequest, Problem
from gym_gui.ui.editor.find_bar import FindBar
from gym_gui.ui.editor.lexing import LEXERS, spans_of
from gym_gui.ui.widgets import ElidedLabel, InlineMessage, PrimaryButton, QuietButton, label, muted_label
from gym_gui.ui.widgets.dialog import Dialog
from mosaic_worker.plain_files import read_file, replace_file

IDLE_MS: Final = 400
"""Quiet time after a key before the text is checked."""
COLOUR_MS: Final = 40
"""As long before it is coloured."""
DRAFT_MS: Final = 1000
"""As long before what is not saved is kept as a draft."""
DISK_MS: Final = 60
"""After a change on disk: whoever writes a file may write several times."""
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


class FileEditor(Dialog):
    """See the module.

    Args:
        context: The window's services.
        request: Which file, and who checks it.
        parent: Qt owner.
    """

    closed = pyqtSignal()
    """It was closed; what was typed is saved, or was thrown away."""

    def __init__(self, context: AppContext, request: FileRequest, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("file-editor")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setSizeGripEnabled(True)
        self.resize(920, 620)
        self._context, self.request = context, request
        self._written = os.path.expanduser(request.path)  # noqa: PTH111
        self.path: Path | None = Path(self._written).absolute() if request.path else None
        self._asked = self.path
        self._kept = self._seen = ""
        self._form = _Form()
        self._on_disk: bytes | None = None
        self._ending = ""
        self._told: tuple[Problem, ...] = tuple(request.problems)
        self._found: tuple[Problem, ...] = ()
        self._task: asyncio.Task[None] | None = None
        self._colours: asyncio.Task[None] | None = None
        self._draft_work: asyncio.Task[None] | None = None
        self._again = self._unanswered = self._stale = False
        self._learned = False
        self._draft = self._drafts()
        self._idle = self._timer(IDLE_MS, self.check)
        self._colour = self._timer(COLOUR_MS, self._begin_colouring)
        self._drafting = self._timer(DRAFT_MS, self._keep_draft)
        self._disk = self._timer(DISK_MS, self._on_disk_changed)
        self._watcher = QFileSystemWatcher(self)
        for signal in (self._watcher.fileChanged, self._watcher.directoryChanged):
            signal.connect(self._disk.start)
        self._make()
        self._make_messages()
        self._build()
        self._make_shortcuts()
        self._load()
        self._editor.textChanged.connect(self._on_typed)
        self._tell()
        self._offer_draft()
        self._begin_colouring()
        self.show_request(request)
        self.check()

    def _timer(self, after_ms: int, then: Any) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(after_ms)
        timer.timeout.connect(then)
        return timer

    def _make(self) -> None:
        title = self.request.title
        self._title = label("", "title")
        self._where = ElidedLabel("", "muted", mode=Qt.TextElideMode.ElideMiddle)
        self._where.setObjectName("file-where")
        self._editor = CodeEdit(self)
        self._editor.setObjectName("file-text")
        self._editor.setAccessibleName(f"{title}: its text")
        self._finder = FindBar(self._editor, self)
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
        self._find = QuietButton(
            "Find",
            name="file-find",
            key="Ctrl+F",
            tooltip="Find words, or go to a line",
            on_click=self._on_find,
        )
        self._save_as = QuietButton(
            "Save as…", name="file-save-as", tooltip="Save under another name", on_click=self._on_save_as
        )
        self._run_again = QuietButton("", name="file-again", key="Ctrl+R", on_click=self.run_again)
        self._run_again.hide()
        self.save = PrimaryButton("Save", name="file-save", key="Ctrl+S", on_click=self.keep)
        self.save.setShortcut("Ctrl+S")

    def _make_messages(self) -> None:
        self._trouble = InlineMessage("error", "")
        self._unsaved = InlineMessage(
            "warning", "What you typed is not saved.", ("Throw it away", self._on_discard)
        )
        self._changed = InlineMessage("warning", "The file was changed on disk, and here as well.")
        self._changed.setObjectName("file-changed")
        self._changed.add_action("Keep mine", self._on_keep_mine, name="file-keep-mine")
        self._changed.add_action("Take the one on disk", self.take_from_disk, name="file-take-other")
        self._lost = InlineMessage("info", "What you typed here the last time was not saved.")
        self._lost.setObjectName("file-draft")
        self._lost.add_action("Bring it back", self._on_bring_back, name="file-bring-back")
        self._lost.add_action("Throw it away", self._on_forget_draft, name="file-forget-draft")
        for message in (self._trouble, self._unsaved, self._changed, self._lost):
            message.hide()

    def _build(self) -> None:
        head, foot = QHBoxLayout(), QHBoxLayout()
        for row in (head, foot):
            row.setSpacing(theme.ROW)
        head.addWidget(self._title)
        head.addWidget(self._where, 1)
        head.addWidget(self._find)
        foot.addWidget(self._new)
        foot.addWidget(self.state, 1)
        foot.addWidget(self._save_as)
        foot.addWidget(self._run_again)
        foot.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.PAGE, theme.PAGE, theme.PAGE, theme.PAGE)
        column.setSpacing(theme.GAP)
        column.addLayout(head)
        for widget in (self._trouble, self._changed, self._lost, self._finder):
            column.addWidget(widget)
        column.addWidget(self._editor, 1)
        column.addWidget(self._wrong)
        column.addWidget(self._unsaved)
        column.addLayout(foot)
        self._editor.setFocus()

    def _make_shortcuts(self) -> None:
        for keys, act in (
            ("Ctrl+F", self._on_find),
            ("Ctrl+G", self._on_go_to_line),
            ("F3", self._finder.next),
            ("Shift+F3", self._finder.previous),
            ("F8", self.next_problem),
            ("Shift+F8", self.previous_problem),
            ("Ctrl+R", self.run_again),
            ("Ctrl+Shift+S", self._on_save_as),
        ):
            QShortcut(QKeySequence(keys), self, act)

    # -- what it is asked --------------------------------------------------------------

    def show_request(self, request: FileRequest) -> None:
        """The same file is asked for again, it may be at another line and with another way to go on."""
        self.request = request
        again = request.again
        self._run_again.setVisible(again is not None)
        if again is not None:
            self._run_again.set_text(again[0])
            self._run_again.setToolTip("Save it, and do this (Ctrl+R)")
        self.tell(request.problems)

    def tell(self, problems: Sequence[Problem]) -> None:
        """What somebody has said is wrong with the file that is saved, who had it read, run or played."""
        self._told = tuple(problems)
        self._show_problems()
        first = next((problem for problem in self._told if problem.line), None)
        if first is not None:
            self._editor.go_to(first.line, first.column)

    def run_again(self) -> None:
        """Save it, and do what it is for once more."""
        if self.request.again is None:
            return
        if self.dirty:
            self.keep()
        if not self.dirty:
            self.tell(())
            self.request.again[1]()

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
        self._watch()

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
        self._changed.hide()
        self._end_draft()
        self._watch()
        if self.request.choose is not None:
            # A path that was written relative stays so: experiments travel with the files that they name.
            self.request.choose(self._written if self.path == self._asked else str(self.path))
        self._told = ()
        self._show_problems()
        self._tell()
        self.state.setText("Saved: it counts from the next start on")

    def save_to(self, path: str) -> None:
        """Save under a name; without an ending it gets the usual one."""
        chosen = Path(path)
        self.path = chosen if chosen.suffix or not self._ending else chosen.with_suffix(self._ending)
        self._on_disk = _content(self.path)  # the dialog has asked whether to write over it
        self.keep()

    def _on_save_as(self) -> None:
        dialog = QFileDialog(self, f"Save {self.request.title.lower()}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(self._ending)  # so that it asks about the file that will be written over
        dialog.setDirectory(str(self.path.parent if self.path is not None else Path.cwd()))
        dialog.selectFile(self.path.name if self.path is not None else f"program{self._ending}")
        dialog.fileSelected.connect(self.save_to)
        dialog.open()

    def begin_with(self, words: str) -> None:
        """Put an example in place of the text; Undo brings it back."""
        self._editor.replace_all(words)
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
        self._colour.start()
        self._drafting.start()

    def _complain(self, sentence: str) -> None:
        self._trouble.set_text(sentence)
        self._trouble.show()

    # -- changed by somebody else --------------------------------------------------------

    def _watch(self) -> None:
        """The file, and its folder: most programs put a new file in its place."""
        if self.path is None:
            return
        watched = [*self._watcher.files(), *self._watcher.directories()]
        wanted = [str(each) for each in (self.path, self.path.parent) if each.exists()]
        for gone in set(watched) - set(wanted):
            self._watcher.removePath(gone)
        self._watcher.addPaths([each for each in wanted if each not in watched])

    def _on_disk_changed(self) -> None:
        self._watch()
        content = _content(self.path) if self.path is not None else None
        if content is None or content == self._on_disk:
            return
        try:
            _, text = _Form.of(content)
        except ValueError:
            return
        if not self.dirty:
            self.take_from_disk()
            self.state.setText("Read again: it was changed on disk")
        elif text != self._editor.text:
            self._changed.show()

    def take_from_disk(self) -> None:
        """Show what is on disk; Undo brings back what stood here."""
        content = _content(self.path) if self.path is not None else None
        if content is None:
            return
        try:
            self._form, text = _Form.of(content)
        except ValueError:
            return
        self._on_disk = content
        self._editor.replace_all(text)
        self._kept = self._editor.text
        self._changed.hide()
        self._end_draft()
        self._tell()

    def _on_keep_mine(self) -> None:
        """What is on disk is known now: Save writes over it."""
        self._on_disk = _content(self.path) if self.path is not None else None
        self._changed.hide()
        self._editor.setFocus()

    # -- drafts --------------------------------------------------------------------------

    def _drafts(self) -> Drafts:
        return Drafts(
            self._context.store.data, str(self.path) if self.path is not None else self.request.title
        )

    def _offer_draft(self) -> None:
        words = self._draft.read()
        if words is not None and words != self._editor.text:
            self._lost.show()

    def _on_bring_back(self) -> None:
        words = self._draft.read()
        self._lost.hide()
        if words is not None:
            self.begin_with(words)

    def _on_forget_draft(self) -> None:
        self._draft.remove()
        self._lost.hide()

    def _keep_draft(self) -> None:
        if self.dirty and not self._lost.isVisible():
            self._draft_work = self._context.spawn(self._write_draft(), "Keeping what you typed")

    async def _write_draft(self) -> None:
        try:
            await asyncio.to_thread(self._draft.write, self._editor.text)
        except OSError as error:
            self.state.setText(f"It cannot be kept for after a crash: {error.strerror}")

    def _end_draft(self) -> None:
        self._drafting.stop()
        self._lost.hide()
        self._draft.remove()
        self._draft = self._drafts()

    # -- its colours -----------------------------------------------------------------------

    def _begin_colouring(self) -> None:
        suffix = self.path.suffix if self.path is not None else self._ending
        if suffix not in LEXERS:
            return
        if self._colours is not None and not self._colours.done():
            self._stale = True
            return
        self._colours = self._context.spawn(self._find_colours(suffix), "Colouring a file")

    async def _find_colours(self, suffix: str) -> None:
        written = self._editor.text
        spans = await asyncio.to_thread(spans_of, suffix, written)
        if written == self._editor.text:
            self._editor.colouring.set_spans(spans)
        elif self._stale:
            self._colour.start()
        self._stale = False

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
        written = self._editor.text
        try:
            said = await self.request.check.ask(self.path, written)
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
                self._found = said.problems
                self._show_problems()
                self._say_checked(said)
        if self._again or written != self._editor.text:
            self._again, self._task = False, None
            self._idle.start(0)

    def _learn(self, said: Checked) -> None:
        """What is said of all such files is the same each time."""
        if self._learned:
            return
        self._learned, self._ending = True, said.ending
        if said.colours:
            self._editor.colouring.set_rules(said.colours)
        for name, words in said.templates:
            action = self._menu.addAction(name)
            if action is not None:
                action.setData(words)
                action.triggered.connect(self._on_template)
        self._new.setVisible(bool(self._menu.actions()))

    def _on_template(self) -> None:
        action: Any = self.sender()
        self.begin_with(str(action.data()))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong: what has been said of the saved file, then what the check says, no line twice."""
        told = {(problem.line, problem.text) for problem in self._told}
        return (*self._told, *(each for each in self._found if (each.line, each.text) not in told))

    def _show_problems(self) -> None:
        problems = self.problems
        self._editor.show_problems(problems)
        self._wrong.clear()
        for problem in problems:
            where = f"Line {problem.line}: " if problem.line else ""
            item = QListWidgetItem(f"{where}{problem.text}")
            item.setData(Qt.ItemDataRole.UserRole, problem)
            self._wrong.addItem(item)
        self._wrong.setVisible(bool(problems))
        widest = max((self.fontMetrics().horizontalAdvance(p.text) for p in problems), default=0)
        lines = len(problems) * (1 if widest < self.width() - 140 else 2)
        self._wrong.setFixedHeight(min(lines, _LINES) * _LINE + _LINE // 2)

    def _say_checked(self, said: Checked) -> None:
        problems = self.problems
        many = f"{len(problems)} mistake{'' if len(problems) == 1 else 's'}"
        unchecked = f" ({said.unchecked})" if said.unchecked else ""
        self.state.setText(f"{many}, F8 goes to the next" if problems else f"No mistake is known{unchecked}")

    def _on_problem(self, item: QListWidgetItem) -> None:
        problem: Problem = item.data(Qt.ItemDataRole.UserRole)
        self._editor.go_to(problem.line or 1, problem.column)

    def next_problem(self) -> None:
        """To the next line with a mistake; after the last to the first."""
        self._to_problem(1)

    def previous_problem(self) -> None:
        """To the one before."""
        self._to_problem(-1)

    def _to_problem(self, way: int) -> None:
        here = self._editor.textCursor().blockNumber() + 1
        lines = sorted({problem.line for problem in self.problems if problem.line}, reverse=way < 0)
        if lines:
            self._editor.go_to(next((line for line in lines if (line - here) * way > 0), lines[0]))

    # -- finding -----------------------------------------------------------------------

    def _on_find(self) -> None:
        self._finder.open()

    def _on_go_to_line(self) -> None:
        self._finder.open(":")

    # -- its end -----------------------------------------------------------------------

    def _on_discard(self) -> None:
        self._kept = self._editor.text
        self._draft.remove()
        self.done(0)

    def done(self, a0: int) -> None:
        """What is not saved is asked about first: save it, throw it away, or type on."""
        if self.dirty:
            self._unsaved.show()
            self.save.setFocus()
            return
        self._let_go()
        self._context.spawn(self.request.check.close(), "Ending what checks a file")
        super().done(a0)
        self.closed.emit()

    async def shut_down(self) -> None:
        """The window closes: what is not saved is kept as a draft."""
        self._let_go()
        if self.dirty:
            await self._write_draft()
        await self.request.check.close()
        self._kept = self._editor.text
        super().done(0)

    def _let_go(self) -> None:
        for timer in (self._idle, self._colour, self._drafting, self._disk):
            timer.stop()
        for task in (self._task, self._colours, self._draft_work):
            if task is not None:
                task.cancel()


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
