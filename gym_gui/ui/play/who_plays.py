"""The list of a game's slots, each with its player: the user or a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.ui.policies.policy_items import policy_items
from gym_gui.ui.widgets import FormRows, PickerButton, PickerItem

if TYPE_CHECKING:
    from gym_gui.controllers.setup.configuration_checks import OfferedPolicy
    from gym_gui.services.policies.policy_catalog import Policy

YOU = "human"
"""Value of a slot that a person plays."""


class PlayerList(QWidget):
    """Row per slot with a list of policies; policies that cannot play the slot are disabled, with the reason.

    Args:
        parent: Qt parent.
    """

    chosen = pyqtSignal(str, str)
    """Emits a slot and its new player: :data:`YOU` or the id of a policy."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("who-plays")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self._rows = FormRows(parent=self)
        layout.addWidget(self._rows)
        self._pickers: dict[str, PickerButton] = {}
        self._policies: dict[str, dict[str, Policy]] = {}

    @property
    def pickers(self) -> Mapping[str, PickerButton]:
        """Button with the list of players, by slot."""
        return self._pickers

    def set_slots(self, slots: Mapping[str, str]) -> None:
        """Show slots, each with a person as the only choice.

        Args:
            slots: Name of each slot in the window.
        """
        self._rows.clear()
        self._pickers, self._policies = {}, {}
        for slot, word in slots.items():
            picker = PickerButton(
                [PickerItem(YOU, "You", "", "People")],
                placeholder="…",
                search_hint="Search players",
                name=f"who-{slot}",
            )
            picker.setProperty("slot", slot)
            picker.setProperty("fixed-tip", True)
            picker.setToolTip(f"Player of {word}")
            picker.chosen.connect(self._on_chosen)
            self._rows.add_row(word, picker)
            self._pickers[slot] = picker

    def offer(self, slot: str, you: str, offers: Sequence[OfferedPolicy]) -> None:
        """Offer the players of a slot.

        Args:
            slot: The slot.
            you: Input devices of a person in the slot, such as ``arrow keys``, ``WASD`` or ``mouse``.
            offers: Policies to offer; names of policies that need a model or a file end in dots.
        """
        picker = self._pickers.get(slot)
        if picker is None:
            return
        self._policies[slot] = {offer.policy.policy_id: offer.policy for offer in offers}
        words = f"You ({you})" if you else "You"
        picker.set_items(
            [
                PickerItem(YOU, words, "", "People"),
                *policy_items(offers),
            ]
        )

    def policy(self, slot: str, key: str) -> Policy | None:
        """Return the policy of a slot with this id; ``None`` for a person."""
        return self._policies.get(slot, {}).get(key)

    def set_player(self, slot: str, key: str, label: str = "") -> None:
        """Show a slot's player without emitting a signal.

        Args:
          slot: The slot.
          key: :data:`YOU` or the id of a policy.
          label: Name of a player that is not in the list.
        """
        picker = self._pickers.get(slot)
        if picker is None:
            return
        if label and not any(item.value == key for item in picker.items):
            picker.set_items([*picker.items, PickerItem(key, label, "", "Current")])
        picker.set_value(key)

    def label(self, slot: str) -> str:
        """Return the name of a slot's player as shown."""
        picker = self._pickers.get(slot)
        return picker.text() if picker is not None else ""

    def set_busy(self, busy: bool) -> None:
        """Disable the lists while a slot is being bound."""
        for picker in self._pickers.values():
            picker.setEnabled(not busy)

    def _on_chosen(self, value: object) -> None:
        sender = self.sender()
        slot = sender.property("slot") if sender is not None else None
        if isinstance(slot, str) and isinstance(value, str):
            self.chosen.emit(slot, value)
