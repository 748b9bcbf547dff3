"""The panel for an environment with several agents: a row per slot, and the settings of one slot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, pyqtSignal
from PyQt6.QtWidgets import QGridLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.config_panels.player_panel import PlayerForm, PlayerPicker
from gym_gui.ui.widgets import ElidedLabel, IconButton, section_label
from gym_gui.ui.widgets.form import LABEL_WIDTH
from gym_gui.ui.widgets.layouts import column_layout

if TYPE_CHECKING:
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, Report
    from gym_gui.controllers.setup.configuration_draft import Draft
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.ui.language.settings_services import SettingsServices


class MultiAgentPanel(QWidget):
    """Panel with a row per slot; the button at the end of a row opens the slot's settings."""

    player_changed = pyqtSignal(str, object)
    policy_chosen = pyqtSignal(str, str)
    list_opening = pyqtSignal()

    def __init__(
        self, agents: tuple[str, ...], parent: QWidget | None = None, services: SettingsServices | None = None
    ) -> None:
        super().__init__(parent)
        self._services = services
        self.setObjectName("multi-agent-panel")
        self.agents, self._open = agents, ""
        self._shown: tuple[Draft, EnvironmentInfo, ConfigurationChecks] | None = None
        self._pickers: dict[str, PlayerPicker] = {}
        self._names: dict[str, ElidedLabel] = {}
        self._gears: dict[str, IconButton] = {}
        self._form: PlayerForm | None = None
        self._column = column_layout(self)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.ROW)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        for row, agent in enumerate(agents):
            self._add_row(grid, row, agent)
        self._column.addLayout(grid)
        self._heading = section_label("", self)
        self._heading.hide()
        self._column.addWidget(self._heading)

    def _add_row(self, grid: QGridLayout, row: int, agent: str) -> None:
        name = ElidedLabel(agent, "muted", parent=self, name=f"seat-{agent}")
        name.setFixedWidth(LABEL_WIDTH)
        picker = PlayerPicker(agent, self)
        picker.chosen.connect(_EmitChosen(self, agent))
        picker.opening.connect(self.list_opening)
        more = IconButton("settings", f"Settings of {agent}", name=f"settings-{agent}", parent=self)
        more.setFixedSize(26, 26)
        more.setIconSize(QSize(14, 14))
        more.clicked.connect(_OpenSettings(self, agent))
        grid.addWidget(name, row, 0)
        grid.addWidget(picker, row, 1)
        grid.addWidget(more, row, 2)
        self._pickers[agent], self._names[agent], self._gears[agent] = picker, name, more

    def show_draft(
        self, draft: Draft, report: Report, env_info: EnvironmentInfo, checks: ConfigurationChecks
    ) -> None:
        """Show the player of each slot, and the other policies that can play it."""
        self._shown = (draft, env_info, checks)
        for agent in self.agents:
            self._set_seat_name(agent, env_info.seat_name(agent))
        self.show_offers(draft, report, checks)
        self._show_form()

    def _set_seat_name(self, agent: str, seat: str) -> None:
        """Set the name that the game gives a slot."""
        self._names[agent].setText(seat)
        self._pickers[agent].set_seat(seat)
        self._gears[agent].setToolTip(f"Settings of {seat}")
        self._gears[agent].setAccessibleName(f"Settings of {seat}")

    def show_offers(self, draft: Draft, report: Report, checks: ConfigurationChecks) -> None:
        """Update the lists of policies that can play each slot; settings do not change."""
        for agent, picker in self._pickers.items():
            picker.show_player(draft.rows.get(agent), report.policies.get(agent, ()), checks)

    def open_settings(self, agent: str) -> None:
        """Show the settings of a slot, or hide them if they are shown."""
        self._open = "" if agent == self._open else agent
        self._show_form()

    @property
    def form(self) -> PlayerForm | None:
        """Form with the settings of a slot; ``None`` if no settings are shown."""
        return self._form

    def _show_form(self) -> None:
        if self._form is not None:
            self._form.hide()
            self._form.deleteLater()
            self._form = None
        player = self._shown[0].rows.get(self._open) if self._shown is not None else None
        self._heading.setVisible(player is not None)
        if self._shown is None or player is None:
            return
        _, env_info, checks = self._shown
        self._heading.setText(f"SETTINGS OF {env_info.seat_name(self._open).upper()}")
        self._form = PlayerForm(self._open, player, checks, env_info.env_id, self, self._services)
        self._form.form.action_words = env_info.words_of(self._open)
        self._form.changed.connect(self.player_changed)
        self._column.addWidget(self._form)


class _EmitChosen:
    """Function object that emits the policy chosen for a slot."""

    def __init__(self, panel: MultiAgentPanel, agent: str) -> None:
        self._panel, self._agent = panel, agent

    def __call__(self, policy_id: object) -> None:
        self._panel.policy_chosen.emit(self._agent, str(policy_id))


class _OpenSettings:
    """Function object that opens the settings of a slot."""

    def __init__(self, panel: MultiAgentPanel, agent: str) -> None:
        self._panel, self._agent = panel, agent

    def __call__(self, *_: object) -> None:
        self._panel.open_settings(self._agent)
