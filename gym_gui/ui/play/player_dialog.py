"""A dialog for the settings that a worker needs to play a slot, such as its model and server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.ui import theme
from gym_gui.ui.config_panels.player_panel import PlayerForm
from gym_gui.ui.widgets import PrimaryButton, QuietButton, label, muted_label, title_label
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, right_row
from gym_gui.ui.widgets.scrolling import scroll_over

if TYPE_CHECKING:
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks
    from gym_gui.core.experiment.assignment import WorkerAssignment
    from gym_gui.services.backends import SlotInfo
    from gym_gui.ui.language.settings_services import SettingsServices

_SIZE = QSize(480, 560)
_NEXT = "Choose its model; the worker plays from the next move on."


class PlayerDialog(Dialog):
    """Edits the settings of a new player for a slot of the current game.

    Args:
        slot: The slot.
        player: Assignment of the new player, with its current settings.
        checks: Checks with the available workers.
        env_id: Id of the environment.
        seat: Name of the slot in the game; empty if there is only one.
        services: Tests servers and stores keys for the form.
        parent: The window.
    """

    chosen = pyqtSignal(object)
    """Emits the :class:`WorkerAssignment` of the new player."""

    def __init__(
        self,
        slot: SlotInfo,
        player: WorkerAssignment,
        checks: ConfigurationChecks,
        env_id: str,
        seat: str,
        services: SettingsServices,
        parent: QWidget | None = None,
    ) -> None:
        worker = checks.worker(player)
        name = worker.display_name if worker is not None else player.worker_id
        super().__init__("player-dialog", f"{name} for {seat}" if seat else name, parent, size=_SIZE)
        self._slot, self._checks, self.player = slot, checks, player
        self.form = PlayerForm(slot.agent_id, player, checks, env_id, services=services)
        self.form.form.action_words = slot.action_meanings
        self.form.changed.connect(self._on_changed)
        self._problem = label("", "error", name="player-problem")
        self._problem.setWordWrap(True)
        self.play = PrimaryButton("Play", name="player-play", on_click=self._on_play)
        self.play.setToolTip(f"Let {name} play from the next move on")
        self.cancel = QuietButton("Cancel", name="player-cancel", on_click=self.reject)
        column = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        column.addWidget(title_label(f"{name} for {seat}".rstrip()))
        if worker is not None:
            what = f"{worker.description.removesuffix('.')}. {_NEXT}"
            column.addWidget(muted_label(what, wrap=True))
        column.addWidget(scroll_over(self.form), 1)
        column.addWidget(self._problem)
        column.addLayout(right_row(self.cancel, self.play))
        self._show_problem()

    def _on_changed(self, _agent: str, player: WorkerAssignment) -> None:
        self.player = player
        self._show_problem()

    def _show_problem(self) -> None:
        problem = self._checks.problem(self._slot, self.player)
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        self.play.setEnabled(not problem)

    def _on_play(self) -> None:
        self.chosen.emit(self.player)
        self.accept()
