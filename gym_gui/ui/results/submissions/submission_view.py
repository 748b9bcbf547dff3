"""View of a submission: its progress, its shards as a grid and a table, and its hosts."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import QModelIndex, Qt, pyqtSignal
from PyQt6.QtWidgets import QProgressBar, QSplitter, QStackedWidget, QWidget

from gym_gui.services.submissions.overview import LOST, Overview, PlaceRow, ShardRow
from gym_gui.services.submissions.submission_record import FAILED
from gym_gui.ui import theme
from gym_gui.ui.numbers import local
from gym_gui.ui.results.delegates import CellDelegate
from gym_gui.ui.results.library_model import STATE_ROLE
from gym_gui.ui.results.submissions.shard_grid import (
    SHARD_STATE_ROLE,
    SIGNS,
    ShardGrid,
    ShardLegend,
    words_of,
)
from gym_gui.ui.results.submissions.submission_words import (
    answer_words,
    budget_words,
    origin_words,
    progress_words,
    rate_words,
    state_words,
)
from gym_gui.ui.widgets import Card, EmptyHint, InlineMessage, label, muted_label, section_label
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable

_ROW: Final = 30
_WHOLE: Final = 1000


class SubmissionView(QWidget):
    """View of the state of a submission; signals report the user's requests."""

    log_wanted = pyqtSignal(object)
    """Emits the :class:`~gym_gui.services.submissions.overview.ShardRow` whose log the user asks to see."""
    shard_opened = pyqtSignal(object)
    """Emits the ``ShardRow`` of the shard whose run the user asks to see."""
    selection_changed = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("submission")
        self.seen: Overview | None = None
        self._shards = RowsModel(_shard_columns("Episodes"), _number, {SHARD_STATE_ROLE: _state}, self)
        self._places = RowsModel(_place_columns("Episodes"), _place_name, parent=self)
        self._hint = EmptyHint("Reading…", "", icon_name="results", name="submission-hint")
        self._make_head()
        self._make_parts()
        self.message = InlineMessage("warning", "", name="submission-trouble")
        self.message.hide()
        content = QWidget(self)
        column = column_layout(content, margin=theme.PAGE, spacing=theme.GAP)
        column.addWidget(self._head)
        column.addWidget(self.message)
        column.addWidget(self._squares)
        column.addWidget(self._tables, 1)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._hint)
        self._stack.addWidget(content)
        around = column_layout(self, spacing=None)
        around.addWidget(self._stack)

    def _make_head(self) -> None:
        self._title = label("", "title", wrap=True, name="submission-title")
        self._state = label("", wrap=True, name="submission-state")
        self._state.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._bar = QProgressBar()
        self._bar.setObjectName("submission-progress")
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Progress")
        self._bar.setMaximum(_WHOLE)
        self._progress = label("", "fact", wrap=True, name="submission-done")
        self._budget = label("", wrap=True, name="submission-budget")
        self._origin = muted_label("", wrap=True, name="submission-origin")
        self._head = Card(margin=theme.PAGE)
        for widget in (self._title, self._state, self._bar, self._progress, self._budget, self._origin):
            self._head.add(widget)

    def _make_parts(self) -> None:
        self.grid = ShardGrid(self._shards, self)
        self._legend = ShardLegend()
        self._squares = Card("Shards", margin=theme.PAGE)
        self._squares.add(self._legend)
        self._squares.add(self.grid)
        self.table = RowsTable(self._shards, "submission-shards", "Shards", _ROW, self)
        self.table.setItemDelegate(CellDelegate(self.table))
        self.table.fit_columns()
        for view in (self.grid, self.table):
            view.activated.connect(self._on_activated)
        self.places = RowsTable(self._places, "submission-places", "Hosts", _ROW, self)
        self.places.fit_columns()
        where, each = _table_card("Hosts", self.places), _table_card("All shards", self.table)
        self._tables = QSplitter(Qt.Orientation.Horizontal, self)
        self._tables.setObjectName("submission-tables")
        self._tables.setChildrenCollapsible(False)
        self._tables.setHandleWidth(theme.GAP)
        self._tables.addWidget(where)
        self._tables.addWidget(each)
        self._tables.setStretchFactor(0, 1)
        self._tables.setStretchFactor(1, 1)
        for view in (self.grid, self.table):
            selection = view.selectionModel()
            assert selection is not None
            selection.currentChanged.connect(self._on_current_changed)

    @property
    def current(self) -> ShardRow | None:
        """Selected shard; ``None`` if none is selected."""
        return self.table.current

    def show_overview(self, seen: Overview) -> None:
        """Show an overview of the submission."""
        first = self.seen is None or self.seen.submission.folder != seen.submission.folder
        if first or (self.seen is not None and self.seen.unit != seen.unit):
            unit, part = f"{seen.unit.capitalize()}s", f"{seen.part.capitalize()}s"
            self._shards.show_table(_shard_columns(unit), ())
            self._places.show_table(_place_columns(unit, part), ())
            self.table.fit_columns()
            self.places.fit_columns()
        self.seen = seen
        self._stack.setCurrentIndex(1)
        where = f" in {', '.join(task.rpartition('/')[2] for task in seen.tasks)}" if seen.tasks else ""
        self._title.setText(f"{seen.title}{where}")
        self._state.setText(state_words(seen))
        total = seen.submission.total
        self._bar.setValue(round(_WHOLE * min(1.0, seen.done / total)) if total else 0)
        self._bar.setAccessibleDescription(progress_words(seen))
        self._progress.setText(progress_words(seen))
        self._budget.setText(budget_words(seen))
        self._budget.setVisible(bool(self._budget.text()))
        self._origin.setText(origin_words(seen))
        before = self._shards.total
        self._shards.set_rows(seen.shards)
        if self._shards.total != before:
            self.grid.updateGeometry()
        self._places.set_rows(seen.places)
        self._places.rows_changed()  # the column "Answered" depends on the current time
        self._legend.show_states(seen.states)
        self._show_trouble()

    def show_message(self, title: str, text: str = "") -> None:
        """Show a title and a text in place of the submission."""
        self.seen = None
        self._hint.set_text(title, text)
        self._stack.setCurrentIndex(0)

    def _show_trouble(self) -> None:
        """Show the problem of the selected shard, else of the first failed shard, else of a host."""
        seen, chosen = self.seen, self.current
        if seen is None:
            return
        failed = [row for row in seen.shards if row.state == FAILED]
        about = chosen if chosen is not None and chosen.problem else failed[0] if failed else None
        away = next((place for place in seen.places if place.problem), None)
        if about is not None:
            many = f"{local(len(failed)):,} have failed. " if about is not chosen and len(failed) > 1 else ""
            called = f"{about.called[0].upper()}{about.called[1:]}"
            self.message.set_text(f"{many}{called} ({words_of(about)}): {about.problem}")
            self.message.lead_to(
                ("Open the log", lambda row=about: self.log_wanted.emit(row)) if about.log else None
            )
        elif away is not None and not seen.submission.run:
            self.message.set_text(away.problem)
            self.message.lead_to(None)
        self.message.setVisible(about is not None or (away is not None and not seen.submission.run))

    def _on_current_changed(self, now: QModelIndex, _before: QModelIndex) -> None:
        if not now.isValid():
            return
        if self.table.currentIndex().row() != now.row():
            self.table.selectRow(now.row())
        if self.grid.currentIndex().row() != now.row():
            self.grid.setCurrentIndex(self._shards.index(now.row(), 0))
        self._show_trouble()
        self.selection_changed.emit()

    def _on_activated(self, _index: QModelIndex) -> None:
        self.open_current()

    def open_current(self) -> None:
        """Emit ``shard_opened`` for the selected shard."""
        if self.current is not None:
            self.shard_opened.emit(self.current)


