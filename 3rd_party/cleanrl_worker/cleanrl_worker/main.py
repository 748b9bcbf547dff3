"""The worker: plays a trained policy in any slot whose spaces fit it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cleanrl_worker.memories import Memories
from cleanrl_worker.policy import Draws, Policy
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

SETTINGS = ("algorithm", "checkpoint", "checkpoint_agent", "seed", "gpu", "preprocess")
"""Settings of a slot; ``gpu`` and ``preprocess`` are the host's, which act on what the process sees."""


class CleanRLWorker(Worker):
    """Evaluates checkpoints of ``cleanrl_worker.train``.

    The most likely action is played unless the slot asks for ``deterministic = False``; then
    actions are drawn with numbers that depend on the policy seed, the step and the slot's
    setting ``seed`` alone.
    """

    def __init__(self) -> None:
        self._by_file: dict[str, Policy] = {}
        self._by_slot: dict[int, Policy] = {}
        self._streams: dict[int, int] = {}
        self._memories: dict[int, Memories] = {}

    def load(self, slot: Slot) -> str:
        """Read ``slot.settings["checkpoint"]`` and check that it fits the slot.

        Returns:
            For example ``"ppo:CartPole-v1"``.

        Raises:
            LoadError: See :mod:`mosaic_worker.checkpoint`; or the policy is of another
                algorithm, agent or environment than the slot.
        """
        settings = slot.settings
        _check_keys(settings)
        checkpoint = settings.get("checkpoint")
        if not checkpoint:
            raise LoadError(
                f"slot {slot.agent_id} needs the setting 'checkpoint'. Give the folder of a trained policy; "
                f"train one with: mosaic train --worker cleanrl_worker --algo ppo --env {slot.env_id}"
            )
        key = str(Path(checkpoint).expanduser().resolve())
        policy = self._by_file.get(key) or Policy.load(checkpoint)
        _check_fit(slot, policy)
        self._streams[slot.index] = _stream(settings.get("seed", 0))
        self._by_file[key] = self._by_slot[slot.index] = policy
        self._memories[slot.index] = Memories(policy.memory)
        return f"{policy.description.algorithm}:{policy.description.env_id}"

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Nothing is remembered of an episode that begins."""
        self._memories[slot.index].forget(start.episode for start in starts)

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Nothing needs to be remembered of an episode that is over."""
        self._memories[slot.index].forget(end.episode for end in ends)

    def select_actions(self, batch: Batch) -> Actions:
        """Choose for all decisions of the batch, with the value of each state."""
        slot = batch.slot
        draws = _draws(batch, self._streams[slot.index]) if slot.deterministic is False else None
        memories = self._memories[slot.index]
        before = memories.before(batch.episodes, batch.steps)
        choices = self._by_slot[slot.index].choose(batch.observations, batch.action_masks, draws, before)
        if choices.memory is not None:
            memories.after(batch.episodes, batch.steps, choices.memory, choices.ok)
        if choices.ok.all():
            return Actions(choices.actions, choices.values)
        actions = [
            action if ok else Invalid(_why(batch, i))
            for i, (action, ok) in enumerate(zip(choices.actions, choices.ok, strict=True))
        ]
        return Actions(actions, choices.values)


def _draws(batch: Batch, stream: int) -> Draws:
    """Numbers for the decisions of a batch: the first of each row is of the stream itself."""
    steps = np.asarray(batch.steps)

    def draw(j: int) -> NDArray[np.float64]:
        return rng.uniform(batch.seeds, steps, rng.bits_of(stream, j) if j else stream)

    return draw


def _why(batch: Batch, i: int) -> str:
    if batch.action_masks is not None and not batch.action_masks[i].any():
        return "no action is legal"
    if not np.isfinite(batch.observations[i]).all():
        return "the observation holds a value that is no finite number"
    return "the policy's output is no finite number for this observation"


def _check_keys(settings: Mapping[str, Any]) -> None:
    for key in settings:
        if key not in SETTINGS:
            near = difflib.get_close_matches(key, SETTINGS, n=1)
            fix = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(SETTINGS)}"
            raise LoadError(f"cleanrl_worker knows no setting {key!r}. {fix}")


def _stream(seed: Any) -> int:
    if type(seed) is not int or not 0 <= seed < 2**63:
        raise LoadError(f"the setting seed is {seed!r}. Make it a whole number from 0 to 2^63 - 1")
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
        if _shown(trained, what) != _shown(given, what):
            raise LoadError(
                f"the checkpoint was trained in {described.env_id} for {what} of {_shown(trained, what)}, "
                f"but slot {slot.agent_id} of {slot.env_id} has {_shown(given, what)}. "
                f"Choose a checkpoint of {slot.env_id}"
            )


def _shown(space: Space, what: str) -> str:
    """What must agree between checkpoint and slot, in words: bounds of observations need not."""
    if space.kind == "Discrete":
        return f"Discrete({space.n}{f', start={space.start}' if space.start else ''})"
    if space.kind == "MultiDiscrete" and space.nvec is not None and space.starts is not None:
        starts = f", start={space.starts.tolist()}" if space.starts.any() else ""
        return f"MultiDiscrete({space.nvec.tolist()}{starts})"
    if space.kind == "Box":
        bounds = f" from {_bound(space.low)} to {_bound(space.high)}" if what == "actions" else ""
        return f"Box{space.shape}{bounds}"
    return f"kind {space.kind}"


def _bound(values: Any) -> Any:
    array = np.asarray(values, np.float32)
    return array.flat[0].item() if array.size and (array == array.flat[0]).all() else array.tolist()
