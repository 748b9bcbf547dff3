"""Shows a session's open questions to a person, with their deadlines, and passes the answers to workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from gym_gui.controllers.engine.session_events import OnSessionEvent, QuestionWithdrawn
from gym_gui.core.experiment.legality import problem_with
from gym_gui.core.live import HumanQuestion
from gym_gui.core.plain_data import action_from_plain
from gym_gui.core.spaces import Space
from gym_gui.core.types import AgentID, Decision, legal_indices
from gym_gui.workers.slot import WorkerSlot


@dataclass
class _Open:
    """Open question to a person: a decision that a worker has passed on.

    Attributes:
        left_s: Seconds that the person had left when the question was last hidden, or its deadline;
            ``None`` for no limit.
        number: Number of the question that is shown; 0 while none is shown.
        until: Time of the event loop at which the person's time is over.
    """

    slot: WorkerSlot
    decision: Decision
    left_s: float | None
    attempt: int
    reason: str
    number: int = 0
    until: float = 0.0
    timer: asyncio.TimerHandle | None = None


class QuestionDesk:
    """Shows questions to a person while their episode runs, and withdraws them while the episode is held.

    The worker of a person's slot waits for an answer to each of its questions. So every question is finally
    answered, with the person's action or with ``None``.

    Args:
        on_event: Receives the questions.
        is_moving: Returns whether an episode steps as soon as its agents have chosen. A person is asked, and
            the deadline runs, only in such an episode.
    """

    def __init__(self, on_event: OnSessionEvent, is_moving: Callable[[int], bool]) -> None:
        self._on_event, self._is_moving = on_event, is_moving
        self._open: list[_Open] = []
        self._numbers = count(1)

    def ask(self, slot: WorkerSlot, decision: Decision) -> None:
        """Store a decision that a worker leaves to a person, and show the question if its episode runs."""
        one = _Open(slot, decision, slot.deadline_s, decision.attempt, decision.reason)
        self._open.append(one)
        if self._is_moving(decision.episode):
            self._show(one)

    def refresh(self) -> None:
        """Show the questions of running episodes and withdraw those of held ones, after a pause or resume."""
        for one in list(self._open):
            if not self._is_moving(one.decision.episode):
                self._withdraw(one)
            elif not one.number:
                self._show(one)

    def answer(self, question_id: int, action: Any) -> None:
        """Pass a person's action, as plain data, to the worker, or ask again if the action is not playable.

        An answer to a question that is no longer shown is dropped.
        """
        one = next((o for o in self._open if o.number == question_id and question_id), None)
        if one is None:
            return
        space = one.slot.action_space
        self._hide(one)
        try:
            value = action_from_plain(space, action)
            problem = problem_with(space, value, one.decision.action_mask, one.slot.names)
        except ValueError as exc:
            value, problem = None, str(exc)
        if problem:
            one.attempt, one.reason = one.attempt + 1, problem
            self._show(one)
            return
        self._open.remove(one)
        one.slot.answer_human(one.decision, value)

    def forget_episode(self, episode: int) -> None:
        """Drop the questions of an episode that is over, since the engine waits for no more answers."""
        self._give_up(lambda one: one.decision.episode == episode)

    def forget_slot(self, agent: AgentID) -> None:
        """Drop the questions of a slot that has another player now."""
        self._give_up(lambda one: one.slot.agent_id == agent)

    def close(self) -> None:
        """Drop all questions at the end of the session."""
        self._give_up(lambda _: True)

    def _give_up(self, chosen: Callable[[_Open], bool]) -> None:
        for one in [o for o in self._open if chosen(o)]:
            self._decline(one)

    def _decline(self, one: _Open) -> None:
        """Drop a question and answer its worker with ``None``, so that the worker continues."""
        self._withdraw(one)
        self._open.remove(one)
        one.slot.answer_human(one.decision, None)

    def _show(self, one: _Open) -> None:
        decision, space = one.decision, one.slot.action_space
        one.number = next(self._numbers)
        if one.left_s is not None:
            loop = asyncio.get_running_loop()
            one.until = loop.time() + one.left_s
            one.timer = loop.call_at(one.until, self._decline, one)
        self._on_event(
            HumanQuestion(
                id=one.number,
                episode=decision.episode,
                step=decision.step,
                agent=decision.agent_id,
                slot=decision.slot,
                legal=_legal(space, decision),
                deadline_s=one.left_s,
                attempt=one.attempt,
                reason=one.reason,
                space=space.to_json(),
            )
        )

    def _withdraw(self, one: _Open) -> None:
        if one.number:
            number = one.number
            self._hide(one)
            self._on_event(QuestionWithdrawn(number))

    def _hide(self, one: _Open) -> None:
        """Mark a question as not shown and stop its deadline timer."""
        one.number = 0
        if one.timer is not None:
            one.timer.cancel()
            one.timer = None
            one.left_s = max(one.until - asyncio.get_running_loop().time(), 0.001)


def _legal(space: Space, decision: Decision) -> tuple[int, ...] | None:
    legal = legal_indices(decision.action_mask)
    if legal is None or space.kind != "Discrete":
        return None
    return tuple(index + space.start for index in legal)
