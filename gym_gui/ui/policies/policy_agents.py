"""A joint policy, opened: what each agent of it sees and does, and one of them used without the others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QModelIndex
from PyQt6.QtWidgets import QWidget

from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.policies.use_menu import UseMenu, operator_of
from gym_gui.ui.widgets import QuietButton, section_label
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable

if TYPE_CHECKING:
    from gym_gui.services.policies.policy_library import PolicyEntry
    from gym_gui.services.policies.policy_parts import AgentPart

_HEAD, _ROW = 32, 28
_MOST_ROWS: Final = 8
"""More of them scroll."""

_ROOM: Final = 12
"""Characters of a space in its column; of a longer one stands there what the network is shown."""


def _agent(part: AgentPart) -> str:
    return part.agent


def _sees(part: AgentPart) -> str:
    return part.sees if len(part.sees) <= _ROOM else part.shown


def _does(part: AgentPart) -> str:
    return part.does


def _about(part: AgentPart) -> str:
    prepared = f", prepared by {part.prepared_by}" if part.prepared_by else ""
    return f"{part.agent} sees {part.sees}{prepared}, and acts in {part.does}; network {part.network}"


COLUMNS: Final = (
    Column("Agent", _agent, tip=_about),
    Column("Sees", _sees, tip=_about, width=76),
    Column("Does", _does, tip=_about, width=104),
)
"""A row is an :class:`~gym_gui.services.policies.policy_parts.AgentPart`."""


class PolicyAgents(QWidget):
    """Hidden for a policy of one agent.

    Args:
        context: Leads to the other pages.
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
        self._use = QuietButton("Use one alone", name="train-policy-use-agent", on_click=self._on_use)
        column.addWidget(self._use)
        column.addSpacing(theme.STEP)

    def show_parts(self, policy: PolicyEntry, title: str, parts: Sequence[AgentPart]) -> None:
        """Show the agents of a policy.

        Args:
            policy: The policy.
            title: What it is called.
            parts: Its parts; none of a policy of one agent.
        """
        self._policy, self._title = policy, title
        self.setVisible(bool(parts))
        self._model.set_rows(parts)
        self._table.setFixedHeight(_HEAD + min(len(parts), _MOST_ROWS) * _ROW + 2)
        if parts:
            self._table.select(parts[0].agent)
        self._tell()

    def _on_current_changed(self, _now: QModelIndex, _before: QModelIndex) -> None:
        self._tell()

    def _tell(self) -> None:
        part, policy = self._table.current, self._policy
        self._use.setEnabled(part is not None)
        if part is None or policy is None:
            return
        about = policy.file.description
        self._use.set_text(f"Use {part.agent} alone")
        self._use.setToolTip(f"{part.agent} plays its part; the others act at random until you seat others")
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
