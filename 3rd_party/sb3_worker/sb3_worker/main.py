"""The worker: plays a trained or imported policy in any slot whose spaces fit it."""

from __future__ import annotations

import difflib
import gc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker import rng
from mosaic_worker.spaces import Space
from mosaic_worker.worker import (
    Actions,
    Batch,
    EpisodeEnd,
    EpisodeStart,
    Invalid,
    LoadError,
    Slot,
    Worker,
)
from sb3_worker.policy import Draws, Policy

SETTINGS = ("algorithm", "checkpoint", "checkpoint_agent", "seed", "gpu")
"""Settings of a slot; ``gpu`` is the host's, which decides what the process sees."""

_STREAMS = 4096  # independent numbers of one decision


class SB3Worker(Worker):
    """Plays checkpoints of ``sb3_worker.train`` and ``sb3_worker.importing``.

    The most likely action is played unless the slot asks for ``deterministic = False``; then
    actions are drawn with numbers that depend on the policy seed, the step and the slot's
    setting ``seed`` alone.
    """

    def __init__(self) -> None:
        self._by_file: dict[str, Policy] = {}
        self._by_slot: dict[int, Policy] = {}
        self._streams: dict[int, int] = {}
        self._memories: dict[tuple[int, int], _Memory] = {}

    def load(self, slot: Slot) -> str:
        """Read ``slot.settings["checkpoint"]`` and check that it fits the slot.

        Returns:
            For example ``"sac:Pendulum-v1"``.

        Raises:
            LoadError: See :mod:`mosaic_worker.checkpoint`; or the policy is of another
                algorithm, agent or environment than the slot.
        """
        settings = slot.settings
        _check_keys(settings)
        checkpoint = settings.get("checkpoint")
        if not checkpoint:
            raise LoadError(
                f"slot {slot.agent_id} needs the setting 'checkpoint'. Give the folder of a policy; train "
                f"one with: mosaic train --worker sb3_worker --algo ppo --env {slot.env_id}, or a .zip with: "
                f"mosaic policies add FILE --env {slot.env_id}"
            )
        key = str(Path(checkpoint).expanduser().resolve())
        policy = self._by_file.get(key) or Policy.load(checkpoint)
        _check_fit(slot, policy)
        self._streams[slot.index] = _stream(settings.get("seed", 0))
        self._by_file[key] = self._by_slot[slot.index] = policy
        return f"{policy.description.algorithm}:{policy.description.env_id}"

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Recurrent policies begin with an empty memory."""
        if size := self._by_slot[slot.index].memory:
            for start in starts:
                self._memories[slot.index, start.episode] = _Memory(size)

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Forget what was remembered."""
        for end in ends:
            self._memories.pop((slot.index, end.episode), None)

    def select_actions(self, batch: Batch) -> Actions:
        """Choose for all decisions of the batch, with the value of each state where it is known."""
        policy = self._by_slot[batch.slot.index]
        memory = self._recall(batch, policy.memory) if policy.memory else None
        choices = policy.choose(batch.observations, batch.action_masks, self._draws(batch), memory)
        if choices.memory is not None:
            for episode, step, row in zip(batch.episodes, batch.steps, choices.memory, strict=True):
                self._memories[batch.slot.index, episode].keep(step, row)
        if choices.ok.all():
            return Actions(choices.actions, choices.values)
        actions = [choices.actions[i] if ok else Invalid(_why(batch, i)) for i, ok in enumerate(choices.ok)]
        return Actions(actions, choices.values)

    def close(self) -> None:
        """Leave at once: sweeping everything that torch imported takes seconds."""
        gc.freeze()

    def _draws(self, batch: Batch) -> Draws | None:
        if batch.slot.deterministic is not False:
            return None
        steps, stream = np.asarray(batch.steps), self._streams[batch.slot.index] * _STREAMS

        def draws(j: int) -> NDArray[np.float64]:
            return rng.uniform(batch.seeds, steps, stream + j)

        return draws

    def _recall(self, batch: Batch, size: int) -> NDArray[np.float32]:
        memories = self._memories
        return np.stack(
            [
                memories.setdefault((batch.slot.index, episode), _Memory(size)).before(step)
                for episode, step in zip(batch.episodes, batch.steps, strict=True)
            ]
        )


class _Memory:
    """What a recurrent policy remembers of one episode."""

    def __init__(self, size: int) -> None:
        self._step = -1
        self._before = self._after = np.zeros(size, np.float32)

    def before(self, step: int) -> NDArray[np.float32]:
        """Before ``step``: asking again at a step begins from the same."""
        return self._before if step == self._step else self._after

    def keep(self, step: int, after: NDArray[np.float32]) -> None:
        """What is remembered once ``step`` was answered."""
        self._step, self._before, self._after = step, self.before(step), after


def _why(batch: Batch, i: int) -> str:
    if batch.action_masks is not None and not batch.action_masks[i].any():
        return "no action is legal"
    if any(not np.isfinite(rows[i]).all() for rows in _arrays(batch.observations)):
        return "the observation holds a value that is no finite number"
    return "the policy's output is no finite number for this observation"


def _arrays(observations: Any) -> list[NDArray[Any]]:
    if isinstance(observations, dict):
        return [array for part in observations.values() for array in _arrays(part)]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return [np.asarray(observations)]


def _check_keys(settings: Mapping[str, Any]) -> None:
    for key in settings:
        if key not in SETTINGS:
            near = difflib.get_close_matches(key, SETTINGS, n=1)
            fix = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(SETTINGS)}"
            raise LoadError(f"sb3_worker knows no setting {key!r}. {fix}")


def _stream(seed: Any) -> int:
    if type(seed) is not int or not 0 <= seed < 2**51:
        raise LoadError(f"the setting seed is {seed!r}. Make it a whole number from 0 to 2^51 - 1")
    return seed


def _check_fit(slot: Slot, policy: Policy) -> None:
    described = policy.description
    algorithm = slot.settings.get("algorithm")
    if algorithm and str(algorithm).lower() != described.algorithm:
        raise LoadError(
            f"the checkpoint was trained with {described.algorithm}, not {algorithm}. "
            f"Set algorithm to {described.algorithm!r}, or leave it out"
        )
    agent = slot.settings.get("checkpoint_agent")
    if agent and agent not in described.agents:
        raise LoadError(
            f"the checkpoint holds no agent {agent!r}. Set checkpoint_agent to one of: "
            f"{', '.join(described.agents)}"
        )
    for what, trained, given in (
        ("observations", described.shown_space, slot.observation_space),
        ("actions", described.action_space, slot.action_space),
    ):
        if _shown(trained) != _shown(given):
            raise LoadError(
                f"the checkpoint was trained in {described.env_id} for {what} of {_shown(trained)}, but slot "
                f"{slot.agent_id} of {slot.env_id} has {_shown(given)}. Choose a checkpoint of {slot.env_id}"
            )


def _shown(space: Space) -> str:
    """What must agree between checkpoint and slot, in words: bounds and dtype need not."""
    if space.kind == "Discrete":
        return f"Discrete({space.n}{f', start={space.start}' if space.start else ''})"
    if space.kind in ("Box", "MultiBinary"):
        return f"{space.kind}{space.shape}"
    if space.kind == "MultiDiscrete":
        return f"MultiDiscrete({np.asarray(space.nvec).tolist()})"
    if space.kind in ("Dict", "Tuple"):
        return f"{space.kind}({', '.join(f'{key}: {_shown(s)}' for key, s in space.spaces.items())})"
    return f"kind {space.kind}"
