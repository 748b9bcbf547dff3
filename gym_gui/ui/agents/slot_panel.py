"""A form for one slot: the settings of its worker, and the engine's rules for the slot."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.controllers.setup.joint_parts import part_of
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.validation import ConfigError
from gym_gui.services.compatibility import own_steps, takes_steps
from gym_gui.services.policies.policy_catalog import PolicyFile, read_policy_file
from gym_gui.ui.agents.model import ConfigurationModel
from gym_gui.ui.agents.rule_box import TIP, RuleBox
from gym_gui.ui.agents.settings_form import LABEL_WIDTH, SettingsForm
from gym_gui.ui.agents.slot_marks import LinkMark, link_letter
from gym_gui.ui.language.settings_services import SettingsServices
from gym_gui.ui.widgets import (
    ElidedLabel,
    FormRows,
    LinkButton,
    QuietButton,
    label,
    muted_label,
    section_label,
)
from gym_gui.ui.widgets.combo_box import SteadyComboBox
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.number_fields import NumberField
from gym_gui.workers.settings.settings_schema import chosen_policy
from mosaic_worker.preprocessing import PreprocessingError, describe_steps

_MODES = ((None, "policy default"), (True, "most likely"), (False, "sampled"))


class SlotPanel(QWidget):
    """Form that edits the assignment of the selected slot.

    Args:
        model: The edited configuration.
        parent: Qt owner.
        services: Tests servers and stores keys; ``None`` for plain fields.
    """

    link_asked = pyqtSignal(str)
    steps_asked = pyqtSignal(str)

    def __init__(
        self,
        model: ConfigurationModel,
        parent: QWidget | None = None,
        services: SettingsServices | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("slot_panel")
        self.services = services
        self._column = column_layout(self)
        self._heading = section_label("Settings")
        self._column.addWidget(self._heading)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._model, self._agent = model, ""
        self._built: tuple[Any, ...] = ()
        self._content: QWidget | None = None
        self.form: SettingsForm | None = None
        model.draft_changed.connect(self._refresh)
        model.report_changed.connect(self._refresh)

    @property
    def agent(self) -> str:
        """Name of the slot that is edited."""
        return self._agent

    def show_slot(self, agent: str) -> None:
        """Edit another slot."""
        self._agent = agent
        self._refresh()

    # -- display ---------------------------------------------------------------------

    def _refresh(self) -> None:
        row = self._model.draft.rows.get(self._agent)
        checks = self._model.checks
        self.setVisible(row is not None and checks is not None)
        if row is None or checks is None:
            self._built = ()
            return
        single = self._model.env_info is not None and self._model.env_info.single
        self._heading.setText("SETTINGS" if single else f"SETTINGS OF {self._agent.upper()}")
        link = self._model.draft.link_of(self._agent)
        # The form is rebuilt only if one of these values changes: a rebuild takes the focus.
        made_of = (self._agent, row.worker_id, self._model.policy_id(self._agent), link, self._env_id())
        # A user who types a path must keep the field when the path begins to match a policy.
        same_form = self._built[:2] == made_of[:2] and self._holds_focus()
        if made_of == self._built or same_form:
            self._fill(row)
        else:
            self._built = made_of
            self._rebuild(row)

    def _env_id(self) -> str:
        return self._model.env_info.env_id if self._model.env_info is not None else ""

    def _holds_focus(self) -> bool:
        inner = self.focusWidget()
        return inner is not None and inner.hasFocus()

    def _rebuild(self, row: WorkerAssignment) -> None:
        if self._content is not None:
            self._content.hide()
            self._content.setParent(None)
            self._content.deleteLater()
        content = self._content = FormRows(label_width=LABEL_WIDTH, parent=self)
        checks = self._model.checks
        assert checks is not None
        worker, policy = checks.worker(row), checks.policy(row)
        if policy is not None and policy.meaning:
            content.add_wide(muted_label(policy.meaning, wrap=True))
        link = self._model.draft.link_of(self._agent)
        follows = link is not None and link.primary != self._agent
        schema = worker.settings_schema if worker is not None else ()
        without = [s.name for s in schema if s.policies or (follows and s.kind == "policy")]
        self.form = SettingsForm(
            schema,
            {},
            env_id=self._env_id(),
            policy=chosen_policy(schema, row.settings),
            agent=self._agent,
            without=without,
            worker=worker,
            services=self.services,
            parent=content,
        )
        env_info = self._model.env_info
        self.form.action_words = env_info.words_of(self._agent) if env_info is not None else ()
        self.form.values_changed.connect(self._on_values_changed)
        if not self.form.empty:
            content.add_wide(self.form)
        self._part = self._mode = self._steps = None
        if any(s.kind == "policy" for s in schema):
            self._add_policy_rows(content, row)
        self._add_steps(content, row)
        self._add_rules(content, row)
        if link is not None or self._model.can_share(self._agent):
            self._add_link(content)
        self._column.addWidget(content)
        self._fill(row)

    def _fill(self, row: WorkerAssignment) -> None:
        assert self.form is not None
        self.form.set_values(row.settings)
        self._rule.show_rule(row.on_invalid)
        if self._steps is not None:
            self._steps.setText(self._steps_words(row))
        self._limit.blockSignals(True)
        self._limit.setValue(row.deadline_s or 0.0)
        self._limit.blockSignals(False)
        if self._mode is not None:
            _choose(self._mode, row.deterministic, "")
        if self._part is not None:
            _choose(self._part, row.checkpoint_agent, row.checkpoint_agent or "")

    def _add_policy_rows(self, rows: FormRows, row: WorkerAssignment) -> None:
        self._mode = _box("deterministic", _MODES)
        self._mode.activated.connect(self._on_mode)
        tip = "Play the policy's most likely action, or sample from its probabilities"
        rows.add_row("Actions", self._mode, tooltip=tip)
        file = _policy_file(row)
        if (file is not None and len(file.agents) > 1) or row.checkpoint_agent:
            parts = file.agents if file is not None else ()
            usual = _default_policy_words(file, self._agent)
            self._part = _box("part", [(None, usual), *((part, part) for part in parts)])
            self._part.activated.connect(self._on_part)
            rows.add_row(
                "Part of file", self._part, tooltip="Agent whose part of a joint file this slot plays"
            )

    def _add_steps(self, rows: FormRows, row: WorkerAssignment) -> None:
        checks, env_info = self._model.checks, self._model.env_info
        worker = checks.worker(row) if checks is not None else None
        slot = env_info.slots.get(self._agent) if env_info is not None else None
        if worker is not None and slot is not None and (row.preprocess or takes_steps(worker, slot)):
            line = QWidget()
            beside = row_layout(line)
            self._steps = ElidedLabel("", name="shown")
            ask = partial(self.steps_asked.emit, self._agent)
            change = LinkButton("Change…", name="preprocess", on_click=ask)
            change.setToolTip("Edit the preprocessing of observations for this policy")
            beside.addWidget(self._steps, 1)
            beside.addWidget(change)
            rows.add_row("Observation", line)

    def _steps_words(self, row: WorkerAssignment) -> str:
        """Return the preprocessing of observations as one line of text."""
        worker = self._model.checks.worker(row) if self._model.checks is not None else None
        steps = row.preprocess or (own_steps(row, worker, self._agent) if worker is not None else ())
        try:
            return describe_steps(steps) if steps else "as is"
        except PreprocessingError:
            return "invalid steps"

    def _add_rules(self, rows: FormRows, row: WorkerAssignment) -> None:
        self._rule = RuleBox("on_invalid")
        self._rule.activated.connect(self._on_rule)
        rows.add_row("On invalid action", self._rule, tooltip=TIP)
        self._limit = NumberField()
        self._limit.setObjectName("deadline_s")
        self._limit.setRange(0.0, 3600.0)
        self._limit.setDecimals(6)
        self._limit.setSuffix(" s")
        self._limit.setKeyboardTracking(False)
        self._limit.setSpecialValueText("none" if row.worker_type == "human" else "default (300 s)")
        self._limit.valueChanged.connect(self._on_limit)
        rows.add_row("Time limit", self._limit, tooltip="Seconds for one decision")

    def _add_link(self, rows: FormRows) -> None:
        draft, agent = self._model.draft, self._agent
        link = draft.link_of(agent)
        if self._model.env_info is None or self._model.env_info.single:
            return
        line = QWidget()
        row = row_layout(line)
        if link is not None:
            rows.add_wide(section_label(f"Link group {link_letter(draft, link)}"))
            names = ", ".join(f"{a} (first)" if a == link.primary else a for a in link.agents)
            members = QWidget()
            beside = row_layout(members, spacing=None)
            mark = LinkMark()
            mark.show_link(draft, agent)
            beside.addWidget(mark)
            beside.addWidget(label(names, wrap=True), 1)
            rows.add_wide(members)
            row.addStretch(1)
            unlink = partial(self._model.edit, draft.unlinked(agent), f"unlink {agent}")
            row.addWidget(QuietButton("Unlink", name="unlink", on_click=unlink))
        else:
            row.addStretch(1)
        if link is None or link.primary == agent:
            ask = partial(self.link_asked.emit, agent)
            row.addWidget(QuietButton("Link agents…", name="link_agents", on_click=ask))
        rows.add_wide(line)

    # -- editing ---------------------------------------------------------------------

    def _on_values_changed(self, values: dict[str, Any]) -> None:
        row = self._model.draft.rows[self._agent]
        try:
            changed = replace(row, settings=values)
        except ConfigError as error:
            # A key in plain text must not enter the draft, because the undo history would keep it.
            assert self.form is not None
            name = error.where.removeprefix("settings.").split(".")[0]
            self.form.show_problems({name: f"{error.problem}. {error.fix}"})
            return
        names = {k for k in {*values, *row.settings} if values.get(k) != row.settings.get(k)}
        self._change(changed, "settings", field="+".join(sorted(names)))

    def _on_rule(self, _index: int) -> None:
        row = self._model.draft.rows[self._agent]
        self._change(replace(row, on_invalid=self._rule.rule), "rule")

    def _on_limit(self, seconds: float) -> None:
        row = self._model.draft.rows[self._agent]
        self._change(replace(row, deadline_s=seconds or None), "time limit", field="limit")

    def _on_mode(self, _index: int) -> None:
        assert self._mode is not None
        row = self._model.draft.rows[self._agent]
        self._change(replace(row, deterministic=self._mode.currentData()), "settings")

    def _on_part(self, _index: int) -> None:
        assert self._part is not None
        row = self._model.draft.rows[self._agent]
        self._change(replace(row, checkpoint_agent=self._part.currentData()), "part of the file")

    def _change(self, row: WorkerAssignment, what: str, field: str = "") -> None:
        text = f"change {what} of {self._agent}"
        self._model.set_row(self._agent, row, text, f"{self._agent}/{what}/{field}" if field else "")


def _box(name: str, options: Any) -> SteadyComboBox:
    box = SteadyComboBox()
    box.setObjectName(name)
    for value, text in options:
        box.addItem(text, value)
    return box


def _choose(box: SteadyComboBox, value: object, else_text: str) -> None:
    """Select a value in a list; a missing value is added with the text ``else_text``."""
    place = next((i for i in range(box.count()) if box.itemData(i) == value), -1)
    if place < 0:
        box.addItem(else_text, value)
        place = box.count() - 1
    box.setCurrentIndex(place)


def _default_policy_words(file: PolicyFile | None, agent: str) -> str:
    """Return the text for the policy that a slot plays by default from a joint file."""
    part = part_of(file, agent, None) if file is not None else agent
    if part == agent:
        return "its own"
    return f"{part}, of its kind" if part else "no policy of this name: choose one"


def _policy_file(row: WorkerAssignment) -> PolicyFile | None:
    written = row.settings.get("checkpoint")
    return read_policy_file(Path(written)) if isinstance(written, str) and written else None
