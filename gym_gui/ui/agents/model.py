"""The model of the configuration that is edited: its draft, undo history, environment and checks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtGui import QUndoStack

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.controllers.setup.check_message import ConfigurationMessage, Level, listed
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, Report
from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.environment_probe import Preview
from gym_gui.core.config import GOAL_SUFFIX, OperatorConfig
from gym_gui.core.errors import MosaicError, with_capital
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.trusted.trust import NotAllowedError
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.undo import Edit

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.latest_task import Spawn
    from gym_gui.services.policies.policy_catalog import Policy
    from gym_gui.ui.context import AppContext


CHECK_MS = 120
"""Time without further edits before the configuration is checked, in milliseconds."""
ENGINE_MS = 500
"""Time without further edits before the engine also checks the configuration, in milliseconds."""

RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
"""Default assignment of a slot: random actions, which fit every environment and need no file."""


class ConfigurationModel(QObject):
    """Holds the edited configuration and its checks; slow work runs in background tasks.

    Args:
        context: Provides the store and background tasks.
        parent: Qt owner.

    Attributes:
        draft: The configuration as edited, which may be incomplete.
        env_info: Description of the draft's environment; ``None`` until it has been read.
        report: Result of the last check, or ``None``.
        checks: Checks with the available workers; ``None`` until the workers have been found.
        trouble: Sentence that says why the environment is not available; empty if it is available.
        undo_stack: Undo history of the draft.
    """

    draft_changed = pyqtSignal()
    sheet_changed = pyqtSignal()
    report_changed = pyqtSignal()
    looking_changed = pyqtSignal(bool)
    policy_binding_changed = pyqtSignal(str, str)
    """Emits a slot and the id of the policy that plays it from now on."""

    def __init__(self, context: AppContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._catalog = CatalogCache(context.store)
        self.draft, self.trouble = Draft(), ""
        self.env_info: EnvironmentInfo | None = None
        self.report: Report | None = None
        self.checks: ConfigurationChecks | None = None
        self._checked: Draft | None = None
        self._moved_draft: Draft | None = None
        self._verdict: ConfigurationMessage | None = None
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(200)
        self._reading: asyncio.Task[Any] | None = None
        self._engine_task: asyncio.Task[Any] | None = None
        self._checking: asyncio.Task[Any] | None = None
        self._emitted_rows: dict[str, WorkerAssignment] = {}
        self._check_timer = single_shot_timer(self, CHECK_MS, self._on_check_due)
        self._engine_timer = single_shot_timer(self, ENGINE_MS, self._on_engine_due)
        self._closed = False
        context.installed.connect(self.renew)

    @property
    def catalog(self) -> CatalogCache:
        """Cache with descriptions of environments and workers."""
        return self._catalog

    @property
    def spawn(self) -> Spawn:
        """Function that starts a background task."""
        return self._context.spawn

    # -- editing ---------------------------------------------------------------------

    def edit(self, draft: Draft, text: str, field: str = "") -> None:
        """Change the draft, with undo; an operator name that the user did not set is derived anew.

        Args:
            draft: The draft after the change.
            text: Name of the change in the menu, such as ``change policy of green_0``.
            field: The edited field; consecutive edits of one field are undone together.
        """
        if self.checks is not None:
            draft = draft.following(self.draft, self.checks.name_of)
        self._push(draft, text, field)

    def _push(self, draft: Draft, text: str, field: str = "") -> None:
        if draft != self.draft:
            self.undo_stack.push(Edit(self.show_draft, self.draft, draft, text, field))

    def show_draft(self, draft: Draft) -> None:
        """Show a draft without adding a step to the undo history."""
        before, self.draft = self.draft, draft
        self._verdict = None
        if self.env_info is None or draft.request() != before.request() or self.trouble:
            self._emitted_rows = {}
            self._read_environment()
        else:
            self.draft = draft.seated(self.env_info, _everybody_random)
            self._emit_bindings(policies_only=True)
            self._check_timer.start()
        self.draft_changed.emit()

    def reset(self) -> None:
        """Reset all but the environment: random actions in all slots, no links, default settings."""
        task, name = self.draft.task, self.draft.env_name
        self.edit(Draft(task, self.draft.operator_id, env_name=name), "reset to defaults")

    def open_config(self, config: OperatorConfig) -> None:
        """Show a configuration; undo restores the previous one."""
        self._push(Draft.of(config), f"open {config.display_name}")

    def choose_environment(self, task: str) -> None:
        """Change the environment; slots of the same name keep their policies if those fit."""
        where = {"task": task, "env_name": "", "api": None, "env_kwargs": {}, "teams": None}
        fresh = replace(self.draft, **where, operator_id="operator", name="", named=False, max_steps=None)
        rows = {agent: row for agent, row in fresh.rows.items() if not agent.endswith(GOAL_SUFFIX)}
        self.edit(replace(fresh, rows=rows), f"choose {task}")
        self._moved_draft = self.draft

    def set_row(self, agent: str, row: WorkerAssignment, text: str, field: str = "") -> None:
        """Change the policy of a slot, or its settings.

        Linked slots share one policy file. A slot leaves its link if its new policy reads no file, or if it
        followed another slot and now reads another file.
        """
        draft = self.draft
        link = draft.link_of(agent)
        if link is not None:
            follows = link.primary != agent
            if not (_same_file(row, draft.rows[agent]) if follows else self._reads_files(row)):
                draft = draft.unlinked(agent)
        self.edit(draft.with_row(agent, row), text, field)

    def _reads_files(self, row: WorkerAssignment) -> bool:
        worker = self.checks.worker(row) if self.checks is not None else None
        return worker is not None and any(s.kind == "policy" for s in worker.settings_schema)

    def can_share(self, agent: str) -> bool:
        """Return whether a slot's policy is read from a file that other slots can share."""
        row = self.draft.rows.get(agent)
        return row is not None and self._reads_files(row)

    # -- results of checks -----------------------------------------------------------

    @property
    def findings(self) -> tuple[ConfigurationMessage, ...]:
        """All findings of the checks, errors first."""
        if self.trouble:
            return (ConfigurationMessage(Level.ERROR, self.trouble),)
        own = self.report.findings if self.report is not None else ()
        if self.verdict is None:
            return own
        order = list(Level)
        return tuple(sorted((*own, self.verdict), key=lambda finding: order.index(finding.level)))

    @property
    def verdict(self) -> ConfigurationMessage | None:
        """Finding of the engine about the current draft; ``None`` until the engine has answered."""
        return self._verdict

    @property
    def config(self) -> OperatorConfig | None:
        """Valid configuration; ``None`` while it is being checked or if it has an error."""
        refused = self.verdict is not None and self.verdict.level is Level.ERROR
        return None if self.report is None or refused or self.is_reading else self.report.config

    @property
    def settled(self) -> bool:
        """Whether the report is about the current draft."""
        return self._checked is self.draft

    async def checked_config(self) -> OperatorConfig | None:
        """Check the latest edit and return the configuration; ``None`` if it is not valid."""
        while not self.settled:
            draft = self.draft
            self._check_timer.stop()
            self._on_check_due()
            if self._checking is None or self._checking.done():
                return None  # There is no environment yet for the check.
            await asyncio.wait([self._checking])
            if draft is self.draft and not self.settled:
                return None
        return self.config

    @property
    def is_reading(self) -> bool:
        """Whether the environment's description is being read."""
        return self._reading is not None

    def policy_id(self, agent: str) -> str:
        """Return the id of the policy that plays a slot, or of its worker if no known policy matches."""
        row = self.draft.rows.get(agent)
        if row is None:
            return ""
        policy = self.checks.policy(row) if self.checks is not None else None
        return policy.policy_id if policy is not None else row.worker_id

    def player_title(self, agent: str) -> str:
        """Return the name of a slot's policy; empty if the slot has none or the workers are not known yet."""
        row = self.draft.rows.get(agent)
        return "" if row is None or self.checks is None else self.checks.title(row)

    def policy_for(self, agent: str, policy_id: object) -> Policy | None:
        """Return a policy as offered to a slot; ``None`` if the slot or the policy is not known."""
        slot = self.env_info.slots.get(agent) if self.env_info is not None else None
        return None if slot is None or self.checks is None else self.checks.policy_for(slot, policy_id)

    async def preview(self, seed: int) -> Preview:
        """Return a preview of the first frame of the episode with this seed.

        Raises:
            UsageError: The environment cannot be drawn, or :meth:`cancel_requests` was called.
        """
        return await self._catalog.probe.preview(self.draft.request(), seed)

    def renew(self) -> None:
        """Read environments and workers again, after some were installed."""
        self._catalog.renew()
        self._read_environment()

    def cancel_requests(self) -> None:
        """Cancel the requests for a description or a preview of the environment."""
        self._catalog.probe.cancel()

    async def close(self) -> None:
        """Cancel all background tasks and close the catalog."""
        self._closed = True
        self._check_timer.stop()
        self._engine_timer.stop()
        tasks = [
            t for t in (self._reading, self._engine_task, self._checking) if t is not None and not t.done()
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._catalog.close()

    # -- checking --------------------------------------------------------------------

    def _read_environment(self) -> None:
        self._stop(self._reading)
        self.env_info, self.report, self.trouble = None, None, ""
        self._check_timer.stop()
        self._reading = None
        if self.draft.task and not self._closed:
            self._reading = self._context.spawn(self._describe(self.draft), "Reading the environment")
        self.looking_changed.emit(self.is_reading)
        self.sheet_changed.emit()
        self.report_changed.emit()

    async def _describe(self, draft: Draft) -> None:
        me = asyncio.current_task()
        try:
            self.checks = await self._catalog.checks()
            env_info = await self._catalog.env_info(draft.request())
        except MosaicError as error:
            if isinstance(error, NotAllowedError):
                ask = partial(self._context.ask_trust, error)
                self._context.notify(error.message, "warning", ("Review and allow…", ask))
            if self._reading is me:
                self._reading, self.trouble = None, error.sentence
                self.looking_changed.emit(False)
                self.report_changed.emit()
            return
        # The check reads policy files, so it does not run in the GUI thread.
        moved = draft is self._moved_draft
        misfits = await asyncio.to_thread(self.checks.misfits, self.draft.rows, env_info) if moved else {}
        if self._reading is not me:
            return
        self._reading, self.env_info = None, env_info
        rows = {agent: row for agent, row in self.draft.rows.items() if agent not in misfits}
        self.draft = replace(self.draft, rows=rows).seated(env_info, _everybody_random)
        if misfits:
            reason = next(iter(misfits.values()))
            self._context.notify(f"Random actions now play {', '.join(misfits)}: {reason}", "info")
        self._emitted_rows = dict(self.draft.rows)
        self.looking_changed.emit(False)
        self.sheet_changed.emit()
        self.draft_changed.emit()
        self._on_check_due()

    def check_again(self) -> None:
        """Repeat all checks, after files that the configuration names have changed."""
        self._verdict, self._checked = None, None
        self._on_check_due()

    def _on_check_due(self) -> None:
        if self.env_info is None or self.checks is None or self._closed:
            return
        self._stop(self._checking)
        work = self._check(self.checks, self.draft, self.env_info)
        self._checking = self._context.spawn(work, "Checking the configuration")

    async def _check(self, checks: ConfigurationChecks, draft: Draft, env_info: EnvironmentInfo) -> None:
        # The check reads files and keyrings, so it does not run in the GUI thread.
        report = await asyncio.to_thread(checks.check, draft, env_info)
        if draft is not self.draft or env_info is not self.env_info:
            return
        self.report, self._checked = report, draft
        self._emit_bindings(policies_only=False)
        self.report_changed.emit()
        if report.config is not None:
            self._engine_timer.start()

    def _on_engine_due(self) -> None:
        if self.report is None or self.report.config is None or self._closed or not self.settled:
            return  # The check that is running starts this timer again.
        if self._engine_task is not None and not self._engine_task.done():
            self._engine_timer.start()  # Canceling would end the process that checks.
            return
        work = self._ask_engine(self.draft, self.report.config)
        self._engine_task = self._context.spawn(work, "Checking with the engine")

    async def _ask_engine(self, draft: Draft, config: OperatorConfig) -> None:
        try:
            await self._catalog.probe.cast(config)
            verdict = _accepted(await self._catalog.loading_probe.load(config))
        except MosaicError as error:
            words = str(error).removeprefix(f"operator {config.operator_id!r}: ")
            verdict = ConfigurationMessage(Level.ERROR, with_capital(words))
        if draft is self.draft:
            self._verdict = verdict
            self.report_changed.emit()

    def _emit_bindings(self, *, policies_only: bool) -> None:
        """Emit the slots whose policy has changed.

        Args:
          policies_only: Whether to leave out changes of settings, which are emitted after the check.
        """
        for agent, row in self.draft.rows.items():
            before = self._emitted_rows.get(agent)
            if before is None or before == row:
                continue
            if policies_only and not self._other_policy(before, row):
                continue
            self._emitted_rows[agent] = row
            self.policy_binding_changed.emit(agent, self.policy_id(agent))

    def _other_policy(self, before: WorkerAssignment, row: WorkerAssignment) -> bool:
        if self.checks is None:
            return False
        return before.worker_id != row.worker_id or self.checks.policy(before) != self.checks.policy(row)

    @staticmethod
    def _stop(task: asyncio.Task[Any] | None) -> None:
        if task is not None and not task.done():
            task.cancel()


def _accepted(slow: Sequence[str]) -> ConfigurationMessage:
    """Return the finding for a configuration that the engine accepts.

    Args:
      slow: Workers whose loading takes too long to wait for.
    """
    if not slow:
        return ConfigurationMessage(Level.OK, "The engine accepts the configuration")
    text = f"The engine accepts the configuration; {listed(slow)} takes long to load and was not checked"
    return ConfigurationMessage(Level.NOTE, text)


def _everybody_random(_agent: str) -> WorkerAssignment:
    return RANDOM


def _same_file(row: WorkerAssignment, other: WorkerAssignment) -> bool:
    same = row.settings.get("checkpoint") == other.settings.get("checkpoint")
    return row.worker_id == other.worker_id and same
