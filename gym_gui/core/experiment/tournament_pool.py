"""Who is in a tournament: players by name, of which one may say who plays each slot."""

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
    """A policy that is another one in each slot: partners who belong together.

    Attributes:
        slots: Who plays each; ``None``: an object that only this process has.
    """

    slots: Mapping[str, WorkerAssignment | None]

    def to_record(self) -> Plain:
        """As a file says it."""
        return {SLOTS: {slot: None if p is None else p.to_record() for slot, p in self.slots.items()}}


Player = WorkerAssignment | BySlot | None
"""Who plays under a name: one policy in all slots, one for each; ``None``: an object of this process."""


@dataclass(frozen=True)
class Pool:
    """Who is in a tournament, where one name may stand for several trainings.

    Attributes:
        policies: Who plays, by name.
        trainings: For policies that are one training of a group: the group and the training, by policy.
    """

    policies: Mapping[str, Player]
    trainings: Mapping[str, TrainingOf] = field(default_factory=dict[str, TrainingOf])

    def named(self, names: Iterable[str]) -> tuple[str, ...]:
        """These, with all trainings of a group in place of its name."""
        return tuple(each for name in names for each in self.all_of(name))

    def all_of(self, name: str) -> tuple[str, ...]:
        """The policies that a name stands for: itself, or the trainings of its group."""
        return tuple(each for each, of in self.trainings.items() if of.name == name) or (name,)


def assignments_of(player: Player) -> Iterator[WorkerAssignment]:
    """All assignments that a player stands for, objects of this process left out."""
    if isinstance(player, BySlot):
        yield from (each for each in player.slots.values() if each is not None)
    elif player is not None:
        yield player


def seated(player: Player, slot: str) -> WorkerAssignment | None:
    """The player of a slot; ``None``: an object of this process, which a file cannot name."""
    return player.slots.get(slot) if isinstance(player, BySlot) else player


def altered(player: Player, change: Callable[[WorkerAssignment], WorkerAssignment]) -> Player:
    """The player with each whom it stands for changed."""
    if isinstance(player, BySlot):
        return BySlot({slot: each and change(each) for slot, each in player.slots.items()})
    return player and change(player)


def players_from_data(data: object, task: str) -> dict[str, Player]:
    """``policies`` of a tournament file.

    Raises:
        ConfigError: With the place of what is wrong.
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
            raise ConfigError(f"must say who plays, not {shown(slot)}", where=where, fix="{type: random}")
    return slots_from_data(written, place, "", task)
