"""The same episodes asked in different company: answers have to be the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gym_gui.core.seeding import policy_seed
from gym_gui.core.spaces import to_space
from gym_gui.core.types import Mask, Shown
from gym_gui.workers.check_probe import SHOWN, Probe, Question, Reply
from gym_gui.workers.check_spaces import sample_masks, sample_rows
from gym_gui.workers.supervisor import SlotRequest

EPISODES, STEPS = 8, 5

Table = dict[tuple[int, int], Reply]
"""(episode, step) -> reply."""


class Rounds:
    """Episodes with made-up observations, played in several orders.

    Args:
        request: The slot they are played in.
        show: What is shown beside an observation.
    """

    def __init__(self, request: SlotRequest, show: Callable[[Any], Shown] | None = None) -> None:
        self._rows = sample_rows(request.observation_space, EPISODES, STEPS)
        self._shown = [[show(seen) if show else SHOWN for seen in row] for row in self._rows]
        action = to_space(request.action_space)
        self._masks = sample_masks(action, EPISODES, STEPS) if action.kind == "Discrete" else None
        self.seeds = {e: policy_seed(1000 + e, e, request.agent_id) for e in range(EPISODES)}

    @property
    def can_mask(self) -> bool:
        """Whether the slot's actions can be masked."""
        return self._masks is not None

    def question(self, episode: int, step: int, *, masked: bool = False, attempt: int = 0) -> Question:
        """The decision of ``episode`` at ``step``."""
        mask: Mask | None = self._masks[episode][step] if masked and self._masks is not None else None
        reason = "the contract test asks again" if attempt else ""
        seen = self._rows[episode][step]
        shown = self._shown[episode][step]
        return Question(episode, step, self.seeds[episode], seen, mask, attempt, reason, shown)

    async def together(self, probe: Probe, *, masked: bool = False) -> Table:
        """All episodes in step, each step in one batch."""
        return await self._in_step(probe, range(EPISODES), 256, masked)

    async def one_by_one(self, probe: Probe, *, masked: bool = False) -> Table:
        """All episodes in step, last first, each decision in a batch of its own."""
        return await self._in_step(probe, range(EPISODES - 1, -1, -1), 1, masked)

    async def _in_step(self, probe: Probe, order: Sequence[int], batch: int, masked: bool) -> Table:
        table: Table = {}
        probe.tell(starts=self.seeds)
        for t in range(STEPS):
            replies = await probe.ask([self.question(e, t, masked=masked) for e in order], batch=batch)
            table.update(((e, t), reply) for e, reply in zip(order, replies, strict=True))
        probe.tell(ends=order)
        return table

    async def in_turn(self, probe: Probe) -> Table:
        """One episode after the other."""
        table: Table = {}
        for e in range(EPISODES):
            probe.tell(starts={e: self.seeds[e]})
            for t in range(STEPS):
                (table[e, t],) = await probe.ask([self.question(e, t)])
            probe.tell(ends=[e])
        return table


def first_difference(one: Table, other: Table) -> str:
    """Where two tables differ, in words; empty where they do not."""
    for (episode, step), reply in sorted(one.items()):
        twin = other[episode, step]
        if reply.parts != twin.parts or bool(reply.problem) != bool(twin.problem):
            shown = [r.problem or repr(r.action) for r in (reply, twin)]
            return f"at step {step} of the same episode it chose {shown[0]}, then {shown[1]}"
    return ""


def first_problem(table: Table) -> str:
    """The first complaint about an answer; empty where there is none."""
    return next((reply.problem for _, reply in sorted(table.items()) if reply.problem), "")
