"""A dialog that sets up a tournament (game, policies, seeds) and writes it to a file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from gym_gui.core.errors import MosaicError
from gym_gui.ui import theme
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.operators.script_words import pairing_words
from gym_gui.ui.policies.tournament_draft import (
    FIRST_GAME,
    Candidate,
    TournamentRequest,
    candidates,
    names_of,
    tournament_of,
)
from gym_gui.ui.save_dialog import save_dialog
from gym_gui.ui.widgets import (
    FormRows,
    PrimaryButton,
    QuietButton,
    SegmentedControl,
    label,
    muted_label,
    title_label,
)
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, right_row
from gym_gui.ui.widgets.number_fields import IntegerField
from gym_gui.ui.widgets.search_field import search_field

if TYPE_CHECKING:
    from gym_gui.controllers.runs.tournament_run import TournamentRun
    from gym_gui.controllers.setup.catalog_cache import CatalogCache
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.ui.context import AppContext

HEADING: Final = "A tournament, put together in MOSAIC's window"
_SIZE: Final = QSize(560, 620)
_SEEDS: Final = 20
_MOST_SEEDS: Final = 10_000
_MANY: Final = 10
"""Number of policies above which the dialog shows a search field."""


class TournamentDialog(Dialog):
    """Lets the user choose a game, policies, seeds and a schedule, and writes the tournament file.

    Args:
        context: Runs background tasks and shows messages.
        catalog: Provides environments and the policies that can play in them.
        request: Initial values of the fields.
        parent: The page.
    """

    written = pyqtSignal(object)
    """Emits the path of the tournament file that was written."""

    def __init__(
        self, context: AppContext, catalog: CatalogCache, request: TournamentRequest, parent: QWidget
    ) -> None:
        super().__init__("tournament-dialog", "Hold a tournament", parent, size=_SIZE)
        self._context, self._catalog, self._request = context, catalog, request
        self._env_info: EnvironmentInfo | None = None
        self._tournament_run: TournamentRun | None = None
        self._pressed: Qt.CheckState | None = None
        self._filling = False
        self._make()
        self._lay_out()
        context.spawn(self.picker.load(), "Listing the environments")
        self._read_game(request.task or FIRST_GAME)

    def _make(self) -> None:
        self.picker = EnvironmentPicker(self._context, name="tournament-task", parent=self)
        self.picker.setToolTip("Game in which the policies meet; with one team, they fill its seats")
        self.picker.chosen.connect(self._on_task_chosen)
        self.search = search_field("tournament-search", "Search policies", self._on_searched, parent=self)
        self.policies = QListWidget(self)
        self.policies.setObjectName("tournament-policies")
        self.policies.setProperty("role", "field")
        self.policies.setAccessibleName("Policies of the pool")
        self.policies.setToolTip("Tick two or more policies (space bar)")
        self.policies.itemChanged.connect(self._on_changed)
        self.policies.itemPressed.connect(self._on_pressed)
        self.policies.itemClicked.connect(self._on_clicked)
        self.seeds = IntegerField(self)
        self.seeds.setObjectName("tournament-seeds")
        self.seeds.setAccessibleName("Seeds")
        self.seeds.setToolTip(
            "Number of seeds, which each pairing plays from every seat; ten or more give useful intervals"
        )
        self.seeds.setRange(1, _MOST_SEEDS)
        self.seeds.setValue(_SEEDS)
        self.seeds.valueChanged.connect(self._on_changed)
        self.schedule = SegmentedControl(
            [("round_robin", "Round robin"), ("swiss", "Swiss rounds")],
            name="tournament-schedule",
        )
        self.schedule.setToolTip(
            "Round robin: each pair of policies meets. Swiss: each round pairs neighbors in the standings"
        )
        self.schedule.chosen.connect(self._on_changed)
        self.words = muted_label("", wrap=True, name="tournament-words")
        self.problem = label("", "error", wrap=True, name="tournament-problem")
        self.save = PrimaryButton("Save and open…", name="tournament-save", on_click=self.ask_where)
        self.save.setToolTip("Write the tournament file and open it, ready to run")
        self.cancel = QuietButton("Cancel", name="tournament-cancel", on_click=self.reject)

    def _lay_out(self) -> None:
        rows = FormRows()
        rows.add_row("Environment", self.picker)
        rows.add_row("Seeds", self.seeds)
        rows.add_row("Schedule", self.schedule)
        column = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        column.addWidget(title_label("Hold a tournament"))
        column.addWidget(
            muted_label(
                "Policies meet on the same seeds from every seat; the games give their ratings.", wrap=True
            )
        )
        column.addWidget(rows)
        column.addWidget(self.search)
        column.addWidget(self.policies, 1)
        column.addWidget(self.words)
        column.addWidget(self.problem)
        column.addLayout(right_row(self.cancel, self.save))

    # -- the game ------------------------------------------------------------------------

    def _on_task_chosen(self, task: object) -> None:
        self._read_game(str(task))

    def _read_game(self, task: str) -> None:
        self._env_info = self._tournament_run = None
        self.policies.clear()
        self._show_message(f"Reading {task}…")
        self.set_task(self._context.spawn(self._describe(task), "Reading the environment"))

    async def _describe(self, task: str) -> None:
        from gym_gui.controllers.setup.environment_probe import EnvironmentRequest

        try:
            checks = await self._catalog.checks()
            env_info = await self._catalog.env_info(EnvironmentRequest(task))
        except MosaicError as error:
            self._show_message(problem=error.sentence)
            return
        self._env_info = env_info
        self.picker.set_value(env_info.env_id)
        found = await asyncio.to_thread(candidates, env_info, checks, self._request)
        self._fill(found)

    def _fill(self, found: list[Candidate]) -> None:
        self._filling = True
        for each in found:
            item = QListWidgetItem(f"{each.title} · {theme.kind_word(each.player.worker_type)}")
            item.setData(Qt.ItemDataRole.UserRole, each)
            item.setToolTip(each.meaning)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if each.wanted else Qt.CheckState.Unchecked)
            self.policies.addItem(item)
        self._filling = False
        self.policies.setCurrentRow(0)
        self.search.setVisible(len(found) > _MANY)
        self._on_searched(self.search.text())
        self.schedule.setEnabled(self._env_info is not None and len(self._env_info.teams) == 2)
        self._on_changed()

    # -- the pool ------------------------------------------------------------------------

    @property
    def chosen(self) -> list[Candidate]:
        """Policies whose boxes are ticked."""
        items = (self.policies.item(i) for i in range(self.policies.count()))
        return [
            item.data(Qt.ItemDataRole.UserRole)
            for item in items
            if item is not None and item.checkState() == Qt.CheckState.Checked
        ]

    def _on_pressed(self, item: QListWidgetItem) -> None:
        self._pressed = item.checkState()

    def _on_clicked(self, item: QListWidgetItem) -> None:
        """Tick or untick a policy when the user clicks on its text."""
        if item.checkState() == self._pressed:
            ticked = self._pressed == Qt.CheckState.Checked
            item.setCheckState(Qt.CheckState.Unchecked if ticked else Qt.CheckState.Checked)

    def _on_searched(self, text: str) -> None:
        words = text.casefold().split()
        for i in range(self.policies.count()):
            item = self.policies.item(i)
            if item is not None:
                item.setHidden(not all(word in item.text().casefold() for word in words))

    def _on_changed(self, *_what: object) -> None:
        if self._filling or self._env_info is None:
            return
        swiss = self.schedule.isEnabled() and self.schedule.value == "swiss"
        try:
            self._tournament_run = tournament_of(
                self._env_info, names_of(self.chosen), self.seeds.value(), swiss=swiss
            )
        except MosaicError as error:
            self._tournament_run = None
            few = len(self.chosen) < 2
            self._show_message(problem="Tick two policies or more." if few else error.sentence)
            return
        self._show_message(f"{pairing_words(self._tournament_run)}.")

    def _show_message(self, words: str = "", problem: str = "") -> None:
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.save.setEnabled(self._tournament_run is not None)

    # -- the file ------------------------------------------------------------------------

    def ask_where(self) -> None:
        """Ask for a file, then write the tournament to it."""
        if self._tournament_run is None or self._env_info is None:
            return
        file = f"{self._env_info.env_id.rpartition('/')[2]}_tournament.yaml"
        title, name = "Save the tournament", "tournament-save-dialog"
        dialog = save_dialog(self, title, name, "Tournaments", file, self.write)
        folder = self._context.layout.value("files/last", "")
        if folder:
            dialog.setDirectory(str(folder))
        dialog.open()

    def write(self, path: str) -> None:
        """Write the tournament to a file, emit ``written`` with its path and close the dialog.

        Args:
            path: Path of the file.
        """
        from gym_gui.services.presets import export_tournament

        if self._tournament_run is None:
            return
        file = Path(path)
        try:
            export_tournament(file, self._tournament_run.tournament, HEADING)
        except MosaicError as error:
            self._show_message(problem=error.sentence)
            return
        self._context.layout.setValue("files/last", str(file.absolute().parent))
        self.written.emit(file.absolute())
        self.accept()
