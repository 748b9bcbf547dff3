"""A table with one row per slot: its policy, worker, file and link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from gym_gui.controllers.setup.check_message import Level
from gym_gui.controllers.setup.configuration_checks import WorkerOffer
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.ui.agents.model import ConfigurationModel
from gym_gui.ui.agents.slot_marks import LinkMark, team_color
from gym_gui.ui.commands import COMMAND, Command
from gym_gui.ui.numbers import count
from gym_gui.ui.policies.policy_items import show_player
from gym_gui.ui.widgets import Dot, ElidedLabel, IconButton, KindBadge, PickerButton, PickerItem, label
from gym_gui.ui.widgets.layouts import row_layout
from gym_gui.ui.widgets.tables import NOTHING

ROW_HEIGHT = 44
HEADER_HEIGHT = 36
MOST_ROWS = 8
"""Largest number of visible rows; further rows scroll."""

_SLOT, _TEAM, _KIND, _POLICY, _WORKER, _FILE, _LINK, _MORE = range(8)
_WIDE = (_POLICY, _WORKER, _FILE)
"""Columns that share the width that is left when every column fits its text."""
_HIDDEN_COLUMNS: tuple[tuple[int, ...], ...] = ((), (_FILE, _LINK), (_FILE, _LINK, _WORKER))
"""Sets of columns to hide, tried in order until no text is cut.

The inspector also shows file and link, and the tool tip of the policy names its worker.
"""
_FILE_WIDTH = 110
"""Least width of the names of files, in pixels."""
_PADDING = 24
"""Padding of a cell or heading, left and right together, in pixels."""
_COLUMNS = ("Slot", "Team", "Decided by", "Policy", "Worker", "File or model", "Link", "")


def worker_items(offers: Sequence[WorkerOffer]) -> list[PickerItem]:
    """Return the workers to choose from; workers that do not fit come last, with the reason."""
    items = [
        PickerItem(
            offer.worker.type_id,
            offer.worker.type_id,
            offer.worker.display_name,
            "",
            offer.reason,
            offer.worker.description,
        )
        for offer in offers
    ]
    return sorted(items, key=lambda item: bool(item.reason))


_FILES = ("checkpoint", "program", "task_file", "script")
"""Settings that name the file from which a slot's policy is read."""


def file_words(row: WorkerAssignment, followed: str = "", part: str = "") -> str:
    """Return the name of the file or model from which a slot's policy is read, or a dash.

    Args:
        row: Assignment of the slot.
        followed: Slot whose file this slot shares; empty for none.
        part: Agent of a joint file whose policy the slot plays; empty for its own policy.
    """
    of = f", part {part}" if part else ""
    if followed:
        return f"from {followed}{of}"
    moves = row.settings.get("script")
    if isinstance(moves, list):
        return f"a list of {count(len(cast('list[Any]', moves)), 'move')}"
    for key in (*_FILES, "model_id", "model"):
        value = row.settings.get(key)
        if isinstance(value, str) and value:
            return f"{Path(value).name}{of}" if key in _FILES else value
    return "—"


def file_path(row: WorkerAssignment) -> str:
    """Return the path of the file from which a slot's policy is read; empty if there is none."""
    return next((str(row.settings[key]) for key in _FILES if isinstance(row.settings.get(key), str)), "")


class _Row:
    """The controls of one slot's row."""

    def __init__(self, table: AgentConfigTable, number: int, agent: str) -> None:
        self.agent = agent
        self.policy = PickerButton(
            name=f"policy_{agent}",
            placeholder="Choose a policy…",
            search_hint="Search policies",
        )
        self.policy.setAccessibleName(f"Policy of {agent}")
        self.worker = PickerButton(
            name=f"worker_{agent}", placeholder="Choose a worker…", search_hint="Search workers"
        )
        self.worker.setAccessibleName(f"Worker of {agent}")
        for picker in (self.policy, self.worker):
            picker.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.policy.chosen.connect(partial(table.policy_chosen.emit, agent))
        self.worker.chosen.connect(partial(table.worker_chosen.emit, agent))
        self.badge = KindBadge("")
        self.file = ElidedLabel("—", mode=Qt.TextElideMode.ElideMiddle)
        self.link = LinkMark()
        self.more = IconButton("more", f"More for {agent}", name=f"more_{agent}")
        self.more.clicked.connect(partial(table.open_menu, agent))
        self.slot = label(agent, "strong")
        self.slot.setToolTip(agent)
        for column, widgets in (
            (_SLOT, (self.slot,)),
            (_KIND, (self.badge,)),
            (_POLICY, (self.policy,)),
            (_WORKER, (self.worker,)),
            (_FILE, (self.file,)),
            (_LINK, (self.link,)),
            (_MORE, (self.more,)),
        ):
            table.setCellWidget(number, column, _cell(*widgets, fill=column in (_POLICY, _WORKER, _FILE)))


