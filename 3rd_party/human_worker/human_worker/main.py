"""Worker that plays the actions of a person or of a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from human_worker.script import Script
from mosaic_worker.worker import Actions, Batch, EpisodeEnd, EpisodeStart, Invalid, Slot, Worker

_BY_HAND: Mapping[str, Any] = {"human": True}
_TOO_LATE = Invalid("the person did not choose an action in time")


class HumanWorker(Worker):
    """Worker that requests each decision from the person at the host, or plays a script from the settings.

    A script is played from its start in every episode; see :meth:`Script.read` for its format. Its position
    depends on episode and step, so that a retry does not advance the script.
    """

    def __init__(self) -> None:
        self._scripts: dict[int, Script | None] = {}
        self._steps: dict[tuple[int, int], list[int]] = {}

    def load(self, slot: Slot) -> str:
        """Read the slot's script.

        Returns:
            ``"script"`` or ``"keyboard"``.

        Raises:
            LoadError: The script cannot be played; the message says which entry and why.
        """
        script = self._scripts[slot.index] = Script.read(slot)
        return "keyboard" if script is None else "script"

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        for start in starts:
            self._steps.pop((slot.index, start.episode), None)

    def select_actions(self, batch: Batch) -> Actions:
        script = self._scripts[batch.slot.index]
        if script is None:
            return self._ask_person(batch)
        answers = [self._scripted(script, batch, i) for i in range(len(batch))]
        return Actions([a for a, _ in answers], extras=[extra for _, extra in answers])

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        for end in ends:
            self._steps.pop((slot.index, end.episode), None)

    def _ask_person(self, batch: Batch) -> Actions:
        answers = self.host.ask_human(batch)
        actions = [_TOO_LATE if action is None else action for action in answers]
        return Actions(actions, extras=[_BY_HAND] * len(batch))

    def _scripted(self, script: Script, batch: Batch, i: int) -> tuple[Any, Mapping[str, Any] | None]:
        """Return the action of one decision and the data to record with it."""
        line, length = self._earlier_decisions(batch, i), len(script.actions)
        if line >= length and script.end != "repeat":
            if script.end == "ask":
                asked = self._ask_person(batch.only(i))
                return asked.actions[0], _BY_HAND
            if script.end == "noop":
                return script.noop, None
            many = f"{length} action{'s' if length > 1 else ''}"
            return Invalid(f"the script of {many} has ended. Set script_end to ask, noop or repeat"), None
        action = script.actions[line % length]
        if batch.action_masks is not None and not _legal(batch.slot, batch.action_masks[i], action):
            said = _action_text(batch.slot, action)
            return Invalid(f"entry {line % length} of the script, {said}, is not legal here", said), None
        return action, _BY_HAND

    def _earlier_decisions(self, batch: Batch, i: int) -> int:
        """Return the number of earlier decisions of this episode; a retried step counts once."""
        steps = self._steps.setdefault((batch.slot.index, batch.episodes[i]), [])
        step = batch.steps[i]
        if not steps or steps[-1] != step:
            steps.append(step)
        return len(steps) - 1


def _action_text(slot: Slot, action: Any) -> str:
    """Return an action's word, or its value if it has no word."""
    if slot.action_space.kind != "Discrete" or not slot.action_meanings:
        return str(action)
    return slot.action_meanings[int(action) - slot.action_space.start] or str(action)


def _legal(slot: Slot, mask: Any, action: Any) -> bool:
    space = slot.action_space
    if space.kind == "Discrete":
        return bool(mask[int(action) - space.start])
    if space.kind != "MultiDiscrete":
        return True
    sizes = np.asarray(space.nvec).reshape(-1)
    places = np.cumsum(sizes) - sizes + (np.asarray(action) - np.asarray(space.starts)).reshape(-1)
    return bool(np.asarray(mask)[places].all())
