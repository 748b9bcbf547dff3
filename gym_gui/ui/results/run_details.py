"""Inspector of the list of runs, which edits the labels of the selected runs and shows facts about one
run.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

from PyQt6.QtCore import QEvent, QObject, pyqtSignal
from PyQt6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from gym_gui.analysis.words.wording import moment
from gym_gui.core.run_labels import LONGEST_NAME, LONGEST_NOTES, tags_of
from gym_gui.services.runs.run_library import RunEntry
from gym_gui.services.runs.run_titles import in_words
from gym_gui.ui import theme
from gym_gui.ui.numbers import local
from gym_gui.ui.results.library_model import episodes_in_words
from gym_gui.ui.widgets import FactRows, IconButton, InlineMessage, label, muted_label, section_label
from gym_gui.ui.widgets.form import FormRows
from gym_gui.ui.widgets.layouts import column_layout

_MOST_SETTINGS: Final = 14


class RunDetails(QWidget):
    """Form that shows and edits the labels of runs.

    It emits a change when a field loses the focus or Enter is pressed, and writes no files.

    Args:
        parent: Qt owner.
    """

    changed = pyqtSignal(object, object)
    """Emits a list of runs and a mapping from label names to new values."""
    tags_changed = pyqtSignal(object, object, object)
    """Emits a list of runs, the tags to add to each run, and the tags to remove from each run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run-details")
        self._runs: list[RunEntry] = []
        self._title = label("", "strong", wrap=True, name="run-details-title")
        self._trouble = InlineMessage("warning", "", name="run-details-trouble")
        self._make_fields()
        self._facts = FactRows("run-details-", cut=("Folder",))
        self._settings = FactRows()
        self._settings.setObjectName("run-details-settings")
        self._heading = section_label("Settings")
        layout = column_layout(self)
        for widget in (self._title, self._trouble, self._form, muted_label("Notes"), self.notes):
            layout.addWidget(widget)
        layout.addSpacing(theme.STEP)
        self._more = muted_label()
        for widget in (self._facts, self._heading, self._settings, self._more):
            layout.addWidget(widget)
        self.show_runs([])

    def _make_fields(self) -> None:
        self.name = _line("run-details-name", "Default: its policies")
        self.name.setMaxLength(LONGEST_NAME)
        self.tags = _line("run-details-tags", "paper, ablation")
        self.group = _line("run-details-group", "None")
        self.group.setMaxLength(LONGEST_NAME)
        self.star = IconButton("star", "Star (Ctrl+D)", name="run-details-star", on_click=self._on_star)
        self.star.setCheckable(False)
        self._form = FormRows()
        self._form.add_row("Name", self.name, tooltip="Name of the run in lists and titles (F2)")
        self._form.add_row(
            "Tags", self.tags, tooltip="Words separated by commas; the search finds them as tag:paper"
        )
        self._form.add_row(
            "Group", self.group, tooltip="The group of this run; the search finds it as group:sweep"
        )
        self._form.add_row("Star", self.star)
        self.notes = QPlainTextEdit()
        self.notes.setObjectName("run-details-notes")
        self.notes.setAccessibleName("Notes")
        self.notes.setToolTip("Notes about the run; saved when you leave the field")
        self.notes.setTabChangesFocus(True)
        self.notes.setFixedHeight(110)
        self.notes.installEventFilter(self)
        for field, slot in (
            (self.name, self._on_name),
            (self.tags, self._on_tags),
            (self.group, self._on_group),
        ):
            field.editingFinished.connect(slot)

    @property
    def runs(self) -> Sequence[RunEntry]:
        """Runs that are shown."""
        return self._runs

    def show_runs(self, runs: Sequence[RunEntry]) -> None:
        """Show the labels of the given runs, after emitting unfinished edits of the previous runs."""
        same = [run.path for run in runs] == [run.path for run in self._runs]
        if not same:
            self.finish()
        self._runs = list(runs)
        self.setVisible(bool(runs))
        if not runs:
            return
        one = runs[0] if len(runs) == 1 else None
        self._title.setText(one.full_title if one is not None else f"{local(len(runs)):,} runs")
        trouble = next((run.labels_problem for run in runs if run.labels_problem), "")
        self._trouble.set_text(trouble)
        self._trouble.setVisible(bool(trouble))
        for field in (self.name, self.tags, self.group, self.star, self.notes):
            field.setEnabled(not trouble and (one is not None or field not in (self.name, self.notes)))
        _fill(self.name, one.labels.name if one is not None else "", same)
        self.name.setPlaceholderText("Default: its policies" if one is not None else "Select one run")
        _fill(self.tags, ", ".join(self._common_tags()), same)
        _fill(self.group, self._common_group(), same)
        self.star.set_icon("starred" if self._starred() else "star")
        if not (same and self._typed_in_notes()):
            self.notes.setPlainText(one.labels.notes if one is not None else "")
        self._show_facts(one)

    def _typed_in_notes(self) -> bool:
        document = self.notes.document()
        return document is not None and document.isModified()

    def finish(self) -> None:
        """Emit edits that have not been emitted yet."""
        if self._runs:
            self._on_name()
            self._on_tags()
            self._on_group()
            self._on_notes()

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Emit the notes when the notes field loses the focus."""
        if a0 is self.notes and a1 is not None and a1.type() == QEvent.Type.FocusOut:
            self._on_notes()
        return super().eventFilter(a0, a1)

    # -- labels that several runs have in common ---------------------------------------

    def _common_tags(self) -> list[str]:
        first, *others = [run.labels.tags for run in self._runs]
        return [tag for tag in first if all(tag in tags for tags in others)]

    def _common_group(self) -> str:
        groups = {run.labels.group for run in self._runs}
        return groups.pop() if len(groups) == 1 else ""

    def _starred(self) -> bool:
        return all(run.labels.star for run in self._runs)

    # -- emitting changes --------------------------------------------------------------

    def _emit_changes(self, changes: Mapping[str, Any]) -> None:
        self.changed.emit(list(self._runs), changes)

    def _on_name(self) -> None:
        text = self.name.text().strip()
        self.name.setModified(False)
        if len(self._runs) == 1 and self.name.isEnabled() and text != self._runs[0].labels.name:
            self._emit_changes({"name": text})

    def _on_tags(self) -> None:
        if not self._runs:
            return
        self.tags.setModified(False)
        before, now = self._common_tags(), tags_of([self.tags.text()])
        if self.tags.isEnabled() and list(now) != before:
            gone = [tag for tag in before if tag not in now]
            self.tags_changed.emit(list(self._runs), [tag for tag in now if tag not in before], gone)

    def _on_group(self) -> None:
        text = self.group.text().strip()
        self.group.setModified(False)
        if self._runs and self.group.isEnabled() and text != self._common_group():
            self._emit_changes({"group": text})

    def _on_notes(self) -> None:
        text = self.notes.toPlainText().strip()[:LONGEST_NOTES]
        if (document := self.notes.document()) is not None:
            document.setModified(False)
        if len(self._runs) == 1 and self.notes.isEnabled() and text != self._runs[0].labels.notes:
            self._emit_changes({"notes": text})

    def _on_star(self) -> None:
        self._emit_changes({"star": not self._starred()})

    def _show_facts(self, run: RunEntry | None) -> None:
        for widget in (self._facts, self._heading, self._settings, self._more):
            widget.setVisible(run is not None)
        if run is None:
            return
        facts = {
            "Agents": ", ".join(o.name for o in run.operators),
            "Workers": ", ".join(run.workers),
            "Environment": ", ".join(run.tasks),
            "Episodes": episodes_in_words(run),
            "Status": run.status.capitalize(),
            "Started": moment(run.started_at),
            "Folder": str(run.path),
        }
        self._facts.show_facts(facts)
        settings = {in_words(name): ", ".join(values) for name, values in run.settings.items()}
        rest = len(settings) - _MOST_SETTINGS
        self._settings.show_facts(dict(itertools.islice(settings.items(), _MOST_SETTINGS)))
        self._more.setText(f"and {local(rest):,} more, in run.json")
        self._more.setVisible(rest > 0)
        self._heading.setVisible(bool(settings))
        self._settings.setVisible(bool(settings))


def _line(name: str, hint: str) -> QLineEdit:
    field = QLineEdit()
    field.setObjectName(name)
    field.setPlaceholderText(hint)
    return field


def _fill(field: QLineEdit, text: str, same: bool) -> None:
    """Set the text of a field, unless the user has edited the field for the same runs."""
    if not (same and field.isModified()):
        field.setText(text)
