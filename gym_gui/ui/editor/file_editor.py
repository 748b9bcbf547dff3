"""Editor window for one text file, which marks errors at their lines.

The check in the editor's request (:mod:`gym_gui.ui.editor.checks`) finds the errors; the editor itself
does not depend on file formats.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QKeySequence, QShortcut
from PyQt6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QWidget

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.code_edit import CodeEdit
from gym_gui.ui.editor.colorer import Colorer
from gym_gui.ui.editor.completion_list import CompletionList
from gym_gui.ui.editor.draft_keeper import DraftKeeper
from gym_gui.ui.editor.file_request import Checked, FileRequest, Problem
from gym_gui.ui.editor.find_bar import FindBar
from gym_gui.ui.editor.problem_list import ProblemList
from gym_gui.ui.editor.text_file import TextFile
from gym_gui.ui.typing_pause import TypingPause
from gym_gui.ui.widgets import ElidedLabel, InlineMessage, PrimaryButton, QuietButton, label, muted_label
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout

IDLE_MS: Final = 400
"""Pause in typing, in ms, after which the text is checked."""


class FileEditor(Dialog):
    """Window that edits, checks and saves one text file.

    Args:
        context: The window's services.
        request: The file to edit, and its check.
        parent: Qt owner.
    """

    closed = pyqtSignal()
    """Emitted when the editor has closed, after the user saved or discarded the changes."""

    def __init__(self, context: AppContext, request: FileRequest, parent: QWidget | None = None) -> None:
        super().__init__("file-editor", "", parent, size=QSize(920, 620))
        self.setSizeGripEnabled(True)
        self._context, self.request = context, request
        self._file = TextFile(request.path, self)
        self._file.changed.connect(self._on_changed_on_disk)
        self._kept = self._seen = ""
        self._ending = ""
        self._unanswered = self._learned = False
        self._asking = TypingPause(context.spawn, self._check, "Checking a file", IDLE_MS, self)
        self._asking.began.connect(self._on_check_began)
        self._make()
        self._make_messages()
        self._build()
        self._make_shortcuts()
        self._load()
        self._editor.textChanged.connect(self._on_typed)
        self._update_title()
        self._draft.offer(self._editor.text)
        self._colors.run_now()
        self.show_request(request)
        self.check()

    @property
    def path(self) -> Path | None:
        """Path of the file; ``None`` if there is no file yet or it cannot be read."""
        return self._file.path

    def _make(self) -> None:
        title = self.request.title
        self._title = label("", "title")
        self._where = ElidedLabel("", "muted", mode=Qt.TextElideMode.ElideMiddle, name="file-where")
        self._editor = CodeEdit(self)
        self._editor.setObjectName("file-text")
        self._editor.setAccessibleName(f"{title}: text")
        self._finder = FindBar(self._editor, self)
        self._completion = CompletionList(
            self._editor, lambda text, at: self.request.check.offers(self.path, text, at), self
        )
        self._colors = Colorer(self._context, self._editor, self._suffix)
        self._wrong = ProblemList(self)
        self._wrong.chosen.connect(self._editor.go_to)
        self.state = muted_label("", name="file-state")
        self._menu = QMenu(self)
        self._menu.setObjectName("file-menu")
        self._new = QuietButton(
            "New from example", menu=self._menu, name="file-new", tooltip="Replace the text by an example"
        )
        self._new.hide()
        self._find = QuietButton(
            "Find",
            name="file-find",
            key="Ctrl+F",
            tooltip="Find text or go to a line",
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
        self._unsaved = InlineMessage("warning", "Your changes are not saved.", ("Discard", self._on_discard))
        self._changed = InlineMessage(
            "warning", "Another program changed the file on disk while you were editing it."
        )
        self._changed.setObjectName("file-changed")
        self._changed.add_action("Keep my text", self._on_keep_mine, name="file-keep-mine")
        self._changed.add_action("Load from disk", self.reload_from_disk, name="file-take-other")
        self._draft = DraftKeeper(self._context, self._draft_name, self._unsaved_text, self)
        self._draft.brought_back.connect(self.begin_with)
        self._draft.troubled.connect(self.state.setText)
        for message in (self._trouble, self._unsaved, self._changed):
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
        column = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        column.addLayout(head)
        for widget in (self._trouble, self._changed, self._draft, self._finder):
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

    # -- request ---------------------------------------------------------------------

    def show_request(self, request: FileRequest) -> None:
        """Apply a new request for the open file, with its problems, line and follow-up action."""
        self.request = request
        again = request.again
        self._run_again.setVisible(again is not None)
        if again is not None:
            self._run_again.set_text(again[0])
            self._run_again.setToolTip("Save the file, then perform this action (Ctrl+R)")
        self.show_problems(request.problems)

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show problems of the saved file that a run or another reader found; go to the first one with a
        line.
        """
        self._wrong.told = tuple(problems)
        self._show_problems()
        first = next((problem for problem in problems if problem.line), None)
        if first is not None:
            self._editor.go_to(first.line, first.column)

    def run_again(self) -> None:
        """Save the file if necessary, then call the request's follow-up action."""
        if self.request.again is None:
            return
        if self.dirty:
            self.keep()
        if not self.dirty:
            self.show_problems(())
            self.request.again[1]()

    # -- reading and saving ------------------------------------------------------------

    @property
    def dirty(self) -> bool:
        """Whether the text differs from the saved text."""
        return self._editor.text != self._kept

    def _suffix(self) -> str:
        return self.path.suffix if self.path is not None else self._ending

    @property
    def _draft_name(self) -> str:
        return str(self.path) if self.path is not None else self.request.title

    def _unsaved_text(self) -> str | None:
        return self._editor.text if self.dirty else None

    def _load(self) -> None:
        try:
            text = self._file.read()
        except UsageError as error:
            self._show_error(error.sentence)
            return
        if text is not None:
            self._editor.setPlainText(text)
            self._kept = self._seen = self._editor.text

    def keep(self) -> None:
        """Save the text and pass the file's path to the request; for a new file, ask for a path."""
        if self.path is None:
            self._on_save_as()
            return
        written = self._editor.text
        try:
            self._file.save(written)
        except UsageError as error:
            self._show_error(error.sentence)
            return
        self._kept = written
        self._trouble.hide()
        self._changed.hide()
        self._draft.end(self._draft_name)
        if self.request.choose is not None:
            self.request.choose(self._file.given)
        self._wrong.told = ()
        self._show_problems()
        self._update_title()
        self.state.setText("Saved. Changes take effect at the next start")

    def save_to(self, path: str) -> None:
        """Save under a path; add the usual suffix of the file type to a path without a suffix."""
        chosen = Path(path)
        self._file.move(chosen if chosen.suffix or not self._ending else chosen.with_suffix(self._ending))
        self.keep()

    def _on_save_as(self) -> None:
        dialog = QFileDialog(self, f"Save {self.request.title.lower()}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(self._ending)  # so that the dialog asks about the file that would be replaced
        dialog.setDirectory(str(self.path.parent if self.path is not None else Path.cwd()))
        dialog.selectFile(self.path.name if self.path is not None else f"program{self._ending}")
        dialog.fileSelected.connect(self.save_to)
        dialog.open()

    def begin_with(self, words: str) -> None:
        """Replace the text by an example or a draft, with Undo."""
        self._editor.replace_all(words)
        self._editor.setFocus()

    def _update_title(self) -> None:
        name = self.path.name if self.path is not None else "New file"
        self._title.setText(name)
        self.setWindowTitle(f"{name}{' (changed)' if self.dirty else ''}")
        self._where.setText(str(self.path.parent) if self.path is not None else "not saved yet")
        self.save.setEnabled(self.dirty)

    def _on_typed(self) -> None:
        if self._editor.text == self._seen:
            return  # its colors have changed
        self._seen = self._editor.text
        self._unsaved.hide()
        self._update_title()
        self._asking.typed()
        self._colors.typed()
        self._draft.typed()

    def _show_error(self, sentence: str) -> None:
        self._trouble.set_text(sentence)
        self._trouble.show()

    # -- changes by another program -------------------------------------------------------

    def _on_changed_on_disk(self, text: str) -> None:
        if not self.dirty:
            self.reload_from_disk()
            self.state.setText("Reloaded: another program changed the file")
        elif text != self._editor.text:
            self._changed.show()

    def reload_from_disk(self) -> None:
        """Replace the text by the file's content on disk, with Undo."""
        text = self._file.accept_disk_text()
        if text is None:
            return
        self._editor.replace_all(text)
        self._kept = self._editor.text
        self._changed.hide()
        self._draft.end(self._draft_name)
        self._update_title()

    def _on_keep_mine(self) -> None:
        self._file.accept()  # Save then replaces the other program's text
        self._changed.hide()
        self._editor.setFocus()

    # -- problems ----------------------------------------------------------------------

    def check(self) -> None:
        """Start a check of the text; only one check runs at a time."""
        self._asking.run_now()

    def _on_check_began(self) -> None:
        self.state.setText("Checking…")

    async def _check(self) -> None:
        written = self._editor.text
        try:
            said = await self.request.check.ask(self.path, written)
        except MosaicError as error:
            self.state.setText("")
            self._unanswered = True
            self._show_error(error.sentence)
        else:
            if self._unanswered:
                self._unanswered = False
                self._trouble.hide()
            self._learn(said)
            if written == self._editor.text:
                self._wrong.found = said.problems
                self._show_problems()
                self._show_check_result(said)

    def _learn(self, said: Checked) -> None:
        """Set file suffix, color rules and templates from the first check result, because later results
        have the same.
        """
        if self._learned:
            return
        self._learned, self._ending = True, said.ending
        if said.colors:
            self._editor.coloring.set_rules(said.colors)
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
        """All problems: first those that readers of the saved file reported, then others found by the
        check.
        """
        return self._wrong.problems

    def _show_problems(self) -> None:
        self._wrong.file = self.path.name if self.path is not None else ""
        self._editor.show_problems(self._wrong.renew())

    def _show_check_result(self, said: Checked) -> None:
        problems = self.problems
        many = f"{len(problems)} error{'' if len(problems) == 1 else 's'}"
        unchecked = f" ({said.unchecked})" if said.unchecked else ""
        self.state.setText(f"{many}; press F8 for the next" if problems else f"No errors found{unchecked}")

    def next_problem(self) -> None:
        """Move the cursor to the next line with an error; after the last error, to the first."""
        self._to_problem(1)

    def previous_problem(self) -> None:
        """Move the cursor to the previous line with an error; before the first error, to the last."""
        self._to_problem(-1)

    def _to_problem(self, way: int) -> None:
        line = self._wrong.beyond(self._editor.textCursor().blockNumber() + 1, way)
        if line is not None:
            self._editor.go_to(line)

    # -- search ------------------------------------------------------------------------

    def _on_find(self) -> None:
        self._finder.open()

    def _on_go_to_line(self) -> None:
        self._finder.open(":")

    # -- closing -----------------------------------------------------------------------

    def _on_discard(self) -> None:
        self._kept = self._editor.text
        self._draft.forget()
        self.done(0)

    def done(self, a0: int) -> None:
        """Close the editor; with unsaved changes, stay open and ask the user to save or discard them."""
        if self.dirty:
            self._unsaved.show()
            self.save.setFocus()
            return
        self._stop_reacting()
        self._context.spawn(self.request.check.close(), "Ending the check of a file")
        super().done(a0)
        self.closed.emit()

    async def shut_down(self) -> None:
        """Close the editor when the window closes; keep unsaved text as a draft."""
        self._stop_reacting()
        await self._draft.write()
        await self.request.check.close()
        self._kept = self._editor.text
        super().done(0)

    def _stop_reacting(self) -> None:
        self._asking.cancel()
        self._colors.cancel()
        self._draft.stop()
        self._file.ignore_changes()
