"""Batches of questions to one slot in many episodes, and of answers, without an object for each question.

A :class:`~gym_gui.core.types.Decision` is made for a question only if the engine needs one: an answer cannot
be played, a worker was lost, or a viewer watches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from gym_gui.core.types import AgentID, Answer, Decision, Mask

Extras = Mapping[str, Any]
"""Additional fields that are recorded with an action."""


class AskedEpisode(Protocol):
    """Episode as a batch of questions sees it; a protocol, because workers import no controllers."""

    index: int
    steps: int

    @property
    def seeds(self) -> Mapping[AgentID, int]:
        """Policy seeds by agent."""
        ...

    def unfold_for(self, agent: AgentID, number: int) -> Decision | None:
        """Make decision objects of the episode's questions; return the object of question ``number``.

        The result is ``None`` if the question is answered or withdrawn.
        """
        ...


class BatchListener(Protocol):
    """Receives the answers to a batch, or its questions as decision objects."""

    def on_answered(self, answered: AnswerBatch) -> None:
        """Handle the answers to a batch of questions."""
        ...

    def on_unfolded(self, batch: DecisionBatch, decisions: Sequence[Decision]) -> None:
        """Handle the open questions of a batch, which are decision objects from now on."""
        ...


class DecisionBatch:
    """Batch of questions to one slot, at most one for each agent of an episode.

    Args:
        slot: The slot.
        listener: Is notified when the batch is answered or unfolded.

    Attributes:
        numbers: Id of each question.
        episodes: Episode of each question.
        agents: Acting agent of each question.
        encoded: Encoded observation of each question.
        masks: Mask of the legal actions of each question; ``None`` if all are legal.
        masked: Whether any question may have a mask.
    """

    __slots__ = ("agents", "encoded", "episodes", "listener", "masked", "masks", "numbers", "slot")

    def __init__(self, slot: AgentID, listener: BatchListener) -> None:
        self.slot, self.listener = slot, listener
        self.numbers: list[int] = []
        self.episodes: list[AskedEpisode] = []
        self.agents: list[AgentID] = []
        self.encoded: list[tuple[bytes, ...]] = []
        self.masks: list[Mask | None] = []
        self.masked = False

    def __len__(self) -> int:
        return len(self.numbers)

    def add(
        self,
        number: int,
        episode: AskedEpisode,
        agent: AgentID,
        encoded: tuple[bytes, ...],
        mask: Mask | None,
    ) -> None:
        """Add an agent's decision to the batch."""
        self.numbers.append(number)
        self.episodes.append(episode)
        self.agents.append(agent)
        self.encoded.append(encoded)
        self.masks.append(mask)
        if mask is not None:
            self.masked = True

    def without(self, episode: AskedEpisode) -> DecisionBatch:
        """Return the batch without the questions of one episode."""
        return self._some([i for i, each in enumerate(self.episodes) if each is not episode])

    def split(self, size: int) -> tuple[DecisionBatch, DecisionBatch]:
        """Return two batches: the first ``size`` questions, and the remaining questions."""
        return self._some(range(size)), self._some(range(size, len(self)))

    def _some(self, places: Sequence[int]) -> DecisionBatch:
        some = DecisionBatch(self.slot, self.listener)
        some.numbers = [self.numbers[i] for i in places]
        some.episodes = [self.episodes[i] for i in places]
        some.agents = [self.agents[i] for i in places]
        some.encoded = [self.encoded[i] for i in places]
        some.masks = [self.masks[i] for i in places]
        some.masked = self.masked
        return some

    def answer(self, actions: Sequence[Any], latency_ms: float, extras: Sequence[Extras] | None) -> None:
        """Answer all questions of the batch.

        Args:
            actions: Actions in the order of the questions, in the action space and legal.
            latency_ms: Milliseconds from the question to the answer.
            extras: Fields to record with each action; ``None`` for no fields.
        """
        self.listener.on_answered(AnswerBatch(self, actions, latency_ms, extras))

    def unfold(self) -> list[Decision]:
        """Return the open questions as decision objects and notify the listener.

        The batch takes no answer.
        """
        decisions = self.unfold_unasked()
        self.listener.on_unfolded(self, decisions)
        return decisions

    def unfold_unasked(self) -> list[Decision]:
        """Return the questions of an unsent batch as decision objects, without notifying the listener."""
        rows = zip(self.episodes, self.agents, self.numbers, strict=True)
        found = [episode.unfold_for(agent, number) for episode, agent, number in rows]
        return [decision for decision in found if decision is not None]


class UnaskedBatches:
    """Collects questions in one batch per slot until :meth:`take` returns the batches.

    Args:
        listener: Is notified when a batch is answered or unfolded.
        next_id: Returns the id for the next question.
    """

    def __init__(self, listener: BatchListener, next_id: Callable[[], int]) -> None:
        self._listener, self._next_id = listener, next_id
        self._batches: dict[AgentID, DecisionBatch] = {}

    def add(
        self,
        slot: AgentID,
        episode: AskedEpisode,
        agent: AgentID,
        encoded: tuple[bytes, ...],
        mask: Mask | None,
    ) -> int:
        """Add a question to the batch of its slot.

        Returns:
            Id of the question.
        """
        batch = self._batches.get(slot)
        if batch is None:
            batch = self._batches[slot] = DecisionBatch(slot, self._listener)
        number = self._next_id()
        batch.add(number, episode, agent, encoded, mask)
        return number

    def drop(self, episode: AskedEpisode) -> None:
        """Remove the questions of an episode that has ended."""
        self._batches = {slot: batch.without(episode) for slot, batch in self._batches.items()}

    def take(self) -> list[DecisionBatch]:
        """Return the collected non-empty batches and start new ones."""
        taken, self._batches = self._batches, {}
        return [batch for batch in taken.values() if len(batch)]


class AnswerBatch:
    """Answers to all questions of a batch.

    Attributes:
        batch: The questions.
        actions: Actions in the order of the questions.
        latency_ms: Milliseconds from the question to the answer.
        extras: Fields to record with each action; ``None`` for no fields.
    """

    __slots__ = ("actions", "batch", "extras", "latency_ms")

    def __init__(
        self, batch: DecisionBatch, actions: Sequence[Any], latency_ms: float, extras: Sequence[Extras] | None
    ) -> None:
        self.batch, self.actions, self.latency_ms, self.extras = batch, actions, latency_ms, extras

    def answer_to(self, place: int, decision: Decision) -> Answer:
        """Return the answer at index ``place`` of the batch as an object."""
        extras = None if self.extras is None else self.extras[place]
        return Answer(decision, self.actions[place], "", "", self.latency_ms, extras)
