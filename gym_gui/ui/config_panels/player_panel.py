"""A form for one slot: its player, the player's settings, and the rule for invalid actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.validation import ConfigError
from gym_gui.ui.agents.rule_box import TIP, RuleBox
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.policies.policy_items import show_player
from gym_gui.ui.widgets import FormRows, PickerButton, muted_label
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.number_fields import NumberField
from gym_gui.workers.settings.settings_schema import chosen_policy

if TYPE_CHECKING:
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, OfferedPolicy
    from gym_gui.ui.language.settings_services import SettingsServices

_AGENTS_PAGE_ONLY = ("script", "script_end")
"""Settings that only the Agents page shows for a person."""


class PlayerPicker(PickerButton):
    """Button that chooses the player of a slot; emits ``chosen`` with the policy's id."""

    opening = pyqtSignal()
    """Emitted before the list is shown, so that new policies can be added."""

    def __init__(self, agent: str, parent: QWidget | None = None) -> None:
        super().__init__(
            placeholder="Choose a policy…",
            search_hint="Search policies",
            name=f"player-{agent}",
            parent=parent,
        )
        self.setProperty("fixed-tip", True)
        self._agent = agent
        self.set_seat(agent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_seat(self, seat: str) -> None:
        """Set the name that the game gives the slot."""
        self._seat = seat if seat == self._agent else f"{seat} ({self._agent})"
        self.setAccessibleName(f"Player of {seat}")
        self.setToolTip(f"Player of {self._seat}")

    def open(self) -> None:
        """Emit :attr:`opening` and show the list."""
        self.opening.emit()
        super().open()

    def show_player(
        self, player: WorkerAssignment | None, offers: Sequence[OfferedPolicy], checks: ConfigurationChecks
    ) -> None:
        """Show the policies that can play the slot, with the current player selected."""
        show_player(self, player, offers, checks)
        detail = next((item.detail for item in self.items if item.value == self.value), "")
        about = ", ".join(filter(None, [self.text(), detail]))
        self.setToolTip(f"{about}\nPlays {self._seat}")


class PlayerForm(QWidget):
    """Form with the settings of the policy or person that plays a slot.

    Args:
        agent: Name of the slot.
        player: Assignment of the slot.
        checks: Checks with the available workers and their settings.
        env_id: Id of the environment.
        parent: Qt owner.
        services: Tests servers and stores keys for the form.
    """

    changed = pyqtSignal(str, object)
    """Emits the slot and its new :class:`WorkerAssignment`."""

    def __init__(
        self,
        agent: str,
        player: WorkerAssignment,
        checks: ConfigurationChecks,
        env_id: str,
        parent: QWidget | None = None,
        services: SettingsServices | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"player-form-{agent}")
        self._agent, self._player = agent, player
        column = column_layout(self)
        worker = checks.worker(player)
        schema = worker.settings_schema if worker is not None else ()
        # The picker already sets the setting that selects the policy.
        without = [setting.name for setting in schema if setting.policies]
        without += [
            name
            for name in _AGENTS_PAGE_ONLY
            if player.worker_type == "human" and name not in player.settings
        ]
        self.form = SettingsForm(
            schema,
            player.settings,
            env_id=env_id,
            policy=chosen_policy(schema, player.settings),
            agent=agent,
            without=without,
            worker=worker,
            services=services,
            parent=self,
        )
        self.form.values_changed.connect(self._on_values_changed)
        self.form.setVisible(not self.form.empty)
        column.addWidget(self.form)
        self._rows = FormRows(parent=self)
        column.addWidget(self._rows)
        self._rule = RuleBox(f"on-invalid-{self._agent}", self)
        self._rule.show_rule(player.on_invalid)
        self._rule.activated.connect(self._on_rule)
        self._rows.add_row("On invalid action", self._rule, tooltip=TIP)
        self._limit = self._limit_box(person=player.worker_type == "human")
        self._rows.add_row("Time limit", self._limit, tooltip="Seconds for one decision")
        if player.worker_type == "human":
            column.addWidget(
                muted_label(
                    "Keys act while the card has the keyboard focus: click it first. "
                    "Without a time limit the game waits for you.",
                    wrap=True,
                )
            )

    def _limit_box(self, *, person: bool) -> NumberField:
        box = NumberField(self)
        box.setObjectName(f"deadline-{self._agent}")
        box.setRange(0.0, 3600.0)
        box.setDecimals(6)
        box.setSuffix(" s")
        box.setSpecialValueText("none" if person else "default (300 s)")
        box.setValue(self._player.deadline_s or 0.0)
        box.setKeyboardTracking(False)
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        box.valueChanged.connect(self._on_limit)
        return box

    def _on_values_changed(self, values: dict[str, object]) -> None:
        try:
            changed = replace(self._player, settings=values)
        except ConfigError as error:
            # An API key in plain text is refused; its field shows what to do instead.
            name = error.where.removeprefix("settings.").split(".")[0]
            self.form.show_problems({name: f"{error.problem}. {error.fix}"})
            return
        self._change(changed)

    def _on_rule(self, _index: int) -> None:
        self._change(replace(self._player, on_invalid=self._rule.rule))

    def _on_limit(self, seconds: float) -> None:
        self._change(replace(self._player, deadline_s=seconds or None))

    def _change(self, player: WorkerAssignment) -> None:
        if player != self._player:
            self._player = player
            self.changed.emit(self._agent, player)
