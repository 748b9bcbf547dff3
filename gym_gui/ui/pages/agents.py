"""Agents page: assignment of policies to the slots of an environment, with checks during editing."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtGui import QKeySequence

from gym_gui.controllers.setup.check_message import Level
from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import MosaicError
from gym_gui.services.operator_table import OperatorTable
from gym_gui.ui import theme
from gym_gui.ui.agents.advanced_config import AdvancedConfigTab
from gym_gui.ui.agents.configuration_presets import ConfigurationPresetMenu
from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.language.settings_services import PromptsRequest
from gym_gui.ui.page import Page
from gym_gui.ui.page_state import SavedPageState
from gym_gui.ui.widgets import InlineMessage, PrimaryButton, QuietButton
from gym_gui.ui.widgets.layouts import column_layout

if TYPE_CHECKING:
    from gym_gui.ui.live.live_operator import LiveOperator


class AgentsPage(Page):
    """Page with an :class:`AdvancedConfigTab` below the bar of actions.

    ``context.go("agents", operator=OperatorConfig)`` shows a configuration. With ``live=LiveOperator`` as
    well, changed policies reach the running session at the agent's next decision.
    """

    name = "agents"
    title = "Agents"
    icon = "agents"

    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self._tab = AdvancedConfigTab(context, self)
        self.kept = SavedPageState[OperatorTable](
            context,
            "agents.json",
            "The configuration",
            load=OperatorTable.load,
            save=OperatorTable.save,
            now=self._table,
            parent=self,
        )
        self._live: LiveOperator | None = None
        self._to_rebind: set[str] = set()
        self._listing: asyncio.Task[Any] | None = None
        self._picker = EnvironmentPicker(self.context, parent=self)
        self._picker.setMinimumWidth(230)
        self._picker.chosen.connect(self._on_environment_chosen)
        self.bar.add(self._picker)
        self._presets = ConfigurationPresetMenu(context, self.model, self)
        self._presets.loaded.connect(self.model.open_config)
        self._add_actions()
        self.message = InlineMessage("info", "", ("Detach", self.detach), name="live_message")
        self.message.hide()
        if self._tab.slot.services is not None:
            self._tab.slot.services.on_prompts = self._on_prompts
        inspector = self.use_inspector()
        inspector.add(self._tab.slot)
        inspector.add(self._tab.operator)
        column = column_layout(self.body, spacing=0)
        strip = column_layout(margin=(theme.PAGE, 0, theme.PAGE, 0), spacing=None)
        strip.addWidget(self.message)
        column.addLayout(strip)
        column.addWidget(self._tab, 1)
        self.model.draft_changed.connect(self._refresh)
        self.model.draft_changed.connect(self.kept.save_soon)
        self._tab.preview.seed.seed_changed.connect(self.kept.save_soon)
        self.model.sheet_changed.connect(self._refresh)
        self.model.report_changed.connect(self._on_report_changed)
        self._tab.policy_binding_changed.connect(self._on_policy_binding_changed)
        self._tab.installed.connect(self._picker.renew)
        self._refresh()

    @property
    def model(self) -> Any:
        """Model of the edited configuration."""
        return self._tab.model

    def _on_prompts(self, request: PromptsRequest) -> None:
        """Open the prompt editor, with the agent's current observation if a session is attached."""
        from gym_gui.ui.language.prompt_editor import open_prompt_editor

        look = partial(self._live.player.present, request.agent) if self._live is not None else None
        open_prompt_editor(self.context, request, look, self)

    def _add_actions(self) -> None:
        self._reset = QuietButton(
            "Reset to defaults",
            name="reset",
            tooltip="Assign random actions to all slots and remove all links",
            on_click=self.model.reset,
        )
        self._reset.setProperty("role", "bare")
        self._presets_button = QuietButton(
            "Presets", menu=self._presets, name="presets", tooltip="Save or load named configurations"
        )
        self._export = QuietButton(
            "Export experiment",
            name="export",
            tooltip="Write the configuration as an experiment file that mosaic run can run",
            on_click=self.ask_export,
        )
        self._apply = PrimaryButton(
            "Apply",
            name="apply",
            tooltip="Open the configuration on the Operators page",
            on_click=self.apply_config,
        )
        for button in (self._reset, self._presets_button, self._export, self._apply):
            self.bar.add_action(button)

    # -- methods that the window calls -----------------------------------------------

    def opened(self, **request: object) -> None:
        """Show an operator, an environment or a preset; attach to a running session if one is given."""
        if self._listing is None:
            self._listing = self.context.spawn(self._picker.load(), "Listing the environments")
        self.kept.restore(self._bring_back)
        operator, task, preset = request.get("operator"), request.get("task"), request.get("preset")
        live = request.get("live")
        if isinstance(operator, OperatorConfig):
            self.model.open_config(operator)
        elif isinstance(task, str):
            self.model.choose_environment(task)
        elif isinstance(preset, str | Path):
            self._presets.load(str(preset))
        if live is not None:
            self.attach(live)  # type: ignore[arg-type]
        elif operator is not None:
            self.detach()

    async def closed(self) -> None:
        """Stop all background work of the page."""
        self.detach()
        await self.kept.close()
        await self._tab.close_down()

    def _table(self) -> OperatorTable | None:
        """Return the configuration and its seed for storage; ``None`` if the draft is not a valid
        configuration.
        """
        try:
            config = self.model.draft.config() if self.model.draft.task else None
        except MosaicError:
            return None
        return None if config is None else OperatorTable((config,), self._tab.preview.seed.seed)

    def _bring_back(self, table: OperatorTable) -> None:
        if table.operators:
            self._tab.preview.seed.set_seed(table.seed)
            self.model.show_draft(Draft.of(table.operators[0]))

    def commands(self) -> list[Command]:
        """Return the page's commands for menus and the command palette."""
        stack, ready = self.model.undo_stack, self._is_ready
        chosen = self._has_environment
        undo, redo = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
        return [
            Command("agents.undo", "Undo", stack.undo, _keys(undo), icon="undo", enabled=stack.canUndo),
            Command("agents.redo", "Redo", stack.redo, _keys(redo), icon="redo", enabled=stack.canRedo),
            Command("agents.apply", "Apply", self.apply_config, "Ctrl+Return", icon="check", enabled=ready),
            Command("agents.play", "Play this configuration", self.play, icon="play", enabled=ready),
            Command(
                "agents.save", "Save preset…", self._presets.ask_name, "Ctrl+S", icon="save", enabled=chosen
            ),
            *self._tab.table.commands(),
            Command("agents.import", "Import a preset…", self._presets.ask_import, icon="open"),
            Command(
                "agents.export", "Export experiment…", self.ask_export, "Ctrl+E", icon="export", enabled=ready
            ),
            Command("agents.reset", "Reset to defaults", self.model.reset, icon="restart", enabled=chosen),
        ]

    # -- actions ---------------------------------------------------------------------

    def apply_config(self) -> None:
        """Open the configuration as an operator on the Operators page."""
        self._open_page("operators")

    def play(self) -> None:
        """Open the configuration on the Play page."""
        self._open_page("play")

    def _open_page(self, page: str) -> None:
        if self.model.settled:
            self._open_in(page, self.model.config)
        else:
            # The latest edit is not checked yet: check first, so that the other page gets what is shown
            # here.
            self.context.spawn(self._open_page_checked(page), "Checking the configuration")

    async def _open_page_checked(self, page: str) -> None:
        self._open_in(page, await self.model.checked_config())

    def _open_in(self, page: str, config: OperatorConfig | None) -> None:
        seed = self._tab.preview.seed.seed
        if config is None:
            return  # The checks show the reason.
        if page == "play":
            self.context.go("play", operator=config, seed=seed)
        else:
            self.context.go("operators", operators=[config], seed=seed)

    def ask_export(self) -> None:
        """Ask for a file, then write the configuration to the file as an experiment."""
        self._presets.ask_export(self._tab.preview.seed.seed)

    def _on_environment_chosen(self, task: object) -> None:
        self.model.choose_environment(str(task))

    def _is_ready(self) -> bool:
        return self.model.config is not None

    def _has_environment(self) -> bool:
        return bool(self.model.draft.task)

    def _refresh(self) -> None:
        draft, env_info = self.model.draft, self.model.env_info
        if env_info is not None:
            self._picker.set_value(env_info.env_id, env_info.page.title)
        else:
            self._picker.set_value(draft.task or None)
        self.bar.set_note(env_info.summary if env_info is not None else "")
        self._reset.setEnabled(self._has_environment())
        if self.inspector is not None:
            self.inspector.setVisible(self._has_environment())
        ready = self._is_ready()
        self._apply.setEnabled(ready)
        self._export.setEnabled(ready)
        wrong = next((f.text for f in self.model.findings if f.level is Level.ERROR), "")
        self._apply.setToolTip(wrong or "Open the configuration on the Operators page (Ctrl+Return)")

    # -- a running session -----------------------------------------------------------

    def attach(self, live: LiveOperator) -> None:
        """Attach to a running session, so that changed policies reach the session."""
        self.detach()
        self._live = live
        live.destroyed.connect(self.detach)
        live.state_changed.connect(self._on_live_state_changed)
        self.message.set_text(
            f"{live.player.config.display_name} is playing. "
            "A new policy takes over at the next decision of its agent"
        )
        self.message.show()

    def detach(self, *_: object) -> None:
        """Detach from the running session, so that changes affect only the configuration."""
        live, self._live = self._live, None
        self._to_rebind.clear()
        self.message.hide()
        if live is None:
            return
        with contextlib.suppress(TypeError, RuntimeError):  # The operator is being destroyed.
            live.destroyed.disconnect(self.detach)
            live.state_changed.disconnect(self._on_live_state_changed)

    def _on_live_state_changed(self, state: object) -> None:
        if str(state) == "closed":
            self.detach()

    def _on_policy_binding_changed(self, agent: str, _policy_id: str) -> None:
        if self._live is not None:
            self._to_rebind.add(agent)

    def _on_report_changed(self) -> None:
        self._refresh()
        report, live = self.model.report, self._live
        if report is None or live is None or not self._to_rebind:
            return
        for agent in sorted(self._to_rebind):
            # A slot with an error keeps its policy in the session; the checks show the error.
            if not any(finding.level is Level.ERROR for finding in report.of(agent)):
                self._to_rebind.discard(agent)
                self._rebind(live, agent)

    def _rebind(self, live: LiveOperator, agent: str) -> None:
        row = self.model.draft.rows[agent]
        if agent not in live.player.config.resolved_slots():
            self.context.notify(
                f"{live.player.config.display_name} has no slot {agent}, so its policies stay unchanged",
                "warning",
            )
            return
        done = live.player.rebind(agent, row, self.model.draft.name)
        done.add_done_callback(partial(self._on_rebound, agent))

    def _on_rebound(self, agent: str, done: asyncio.Task[Any]) -> None:
        if not done.cancelled() and done.exception() is None:
            self.context.notify(f"{agent} is now played by {self.model.player_title(agent)}", "ok")


def _keys(standard: QKeySequence.StandardKey) -> str:
    return QKeySequence(standard).toString() or ""
