"""A panel that assigns a keyboard to each person."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from gym_gui.controllers.human.human_input import KEYBOARD
from gym_gui.ui.input.evdev_input import Keyboards, find_keyboards
from gym_gui.ui.widgets import FormRows, InlineMessage, LinkButton, PickerButton, PickerItem
from gym_gui.ui.widgets.layouts import column_layout

Find = Callable[[], Keyboards]


class KeyboardsPanel(QWidget):
    """Panel with a row per person that chooses the window's keyboard or a separate one.

    Args:
        find: Searches for keyboards; called in a thread.
        parent: Qt parent.
    """

    chosen = pyqtSignal(str, str)
    """Emits a slot and the keyboard that was chosen for it."""
    grab_changed = pyqtSignal(bool)
    look_wanted = pyqtSignal()

    def __init__(self, find: Find = find_keyboards, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("keyboards-panel")
        self._find = find
        self._found = Keyboards()
        self._has_searched = False
        self._pickers: dict[str, PickerButton] = {}
        self._rows = FormRows(parent=self)
        self.message = InlineMessage("info", "", name="keyboards-message")
        self.message.hide()
        self.keep = QCheckBox("Use these keyboards for the game only")
        self.keep.setObjectName("grab-keyboards")
        self.keep.setToolTip(
            "Grab the separate keyboards, so that their keys have no other effect in any window"
        )
        self.keep.toggled.connect(self.grab_changed)
        self._look = LinkButton(
            "One keyboard each…",
            name="look-for-keyboards",
            tooltip="Search for separate keyboards",
            on_click=self.look_wanted.emit,
        )
        row = QHBoxLayout()
        row.addWidget(self._look)
        row.addStretch(1)
        layout = column_layout(self)
        for widget in (self._rows, self.keep, self.message):
            layout.addWidget(widget)
        layout.addLayout(row)
        self._show()

    @property
    def pickers(self) -> dict[str, PickerButton]:
        """Keyboard picker of each person, by slot."""
        return self._pickers

    def set_people(self, devices: dict[str, str], names: Mapping[str, str] | None = None) -> None:
        """Show the slots that people play and the keyboard of each.

        Args:
            devices: Keyboard by slot.
            names: Names of the slots in this game.
        """
        if list(devices) != list(self._pickers):
            self._rows.clear()
            self._pickers = {}
            for slot in devices:
                picker = PickerButton(name=f"keyboard-{slot}", search_hint="Search keyboards")
                picker.setProperty("slot", slot)
                picker.chosen.connect(self._on_chosen)
                seat = (names or {}).get(slot, slot)
                self._rows.add_row(seat, picker, tooltip=f"Keyboard of {seat}")
                self._pickers[slot] = picker
        for slot, device in devices.items():
            self._pickers[slot].set_items(self._items())
            self._pickers[slot].set_value(device)
        self._show()

    async def search_again(self) -> None:
        """Search for keyboards in a thread, then update the lists."""
        self._found = await asyncio.to_thread(self._find)
        self._has_searched = True
        for picker in self._pickers.values():
            picker.set_items(self._items())
        self.show_message(self._found.problem)
        self._show()

    def show_message(self, sentence: str) -> None:
        """Show why a keyboard cannot be used; an empty sentence hides the message."""
        self.message.set_text(f"{sentence}." if sentence and not sentence.endswith(".") else sentence)
        self.message.setVisible(bool(sentence))

    def _items(self) -> Sequence[PickerItem]:
        found = [PickerItem(k.path, k.name, k.path.rpartition("/")[2]) for k in self._found.found]
        return [PickerItem(KEYBOARD, "This window's"), *found]

    def _show(self) -> None:
        several = bool(self._found.found)
        self._rows.setVisible(several and bool(self._pickers))
        self.keep.setVisible(several and any(p.value != KEYBOARD for p in self._pickers.values()))
        self._look.setText("Search again" if self._has_searched else "One keyboard each…")

    def _on_chosen(self, device: object) -> None:
        sender = self.sender()
        slot = sender.property("slot") if sender is not None else None
        if isinstance(slot, str) and isinstance(device, str):
            self.chosen.emit(slot, device)
            self._show()
