"""The panel for an environment with one agent: its policy and the policy's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.ui.config_panels.player_panel import PlayerForm, PlayerPicker
from gym_gui.ui.widgets import FormRows
from gym_gui.ui.widgets.layouts import column_layout

if TYPE_CHECKING:
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, Report
    from gym_gui.controllers.setup.configuration_draft import Draft
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.ui.language.settings_services import SettingsServices


class SingleAgentPanel(QWidget):
    """Panel with a list of policies, and the settings of the chosen policy below."""

    player_changed = pyqtSignal(str, object)
    policy_chosen = pyqtSignal(str, str)
    list_opening = pyqtSignal()

    def __init__(
        self, agent: str, parent: QWidget | None = None, services: SettingsServices | None = None
    ) -> None:
        super().__init__(parent)
        self._services = services
        self.setObjectName("single-agent-panel")
        self.agent = agent
        self._form: PlayerForm | None = None
        self._column = column_layout(self)
        rows = FormRows(parent=self)
        self.picker = rows.add_row("Decided by", PlayerPicker(agent, self))
        self._column.addWidget(rows)
        self.picker.chosen.connect(self._on_chosen)
        self.picker.opening.connect(self.list_opening)

    def show_draft(
        self, draft: Draft, report: Report, env_info: EnvironmentInfo, checks: ConfigurationChecks
    ) -> None:
        """Show the current player, and the other policies that can play."""
        self.show_offers(draft, report, checks)
        player = draft.rows.get(self.agent)
        if self._form is not None:
            self._form.hide()
            self._form.deleteLater()
            self._form = None
        if player is not None:
            self._form = PlayerForm(self.agent, player, checks, env_info.env_id, self, self._services)
            self._form.form.action_words = env_info.words_of(self.agent)
            self._form.changed.connect(self.player_changed)
            self._column.addWidget(self._form)

    def show_offers(self, draft: Draft, report: Report, checks: ConfigurationChecks) -> None:
        """Update the list of policies that can play; settings do not change."""
        player = draft.rows.get(self.agent)
        self.picker.show_player(player, report.policies.get(self.agent, ()), checks)

    @property
    def form(self) -> PlayerForm | None:
        """Form with the settings of the player; ``None`` if no player is chosen."""
        return self._form

    def _on_chosen(self, policy_id: object) -> None:
        self.policy_chosen.emit(self.agent, str(policy_id))
