"""The content of the Agents page: environment, slots, checks and preview of one operator."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.controllers.setup.installing import Installable
from gym_gui.ui import theme
from gym_gui.ui.agents.checks_panel import ChecksPanel
from gym_gui.ui.agents.link_dialog import LinkAgentsDialog
from gym_gui.ui.agents.model import ConfigurationModel
from gym_gui.ui.agents.operator_panel import OperatorPanel
from gym_gui.ui.agents.preview_panel import PreviewPanel
from gym_gui.ui.agents.slot_panel import SlotPanel
from gym_gui.ui.agents.steps_dialog import StepsDialog
from gym_gui.ui.agents.table import AgentConfigTable
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.line_links import link_of
from gym_gui.ui.environments.install_dialog import InstallDialog, open_install_dialog
from gym_gui.ui.language.settings_services import SettingsServices
from gym_gui.ui.policies.policy_items import show_player
from gym_gui.ui.widgets import Card, ElidedLabel, EmptyHint, KindBadge, PickerButton, label
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.message_panels import Action
from gym_gui.ui.widgets.scrolling import scroll_over

_STARTS = (
    ("Soccer 2v2", "MosaicMultiGrid-S-2v2-IndAgObs-v1"),
    ("Connect four", "classic/connect_four_v3"),
    ("CartPole", "CartPole-v1"),
)


class ActorCard(Card):
    """Chooses the policy for an environment with one agent.

    Args:
        model: The edited configuration.
        parent: Qt owner.
    """

    def __init__(self, model: ConfigurationModel, parent: QWidget | None = None) -> None:
        super().__init__(margin=theme.PAGE, parent=parent)
        self.setObjectName("actor_card")
        self._model = model
        row = row_layout(spacing=theme.GAP)
        row.addWidget(label("Actor", "strong"))
        self._picker = PickerButton(
            name="actor", placeholder="Choose a policy…", search_hint="Search policies"
        )
        self._picker.setAccessibleName("Actor")
        self._picker.setFixedWidth(300)
        self._picker.chosen.connect(self._on_chosen)
        self._badge = KindBadge("")
        self._note = ElidedLabel("", "muted")
        row.addWidget(self._picker)
        row.addWidget(self._badge)
        row.addWidget(self._note, 1)
        self.body.addLayout(row)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        model.draft_changed.connect(self._refresh)
        model.report_changed.connect(self._refresh)

    def _agent(self) -> str:
        env_info = self._model.env_info
        return env_info.agents[0] if env_info is not None and env_info.single else ""

    def _refresh(self) -> None:
        agent, model = self._agent(), self._model
        row = model.draft.rows.get(agent)
        if row is None:
            return
        if model.checks is not None and model.report is not None and agent in model.report.policies:
            show_player(self._picker, row, model.report.policies[agent], model.checks)
        self._badge.set_kind(row.worker_type)
        worker = model.checks.worker(row) if model.checks is not None else None
        self._note.setText(
            f"{worker.display_name}, {worker.type_id}" if worker is not None else row.worker_id
        )

    def _on_chosen(self, policy_id: object) -> None:
        agent, policy = self._agent(), self._model.policy_for(self._agent(), policy_id)
        if policy is not None:
            row = policy.assignment(self._model.draft.rows.get(agent))
            self._model.set_row(agent, row, "change the actor")


class AdvancedConfigTab(QWidget):
    """Content of the Agents page without its bar and inspector.

    The inspector shows :attr:`slot` and :attr:`operator`; :attr:`model` holds the configuration.

    Args:
      context: The window's services.
      parent: Qt owner.
    """

    installed = pyqtSignal()
    """Emitted after missing environments or a missing worker were installed."""
    policy_binding_changed = pyqtSignal(str, str)
    """Emits a slot and the id of the policy that plays it from now on."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("advanced_config_tab")
        self._context = context
        self.model = ConfigurationModel(context, self)
        self.model.policy_binding_changed.connect(self.policy_binding_changed)
        self.table = AgentConfigTable(self.model)
        self._actor = ActorCard(self.model)
        self._checks = ChecksPanel(self.model, self._link_of)
        self.slot = SlotPanel(self.model, services=SettingsServices(context))
        self.operator = OperatorPanel(self.model)
        self.preview = PreviewPanel(context, self.model)
        self._hint = EmptyHint(
            "No environment yet",
            "Choose an environment in the bar above, or begin with one of these.",
            icon_name="agents",
        )
        for title, task in _STARTS:
            self._hint.add_action(title, partial(self.model.choose_environment, task))
        self._lay_out()
        self._checks.install_asked.connect(self.open_install_dialog)
        self.table.slot_selected.connect(self.slot.show_slot)
        self.table.link_asked.connect(self.open_link_dialog)
        self.slot.link_asked.connect(self.open_link_dialog)
        self.slot.steps_asked.connect(self.open_steps_dialog)
        self.model.draft_changed.connect(self._refresh)
        self.model.sheet_changed.connect(self._refresh)
        self._refresh()

    def _link_of(self, sentence: str) -> Action | None:
        """Return a link to the line of a program that an error names; saving the program repeats the
        check."""
        config = self.model.report.config if self.model.report is not None else None
        return link_of(self._context, sentence, config, again=("Check again", self.model.check_again))

    def _lay_out(self) -> None:
        self._table_card = Card(margin=4)
        self._table_card.add(self.table)
        self._table_card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._content = QWidget()
        self._content.setProperty("role", "scrolled")
        column = column_layout(self._content, margin=theme.PAGE, spacing=theme.GAP)
        column.addWidget(self._table_card)
        column.addWidget(self._actor)
        column.addWidget(self._checks)
        column.addWidget(self.preview, 1)
        self._scroll = scroll_over(self._content, "agents_scroll")
        page = column_layout(self, spacing=None)
        page.addWidget(self._hint, 1)
        page.addWidget(self._scroll, 1)

    def _refresh(self) -> None:
        chosen, env_info = bool(self.model.draft.task), self.model.env_info
        self._hint.setVisible(not chosen)
        self._scroll.setVisible(chosen)
        single = env_info is not None and env_info.single
        self._actor.setVisible(single)
        self._table_card.setVisible(env_info is not None and not single)
        self.operator.setVisible(env_info is not None)
        if env_info is not None:
            self.slot.show_slot(env_info.agents[0] if single else self.table.selected or env_info.agents[0])

    def open_link_dialog(self, primary: str) -> LinkAgentsDialog | None:
        """Open a dialog that chooses which slots share the checkpoint of a slot."""
        env_info = self.model.env_info
        if env_info is None:
            return None
        problem = self.model.checks.problem if self.model.checks is not None else None
        dialog = LinkAgentsDialog(self.model.draft, env_info, primary, self.window(), problem)
        dialog.linked.connect(self._on_linked)
        dialog.open()
        return dialog

    def open_steps_dialog(self, agent: str) -> StepsDialog | None:
        """Open a dialog that edits the preprocessing of a slot's observations."""
        env_info, checks, row = self.model.env_info, self.model.checks, self.model.draft.rows.get(agent)
        if env_info is None or checks is None or row is None:
            return None
        dialog = StepsDialog(env_info.slots[agent], row, checks, self._context.spawn, self.window())
        dialog.chosen.connect(partial(self._on_steps, agent))
        dialog.open()
        return dialog

    def _on_steps(self, agent: str, steps: list[Any]) -> None:
        row = self.model.draft.rows[agent]
        self.model.set_row(agent, replace(row, preprocess=steps), f"change preprocessing of {agent}")

    def open_install_dialog(self, missing: Installable) -> InstallDialog:
        """Open a dialog that installs missing environments or a missing worker."""
        return open_install_dialog(self._context, missing, self, self._on_installed)

    def _on_installed(self) -> None:
        self.installed.emit()

    def _on_linked(self, primary: str, agents: list[str]) -> None:
        draft = self.model.draft
        link = draft.link_of(primary)
        if link is None or link.agents != (primary, *agents):
            self.model.edit(draft.linked(primary, agents), f"link agents to {primary}")

    async def close_down(self) -> None:
        """Cancel the background tasks of the preview and of the model, and wait until they have ended."""
        await self.preview.close_down()
        await self.model.close()
