"""A dialog that chooses which slots share the checkpoint file of a slot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.joint_parts import joint_file, part_of
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.spaces import short_space
from gym_gui.services.backends import SlotInfo
from gym_gui.ui import theme
from gym_gui.ui.agents.slot_marks import link_letter
from gym_gui.ui.widgets import PrimaryButton, QuietButton, muted_label, title_label
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, row_layout

_ROOM = 60
"""Largest number of characters of the text beside a checkbox."""


class LinkAgentsDialog(Dialog):
    """Has a checkbox for every other slot; slots that cannot share the file are disabled, with the reason.

    Args:
        draft: The edited configuration.
        env_info: Description of the configuration's environment.
        primary: Slot whose file is shared.
        parent: The window.
        problem: Returns a sentence that says why a worker cannot play a slot, or ``""``; ``None``
            compares only the spaces.
    """

    linked = pyqtSignal(str, list)
    """Emits the slot whose file is shared and the slots that share it; an empty list removes the link."""

    def __init__(
        self,
        draft: Draft,
        env_info: EnvironmentInfo,
        primary: str,
        parent: QWidget | None = None,
        problem: Callable[[SlotInfo, WorkerAssignment], str] | None = None,
    ) -> None:
        super().__init__("link_agents_dialog", "Link agents", parent, width=400)
        self.primary = primary
        row = draft.rows.get(primary)
        self._file = None if row is None or problem is None else joint_file(row)
        self._problem = problem
        column = column_layout(self, margin=theme.PAGE)
        column.addWidget(title_label(f"Slots that share the file of {primary}"))
        column.addWidget(
            muted_label(
                "The file is loaded once. Each linked slot plays the policy of its own name in the "
                "file, or else the only policy that fits.",
                wrap=True,
            )
        )
        column.addSpacing(theme.STEP)
        self._boxes: dict[str, QCheckBox] = {}
        for agent in env_info.agents:
            if agent != primary:
                column.addLayout(self._row(draft, env_info, agent))
        column.addSpacing(theme.STEP)
        column.addLayout(self._buttons(env_info))

    def _row(self, draft: Draft, env_info: EnvironmentInfo, agent: str) -> QHBoxLayout:
        box = QCheckBox(agent, self)
        box.setObjectName(f"link_{agent}")
        mine, other = draft.link_of(self.primary), draft.link_of(agent)
        box.setChecked(other is not None and other is mine)
        why = self._incompatibility(draft, env_info, agent)
        if not why and other is not None and other is not mine:
            why = f"now in link {link_letter(draft, other)}"
        else:
            box.setEnabled(not why)
        box.setToolTip(why or f"{agent} plays from the file of {self.primary}")
        self._boxes[agent] = box
        row = QHBoxLayout()
        row.addWidget(box)
        row.addStretch(1)
        team = env_info.team_of(agent) if len(env_info.teams) > 1 else ""
        part = part_of(self._file, agent, None) if self._file is not None else ""
        source = f"the part of {part}" if part != agent else "its own part"
        words = ", ".join(filter(None, (team.replace("_", " ").capitalize(), source if part else "")))
        row.addWidget(muted_label(_shortened(why) or words))
        return row

    def _incompatibility(self, draft: Draft, env_info: EnvironmentInfo, agent: str) -> str:
        """Return why a slot cannot be played from the shared file, or ``""``.

        In a joint file, some policy has to fit the slot; for any other file, the slots' spaces have to be
        equal.
        """
        if self._file is None or self._problem is None:
            return _incompatibility(env_info, self.primary, agent)
        row = replace(draft.rows[self.primary], checkpoint_agent=None)
        return self._problem(env_info.slots[agent], row)

    def _buttons(self, env_info: EnvironmentInfo) -> QHBoxLayout:
        row = row_layout()
        team = env_info.teams.get(env_info.team_of(self.primary), ())
        if 1 < len(team) < len(env_info.agents):
            row.addWidget(QuietButton("Team", name="link_team", on_click=partial(self._tick, team)))
        row.addWidget(QuietButton("All", name="link_all", on_click=partial(self._tick, env_info.agents)))
        row.addWidget(QuietButton("None", name="link_none", on_click=partial(self._tick, ())))
        row.addStretch(1)
        row.addWidget(QuietButton("Cancel", name="link_cancel", on_click=self.reject))
        accept = PrimaryButton("Link", name="link_accept", on_click=self.accept)
        row.addWidget(accept)
        return row

    @property
    def chosen(self) -> list[str]:
        """Slots whose checkbox is ticked."""
        return [agent for agent, box in self._boxes.items() if box.isChecked()]

    def accept(self) -> None:
        """Emit the ticked slots and close the dialog."""
        self.linked.emit(self.primary, self.chosen)
        super().accept()

    def _tick(self, agents: tuple[str, ...]) -> None:
        for agent, box in self._boxes.items():
            if box.isEnabled():
                box.setChecked(agent in agents)


def _shortened(sentence: str) -> str:
    """Shorten a sentence to fit beside a checkbox; the tool tip has the whole sentence."""
    return sentence if len(sentence) <= _ROOM else f"{sentence[: _ROOM - 1].rstrip()}…"


def _incompatibility(env_info: EnvironmentInfo, primary: str, agent: str) -> str:
    one, other = env_info.slots[primary], env_info.slots[agent]
    for what, mine, theirs in (
        ("observes", one.observation_codec.space, other.observation_codec.space),
        ("acts in", one.action_codec.space, other.action_codec.space),
    ):
        if mine.to_json() != theirs.to_json():
            return f"{what} {short_space(theirs)}, not {short_space(mine)}"
    return ""
