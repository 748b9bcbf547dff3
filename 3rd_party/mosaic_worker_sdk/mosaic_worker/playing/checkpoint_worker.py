"""A worker that plays trained policies: everything of it but the networks."""

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
"""Numbers in [0, 1) for the decisions of a batch, by the component of the action they are for."""


class Choices(NamedTuple):
    """What a policy chose for N observations.

    Attributes:
        actions: In the action space, stacked: (N,) or (N, *shape).
        values: float64 (N,), the value of each state; ``None`` where the policy knows none.
        ok: bool (N,), false where the network's output is no finite number or no action is legal.
        memory: float32 (N, memory), what to hand in with each row's next observation; ``None`` for
            policies that remember nothing.
    """

    actions: NDArray[Any]
    values: Optional[NDArray[np.float64]]
    ok: NDArray[np.bool_]
    memory: Optional[NDArray[np.float32]] = None

    def only(self, rows: Union[slice, NDArray[np.intp]]) -> Choices:
        """Those of some rows."""
        return Choices(*[None if column is None else column[rows] for column in self])  # pyright: ignore[reportArgumentType]

    @classmethod
    def join(cls, parts: Sequence[Choices]) -> Choices:
        """Those of several batches, end to end; what one of them does not know is left out."""
        if len(parts) == 1:
            return parts[0]
        columns = [None if any(each is None for each in column) else column for column in zip(*parts)]
        return cls(*[None if column is None else np.concatenate(column) for column in columns])  # pyright: ignore[reportArgumentType, reportCallIssue]


class CheckpointPolicy(Protocol):
    """A policy that was read from a checkpoint.

    Attributes:
        description: What ``policy.json`` says.
        memory: Numbers that it remembers of an episode; 0 for none.
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
        """Decide a batch: the most likely actions, or drawn ones where ``draws`` are given."""
        ...


class CheckpointWorker(Worker):
    """Plays checkpoints in any slot whose spaces fit them; to be derived from.

    The most likely action is played unless the slot asks for ``deterministic = False``; then
    actions are drawn with numbers that depend on the policy seed, in which the slot's setting
    ``seed`` is, and the step alone.
    """

    name: str
    """Id of the worker, for messages."""
    settings: Tuple[str, ...] = ("algorithm", "checkpoint", "checkpoint_agent", "seed", "gpu")
    """Settings of a slot that it knows; ``gpu`` is the host's, which decides what the process sees."""
    other_way = ""
    """How one comes by a checkpoint without training it; ends with the option of the environment."""

    def __init__(self) -> None:
        self._by_file: Dict[Tuple[str, str], CheckpointPolicy] = {}
        self._descriptions: Dict[str, PolicyDescription] = {}
        self._by_slot: Dict[int, CheckpointPolicy] = {}
        self._memories: Dict[int, Memories] = {}
        self._joint: Dict[int, Optional[Tuple[str, PolicyDescription]]] = {}
        self._by_episode: Dict[Tuple[int, int], CheckpointPolicy] = {}

    def read(self, checkpoint: str, agent: str = "") -> CheckpointPolicy:
        """Read a checkpoint.

        Args:
            checkpoint: Its folder, or a file in it.
            agent: Whose part of a joint policy; empty for one without parts.

        Raises:
            LoadError: It cannot be played; see :mod:`mosaic_worker.checkpoint`.
        """
        raise NotImplementedError

    def stream_of(self, component: int) -> int:
        """Which stream of random numbers a component of the action is drawn from."""
        return component

    def load(self, slot: Slot) -> str:
        """Read ``slot.settings["checkpoint"]`` and check that it fits the slot.

        Returns:
            For example ``"ppo:CartPole-v1"``.

        Raises:
            LoadError: It cannot be read; or the policy is of another algorithm, agent or environment
                than the slot.
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
        """What ``policy.json`` says, read once for all slots."""
        key = str(Path(checkpoint).expanduser().resolve())
        found = self._descriptions.get(key)
        if found is None:
            found = self._descriptions[key] = read_description(checkpoint_folder(checkpoint))
        return found

    def _read_part(self, checkpoint: str, played: PolicyDescription) -> CheckpointPolicy:
        """What plays an agent, read once for all whose parts have the same network."""
        key = str(Path(checkpoint).expanduser().resolve()), played.weights_prefix
        found = self._by_file.get(key)
        if found is None:
            agent = played.agents[0] if played.weights_prefix else ""
            found = self._by_file[key] = self.read(checkpoint, agent)
        return found

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Nothing is remembered of an episode that begins."""
        self._memories[slot.index].forget(start.episode for start in starts)
        joint = self._joint[slot.index]
        for start in starts if joint is not None else ():
            assert joint is not None
            # Where seats are swapped, a joint policy plays each agent with its own part.
            played = joint[1].played_instead(start.agent_id or slot.agent_id, slot.agent_id)
            self._by_episode[slot.index, start.episode] = self._read_part(joint[0], played)

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Nothing needs to be remembered of an episode that is over."""
        self._memories[slot.index].forget(end.episode for end in ends)
        for end in ends:
            self._by_episode.pop((slot.index, end.episode), None)

    def select_actions(self, batch: Batch) -> Actions:
        """Choose for all decisions of the batch, with the value of each state where it is known."""
        return self.select_together([batch])[0]

    def select_together(self, batches: Sequence[Batch]) -> List[Actions]:
        """Choose for all slots: what one network plays goes through it together."""
        chosen = self._choose(batches)
        for batch, choices in zip(batches, chosen):
            if choices.memory is not None:
                memories = self._memories[batch.slot.index]
                memories.after(batch.episodes, batch.steps, choices.memory, choices.ok)
        return [_as_actions(batch, choices) for batch, choices in zip(batches, chosen)]

    def _choose(self, batches: Sequence[Batch]) -> List[Choices]:
        """The choices for each batch, each row by the policy that plays its episode."""
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
        """Who decides in a batch, and which rows; ``None`` for all of them."""
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
    """What one policy decides of a batch: its rows, and their numbers in the batch where they are not all."""

    batch: int
    policy: CheckpointPolicy
    numbers: Optional[NDArray[np.intp]]
    rows: Rows


def _in_order(parts: Sequence[Tuple[_Share, Choices]]) -> Choices:
    """The choices of a batch, its rows in their order."""
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
