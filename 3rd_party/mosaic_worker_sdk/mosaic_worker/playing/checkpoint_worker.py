"""Base class of workers that play trained policies; only the networks are left to subclasses."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Protocol, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from mosaic_worker import rng
from mosaic_worker.checkpoint import PolicyDescription, checkpoint_folder, read_description
from mosaic_worker.playing.checkpoint_slot import check_fit, check_settings, why_undecided
from mosaic_worker.playing.memories import Memories
from mosaic_worker.playing.policy_rows import Rows
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

Draws = Callable[[int], NDArray[np.float64]]
"""Function from a component of the action to random numbers in [0, 1), one per decision of a batch."""


class Choices(NamedTuple):
    """Choices of a policy for N observations.

    Attributes:
        actions: Stacked actions of the action space: (N,) or (N, *shape).
        values: float64 (N,), the value of each state; ``None`` if the policy has no values.
        ok: bool (N,), false if the network's output is no finite number or no action is legal.
        memory: float32 (N, memory), the memory to pass with each row's next observation; ``None`` for
            policies without memory.
    """

    actions: NDArray[Any]
    values: Optional[NDArray[np.float64]]
    ok: NDArray[np.bool_]
    memory: Optional[NDArray[np.float32]] = None

    def only(self, rows: Union[slice, NDArray[np.intp]]) -> Choices:
        """Return the choices of some rows."""
        return Choices(*[None if column is None else column[rows] for column in self])  # pyright: ignore[reportArgumentType]

    @classmethod
    def join(cls, parts: Sequence[Choices]) -> Choices:
        """Join the choices of several batches; a field that is ``None`` in one of them becomes ``None``."""
        if len(parts) == 1:
            return parts[0]
        columns = [None if any(each is None for each in column) else column for column in zip(*parts)]
        return cls(*[None if column is None else np.concatenate(column) for column in columns])  # pyright: ignore[reportArgumentType, reportCallIssue]


class CheckpointPolicy(Protocol):
    """A policy that was read from a checkpoint.

    Attributes:
        description: Content of ``policy.json``.
        memory: Size of the policy's memory of an episode; 0 for a policy without memory.
    """

    @property
    def description(self) -> PolicyDescription: ...
    @property
    def memory(self) -> int: ...
    def choose(
        self,
        observations: Any,
        masks: Optional[NDArray[np.bool_]] = None,
        draws: Optional[Draws] = None,
        memory: Optional[NDArray[np.float32]] = None,
    ) -> Choices:
        """Choose actions for a batch: the most likely ones, or sampled ones if ``draws`` is given."""
        ...


class CheckpointWorker(Worker):
    """Base class of workers that play checkpoints in any slot whose spaces fit the checkpoint.

    The worker plays the most likely action unless the slot has ``deterministic = False``. In that
    case it samples actions with random numbers that depend only on the step and the policy seed,
    which includes the slot's setting ``seed``.
    """

    name: str
    """Id of the worker, for messages."""
    settings: Tuple[str, ...] = ("algorithm", "checkpoint", "checkpoint_agent", "seed", "gpu")
    """Settings of a slot that the worker accepts; only the host uses ``gpu``, to choose the visible GPUs."""
    other_way = ""
    """Text on how to get a checkpoint without training; it ends with the option for the environment."""

    def __init__(self) -> None:
        self._by_file: Dict[Tuple[str, str], CheckpointPolicy] = {}
        self._descriptions: Dict[str, PolicyDescription] = {}
        self._by_slot: Dict[int, CheckpointPolicy] = {}
        self._memories: Dict[int, Memories] = {}
        self._joint: Dict[int, Optional[Tuple[str, PolicyDescription]]] = {}
        self._by_episode: Dict[Tuple[int, int], CheckpointPolicy] = {}

    def read(self, checkpoint: str, agent: str = "") -> CheckpointPolicy:
        """Read a checkpoint and return its policy.

        Args:
            checkpoint: The checkpoint's folder, or a file in that folder.
            agent: Agent whose part of a joint policy is read; empty for a policy without parts.

        Raises:
            LoadError: The checkpoint cannot be played; see :mod:`mosaic_worker.checkpoint`.
        """
        raise NotImplementedError

    def stream_of(self, component: int) -> int:
        """Return the number of the random stream from which a component of the action is sampled."""
        return component

    def load(self, slot: Slot) -> str:
        """Read ``slot.settings["checkpoint"]`` and check that it fits the slot.

        Returns:
            Algorithm and environment of the policy, for example ``"ppo:CartPole-v1"``.

        Raises:
            LoadError: The checkpoint cannot be read; or its algorithm, agents or spaces do not fit the
                slot.
        """
        check_settings(self.name, slot.settings, self.settings)
        checkpoint = slot.settings.get("checkpoint")
        if not checkpoint:
            raise LoadError(
                f"slot {slot.agent_id} needs the setting 'checkpoint'. Give the folder of a trained policy; "
                f"train one with: mosaic train --worker {self.name} --algo ppo --env {slot.env_id}"
                f"{f'{self.other_way} {slot.env_id}' if self.other_way else ''}"
            )
        description = self._described(checkpoint)
        part = slot.settings.get("checkpoint_agent")
        check_fit(slot, description.played_by(slot.agent_id, part))
        self._joint[slot.index] = (checkpoint, description) if description.parts and not part else None
        policy = self._read_part(checkpoint, description.played_by(slot.agent_id, part))
        self._by_slot[slot.index] = policy
        self._memories[slot.index] = Memories(policy.memory)
        return f"{policy.description.algorithm}:{policy.description.env_id}"

    def _described(self, checkpoint: str) -> PolicyDescription:
        """Return the content of ``policy.json``, which is read once for all slots."""
        key = str(Path(checkpoint).expanduser().resolve())
        found = self._descriptions.get(key)
        if found is None:
            found = self._descriptions[key] = read_description(checkpoint_folder(checkpoint))
        return found

    def _read_part(self, checkpoint: str, played: PolicyDescription) -> CheckpointPolicy:
        """Return the policy for a part, read once for all parts that share a network."""
        key = str(Path(checkpoint).expanduser().resolve()), played.weights_prefix
        found = self._by_file.get(key)
        if found is None:
            agent = played.agents[0] if played.weights_prefix else ""
            found = self._by_file[key] = self.read(checkpoint, agent)
        return found

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Clear the memory of episodes that begin and choose the policy that plays them."""
        self._memories[slot.index].forget(start.episode for start in starts)
        joint = self._joint[slot.index]
        for start in starts if joint is not None else ():
            assert joint is not None
            # If seats are swapped, a joint policy plays each agent with the agent's own part.
            played = joint[1].played_instead(start.agent_id or slot.agent_id, slot.agent_id)
            self._by_episode[slot.index, start.episode] = self._read_part(joint[0], played)

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Drop the memory of episodes that are over."""
        self._memories[slot.index].forget(end.episode for end in ends)
        for end in ends:
            self._by_episode.pop((slot.index, end.episode), None)

    def select_actions(self, batch: Batch) -> Actions:
        """Choose an action for each decision of a batch, with the value of each state if it is known."""
        return self.select_together([batch])[0]

    def select_together(self, batches: Sequence[Batch]) -> List[Actions]:
        """Choose actions for several slots; each network evaluates all its rows in one batch."""
        chosen = self._choose(batches)
        for batch, choices in zip(batches, chosen):
            if choices.memory is not None:
                memories = self._memories[batch.slot.index]
                memories.after(batch.episodes, batch.steps, choices.memory, choices.ok)
        return [_as_actions(batch, choices) for batch, choices in zip(batches, chosen)]

    def _choose(self, batches: Sequence[Batch]) -> List[Choices]:
        """Return the choices for each batch; the policy of a row's episode chooses for that row."""
        shares: Dict[Tuple[Any, ...], List[_Share]] = {}
        for place, batch in enumerate(batches):
            asked = self._rows_of(batch)
            sampled = batch.slot.deterministic is False
            for policy, numbers in self._policies_of(batch):
                rows = asked if numbers is None else asked.only(numbers)
                share = _Share(place, policy, numbers, rows)
                shares.setdefault((id(policy), sampled, *rows.kind), []).append(share)
        found: List[List[Tuple[_Share, Choices]]] = [[] for _ in batches]
        for (_, sampled, *_), alike in shares.items():
            rows = Rows.join([share.rows for share in alike])
            draws = self._draws(rows) if sampled else None
            choices = alike[0].policy.choose(rows.observations, rows.masks, draws, rows.memory)
            begin = 0
            for share in alike:
                end = begin + len(share.rows.steps)
                found[share.batch].append((share, choices.only(slice(begin, end))))
                begin = end
        return [_in_order(parts) for parts in found]

    def _rows_of(self, batch: Batch) -> Rows:
        memory = self._memories[batch.slot.index].before(batch.episodes, batch.steps)
        steps = np.asarray(batch.steps)
        return Rows(batch.observations, batch.action_masks, batch.seeds, steps, memory)

    def _policies_of(self, batch: Batch) -> List[Tuple[CheckpointPolicy, Optional[NDArray[np.intp]]]]:
        """Return the policies that decide in a batch with their row numbers, ``None`` for all rows."""
        index, own = batch.slot.index, self._by_slot[batch.slot.index]
        if self._joint[index] is None:
            return [(own, None)]
        policies = [self._by_episode.get((index, episode), own) for episode in batch.episodes]
        kinds = list(dict.fromkeys(policies))
        if len(kinds) == 1:
            return [(kinds[0], None)]
        return [(kind, np.flatnonzero([policy is kind for policy in policies])) for kind in kinds]

    def _draws(self, rows: Rows) -> Draws:
        return lambda component: rng.uniform(rows.seeds, rows.steps, self.stream_of(component))


class _Share(NamedTuple):
    """Rows of a batch that one policy decides, and their numbers in the batch; ``None`` for all rows."""

    batch: int
    policy: CheckpointPolicy
    numbers: Optional[NDArray[np.intp]]
    rows: Rows


def _in_order(parts: Sequence[Tuple[_Share, Choices]]) -> Choices:
    """Join the choices of several policies for a batch, in the order of the batch's rows."""
    found = Choices.join([choices for _, choices in parts])
    numbers = [share.numbers for share, _ in parts if share.numbers is not None]
    return found.only(np.argsort(np.concatenate(numbers))) if len(numbers) > 1 else found


def _as_actions(batch: Batch, choices: Choices) -> Actions:
    if choices.ok.all():
        return Actions(choices.actions, choices.values)
    actions = [
        choices.actions[i] if ok else Invalid(why_undecided(batch, i)) for i, ok in enumerate(choices.ok)
    ]
    return Actions(actions, choices.values)