class AgentConfigTable(QTableWidget):
    """Table that assigns policies to slots (PolicyMappingPanel in the design documents).

    Args:
        model: The edited configuration.
        parent: Qt owner.
    """

    policy_chosen = pyqtSignal(str, object)
    """Emits a slot and the id of the policy that the user chose."""
    worker_chosen = pyqtSignal(str, object)
    """Emits a slot and the id of the worker that the user chose."""
    slot_selected = pyqtSignal(str)
    link_asked = pyqtSignal(str)
    """Emits the slot to which the user wants to link other slots."""

    def __init__(self, model: ConfigurationModel, parent: QWidget | None = None) -> None:
        super().__init__(0, len(_COLUMNS), parent)
        self._model = model
        self._rows: dict[str, _Row] = {}
        self._with_teams = False
        self.setObjectName("agent_config_table")
        self.setAccessibleName("Who plays each slot")
        self.setHorizontalHeaderLabels(_COLUMNS)
        if (last := self.horizontalHeaderItem(_MORE)) is not None:
            last.setData(Qt.ItemDataRole.AccessibleTextRole, "More")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_context_menu)
        self._shape_columns()
        self.policy_chosen.connect(self._on_policy_chosen)
        self.worker_chosen.connect(self._on_worker_chosen)
        self.currentCellChanged.connect(self._on_current_changed)
        model.sheet_changed.connect(self._on_sheet_changed)
        model.draft_changed.connect(self._refresh)
        model.report_changed.connect(self._refresh)
        self._on_sheet_changed()

    def _shape_columns(self) -> None:
        header, side = self.horizontalHeader(), self.verticalHeader()
        assert header is not None and side is not None
        side.hide()
        side.setDefaultSectionSize(ROW_HEIGHT)
        header.setFixedHeight(HEADER_HEIGHT)
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setMinimumSectionSize(44)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def resizeEvent(self, e: QResizeEvent | None) -> None:
        """Divide the width among the columns again."""
        super().resizeEvent(e)
        self._share_width()

    def _share_width(self) -> None:
        """Give every column the width of its text; wide columns share the rest."""
        viewport = self.viewport()
        width = viewport.width() if viewport is not None else 0
        gone = () if self._with_teams else (_TEAM,)
        needs: dict[int, int] = {}
        for left_out in _HIDDEN_COLUMNS:
            shown = [c for c in range(len(_COLUMNS)) if c not in gone + left_out]
            needs = {column: self._need(column) for column in shown}
            if sum(needs.values()) <= width:
                break
        wide = [column for column in _WIDE if column in needs]
        spare = width - sum(needs.values())
        for column in range(len(_COLUMNS)):
            self.setColumnHidden(column, column not in needs)
        for column, need in needs.items():
            self.setColumnWidth(column, max(60, need + spare // len(wide)) if column in wide else need)

    def _need(self, column: int) -> int:
        header = self.horizontalHeader()
        words = header.fontMetrics().horizontalAdvance(_COLUMNS[column]) if header is not None else 0
        cells = [cell for row in range(self.rowCount()) if (cell := self.cellWidget(row, column))]
        room = max([words, *(cell.sizeHint().width() for cell in cells)])
        return (min(room, _FILE_WIDTH) if column == _FILE else room) + _PADDING

    def sizeHint(self) -> QSize:
        """Return the size of all rows, up to :data:`MOST_ROWS`."""
        rows = min(max(self.rowCount(), 1), MOST_ROWS)
        return QSize(super().sizeHint().width(), HEADER_HEIGHT + rows * ROW_HEIGHT + 4)

    def minimumSizeHint(self) -> QSize:
        """Return a minimum size with the preferred height."""
        return QSize(super().minimumSizeHint().width(), self.sizeHint().height())

    @property
    def selected(self) -> str:
        """Slot of the current row, or ``""``."""
        agents = list(self._rows)
        return agents[self.currentRow()] if 0 <= self.currentRow() < len(agents) else ""

    def select(self, agent: str) -> None:
        """Select the row of a slot."""
        if agent in self._rows:
            self.setCurrentCell(list(self._rows).index(agent), _SLOT)

    # -- display ---------------------------------------------------------------------

    def _on_sheet_changed(self) -> None:
        env_info = self._model.env_info
        agents = () if env_info is None else env_info.agents
        if tuple(self._rows) != agents:
            chosen = self.selected
            self._rebuild(agents)
            self.select(chosen if chosen in agents else next(iter(agents), ""))
        if env_info is not None:
            self._show_teams(env_info)
            self._refresh()

    def _rebuild(self, agents: Sequence[str]) -> None:
        self.setRowCount(0)
        self._rows = {}
        self.setRowCount(len(agents))
        for number, agent in enumerate(agents):
            # Screen readers read these items, which are below the controls.
            for column in range(len(_COLUMNS)):
                self.setItem(number, column, QTableWidgetItem())
            self._set_accessible_text(number, _SLOT, agent)
            self._set_accessible_text(number, _TEAM, NOTHING)
            self._set_accessible_text(number, _MORE, f"More for {agent}")
            self._rows[agent] = _Row(self, number, agent)
        self.updateGeometry()

    def _show_teams(self, env_info: EnvironmentInfo) -> None:
        # If every team has one slot, its name says no more than the slot's name.
        self._with_teams = 1 < len(env_info.teams) < len(env_info.slots)
        for number, agent in enumerate(self._rows):
            team = env_info.team_of(agent)
            if team:
                dot = Dot(team_color(team, list(env_info.teams)))
                words = team.replace("_", " ").capitalize()
                self.setCellWidget(number, _TEAM, _cell(dot, label(words)))
                self._set_accessible_text(number, _TEAM, words)

    def _set_accessible_text(self, number: int, column: int, words: str) -> None:
        item = self.item(number, column)
        if item is not None:
            item.setData(Qt.ItemDataRole.AccessibleTextRole, words)

    def _refresh(self) -> None:
        model = self._model
        if model.env_info is None or model.checks is None:
            return
        for number, (agent, row) in enumerate(self._rows.items()):
            assignment = model.draft.rows.get(agent)
            if assignment is not None:
                self._show_row(row, assignment)
            row.link.show_link(model.draft, agent)
            for column, words in (
                (_KIND, row.badge.accessibleName()),
                (_POLICY, row.policy.accessibleDescription()),
                (_WORKER, row.worker.accessibleDescription()),
                (_FILE, row.file.text().replace("—", "")),
                (_LINK, row.link.accessibleName()),
            ):
                self._set_accessible_text(number, column, words or NOTHING)
        self._share_width()

    def _show_row(self, row: _Row, assignment: WorkerAssignment) -> None:
        model, agent = self._model, row.agent
        if model.report is not None and agent in model.report.policies:
            assert model.checks is not None
            show_player(row.policy, assignment, model.report.policies[agent], model.checks)
            row.worker.set_items(worker_items(model.report.workers[agent]))
        row.worker.set_value(assignment.worker_id)
        row.badge.set_kind(assignment.worker_type)
        link = model.draft.link_of(agent)
        followed = link.primary if link is not None and link.primary != agent else ""
        part = (model.report.parts.get(agent) if model.report is not None else "") or ""
        words = file_words(assignment, followed, part if part != agent else "")
        row.file.setText(words)
        row.file.setEnabled(not followed and words != "—")
        whose = f"\n{_whose(agent, part)}" if part else ""
        row.file.setToolTip(f"{file_path(assignment)}{whose}")
        found = [] if model.report is None else model.report.of(agent)
        wrong = next((f.text for f in found if f.level is Level.ERROR), "")
        row.slot.setProperty("role", "error" if wrong else "strong")
        row.slot.setToolTip(wrong or agent)
        style = row.slot.style()
        if style is not None:
            style.unpolish(row.slot)
            style.polish(row.slot)

    # -- actions ---------------------------------------------------------------------

    def _on_policy_chosen(self, agent: str, policy_id: object) -> None:
        policy = self._model.policy_for(agent, policy_id)
        if policy is not None:
            before = self._model.draft.rows.get(agent)
            self._model.set_row(agent, policy.assignment(before), f"change policy of {agent}")
        self.select(agent)

    def _on_worker_chosen(self, agent: str, worker_id: object) -> None:
        """Assign the first policy of the chosen worker that fits the slot."""
        report, before = self._model.report, self._model.draft.rows.get(agent)
        if report is None or before is None or before.worker_id == worker_id:
            return
        mine = [o for o in report.policies[agent] if o.policy.worker_id == worker_id]
        offer = next((o for o in mine if not o.reason), None)
        if offer is not None:
            self._model.set_row(agent, offer.policy.assignment(before), f"change worker of {agent}")
        self.select(agent)

    def _on_current_changed(self, *_: int) -> None:
        self.slot_selected.emit(self.selected)

    def _on_context_menu(self, place: object) -> None:
        if self.selected:
            self.open_menu(self.selected)

    def open_menu(self, agent: str, *_: object) -> None:
        """Show the context menu of a slot."""
        self.select(agent)
        menu = QMenu(self)
        menu.setObjectName(f"menu_{agent}")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for command in self.commands():
            if command.enabled():
                entry = menu.addAction(command.title, command.run)
            elif command.id == "agents.link":
                entry = menu.addAction("Link agents… (the policy has no file)")
                entry.setEnabled(False)  # type: ignore[union-attr]
            else:
                continue
            entry.setProperty(COMMAND, command.id)  # type: ignore[union-attr]
        menu.popup(self._rows[agent].more.mapToGlobal(self._rows[agent].more.rect().bottomLeft()))

    def commands(self) -> list[Command]:
        """Return the commands for the selected slot."""
        return [
            Command("agents.link", "Link agents…", self._link, icon="agents", enabled=self._can_link),
            Command("agents.unlink", "Unlink the slot", self._unlink, enabled=self._is_linked),
            Command(
                "agents.same_team",
                "Same policy for the team",
                lambda: self.copy_to(self.selected, self._mates()),
                enabled=lambda: 0 < len(self._mates()) < len(self._others()),
            ),
            Command(
                "agents.same_all",
                "Same policy for all slots",
                lambda: self.copy_to(self.selected, self._others()),
                enabled=lambda: bool(self._others()),
            ),
        ]

    def _can_link(self) -> bool:
        return bool(self.selected) and self._model.can_share(self.selected)

    def _link(self) -> None:
        self.link_asked.emit(self.selected)

    def _is_linked(self) -> bool:
        return bool(self.selected) and self._model.draft.link_of(self.selected) is not None

    def _unlink(self) -> None:
        agent = self.selected
        self._model.edit(self._model.draft.unlinked(agent), f"unlink {agent}")

    def _mates(self) -> list[str]:
        """Return the other slots of the selected slot's team."""
        env_info, agent = self._model.env_info, self.selected
        if env_info is None or not agent:
            return []
        return [a for a in env_info.teams.get(env_info.team_of(agent), ()) if a != agent]

    def _others(self) -> list[str]:
        env_info, agent = self._model.env_info, self.selected
        return [a for a in env_info.agents if a != agent] if env_info is not None and agent else []

    def copy_to(self, agent: str, others: Sequence[str]) -> None:
        """Copy the assignment of a slot to other slots."""
        draft = self._model.draft
        row = replace(draft.rows[agent], checkpoint_agent=None)
        for other in others:
            draft = draft.unlinked(other).with_row(other, row)
        self._model.edit(draft, f"copy policy of {agent}")


def _whose(agent: str, part: str) -> str:
    return f"{agent} plays its own part of it" if part == agent else f"{agent} plays the part of {part}"


def _cell(*widgets: QWidget, fill: bool = False) -> QWidget:
    """Return a cell with controls, vertically centered, from its left edge.

    Args:
      fill: Whether the controls fill the width of the cell.
    """
    cell = QWidget()
    row = row_layout(cell, margin=(3, 0, 0, 0))
    # The content has to keep the cell padding of the style sheet; text adds 3 px by itself.
    for widget in widgets:
        row.addWidget(widget, 1 if fill else 0, Qt.AlignmentFlag.AlignVCenter)
    if not fill:
        row.addStretch(1)
    return cell
