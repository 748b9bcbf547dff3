"""Who plays which slot: shown, chosen, and brought to the running game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtWidgets import QFileDialog

from gym_gui.controllers.play_setup import assignment_of, person
from gym_gui.ui.play.game import PlayGame, seat_quietly
from gym_gui.ui.play.who_plays import YOU, WhoPlays
from gym_gui.ui.renderers import SlotPlayer

if TYPE_CHECKING:
    from gym_gui.controllers.candidates import Candidate
    from gym_gui.core.assignment import WorkerAssignment
    from gym_gui.ui.context import AppContext

_YOU = "you"


class Seating(QObject):
    """Keeps the list of who plays and the game in step.

    Args:
        context: The window's services.
        game: What is played.
        who: The list.
        parent: Qt parent.
    """

    seated = pyqtSignal()
    """Somebody else plays a slot now."""
    shown = pyqtSignal()
    """Names of who plays are other than before."""

    def __init__(
        self, context: AppContext, game: PlayGame, who: WhoPlays, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("seating")
        self._context, self._game, self._who = context, game, who
        self._candidates: Mapping[str, list[Candidate]] = {}
        self._others: dict[str, WorkerAssignment] = {}
        self._labels: dict[str, str] = {}
        who.chosen.connect(self._on_chosen)

    def offer(self, hands: Mapping[str, str], candidates: Mapping[str, list[Candidate]]) -> None:
        """Offer the slots of another environment.

        Args:
            hands: What a person in each slot would play with.
            candidates: Everybody else, by slot.
        """
        self._candidates = candidates
        self._others, self._labels = {}, {}
        self._who.set_slots({slot: "Player" if len(hands) == 1 else slot for slot in hands})
        for slot, words in hands.items():
            self._who.offer(slot, words, candidates.get(slot, []))
        self.show()

    def show(self) -> None:
        """Show who really plays."""
        config = self._game.config
        if config is None:
            return
        for slot, player in config.resolved_slots().items():
            if slot in self._game.people:
                self._who.set_player(slot, YOU)
                self._labels[slot] = _YOU
                continue
            self._others[slot] = player
            match = self._match(slot, player)
            label = match.label if match is not None else self._labels.get(slot) or _name_of(player)
            self._who.set_player(slot, match.key if match is not None else f"here:{slot}", label)
            self._labels[slot] = label
        self.shown.emit()

    def seats(self) -> dict[str, SlotPlayer]:
        """Kind and name of who plays each slot."""
        config = self._game.config
        slots = config.resolved_slots() if config is not None else {}
        return {
            slot: SlotPlayer(player.worker_type, self._labels.get(slot, "")) for slot, player in slots.items()
        }

    def _name_with(self, slot: str, label: str) -> str:
        """What the game is called once somebody sits there: by who play."""
        from gym_gui.services.policy_catalogue import names_in_words

        name = names_in_words([label if each == slot else seat.player for each, seat in self.seats().items()])
        return name[:1].upper() + name[1:]

    def _match(self, slot: str, player: WorkerAssignment) -> Candidate | None:
        for each in self._candidates.get(slot, []):
            if each.worker_id == player.worker_id and dict(each.settings) == dict(player.settings):
                return None if each.asks_policy else each
        return None

    def _on_chosen(self, slot: str, key: str) -> None:
        candidate = self._who.candidate(slot, key)
        if key == YOU:
            self._seat(slot, person(self._game.clock), _YOU)
        elif candidate is None:
            kept = self._others.get(slot)
            if kept is not None:
                self._seat(slot, kept, self._who.label(slot))
        elif candidate.asks_policy:
            self._ask_policy(slot, candidate)
        else:
            self._seat(slot, assignment_of(candidate), candidate.label)

    def _ask_policy(self, slot: str, candidate: Candidate) -> None:
        folder = str(self._context.store.data_dir("policies"))
        dialog = QFileDialog(self._who, f"Policy for {slot}", folder)
        dialog.setObjectName("policy-dialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(_PolicyChosen(self, slot, candidate))
        dialog.rejected.connect(self.show)
        dialog.open()

    def seat_policy(self, slot: str, candidate: Candidate, folder: str) -> None:
        """SlotPlayer a trained policy from its folder."""
        chosen = replace(candidate, settings={**candidate.settings, candidate.asks_policy: folder})
        self._seat(slot, assignment_of(chosen), f"{candidate.kind.upper()} ({Path(folder).name})")

    def _seat(self, slot: str, player: WorkerAssignment, label: str) -> None:
        self._context.spawn(self._seat_job(slot, player, label), f"Seating {label}")

    async def _seat_job(self, slot: str, player: WorkerAssignment, label: str) -> None:
        """Where it fails the person is told by who did it, and who sat there stays."""
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


class _PolicyChosen:
    """Hands on which folder was chosen for which slot; a lambda would keep the page alive."""

    def __init__(self, seating: Seating, slot: str, candidate: Candidate) -> None:
        self._seating, self._slot, self._candidate = seating, slot, candidate

    def __call__(self, folder: str) -> None:
        self._seating.seat_policy(self._slot, self._candidate, folder)


def _name_of(player: WorkerAssignment) -> str:
    behavior = player.settings.get("behavior") or player.settings.get("checkpoint")
    return str(behavior).rpartition("/")[2].replace("_", " ") if behavior else player.worker_id
