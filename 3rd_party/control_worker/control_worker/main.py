"""Worker that plays controllers: LQR, PID and state feedback."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from control_worker.controllers import Controller, controller
from control_worker.tasks import Measured, task_of
from mosaic_worker.spaces import Space
from mosaic_worker.worker import (
    Batch,
    Decision,
    EpisodeEnd,
    EpisodeStart,
    LoadError,
    PolicyFailed,
    Slot,
    Worker,
)

_NUMBER = re.compile(r"([a-z]\w*)\((-?[0-9][0-9.e+-]*)\)")
_PLACE = re.compile(r"go to\((-?[0-9]+(?:\.[0-9]+)?)(?: m)?\)")


class _Lever:
    """Converts a force to an action.

    Args:
        space: Action space: one number, or numbered actions ordered from one side to the other.

    Raises:
        LoadError: The action space is of another kind.

    Attributes:
        reach: Smallest and largest force.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        if space.kind == "Discrete":
            self.reach = (-1.0, 1.0)
            return
        if space.kind != "Box" or int(np.prod(space.shape)) != 1:
            raise LoadError(
                "a controller computes one force, but the actions of this environment have more numbers"
            )
        assert space.low is not None
        assert space.high is not None
        self.reach = (float(space.low.item(0)), float(space.high.item(0)))

    def pull(self, force: float, legal: Sequence[int] | None) -> Any:
        space = self._space
        if space.kind == "Box":
            value = min(max(force, self.reach[0]), self.reach[1])
            return np.full(space.shape, value, space.dtype)
        # The first action pushes fully to one side, the last fully to the other.
        place = (min(max(force, -1.0), 1.0) + 1) / 2 * (space.n - 1)
        there = range(space.n) if legal is None else legal
        # Of two equally near actions, prefer the one on the side of the force.
        return space.start + min(there, key=lambda i: (abs(i - place), -i if force > 0 else i))


class _Episode(NamedTuple):
    """State of a running episode.

    Attributes:
        pilot: Controller of the episode.
        option: Number of the manager's option; 0 without a manager.
        step: Last decided step.
        force: Force that was decided.
    """

    pilot: Controller
    option: int = 0
    step: int = -1
    force: float = 0.0


class _Player:
    """A slot with its controllers and the state of each episode.

    With a manager there is a controller for each option, such as ``go to(0.5 m)``; the controllers differ
    only in the target of the position.
    """

    def __init__(self, slot: Slot) -> None:
        self._lever = _Lever(slot.action_space)
        self.task = task_of(slot.env_id)
        try:
            self._makers = [
                controller(settings, self.task, self._lever.reach)
                for settings in _settings(slot, self.task.place if self.task is not None else "")
            ]
        except ValueError as error:
            raise LoadError(str(error)) from None
        self._managed = bool(slot.options)
        self._episodes: dict[int, _Episode] = {}

    def begin(self, episode: int) -> None:
        self._episodes[episode] = _Episode(self._makers[0]())

    def forget(self, episode: int) -> None:
        self._episodes.pop(episode, None)

    def decide(self, decision: Decision) -> Any:
        before = self._episodes[decision.episode]
        force = before.force
        if decision.step != before.step:  # a repeated request has no new measurement
            option = int(decision.observation["option"]) if self._managed else 0
            pilot = before.pilot if option == before.option else self._makers[option]()
            force = self._force(pilot, _measured(decision.facts))
            self._episodes[decision.episode] = _Episode(pilot, option, decision.step, force)
        return self._lever.pull(force, decision.legal_actions)

    def _force(self, pilot: Controller, measured: Measured) -> float:
        known = self.task.read(measured) if self.task is not None else measured
        try:
            return pilot(known)
        except KeyError as missing:
            names = ", ".join(known) or "none"
            raise PolicyFailed(f"{missing} is not measured; measured quantities: {names}") from None


def _settings(slot: Slot, place: str) -> list[Mapping[str, Any]]:
    """Return the settings of each controller: one for each option, else one.

    Args:
        slot: The slot.
        place: Name of the number whose target the options set.

    Raises:
        LoadError: A controller cannot carry out an option.
    """
    if not slot.options:
        return [slot.settings]
    found: list[Mapping[str, Any]] = []
    for option in slot.options:
        match = _PLACE.fullmatch(option)
        if match is None or not place:
            raise LoadError(
                "a controller can only go to positions, 'go to(0.5 m)', in CartPole and InvertedPendulum; "
                f"it cannot execute {option!r} of {slot.env_id!r}"
            )
        given: Mapping[str, Any] = slot.settings.get("setpoint") or {}
        targets = {**given, place: float(match[1])}
        found.append({**slot.settings, "setpoint": targets})
    return found


def _measured(facts: Sequence[str]) -> Measured:
    found = (_NUMBER.fullmatch(fact) for fact in facts)
    return {match[1]: float(match[2]) for match in found if match}


class ControlWorker(Worker):
    """Worker that plays LQR, PID and state feedback on the named quantities of an observation."""

    inputs = ("facts",)

    def __init__(self) -> None:
        self._players: dict[int, _Player] = {}

    def load(self, slot: Slot) -> str:
        self._players[slot.index] = _Player(slot)
        return _title(slot.settings)

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        for start in starts:
            self._players[slot.index].begin(start.episode)

    def select_actions(self, batch: Batch) -> list[Any]:
        return [self._players[batch.slot.index].decide(decision) for decision in batch]

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        for end in ends:
            self._players[slot.index].forget(end.episode)


def _title(settings: Mapping[str, Any]) -> str:
    return str(settings.get("controller") or "lqr")
