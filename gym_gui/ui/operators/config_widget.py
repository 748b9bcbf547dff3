"""The inspector's form, which edits one operator."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.config import GOAL_SUFFIX, OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.types import AgentID
from gym_gui.ui import theme
from gym_gui.ui.agents.environment_settings_form import EnvironmentSettingsLink
from gym_gui.ui.config_panels.multi_agent_panel import MultiAgentPanel
from gym_gui.ui.config_panels.single_agent_panel import SingleAgentPanel
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.environments.install_dialog import install_action
from gym_gui.ui.hosts.runs_on import RunsOn
from gym_gui.ui.language.settings_services import SettingsServices
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.operators.environment_lookup import EnvironmentLookup
from gym_gui.ui.operators.human_controls import HumanControls
from gym_gui.ui.operators.record_line import OperatorRecord
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.widgets import FormRows, InlineMessage, LinkButton, QuietButton, muted_label, section_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.number_fields import IntegerField

if TYPE_CHECKING:
    from gym_gui.controllers.setup.check_message import ConfigurationMessage
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, Report
    from gym_gui.controllers.setup.configuration_draft import Draft
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
    from gym_gui.ui.context import AppContext

_SETTLE_MS = 350
"""Time without further edits before the operator restarts with an edit, in milliseconds."""
_MOST_FINDINGS = 3


@dataclass(frozen=True, eq=False)
class _AfterCheck:
    """Actions that follow a check of an operator's edited configuration; two instances are never equal.

    Attributes:
        rebuild_panel: Whether to fill the panel of policies from the edited configuration.
        refresh_offers: Whether to update the lists of policies that can play.
        emit_config: Whether to emit the new configuration.
    """

    rebuild_panel: bool = False
    refresh_offers: bool = False
    emit_config: bool = False

    def after(self, before: _AfterCheck | None) -> _AfterCheck:
        """Return an instance that also contains the actions of a canceled check."""
        if before is None:
            return replace(self)
        return _AfterCheck(
            self.rebuild_panel or before.rebuild_panel,
            self.refresh_offers or before.refresh_offers,
            self.emit_config or before.emit_config,
        )


_EDITED = _AfterCheck(emit_config=True)


class OperatorConfigWidget(QWidget):
    """Form that edits one operator, with fields that depend on its environment and its policies.

    A complete and valid change is emitted after a short delay. Until then the form shows what is missing, and
    the operator continues unchanged.
    """

    changed = pyqtSignal(object)
    """Emits the new :class:`OperatorConfig`, which keeps the operator's id."""
    duplicate_requested = pyqtSignal(str)
    remove_requested = pyqtSignal(str)
    installed = pyqtSignal(object)
    """Emits the :class:`LiveOperator` for which a missing package was installed."""
    details_requested = pyqtSignal(object)

    def __init__(self, context: AppContext, catalog: CatalogCache, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("operator-config")
        self._context, self._catalog = context, catalog
        self.services = SettingsServices(context)
        self._operator: LiveOperator | None = None
        self._draft: Draft | None = None
        self._env_info: EnvironmentInfo | None = None
        self._checks: ConfigurationChecks | None = None
        self._panel: SingleAgentPanel | MultiAgentPanel | None = None
        self._notes: list[QWidget] = []
        self._pending: OperatorConfig | None = None
        self._check: _AfterCheck | None = None
        self._unsent_edit = False  # An edit that waits for the environment's description.
        self._is_looking = False  # The environment's description is being read.
        self._finishing: set[asyncio.Task[None]] = set()
        self._settle = single_shot_timer(self, _SETTLE_MS, self._emit_pending)
        self._build()
        self._lookup = EnvironmentLookup(context.spawn, catalog, self.environment, self)
        self._lookup.found.connect(self._on_found)
        self._lookup.failed.connect(self._on_not_found)

    def _build(self) -> None:
        self._column = column = column_layout(self)
        self._heading = section_label("Operator", self)
        column.addWidget(self._heading)
        self.name = QLineEdit(self)
        self.name.setObjectName("operator-name")
        self.name.setAccessibleName("Name of the operator")
        self.name.setToolTip("Name in the window and in results; renaming does not restart the operator")
        self.name.setMaxLength(120)
        self.name.editingFinished.connect(self._on_name)
        column.addWidget(self.name)
        rows = FormRows(parent=self)
        self.environment = rows.add_row(
            "Environment", EnvironmentPicker(self._context, name="operator-environment")
        )
        self.environment.chosen.connect(self._on_environment)
        column.addWidget(rows)
        self._settings = EnvironmentSettingsLink(
            self._catalog, self._context.spawn, self._request, name="operator-environment-settings"
        )
        self._settings.set_to.connect(self._on_environment_settings)
        column.addWidget(self._settings, 0, Qt.AlignmentFlag.AlignLeft)
        self._panel_column = column_layout()
        column.addLayout(self._panel_column)
        self.human = HumanControls(self)
        column.addWidget(self.human)
        more = FormRows(parent=self)
        self.limit = more.add_row(
            "Max steps", self._limit_box(), tooltip="Steps after which an episode is truncated"
        )
        self._host = more.add_row(
            "Runs on", RunsOn(self._context), tooltip="Machine on which the operator's session runs"
        )
        self._host.host_chosen.connect(self._on_host)
        column.addWidget(more)
        self._notes_column = column_layout(spacing=theme.STEP)
        column.addLayout(self._notes_column)
        self._details = LinkButton(
            "All settings, links and presets…",
            name="operator-details",
            tooltip="Open this operator on the Agents page",
            on_click=self._on_details,
        )
        column.addWidget(self._details)
        self.duplicate = QuietButton(
            "Duplicate",
            icon_name="copy",
            name="operator-duplicate",
            tooltip="Add a copy of this operator",
            on_click=self._on_duplicate,
        )
        self.remove = QuietButton(
            "Remove",
            icon_name="remove",
            name="operator-remove",
            tooltip="Remove this operator; Undo restores it",
            on_click=self._on_remove,
        )
        line = row_layout()
        line.addWidget(self.duplicate)
        line.addWidget(self.remove)
        line.addStretch(1)
        column.addLayout(line)
        self._record = OperatorRecord(self)
        column.addWidget(self._record)

    def _limit_box(self) -> IntegerField:
        box = IntegerField(self)
        box.setObjectName("operator-max-steps")
        box.setRange(0, 10_000_000)
        box.setSpecialValueText("default")
        box.setKeyboardTracking(False)
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        box.valueChanged.connect(self._on_limit)
        return box

    # -- the edited operator ---------------------------------------------------------

    @property
    def operator(self) -> LiveOperator | None:
        """Operator that the form edits; ``None`` if no operator is selected."""
        return self._operator

    @property
    def draft(self) -> Draft | None:
        """Configuration with the values of the form, which may be incomplete; ``None`` without an
        operator."""
        return self._draft

    @property
    def panel(self) -> SingleAgentPanel | MultiAgentPanel | None:
        """Panel that shows which policy plays each slot; ``None`` until the environment is known."""
        return self._panel

    def show_operator(self, operator: LiveOperator, number: int, count: int) -> None:
        """Show the form for an operator.

        Args:
          operator: Operator to edit.
          number: Its position among all operators, from 1.
          count: Number of operators.
        """
        self._heading.setText(f"OPERATOR {number} OF {count}")
        if operator is self._operator:
            return
        self._emit_pending()
        self._finish_apart()
        before, self._operator = self._operator, operator
        if before is not None:
            before.config_changed.disconnect(self._on_config_changed)
        self._record.follow(operator)
        operator.config_changed.connect(self._on_config_changed)
        self._env_info = None
        self._adopt(operator.player.config)

    def forget(self) -> None:
        """Stop editing and drop pending edits, because no operator is selected."""
        self._settle.stop()
        self._pending = self._check = None
        self._is_looking = False
        for task in self._finishing:
            task.cancel()
        if self._operator is not None:
            self._operator.config_changed.disconnect(self._on_config_changed)
            self._record.follow(None)
        self._operator = self._draft = None
        self.human.show_humans(None)
        self._lookup.stop()

    def _on_config_changed(self, config: OperatorConfig) -> None:
        """Show a change of the operator that was made outside the form, for example by binding a slot."""
        if self._pending is None and not self._is_edited and self._draft is not None:
            from gym_gui.controllers.setup.configuration_draft import Draft

            self._draft = replace(self._draft, operator_id=config.operator_id)
            if Draft.of(config) != self._draft:
                self._adopt(config)

    def _adopt(self, config: OperatorConfig) -> None:
        from gym_gui.controllers.setup.configuration_draft import Draft

        self._draft, self._unsent_edit, self._check = Draft.of(config), False, None
        self.name.setText(config.display_name)
        self.environment.set_value(config.task)
        self._settings.show_values(config.env_kwargs)
        blocked = self.limit.blockSignals(True)
        self.limit.setValue(config.max_steps or 0)
        self.limit.blockSignals(blocked)
        self._host.set_host(config.host)
        self._record.refresh()
        self._read_environment()

    # -- the environment -------------------------------------------------------------

    def _read_environment(self) -> None:
        # The configuration that was about to be emitted names the previous environment.
        self._unsent_edit = self._unsent_edit or self._is_edited or self._pending is not None
        self._settle.stop()
        self._check = self._pending = None
        if self._env_info is None:
            self._clear_panel()
            self._show_notes([muted_label("Reading the environment…", wrap=True)])
        if self._draft is not None:
            self._is_looking = True
            self._lookup.begin(self._draft, self._operator)

    def _on_not_found(self, reason: str) -> None:
        self._is_looking, self._env_info = False, None
        self._clear_panel()
        install = install_action(self._context, reason, self, self._on_installed)
        self._show_notes([InlineMessage("error", reason, install)])

    def _on_installed(self) -> None:
        """Read the environment again after a missing package was installed."""
        self._catalog.renew()
        self.environment.renew()
        self._read_environment()
        self.installed.emit(self._operator)

    def _on_found(self, env_info: EnvironmentInfo, checks: ConfigurationChecks) -> None:
        draft = self._draft
        if draft is None:
            return
        self._is_looking, self._checks, self._env_info = False, checks, env_info
        self.environment.set_value(env_info.env_id, env_info.page.title)
        most = env_info.max_episode_steps
        steps = f"{most} (default)" if most else "default"
        self.limit.setSpecialValueText(steps)
        self._draft = draft.seated(env_info, _random)
        edited, self._unsent_edit = self._draft != draft or self._unsent_edit, False
        self._check_draft(_AfterCheck(rebuild_panel=True, emit_config=edited))

    def _on_list_opening(self) -> None:
        """Read the list of policies again, because trainings may have added some."""
        self._context.spawn(self._renew_offers(), "Looking for policies")

    async def _renew_offers(self) -> None:
        checks = await self._catalog.checks()
        if checks is self._checks or self._checks is None:
            return
        self._checks = checks
        self._check_draft(_AfterCheck(refresh_offers=True))

    def _check_draft(self, wanted: _AfterCheck) -> None:
        """Check the edited configuration in a thread, then run the actions of ``wanted``.

        The check reads policy files and the keyring. If the check of an earlier draft is still running, its
        result is dropped, and what should have followed it follows this check.
        """
        if self._is_looking or self._draft is None or self._env_info is None or self._checks is None:
            # The edit is emitted once the environment is known.
            self._unsent_edit = self._unsent_edit or wanted.emit_config
            self._settle.stop()
            self._pending = None
            return
        self._check = wanted = wanted.after(self._check)
        if wanted.emit_config:
            self._settle.stop()
        work = self._report(wanted, self._checks, self._draft, self._env_info)
        self._context.spawn(work, "Checking the operator")

    async def _report(
        self, wanted: _AfterCheck, checks: ConfigurationChecks, draft: Draft, env_info: EnvironmentInfo
    ) -> None:
        report = await asyncio.to_thread(checks.check, draft, env_info)
        if self._check is wanted:
            self._on_report(wanted, report)

    def _on_report(self, wanted: _AfterCheck, report: Report) -> None:
        self._check = None
        assert self._draft is not None and self._env_info is not None and self._checks is not None
        if wanted.rebuild_panel:
            self._make_panel(self._env_info.agents)
            assert self._panel is not None
            self._panel.show_draft(self._draft, report, self._env_info, self._checks)
        elif wanted.refresh_offers and self._panel is not None:
            # A model or a file that is set in the form can change the kind of the policy.
            self._panel.show_offers(self._draft, report, self._checks)
        self._show_findings(report)
        if wanted.emit_config:
            self._pending = report.config
            if report.config is not None:
                self._settle.start()
            else:
                self._settle.stop()

    @property
    def _is_edited(self) -> bool:
        """Whether a check is running whose result is to be emitted."""
        return self._check is not None and self._check.emit_config

    def _make_panel(self, agents: tuple[AgentID, ...]) -> None:
        """Create a panel for these agents, unless the current panel already has them."""
        shown = self._panel
        if shown is not None and agents == (
            shown.agents if isinstance(shown, MultiAgentPanel) else (shown.agent,)
        ):
            return
        self._clear_panel()
        alone = len(agents) == 1
        self._panel = (
            SingleAgentPanel(agents[0], services=self.services)
            if alone
            else MultiAgentPanel(agents, services=self.services)
        )
        self._panel.policy_chosen.connect(self._on_policy)
        self._panel.player_changed.connect(self._on_player)
        self._panel.list_opening.connect(self._on_list_opening)
        self._panel_column.addWidget(self._panel)

    def _clear_panel(self) -> None:
        if self._panel is not None:
            self._panel.hide()
            self._panel.deleteLater()
            self._panel = None

    def _show_findings(self, report: Report) -> None:
        wrong = [finding for finding in report.findings if finding.level in ("error", "warning")]
        shown: list[QWidget] = [self._finding_message(finding) for finding in wrong[:_MOST_FINDINGS]]
        if len(wrong) > _MOST_FINDINGS:
            shown.append(muted_label(f"and {len(wrong) - _MOST_FINDINGS} more on the Agents page", wrap=True))
        self._show_notes(shown)

    def _finding_message(self, finding: ConfigurationMessage) -> InlineMessage:
        kind = "error" if finding.level == "error" else "warning"
        install = install_action(self._context, finding.text, self, self._on_installed)
        return InlineMessage(kind, f"{finding.text}.", install)

    def _show_notes(self, notes: list[QWidget]) -> None:
        for note in self._notes:
            note.hide()
            note.deleteLater()
        self._notes = notes
        for note in notes:
            self._notes_column.addWidget(note)

    # -- edits by the user -----------------------------------------------------------

    def _on_name(self) -> None:
        name = " ".join(self.name.text().split())
        if self._draft is None or not name:
            self.name.setText(self._draft.name if self._draft is not None else "")
        elif name != self._draft.name:
            self._draft = replace(self._draft, name=name, named=True)
            self._check_draft(_EDITED)

    def _on_environment(self, task: object) -> None:
        if self._draft is None or (self._env_info is not None and task == self._env_info.env_id):
            return
        same = self._draft
        # Drop the settings of the previous environment; policies stay where they can play.
        self._draft = replace(
            same, task=str(task), env_name="", api=None, env_kwargs={}, teams=None, links=()
        )
        self._settings.show_values({})
        self._unsent_edit = True
        self._read_environment()

    def _request(self) -> EnvironmentRequest | None:
        return None if self._draft is None else self._draft.request()

    def _on_environment_settings(self, values: dict[str, Any]) -> None:
        if self._draft is None:
            return
        self._draft = replace(self._draft, env_kwargs=values)
        self._settings.show_values(values)
        self._env_info, self._unsent_edit = None, True
        self._read_environment()

    def _on_limit(self, steps: int) -> None:
        if self._draft is not None:
            self._draft = replace(self._draft, max_steps=steps or None)
            self._check_draft(_EDITED)

    def _on_host(self, host: str) -> None:
        if self._draft is not None:
            self._draft = replace(self._draft, host=host)
            self._check_draft(_EDITED)

    def _on_policy(self, agent: str, policy_id: str) -> None:
        slot = self._env_info.slots.get(agent) if self._env_info is not None else None
        if self._draft is None or self._checks is None or slot is None:
            return
        policy = self._checks.policy_for(slot, policy_id)
        if policy is None:
            return
        row = policy.assignment(self._draft.rows.get(agent))
        self._adopt_policies(self._draft.unlinked(agent).with_row(agent, row), whole=True)

    def _on_player(self, agent: str, player: WorkerAssignment) -> None:
        if self._draft is not None and self._checks is not None:
            self._adopt_policies(self._draft.with_row(agent, player), whole=False)

    def _adopt_policies(self, draft: Draft, *, whole: bool) -> None:
        """Adopt a configuration with other policies; an operator name that the user did not set is derived
        anew.
        """
        assert self._draft is not None and self._checks is not None
        self._draft = draft.following(self._draft, self._checks.name_of)
        self.name.setText(self._draft.name)
        self._check_draft(_AfterCheck(rebuild_panel=whole, refresh_offers=True, emit_config=True))

    def _emit_pending(self) -> None:
        if self._check is not None and self._is_edited and self._draft and self._env_info and self._checks:
            # Another operator is about to be shown: check now, so that the edit is not lost with the
            # running check.
            self._on_report(self._check, self._checks.check(self._draft, self._env_info))
        self._settle.stop()
        config, self._pending = self._pending, None
        if config is not None and self._operator is not None and config != self._operator.player.config:
            self.changed.emit(config)

    def _finish_apart(self) -> None:
        """Check and emit an edit in the background if its environment is still being read."""
        if self._is_looking and self._unsent_edit and self._draft is not None and self._operator is not None:
            work = self._finish(self._draft, self._operator, self._operator.player.config)
            task = self._context.spawn(work, "Checking the operator")
            self._finishing.add(task)
            task.add_done_callback(self._finishing.discard)

    async def _finish(self, draft: Draft, operator: LiveOperator, before: OperatorConfig) -> None:
        checks, env_info = await self._catalog.checks(), await self._catalog.env_info(draft.request())
        report = await asyncio.to_thread(checks.check, draft.seated(env_info, _random), env_info)
        # If the operator was changed since, the later change is kept.
        if report.config is not None and operator.player.config == before:
            self.changed.emit(report.config)

    # -- further actions -------------------------------------------------------------

    def _on_details(self) -> None:
        if self._operator is not None:
            self.details_requested.emit(self._operator.player.config)

    def _on_duplicate(self) -> None:
        if self._operator is not None:
            self._emit_pending()
            self.duplicate_requested.emit(self._operator.player.config.operator_id)

    def _on_remove(self) -> None:
        if self._operator is not None:
            self.remove_requested.emit(self._operator.player.config.operator_id)


def _random(agent: str) -> WorkerAssignment:
    """Return the default policy of a slot: random actions, or in a goal slot the MiniGrid manager."""
    behavior = "minigrid_manager" if agent.endswith(GOAL_SUFFIX) else "random"
    return WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})
