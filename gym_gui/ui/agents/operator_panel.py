"""A form for the settings of the whole operator: its name, limits, seats and environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QCheckBox, QLineEdit, QSizePolicy, QWidget

from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
from gym_gui.core.config import GOAL_SUFFIX
from gym_gui.ui import theme
from gym_gui.ui.agents.environment_settings_form import EnvironmentSettingsLink
from gym_gui.ui.agents.model import RANDOM, ConfigurationModel
from gym_gui.ui.agents.settings_form import LABEL_WIDTH
from gym_gui.ui.widgets import FormRows, section_label
from gym_gui.ui.widgets.combo_box import SteadyComboBox
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.number_fields import IntegerField

_APIS = {"aec": "turn by turn", "parallel": "all at once", "gymnasium": "one agent"}
_MOST_STEPS = 1_000_000


class OperatorPanel(QWidget):
    """Edits an operator's name, step limit, interface, seats, managers and environment settings.

    Args:
        model: The edited configuration.
        parent: Qt owner.
    """

    def __init__(self, model: ConfigurationModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("operator_panel")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._model = model
        rows = self._rows = FormRows(label_width=LABEL_WIDTH)
        column = column_layout(self, margin=(0, theme.GAP, 0, 0))
        column.addWidget(section_label("Operator"))
        column.addWidget(rows)
        self.name = rows.add_row("Name", QLineEdit(), tooltip="Name in tables and on cards")
        self.name.setObjectName("operator_name")
        self.name.setMaxLength(80)
        self.steps = rows.add_row(
            "Max steps", IntegerField(), tooltip="Steps after which an episode is truncated"
        )
        self.steps.setObjectName("max_steps")
        self.steps.setRange(0, _MOST_STEPS)
        self.steps.setSpecialValueText("default")
        self.steps.setKeyboardTracking(False)
        self.api = rows.add_row(
            "Agents act",
            SteadyComboBox(),
            tooltip="Interface of the environment: in turns (AEC) or all at once (parallel)",
        )
        self.api.setObjectName("api")
        self.seats = rows.add_row(
            "Seats",
            SteadyComboBox(),
            tooltip="Change round: play each seed once per rotation of "
            "the teams, or of the agents of one team",
        )
        self.seats.setObjectName("seats")
        self.seats.addItem("as written", "fixed")
        self.seats.addItem("change round", "swap")
        self.managers = QCheckBox("managers set goals")
        self.managers.setObjectName("managers")
        self.environment = EnvironmentSettingsLink(
            model.catalog, model.spawn, self._request, name="agents-environment-settings"
        )
        self.environment.set_to.connect(self._on_environment)
        rows.add_row(
            "Two levels",
            self.managers,
            tooltip="Add a slot AGENT/goal, whose policy sets the goals that AGENT carries out",
        )
        column.addWidget(self.environment, 0, Qt.AlignmentFlag.AlignLeft)
        self.name.textEdited.connect(self._on_name)
        self.steps.valueChanged.connect(self._on_steps)
        self.api.activated.connect(self._on_api)
        self.seats.activated.connect(self._on_seats)
        self.managers.clicked.connect(self._on_managers)
        model.draft_changed.connect(self._refresh)
        model.sheet_changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        draft, env_info = self._model.draft, self._model.env_info
        typed = draft.name if draft.named else ""
        if not self.name.hasFocus() and self.name.text() != typed:
            self.name.setText(typed)
            self.name.setCursorPosition(0)  # A long name shows its beginning.
        self.environment.show_values(draft.env_kwargs)
        self.name.setToolTip(draft.name or "Name in tables and on cards")
        self.name.setPlaceholderText(draft.name or draft.operator_id)
        self.steps.blockSignals(True)
        self.steps.setValue(draft.max_steps or 0)
        self.steps.blockSignals(False)
        self.seats.setCurrentIndex(self.seats.findData(draft.seats))
        self.managers.setChecked(bool(draft.managed))
        if env_info is None:
            return
        self._rows.set_row_visible(self.api, len(env_info.apis) > 1)
        self._rows.set_row_visible(self.seats, env_info.has_seats_to_change)
        self._rows.set_row_visible(self.managers, env_info.can_have_managers or bool(draft.managed))
        if [self.api.itemData(i) for i in range(self.api.count())] != list(env_info.apis):
            self.api.clear()
            for api in env_info.apis:
                self.api.addItem(_APIS.get(api, api), api)
        self.api.setCurrentIndex(self.api.findData(env_info.api))

    def _on_name(self, text: str) -> None:
        draft = replace(self._model.draft, name=text.strip(), named=bool(text.strip()))
        self._model.edit(draft, "change name", "name")

    def _request(self) -> EnvironmentRequest | None:
        return self._model.draft.request() if self._model.draft.task else None

    def _on_environment(self, values: dict[str, Any]) -> None:
        self._model.edit(replace(self._model.draft, env_kwargs=values), "change the environment's settings")

    def _on_steps(self, value: float) -> None:
        draft = replace(self._model.draft, max_steps=int(value) or None)
        self._model.edit(draft, "change step limit", "max_steps")

    def _on_api(self, _index: int) -> None:
        env_info = self._model.env_info
        native = env_info is not None and self.api.currentData() == env_info.apis[0]
        draft = replace(self._model.draft, api=None if native else self.api.currentData())
        self._model.edit(draft, "change interface")

    def _on_seats(self, _index: int) -> None:
        self._model.edit(replace(self._model.draft, seats=self.seats.currentData()), "change seats")

    def _on_managers(self, wanted: bool) -> None:
        draft, env_info = self._model.draft, self._model.env_info
        if env_info is None:
            return
        agents = [agent for agent in env_info.agents if not agent.endswith(GOAL_SUFFIX)] if wanted else []
        self._model.edit(draft.with_managers(agents, RANDOM), "change managers")
