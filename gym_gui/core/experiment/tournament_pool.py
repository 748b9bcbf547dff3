"""The pool of a tournament: players by name; one name may stand for a different player in each slot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.experiment_data import slots_from_data
from gym_gui.core.experiment.named_training_groups import TrainingOf
from gym_gui.core.validation import ConfigError, Plain, join, key_place, keys, mapping, shown

SLOTS = "slots"


@dataclass(frozen=True)
class BySlot:
    """A team of partners under one name: a different policy in each slot.

    Attributes:
        slots: Player by slot; ``None``: an object that exists only in this process.
    """

    slots: Mapping[str, WorkerAssignment | None]

    def to_record(self) -> Plain:
        """Return the team in the form of a file."""
        return {SLOTS: {slot: None if p is None else p.to_record() for slot, p in self.slots.items()}}


Player = WorkerAssignment | BySlot | None
"""The player of a name: one policy in all slots, or one for each; ``None``: an object of this process."""


@dataclass(frozen=True)
class Pool:
    """The policies of a tournament, in which one name may stand for several trainings.

    Attributes:
        policies: Player by name.
        trainings: For policies that are one training of a group: the group and the training, by policy.
    """

    policies: Mapping[str, Player]
    trainings: Mapping[str, TrainingOf] = field(default_factory=dict[str, TrainingOf])

    def named(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names, with all trainings of a group in place of the group's name."""
        return tuple(each for name in names for each in self.all_of(name))

    def all_of(self, name: str) -> tuple[str, ...]:
        """Return the policies for which a name stands: itself, or the trainings of the group."""
        return tuple(each for each, of in self.trainings.items() if of.name == name) or (name,)


def assignments_of(player: Player) -> Iterator[WorkerAssignment]:
    """Yield all assignments of a player, without objects of this process."""
    if isinstance(player, BySlot):
        yield from (each for each in player.slots.values() if each is not None)
    elif player is not None:
        yield player


def seated(player: Player, slot: str) -> WorkerAssignment | None:
    """Return the player of a slot; ``None``: an object of this process, which a file cannot name."""
    return player.slots.get(slot) if isinstance(player, BySlot) else player


def altered(player: Player, change: Callable[[WorkerAssignment], WorkerAssignment]) -> Player:
    """Return the player with ``change`` applied to each of its assignments."""
    if isinstance(player, BySlot):
        return BySlot({slot: each and change(each) for slot, each in player.slots.items()})
    return player and change(player)


def players_from_data(data: object, task: str) -> dict[str, Player]:
    """Read ``policies`` of a tournament file.

    Raises:
        ConfigError: Something is wrong; the error names the place.
    """
    found: dict[str, Player] = {}
    for name, written in mapping(data, "policies").items():
        place = join("policies", key_place(name))
        if isinstance(written, Mapping) and SLOTS in written:
            given = keys(cast("Mapping[str, object]", written), place, {SLOTS: SLOTS})
            slots = mapping(given[SLOTS], join(place, SLOTS))
            if not slots:
                raise ConfigError("names no slot", where=join(place, SLOTS))
            found[name] = BySlot({**_read(slots, join(place, SLOTS), task)})
        else:
            found |= _read({name: cast("object", written)}, "policies", task)
    return found


def _read(written: Mapping[str, object], place: str, task: str) -> dict[str, WorkerAssignment]:
    for name, slot in written.items():
        if not isinstance(slot, (Mapping, WorkerAssignment)):
            where = join(place, key_place(name))
            raise ConfigError(f"must name a player, not {shown(slot)}", where=where, fix="{type: random}")
    return slots_from_data(written, place, "", task)
