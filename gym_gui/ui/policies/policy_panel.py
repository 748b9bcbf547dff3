"""Inspector panel of the selected policy: training, score, agents and actions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QModelIndex, pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.policies.use_policy_menu import UseMenu, operator_of
from gym_gui.ui.widgets import (
    ElidedLabel,
    FactRows,
    LinkButton,
    PrimaryButton,
    QuietButton,
    muted_label,
    section_label,
)
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable

if TYPE_CHECKING:
    from gym_gui.services.policies.policy_library import PolicyEntry
    from gym_gui.services.policies.policy_parts import AgentPart


class PolicyPanel(QWidget):
    """Panel that shows the selected policy and its actions.

    Args:
        context: Shows other pages.
        parent: Qt owner.
    """

    action_requested = pyqtSignal(str)
    """Emits the name of an action: ``folder``, ``train``, ``score``, ``export`` or ``remove``."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-policy-panel")
        column = column_layout(self)
        column.addWidget(section_label("Policy"))
        self._hint = muted_label("Select a policy to see its details and actions.", wrap=True)
        column.addWidget(self._hint)
        self.title = ElidedLabel("", "title")
        column.addWidget(self.title)
        self._use_menu = UseMenu(context, self)
        self._use = PrimaryButton("Use in a slot", name="train-policy-use", on_click=self._on_use)
        self._use.setToolTip("Watch this policy, play with it, or add it to an operator")
        self._again = QuietButton("Train again", name="train-policy-train", on_click=self._on_again)
        self._again.setToolTip("Open the form for a new run with the settings of this policy's training")
        self.folder = QuietButton("Open folder", name="train-policy-folder", on_click=self._on_folder)
        self.folder.setToolTip("Open the policy's folder in the file manager")
        self._buttons = QWidget()
        rows = column_layout(self._buttons)
        rows.addWidget(self._use)
        pair = row_layout()
        pair.addWidget(self._again)
        pair.addWidget(self.folder)
        rows.addLayout(pair)
        self.export = QuietButton("Export…", name="train-policy-export", on_click=self._on_export)
        self.export.setToolTip("Write the policy to a .zip file that another policy library can import")
        self._measure = QuietButton("Measure", name="train-policy-measure", on_click=self._on_measure)
        self._measure.setToolTip("Play the policy on the standard seeds and store its mean return as score")
        second = row_layout()
        second.addWidget(self._measure)
        second.addWidget(self.export)
        rows.addLayout(second)
        column.addWidget(self._buttons)
        self._agents = PolicyAgents(context)
        column.addWidget(self._agents)
        self.facts = FactRows("train-policy-", cut=("Folder", "Weights"))
        column.addWidget(self.facts)
        self.remove = LinkButton("Remove this policy", name="train-policy-remove", on_click=self._on_remove)
        self.remove.setToolTip("Move the policy's folder to the trash; Undo restores it")
        column.addWidget(self.remove)
        self.fixed = muted_label(wrap=True, name="train-policy-fixed")
        column.addWidget(self.fixed)
        self.show_policy(None)

    def show_policy(self, policy: PolicyEntry | None) -> None:
        """Show a policy; ``None`` shows a hint to select one."""
        there = policy is not None
        self._hint.setVisible(not there)
        for widget in (self.title, self._buttons, self._agents, self.facts, self.remove, self.fixed):
            widget.setVisible(there)
        if policy is None:
            return
        about, title = policy.file.description, policy.file.title
        self.title.setText(title)
        self._use_menu.set_operator(
            partial(operator_of, policy.file.path, worker_id=about.worker, env_id=about.env_id, title=title)
        )
        from gym_gui.ui.policies import policy_texts

        parts, texts = policy_texts.parts_and_texts(policy)
        self._agents.show_parts(policy, title, parts)
        self._again.setEnabled(bool(about.config))
        self.remove.setVisible(not policy.fixed)
        self.fixed.setText(f"{policy.fixed}.")
        self.fixed.setVisible(bool(policy.fixed))
        self.facts.show_facts(texts)

    def _on_use(self) -> None:
        self._use_menu.popup(self._use.mapToGlobal(self._use.rect().bottomLeft()))

    def _on_again(self) -> None:
        self.action_requested.emit("train")

    def _on_folder(self) -> None:
        self.action_requested.emit("folder")

    def set_measuring(self, measuring: bool) -> None:
        """Show whether a measurement of the policy's score is in progress."""
        self._measure.setEnabled(not measuring)
        self._measure.set_text("Measuring…" if measuring else "Measure")

    def _on_measure(self) -> None:
        self.action_requested.emit("score")

    def _on_export(self) -> None:
        self.action_requested.emit("export")

    def _on_remove(self) -> None:
        self.action_requested.emit("remove")


