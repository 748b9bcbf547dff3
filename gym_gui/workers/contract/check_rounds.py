"""Plays the same episodes in different batches and orders, after which the answers must be equal."""

from __future__ import annotations

from collections.abc import Sequence

from gym_gui.core.seeding import policy_seed
from gym_gui.core.spaces import to_space
from gym_gui.workers.contract.check_probe import Probe, Question, Reply
from gym_gui.workers.contract.check_spaces import sample_masks, sample_rows
from gym_gui.workers.supervisor import SlotRequest

EPISODES, STEPS = 8, 5

Table = dict[tuple[int, int], Reply]
"""Answers of one pass of the contract test, by (episode, step)."""


class Rounds:
    """Episodes of the contract test, played in several orders.

    Args:
        request: The slot that plays them.
        episodes: Questions of each episode, from an environment; by default artificial questions.
    """

    def __init__(self, request: SlotRequest, episodes: Sequence[Sequence[Question]] | None = None) -> None:
        self._episodes = _made_up(request) if episodes is None else episodes
        action = to_space(request.action_space)
        given = any(question.mask is not None for row in self._episodes for question in row)
        # An environment's facts say which actions are legal: an artificial mask would contradict them.
        stated = episodes is not None and any(question.shown.facts for row in episodes for question in row)
        made_up = action.kind == "Discrete" and not given and not stated
        self._masks = sample_masks(action, len(self._episodes), STEPS) if made_up else None
        self.can_mask = made_up or given
        self.seeds = {e: policy_seed(1000 + e, e, request.agent_id) for e in range(len(self._episodes))}

    def question(self, episode: int, step: int, *, masked: bool = False, attempt: int = 0) -> Question:
        """Return the question of an episode at ``step``, or the episode's last question."""
        step = min(step, len(self._episodes[episode]) - 1)
        found = self._episodes[episode][step]
        return found._replace(
            episode=episode,
            seed=self.seeds[episode],
            mask=self._masks[episode][step] if masked and self._masks is not None else found.mask,
            attempt=attempt,
            reason="the contract test asks again" if attempt else "",
        )

    async def play_all_at_once(self, probe: Probe, *, masked: bool = False) -> Table:
        """Play all episodes at the same time, with one batch for each step."""
        return await self._in_step(probe, range(len(self.seeds)), 256, masked)

    async def one_by_one(self, probe: Probe, *, masked: bool = False) -> Table:
        """Play all episodes at the same time, the last one first, with each decision in its own batch."""
        return await self._in_step(probe, range(len(self.seeds) - 1, -1, -1), 1, masked)

    async def _in_step(self, probe: Probe, order: Sequence[int], batch: int, masked: bool) -> Table:
        table: Table = {}
        probe.send_results(starts=self.seeds)
        for t in range(STEPS):
            there = [e for e in order if t < len(self._episodes[e])]
            replies = await probe.ask([self.question(e, t, masked=masked) for e in there], batch=batch)
            table.update(((e, t), reply) for e, reply in zip(there, replies, strict=True))
        probe.send_results(ends=order)
        return table

    async def in_turn(self, probe: Probe) -> Table:
        """Play one episode after the other."""
        table: Table = {}
        for e in self.seeds:
            probe.send_results(starts={e: self.seeds[e]})
            for t in range(len(self._episodes[e])):
                (table[e, t],) = await probe.ask([self.question(e, t)])
            probe.send_results(ends=[e])
        return table


def _made_up(request: SlotRequest) -> list[list[Question]]:
    rows = sample_rows(request.observation_space, EPISODES, STEPS)
    return [[Question(e, t, 0, seen) for t, seen in enumerate(row)] for e, row in enumerate(rows)]


def first_difference(one: Table, other: Table) -> str:
    """Return the first difference between the answers of two passes as text; ``""`` if they are equal."""
    for (episode, step), reply in sorted(one.items()):
        twin = other[episode, step]
        if reply.parts != twin.parts or bool(reply.problem) != bool(twin.problem):
            shown = [r.problem or repr(r.action) for r in (reply, twin)]
            return f"at step {step} of the same episode it chose {shown[0]}, then {shown[1]}"
    return ""


def first_problem(table: Table) -> str:
    """Return the first problem of an answer in a pass; ``""`` if there is none."""
    return next((reply.problem for _, reply in sorted(table.items()) if reply.problem), "")
