"""Assigns separate keyboards to people: connects the panel, the devices and the slots."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject

from gym_gui.controllers.human.human_input import KEYBOARD
from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.ui.input.evdev_input import EvdevInput
from gym_gui.ui.input.human_answers import HumanInput
from gym_gui.ui.input.keyboards_panel import KeyboardsPanel
from gym_gui.ui.input.people import People


class OwnKeyboards(QObject):
    """Reads the keyboards that people chose, and assigns them to the people's slots.

    Args:
        spawn: Runs work in the background.
        people_input: Receives the key presses.
        people: Receives the keyboard of each slot.
        panel: Panel in which people choose keyboards.
        realtime: Returns whether the environment runs in real time.
        evdev: Reads the devices; by default those of this machine.
        parent: Qt parent.
    """

    def __init__(
        self,
        spawn: Spawn,
        people_input: HumanInput,
        people: People,
        panel: KeyboardsPanel,
        realtime: Callable[[], bool],
        evdev: EvdevInput | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._spawn, self._input, self._people = spawn, people_input, people
        self._panel, self._realtime = panel, realtime
        self.evdev = evdev or EvdevInput(parent=self)
        self.evdev.pressed.connect(people_input.press)
        self.evdev.released.connect(people_input.release)
        self.evdev.lost.connect(self._on_lost)
        panel.look_wanted.connect(self._on_look_wanted)
        panel.chosen.connect(self._on_chosen)
        panel.grab_changed.connect(self._on_grab_changed)

    def set_active(self, active: bool) -> None:
        """Set whether the window is active; key presses have an effect only then."""
        self.evdev.active = active

    def close(self) -> None:
        """Stop reading all keyboards."""
        self.evdev.close_all()

    def _on_look_wanted(self) -> None:
        self._spawn(self._panel.search_again(), "Looking for keyboards")

    def _on_chosen(self, slot: str, device: str) -> None:
        before = self._people.devices.get(slot, KEYBOARD)
        problem = self.evdev.open(device, grab=self._panel.keep.isChecked()) if device else ""
        self._panel.show_message(problem)
        if problem:
            self._panel.set_people(self._people.devices)
            return
        self._people.set_device(slot, device, realtime=self._realtime())
        if before and before not in self._people.devices.values():
            self.evdev.close(before)

    def _on_grab_changed(self, grab: bool) -> None:
        problems = [self.evdev.set_grabbed(path, grab) for path in self.evdev.devices]
        self._panel.show_message(next(filter(None, problems), ""))

    def _on_lost(self, device: str, sentence: str) -> None:
        self._input.release_all(device)
        for slot, own in list(self._people.devices.items()):
            if own == device:
                self._people.set_device(slot, KEYBOARD, realtime=self._realtime())
        self._panel.show_message(sentence)
