"""Shows and changes the players of the slots while a game runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtWidgets import QFileDialog

from gym_gui.controllers.setup.play_setup import person
from gym_gui.services.policies.policy_catalog import names_in_words
from gym_gui.ui.language.settings_services import SettingsServices
from gym_gui.ui.play.game import PlayGame, seat_quietly
from gym_gui.ui.play.player_dialog import PlayerDialog
from gym_gui.ui.play.who_plays import YOU, PlayerList
from gym_gui.ui.renderers import SlotPlayer, slot_players

if TYPE_CHECKING:
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, OfferedPolicy
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.core.experiment.assignment import WorkerAssignment
    from gym_gui.services.policies.policy_catalog import Policy
    from gym_gui.ui.context import AppContext

_YOU = "you"


class Seating(QObject):
    """Keeps the list of players consistent with the game, and binds slots to chosen players.

    Args:
        context: The window's services.
        game: The game.
        who: The list from which the user chooses players.
        parent: Qt parent.
    """

    seated = pyqtSignal()
    """Emitted after a slot was bound to another player."""
    shown = pyqtSignal()
    """Emitted when the shown names of the players have changed."""

    def __init__(
        self, context: AppContext, game: PlayGame, who: PlayerList, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._context, self._game, self._who = context, game, who
        self._services = SettingsServices(context)
        self._env_info: EnvironmentInfo | None = None
        self._checks: ConfigurationChecks | None = None
        self._settings: dict[str, Mapping[str, Any]] = {}
        self._others: dict[str, WorkerAssignment] = {}
        self._labels: dict[str, str] = {}
        who.chosen.connect(self._on_chosen)

    def offer(
        self,
        inputs: Mapping[str, str],
        env_info: EnvironmentInfo,
        offers: Mapping[str, Sequence[OfferedPolicy]],
        checks: ConfigurationChecks,
    ) -> None:
        """Offer players for the slots of another environment.

        Args:
            inputs: Input devices of a person in each slot, as text.
            env_info: Description of the environment.
            offers: Policies to choose from, by slot.
            checks: Checks with the available workers.
        """
        self._env_info, self._checks = env_info, checks
        self._others, self._labels = {}, {}
        self._who.set_slots(
            {slot: "Player" if len(inputs) == 1 else env_info.seat_name(slot) for slot in inputs}
        )
        for slot, words in inputs.items():
            self._who.offer(slot, words, offers.get(slot, ()))
        self.show()

    def show(self) -> None:
        """Show the players of the running game."""
        config = self._game.config
        if config is None:
            return
        for slot, player in config.resolved_slots().items():
            if slot in self._game.people:
                self._who.set_player(slot, YOU)
                self._labels[slot] = _YOU
                continue
            self._others[slot] = player
            policy, label = self._policy_of(player), self._title(player)
            self._who.set_player(slot, f"here:{slot}" if policy is None else policy.policy_id, label)
            self._labels[slot] = label
        self.shown.emit()

    def seats(self) -> dict[str, SlotPlayer]:
        """Return the kind and the name of each slot's player."""
        config = self._game.config
        return slot_players(config, self._labels) if config is not None else {}

    def _name_with(self, slot: str, label: str) -> str:
        """Return a name for the game, made from its players' names.

        Args:
          slot: Slot that gets another player.
          label: Name of this player.
        """
        name = names_in_words([label if each == slot else seat.player for each, seat in self.seats().items()])
        return name[:1].upper() + name[1:]

    def _policy_of(self, player: WorkerAssignment) -> Policy | None:
        """Return the policy that completely describes a player, or ``None``."""
        policy = self._checks.policy(player) if self._checks is not None else None
        return policy if policy is not None and policy.complete else None

    def _title(self, player: WorkerAssignment) -> str:
        return self._checks.title(player) if self._checks is not None else player.worker_id

    def _on_chosen(self, slot: str, key: str) -> None:
        policy = self._who.policy(slot, key)
        if key == YOU:
            self._seat(slot, person(self._game.clock), _YOU)
        elif policy is None:
            kept = self._others.get(slot)
            if kept is not None:
                self._seat(slot, kept, self._title(kept))
        elif policy.takes:
            self._ask_file(slot, policy)
        elif policy.model:
            self._ask_model(slot, policy)
        else:
            self.seat(slot, policy.assignment())

    def _ask_file(self, slot: str, policy: Policy) -> None:
        folder = str(self._context.store.data_dir("policies"))
        seat = self._env_info.seat_name(slot) if self._env_info is not None else slot
        dialog = QFileDialog(self._who, f"Policy for {seat}", folder)
        dialog.setObjectName("policy-dialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(_FileChosen(self, slot, policy))
        dialog.rejected.connect(self.show)
        dialog.open()

    def _ask_model(self, slot: str, policy: Policy) -> None:
        """Open a dialog for model and server, with the worker's last settings or its defaults."""
        if self._env_info is None or self._checks is None:
            return
        player = replace(policy.assignment(), settings=self._settings.get(policy.worker_id, {}))
        dialog = PlayerDialog(
            self._env_info.slots[slot],
            player,
            self._checks,
            self._env_info.env_id,
            "" if self._env_info.single else self._env_info.seat_name(slot),
            self._services,
            self._who.window(),
        )
        dialog.chosen.connect(_PlayerChosen(self, slot))
        dialog.rejected.connect(self.show)
        dialog.open()

    def seat(self, slot: str, player: WorkerAssignment) -> None:
        """Bind a slot to a player, and remember the settings of a language worker for its next use."""
        policy = self._checks.policy(player) if self._checks is not None else None
        if policy is not None and policy.model:
            self._settings[player.worker_id] = player.settings
        self._seat(slot, player, self._title(player))

    def _seat(self, slot: str, player: WorkerAssignment, label: str) -> None:
        self._context.spawn(self._bind(slot, player, label), f"Binding {label}")

    async def _bind(self, slot: str, player: WorkerAssignment, label: str) -> None:
        """Bind a slot to a player; if this fails, the previous player stays."""
        self._who.set_busy(True)
        try:
            problem = await seat_quietly(self._game.seat(slot, player, self._name_with(slot, label)))
        finally:
            self._who.set_busy(False)
        if not problem:
            self._labels[slot] = label
            self._game.seated()
        self.show()
        if not problem:
            self.seated.emit()


class _FileChosen:
    """Function object that binds a slot to the policy of a chosen folder; a lambda would keep the page
    alive."""

    def __init__(self, seating: Seating, slot: str, policy: Policy) -> None:
        self._seating, self._slot, self._policy = seating, slot, policy

    def __call__(self, folder: str) -> None:
        player = self._policy.assignment()
        settings = {**player.settings, self._policy.takes: folder}
        self._seating.seat(self._slot, replace(player, settings=settings))


class _PlayerChosen:
    """Function object that binds a slot to the player that was chosen in a dialog."""

    def __init__(self, seating: Seating, slot: str) -> None:
        self._seating, self._slot = seating, slot

    def __call__(self, player: WorkerAssignment) -> None:
        self._seating.seat(self._slot, player)