def _table_card(title: str, table: QWidget) -> Card:
    card, head = Card(margin=theme.STEP), section_label(title)
    head.setContentsMargins(theme.GAP, theme.ROW, 0, 0)  # above the text of the first column
    card.add(head)
    card.add(table, 1)
    return card


def _number(row: ShardRow) -> int:
    return row.number


def _state(row: ShardRow) -> str:
    return row.state


def _token(row: ShardRow) -> str:
    return SIGNS[row.state][1]


def _place_name(row: PlaceRow) -> str:
    return row.name


def _where(row: ShardRow) -> str:
    return f"{row.place}, job {row.job}" if row.job else row.place


def _about(row: ShardRow) -> str:
    """Return the tooltip of a shard, with one line each for its state, host, problem and next try."""
    lines = (
        f"{row.called[0].upper()}{row.called[1:]}: {words_of(row)}",
        f"on {_where(row)}" if row.place else "",
        row.problem,
        "The shard restarts and keeps its finished episodes" if row.state == LOST else "",
    )
    return "\n".join(filter(None, lines))


def _spoken(row: ShardRow) -> str:
    return _about(row).replace("\n", ", ")


def _shard_columns(unit: str) -> tuple[Column[ShardRow], ...]:
    return (
        Column("No.", lambda row: f"{local(row.number):,}", _number, tip=_about, width=52, spoken=_spoken),
        Column("State", lambda row: words_of(row).capitalize(), width=118, roles={STATE_ROLE: _token}),
        Column("Where", _where, tip=_where, usual="this machine", gives=2),
        Column(unit, lambda row: f"{local(row.done):,}", lambda row: row.done, figure=True, width=88),
        Column(
            "Tries",
            lambda row: f"{local(row.tries):,}",
            lambda row: row.tries,
            figure=True,
            width=58,
            gives=3,
        ),
    )


def _place_columns(unit: str, parts: str = "Shards") -> tuple[Column[PlaceRow], ...]:
    run, back = f"{parts} that run on the host", f"{parts} copied to this machine"
    return (
        Column("Host", _place_name, tip=lambda row: row.problem or row.name, usual="this machine"),
        Column("Playing", lambda row: f"{local(row.playing):,}", figure=True, width=66, about=run),
        Column(
            "Queued",
            lambda row: f"{local(row.queued):,}",
            figure=True,
            width=66,
            about=f"{parts} in the queue of the host",
            gives=2,
        ),
        Column("Copied", lambda row: f"{local(row.here):,}", figure=True, width=64, about=back),
        Column(
            "/ s", lambda row: rate_words(row.rate), figure=True, width=50, about=f"{unit} a second", gives=1
        ),
        Column("Answered", answer_words, tip=lambda row: row.problem or None, width=104, gives=3),
    )
