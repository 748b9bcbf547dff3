"""Keys and keyboards of the people at this window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.controllers.human.human_input import KEYBOARD, HumanSeat
from gym_gui.controllers.setup.key_rebinding import keys_of
from gym_gui.controllers.setup.play_setup import hands
from gym_gui.core.errors import UsageError
from gym_gui.services.keymaps_store import KeymapName, KeymapsStore
from gym_gui.ui.input.human_answers import HumanInput
from gym_gui.ui.input.keys_panel import PersonKeys

if TYPE_CHECKING:
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.envs.keymaps import KeyScheme
    from gym_gui.ui.context import AppContext


class People(QObject):
    """Assigns keys to each slot that a person plays: the environment's default keys or the person's own.

    Of two people at a shared keyboard, one uses the first set of keys and the other the second set. A person
    with a separate keyboard uses the first set.

    Args:
      context: The window's services.
      people_input: Receives the keys of each person's slot (``set_seats``).
      parent: Qt parent.
    """

    changed = pyqtSignal()

    def __init__(self, context: AppContext, people_input: HumanInput, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context, self._input = context, people_input
        self._keymaps = KeymapsStore(context.store)
        self._env_info: EnvironmentInfo | None = None
        self._slots: tuple[str, ...] = ()
        self.devices: dict[str, str] = {}
        self.keys: dict[str, PersonKeys] = {}

    def set_env_info(self, env_info: EnvironmentInfo | None) -> None:
        """Set the environment; slots, keyboards and keys are cleared."""
        self._env_info = env_info
        self._slots = ()
        self.devices, self.keys = {}, {}

    def seat(self, slots: Sequence[str], widget: QWidget, *, realtime: bool) -> None:
        """Set the slots that people play and the widget that receives their keys."""
        self._slots = tuple(slots)
        self.devices = {slot: self.devices.get(slot, KEYBOARD) for slot in slots}
        self._assign_keys()
        self._input.attach(widget)
        self._input.set_seats(self._seats(realtime))
        self.changed.emit()

    def set_device(self, slot: str, device: str, *, realtime: bool) -> None:
        """Assign a keyboard to a slot."""
        self.devices[slot] = device
        self._assign_keys()
        self._input.set_seats(self._seats(realtime))
        self.changed.emit()

    def set_scheme(self, slot: str, scheme: KeyScheme, *, realtime: bool) -> None:
        """Save new keys of a slot for all environments of the family that have these actions.

        Raises:
            UsageError: The keys could not be saved; they are used until the window closes.
        """
        try:
            self._keymaps.save(self._name(slot), scheme)
        finally:
            self._renew(realtime)

    def reset(self, slot: str, *, realtime: bool) -> None:
        """Restore a slot's default keys; raises errors as :meth:`set_scheme` does."""
        try:
            self._keymaps.reset(self._name(slot))
        finally:
            self._renew(realtime)

    def hands(self, slot: str, player: int | None = None) -> str:
        """Return the input devices of a person in a slot as text, such as ``arrow keys``.

        Args:
          slot: The slot.
          player: Set of keys, 0 or 1; ``None`` for the slot's current set.
        """
        if self._env_info is None or slot not in self._env_info.slots:
            return ""
        scheme = self._scheme(slot, self._player(slot) if player is None else player)
        return hands(keys_of(scheme), mouse=scheme.mouse, typed=scheme.typed)

    def _renew(self, realtime: bool) -> None:
        self._assign_keys()
        self._input.set_seats(self._seats(realtime))
        self.changed.emit()

    def _player(self, slot: str) -> int:
        """Return which of the two sets of keys a slot uses, by its order among slots at the shared
        keyboard."""
        device = self.devices.get(slot, KEYBOARD)
        if device != KEYBOARD:
            return 0
        mates = [s for s in self._slots if self.devices.get(s, KEYBOARD) == KEYBOARD]
        place = mates.index(slot) if slot in mates else len(mates)
        return place % 2

    def _name(self, slot: str) -> KeymapName:
        if self._env_info is None:
            raise UsageError("no environment is chosen", fix="Choose an environment first")
        known = self._env_info.slots[slot].words
        player = self._player(slot)
        scheme = self._env_info.page.keys[slot][player]
        axes = [axis.word for axis in scheme.axes]
        words = [known.get(n, str(n)) for n in sorted(set(scheme.bindings.values()))]
        return KeymapName.of(self._env_info.family, words or axes, player)

    def _scheme(self, slot: str, player: int) -> KeyScheme:
        assert self._env_info is not None
        scheme = self._env_info.page.keys[slot][player]
        return self._keymaps.apply(self._name(slot), scheme) if player == self._player(slot) else scheme

    def _assign_keys(self) -> None:
        self.keys = {}
        if self._env_info is None:
            return
        for slot in self._slots:
            info = self._env_info.slots.get(slot)
            if info is None:
                continue
            scheme = self._scheme(slot, self._player(slot))
            own = self._keymaps.changed(self._name(slot))
            self.keys[slot] = PersonKeys(
                scheme,
                info.words,
                info.action_space.to_json(),
                self.devices[slot],
                own,
                info.noop_action is not None,
            )

    def _seats(self, realtime: bool) -> list[HumanSeat]:
        repeat = self._context.settings.values.key_repeat
        return [
            HumanSeat(
                slot,
                keys.scheme,
                realtime=realtime,
                device=keys.device,
                words=keys.words,
                repeat=repeat,
                goes_on=not keys.noop and bool(keys.scheme.bindings),
            )
            for slot, keys in self.keys.items()
        ]
