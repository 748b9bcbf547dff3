"""Editor of a worker's prompt files, with a preview of the prompt for the current observation."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QFontDatabase
from PyQt6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSplitter,
    QTextEdit,
    QWidget,
)

from gym_gui.analysis.transcripts.turn import turn_of
from gym_gui.core.errors import MosaicError
from gym_gui.services.module_query import ask
from gym_gui.services.prompt_files import FOLDER, PromptFiles, default_prompts
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.settings_services import PromptsRequest
from gym_gui.ui.language.turn_view import write_sections
from gym_gui.ui.numbers import local
from gym_gui.ui.typing_pause import TypingPause
from gym_gui.ui.widgets import (
    ElidedLabel,
    InlineMessage,
    PrimaryButton,
    QuietButton,
    label,
    muted_label,
    section_label,
)
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, row_layout

IDLE_MS: Final = 500
"""Pause in typing, in ms, after which the preview is updated."""
_ROLES: Final = {"system": "System", "user": "User", "assistant": "Assistant"}

Look = Callable[[], Awaitable[Mapping[str, Any]]]
"""Asynchronous function that returns the slot's current observation and decision."""


class PromptEditor(Dialog):
    """Dialog with a list of prompt files, the text of the selected file, and a preview of the prompt.

    Args:
        context: The window's services.
        request: Worker and slot whose prompts are edited.
        files: The prompt files.
        look: Returns the current decision of the running session; ``None`` if no session runs.
        parent: Qt owner.
    """

    def __init__(
        self,
        context: AppContext,
        request: PromptsRequest,
        files: PromptFiles,
        look: Look | None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            "prompt-editor", f"Prompts of {request.worker.display_name}", parent, size=QSize(1120, 680)
        )
        self._context, self._request, self._files, self._look = context, request, files, look
        self._name, self._kept = "", ""
        self._moment: Mapping[str, Any] | None = None
        self._looking = TypingPause(context.spawn, self._preview, "Previewing a prompt", IDLE_MS, self)
        self._looking.began.connect(self._on_preview_began)
        self._said: Mapping[str, Any] = {}
        self._make()
        self._build()
        theme.current().changed.connect(self._on_theme_changed)
        self._fill_list()
        if self.files.count():
            self.files.setCurrentRow(self._first())

    def _make(self) -> None:
        self.files = QListWidget(self)
        self.files.setObjectName("prompt-files")
        self.files.setAccessibleName("Files")
        self.files.setProperty("role", "field")
        self.files.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.files.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.files.currentItemChanged.connect(self._on_file)
        self._editor = QPlainTextEdit(self)
        self._editor.setObjectName("prompt-text")
        self._editor.setAccessibleName("Text of the prompt file")
        self._editor.setTabChangesFocus(True)
        self._editor.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._editor.textChanged.connect(self._on_typed)
        self._shown = QTextEdit(self)
        self._shown.setObjectName("prompt-preview")
        self._shown.setAccessibleName("Prompt preview")
        self._shown.setReadOnly(True)
        self._trouble = InlineMessage("warning", "")
        self._trouble.hide()
        self.state = muted_label("", name="prompt-state")
        self.save = PrimaryButton("Save", name="prompt-save", key="Ctrl+S", on_click=self.save_to_user_folder)
        self.save.setShortcut("Ctrl+S")
        self._back = QuietButton(
            "Restore default",
            name="prompt-back",
            tooltip="Replace your text by the worker's default text",
            on_click=self._on_back,
        )
        self._fresh = QuietButton(
            "Update preview",
            icon_name="seed",
            name="prompt-look",
            tooltip="Preview the prompt for the agent's current observation",
            on_click=self._on_fresh,
        )

    def _build(self) -> None:
        where = ElidedLabel(str(self._files.own), "muted", mode=Qt.TextElideMode.ElideMiddle)
        where.setToolTip("Folder of your prompt files; each file replaces the worker's default file")
        head = row_layout()
        head.addWidget(label(f"Prompts of {self._request.agent}", "title"))
        head.addWidget(where, 1)
        left, middle, right = (_column(self) for _ in range(3))
        _add(left, section_label("Files"), self.files)
        _add(middle, section_label("Text"), self._editor)
        _add(right, section_label("Prompt preview"), self._trouble, self._shown)
        split = QSplitter(self)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.ROW)
        for column in (left, middle, right):
            split.addWidget(column)
        split.setSizes([225, 420, 475])
        foot = row_layout()
        for widget in (self._fresh, self.state):
            foot.addWidget(widget)
        foot.addStretch(1)
        for widget in (self._back, self.save):
            foot.addWidget(widget)
        column = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        column.addLayout(head)
        column.addWidget(split, 1)
        column.addLayout(foot)

    # -- files -------------------------------------------------------------------------

    @property
    def dirty(self) -> bool:
        """Whether the text differs from the saved text."""
        return bool(self._name) and self._editor.toPlainText() != self._kept

    def _first(self) -> int:
        names = [self.files.item(i).data(Qt.ItemDataRole.UserRole) for i in range(self.files.count())]  # type: ignore[union-attr]
        return names.index("system.txt") if "system.txt" in names else 0

    def _fill_list(self) -> None:
        blocked = self.files.blockSignals(True)
        self.files.clear()
        for name in self._files.names():
            own = self._files.is_own(name)
            item = QListWidgetItem(f"{name}  (yours)" if own else name)
            item.setData(Qt.ItemDataRole.UserRole, name)
            self.files.addItem(item)
            if name == self._name:
                self.files.setCurrentItem(item)
        self.files.blockSignals(blocked)

    def _on_file(self, item: QListWidgetItem | None, _before: QListWidgetItem | None = None) -> None:
        if item is None:
            return
        if self.dirty:
            self.save_to_user_folder()  # the typed text is not lost when another file is shown
        self._open(item.data(Qt.ItemDataRole.UserRole))

    def _open(self, name: str) -> None:
        try:
            text = self._files.text(name)
        except MosaicError as error:
            self._show_error(error.sentence)
            return
        self._name, self._kept = name, text
        self._editor.setPlainText(text)
        self._update_buttons()

    def save_to_user_folder(self) -> None:
        """Save the text in the user's folder and set that folder in the slot's settings."""
        if not self._name:
            return
        text = self._editor.toPlainText()
        try:
            self._files.save(self._name, text)
        except MosaicError as error:
            self._show_error(error.sentence)
            return
        self._kept = text
        self._request.choose(str(self._files.own))
        self._fill_list()
        self._update_buttons()
        self.state.setText("Saved. Changes take effect at the next start (Stop all, then Run)")

    def _on_back(self) -> None:
        try:
            self._files.put_back(self._name)
        except MosaicError as error:
            self._show_error(error.sentence)
            return
        self._fill_list()
        self._kept = self._editor.toPlainText()  # discard the text without asking
        self._open(self._name)

    def _update_buttons(self) -> None:
        self.save.setEnabled(self.dirty)
        self._back.setEnabled(self._files.is_own(self._name))

    def _on_typed(self) -> None:
        self._update_buttons()
        self._looking.typed()

    # -- preview -----------------------------------------------------------------------

    def _on_fresh(self) -> None:
        self._moment = None
        self.preview()

    def preview(self) -> None:
        """Show the prompt that the edited texts produce for the agent's current observation."""
        self._looking.run_now()

    def _on_preview_began(self) -> None:
        self.state.setText("Updating…")

    async def _preview(self) -> None:
        try:
            said = await self._asked()
        except MosaicError as error:
            self._show_error(error.sentence)
        else:
            self._show(said)

    async def _asked(self) -> Mapping[str, Any]:
        if self._look is None:
            return {"sentence": "No session runs. Start this operator (Step or Run) to preview its prompt"}
        if self._moment is None:
            self._moment = await self._look()
        request, name, text = self._request, self._name, self._editor.toPlainText()
        with tempfile.TemporaryDirectory(prefix="mosaic-prompts-") as folder:
            draft = await asyncio.to_thread(self._files.with_draft, Path(folder), name, text)
            settings = {**request.settings, request.setting.name: str(draft)}
            question = {"settings": settings, **self._moment}
            said = await ask(request.worker, request.setting.module, question)
        # The temporary folder means nothing to the user: show the file's name alone.
        sentence = str(said.get("error") or said.get("sentence") or "").replace(f"{folder}/", "")
        return {**said, "sentence": sentence}

    def _on_theme_changed(self) -> None:
        if self._said:
            self._show(self._said)

    def _show(self, said: Mapping[str, Any]) -> None:
        turn = turn_of({"messages": said.get("messages")})
        sentence = str(said.get("sentence") or "")
        if not turn.messages:
            self._show_error(sentence or "The worker returned no prompt")
            return
        self._trouble.hide()
        self._said = said
        place = self._shown.verticalScrollBar()
        at = place.value() if place is not None else 0
        told = ((_ROLES.get(m.role, m.role.capitalize()), m.text, "text") for m in turn.messages)
        write_sections(self._shown, told)
        if place is not None:
            place.setValue(at)
        tokens = said.get("tokens")
        step = (self._moment or {}).get("decision", {}).get("step")
        parts = [f"Step {step}" if isinstance(step, int) else ""]
        parts.append(f"about {local(tokens):,} tokens" if isinstance(tokens, int) else "")
        self.state.setText(" \N{MIDDLE DOT} ".join(part for part in parts if part))

    def _show_error(self, sentence: str) -> None:
        self.state.setText("")
        self._trouble.set_text(sentence)
        self._trouble.show()

    # -- closing -----------------------------------------------------------------------

    def done(self, a0: int) -> None:
        """Save the text and close the dialog, also on Esc; stay open if the text cannot be saved."""
        if self.dirty:
            self.save_to_user_folder()
            if self.dirty:
                return  # the text could not be written; do not discard it
        self._looking.cancel()
        super().done(a0)


def open_prompt_editor(
    context: AppContext, request: PromptsRequest, look: Look | None, parent: QWidget
) -> PromptEditor | None:
    """Open the prompt editor over a window; show an error and return ``None`` if it cannot be opened.

    If the setting names no folder, the user's files are stored in a folder for this worker in the data
    folder.
    """
    try:
        defaults = default_prompts(request.worker, request.setting.module)
    except MosaicError as error:
        context.notify(error.sentence, "warning")
        return None
    written = str(request.settings.get(request.setting.name) or "")
    own = Path(written).expanduser() if written else context.store.data / FOLDER / request.worker.type_id
    editor = PromptEditor(context, request, PromptFiles(defaults, own), look, parent)
    editor.open()
    return editor


def _column(parent: QWidget) -> QWidget:
    column = QWidget(parent)
    column_layout(column)
    return column


def _add(column: QWidget, *widgets: QWidget) -> None:
    layout = column.layout()
    assert layout is not None
    for widget in widgets:
        layout.addWidget(widget)
