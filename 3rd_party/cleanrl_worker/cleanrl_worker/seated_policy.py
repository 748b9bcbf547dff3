"""Plays other agents during a training with a policy of this worker, sampling its actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cleanrl_worker.policy import WORKER, Policy
from mosaic_worker import rng
from mosaic_worker.checkpoint import PolicyDescription, checkpoint_folder, read_description
from mosaic_worker.playing.network_policy import read_weights
from mosaic_worker.preprocessing import Pipeline, Stream


@dataclass
class _Part:
    """Part of a policy that plays some agents, with unused preprocessing streams."""

    policy: Policy
    pipeline: Pipeline
    spare: list[Stream]


@dataclass
class _Seat:
    """Player of one agent in one episode."""

    part: _Part
    stream: Stream
    memory: NDArray[np.float32]


class SeatedPolicy:
    """Plays any number of agents and episodes; implements ``gym_gui.evaluation.learning.InProcessPolicy``.

    Args:
        checkpoint: Folder of a policy of this worker.

    Raises:
        LoadError: The policy cannot be read.
    """

    def __init__(self, checkpoint: Path) -> None:
        self._about, self._weights = read_weights(checkpoint)
        self._parts: dict[str, _Part] = {}
        self._seats: dict[tuple[int, str], _Seat] = {}

    def begin(self, episode: int, agent_id: str, slot: str) -> None:
        """Begin to play ``agent_id`` in an episode; without a part for this agent, use that of its slot."""
        part = self._part(self._about.played_instead(agent_id, slot))
        stream = part.spare.pop() if part.spare else part.pipeline.stream()
        stream.reset()
        self._seats[episode, agent_id] = _Seat(part, stream, np.zeros(part.policy.memory, np.float32))

    def choose(self, decisions: Sequence[Any]) -> list[Any]:
        """Return an action for each decision, sampled with numbers that depend only on the decision's seed
        and step.
        """
        seats = [self._seats[each.episode, each.agent_id] for each in decisions]
        actions: list[Any] = [None] * len(decisions)
        for part in {id(seat.part): seat.part for seat in seats}.values():
            rows = [i for i, seat in enumerate(seats) if seat.part is part]
            for i, action in zip(rows, self._chosen(part, rows, decisions, seats), strict=True):
                actions[i] = action
        return actions

    def end(self, episode: int, agent_id: str) -> None:
        """Release the agent's player after an episode."""
        seat = self._seats.pop((episode, agent_id), None)
        if seat is not None:
            seat.part.spare.append(seat.stream)

    def _chosen(
        self, part: _Part, rows: Sequence[int], decisions: Sequence[Any], seats: Sequence[_Seat]
    ) -> NDArray[Any]:
        asked = [decisions[i] for i in rows]
        shown = np.stack([seats[i].stream.apply(decisions[i].observation) for i in rows])
        masks = [each.action_mask for each in asked]
        legal = None
        if any(mask is not None for mask in masks):
            width = next(len(mask) for mask in masks if mask is not None)
            legal = np.stack([np.ones(width, bool) if m is None else np.asarray(m, bool) for m in masks])
        seeds = np.array([each.seed for each in asked], np.uint64)
        steps = np.array([each.step for each in asked])
        memory = np.stack([seats[i].memory for i in rows]) if part.policy.memory else None
        choices = part.policy.choose(shown, legal, lambda stream: rng.uniform(seeds, steps, stream), memory)
        if choices.memory is not None:
            for i, after in zip(rows, choices.memory, strict=True):
                seats[i].memory = after
        return choices.actions

    def _part(self, played: PolicyDescription) -> _Part:
        found = self._parts.get(played.weights_prefix)
        if found is None:
            pipeline = Pipeline(played.preprocessing, played.observation_space)
            found = _Part(Policy.of(played, self._weights), pipeline, [])
            self._parts[played.weights_prefix] = found
        return found


def seated(folder: Path) -> SeatedPolicy | None:
    """Load the policy of a folder; return ``None`` if it belongs to another worker.

    Raises:
        LoadError: The policy belongs to this worker but cannot be read.
    """
    if read_description(checkpoint_folder(folder)).worker != WORKER:
        return None
    return SeatedPolicy(folder)