# -- agents of a joint policy --------------------------------------------------------------


_HEAD, _ROW = 32, 28
_MOST_ROWS: Final = 8
"""Largest number of rows that are visible without scrolling."""

_ROOM: Final = 12
"""Longest description of an observation space that fits the column; longer ones are replaced by the
network's input.
"""


def _agent(part: AgentPart) -> str:
    return part.agent


def _sees(part: AgentPart) -> str:
    return part.sees if len(part.sees) <= _ROOM else part.shown


def _does(part: AgentPart) -> str:
    return part.does


def _about(part: AgentPart) -> str:
    prepared = f", preprocessed by {part.prepared_by}" if part.prepared_by else ""
    return f"{part.agent} observes {part.sees}{prepared}, and acts in {part.does}; network {part.network}"


COLUMNS: Final = (
    Column("Agent", _agent, tip=_about),
    Column("Observes", _sees, tip=_about, width=76),
    Column("Acts in", _does, tip=_about, width=104),
)
"""Columns of the table of agents; each row is an
:class:`~gym_gui.services.policies.policy_parts.AgentPart`.
"""


class PolicyAgents(QWidget):
    """Table of the agents of a joint policy; hidden for a policy of one agent.

    Args:
        context: Shows other pages.
        parent: Qt owner.
    """

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-policy-parts")
        self._policy: PolicyEntry | None = None
        self._title = ""
        column = column_layout(self)
        column.addSpacing(theme.STEP)
        column.addWidget(section_label("Agents"))
        self._model = RowsModel(COLUMNS, _agent, parent=self)
        table = self._table = RowsTable(
            self._model, "train-policy-agents-table", "Agents of the policy", _ROW
        )
        table.fit_columns()
        table.head.setFixedHeight(_HEAD)
        chosen = table.selectionModel()
        assert chosen is not None
        chosen.currentRowChanged.connect(self._on_current_changed)
        column.addWidget(table)
        self._menu = UseMenu(context, self, "train-use-agent-menu")
        self._use = QuietButton("Use one agent", name="train-policy-use-agent", on_click=self._on_use)
        column.addWidget(self._use)
        column.addSpacing(theme.STEP)

    def show_parts(self, policy: PolicyEntry, title: str, parts: Sequence[AgentPart]) -> None:
        """Show the agents of a joint policy.

        Args:
            policy: The policy.
            title: Title of the policy.
            parts: The policy's agents; empty for a policy of one agent.
        """
        self._policy, self._title = policy, title
        self.setVisible(bool(parts))
        self._model.set_rows(parts)
        self._table.setFixedHeight(_HEAD + min(len(parts), _MOST_ROWS) * _ROW + 2)
        if parts:
            self._table.select(parts[0].agent)
        self._update_use_button()

    def _on_current_changed(self, _now: QModelIndex, _before: QModelIndex) -> None:
        self._update_use_button()

    def _update_use_button(self) -> None:
        part, policy = self._table.current, self._policy
        self._use.setEnabled(part is not None)
        if part is None or policy is None:
            return
        about = policy.file.description
        self._use.set_text(f"Use {part.agent} alone")
        self._use.setToolTip(
            f"Only {part.agent} uses the policy; the other agents act randomly until you assign policies "
            "to them"
        )
        self._menu.set_operator(
            partial(
                operator_of,
                policy.file.path,
                worker_id=about.worker,
                env_id=about.env_id,
                title=self._title,
                agent=part.agent,
            )
        )

    def _on_use(self) -> None:
        self._menu.popup(self._use.mapToGlobal(self._use.rect().bottomLeft()))
