"""Memory of an agent in one episode: its last turns, notes and token counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

SUMMARY_EVERY: Final = 8
"""Number of turns after which the model rewrites its notes."""


@dataclass
class Turn:
    """One turn of an agent.

    Attributes:
        step: Environment step.
        number: Number of the turn among the agent's own turns, from 1. The prompt has this number and not
            the step, which would reveal how often others have moved, including hidden attempts.
        seen: The observation as text.
        answer: Word of the action in the model's answer; ``""`` if no answer was usable.
        words: The whole reply, including messages to teammates; ``""`` if no answer was usable.
        heard: Messages of teammates to the agent.
        choices: (action, word) of the legal actions, if words depend on the position.
        played: Word of the action that was played; ``""`` while it is not known.
        reward: Reward of the action; NaN if the agent may not know it.
        picture: Image of the observation as (data, mime); ``None`` if it is not shown again.
    """

    step: int
    number: int
    seen: str
    answer: str = ""
    words: str = ""
    heard: Sequence[str] = ()
    choices: Sequence[tuple[int, str]] = ()
    played: str = ""
    reward: float = 0.0
    picture: tuple[bytes, str] | None = None

    @property
    def news(self) -> str:
        """Text with the result of this turn for the next prompt; ``""`` if there is no news."""
        parts: list[str] = []
        if self.played and self.played != self.answer:
            parts.append(f"Your answer could not be used; {self.played} was played instead.")
        if self.reward and not isnan(self.reward):
            parts.append(f"Your last action brought a reward of {self.reward:g}.")
        return " ".join(parts)


@dataclass
class RefusedAnswer:
    """An answer that could not be played.

    Attributes:
        step: Environment step.
        reply: What the model wrote.
    """

    step: int
    reply: str


class Memory:
    """Turns of one episode.

    Args:
        agent: Agent that the slot plays in the episode.
        history: Number of earlier turns that are repeated in the prompt.
        summary: Whether the model writes notes.
        pictures: Number of repeated turns that have their image again.
        episode: Number of the run's episode.
    """

    def __init__(self, agent: str, history: int, summary: bool, pictures: int = 0, episode: int = 0) -> None:
        self.agent, self.episode = agent, episode
        self.notes = ""
        self.refused: RefusedAnswer | None = None
        self._tokens: dict[int, tuple[int, int]] = {}
        self._history, self._summary, self._pictures = history, summary, pictures
        # The turn that is decided, and at least the one before, whose result is news.
        kept = max(history, SUMMARY_EVERY if summary else 0, 1)
        self._turns: deque[Turn] = deque(maxlen=kept + 1)
        self._begun = self._unsummed = 0
        self._summed_at = -1

    def begin(
        self,
        step: int,
        seen: str,
        choices: Sequence[tuple[int, str]] = (),
        picture: tuple[bytes, str] | None = None,
        heard: Sequence[str] = (),
    ) -> None:
        """Begin a turn, unless the turn of this step has begun already (a retry)."""
        if not self._turns or self._turns[-1].step != step:
            self._begun += 1
            kept = picture if self._pictures else None
            self._turns.append(Turn(step, self._begun, seen, choices=choices, picture=kept, heard=heard))
            if len(self._turns) > self._pictures + 1:
                self._turns[-self._pictures - 2].picture = None
            self._unsummed += 1
            self._tokens.clear()

    def answered(self, step: int, answer: str, words: str) -> None:
        """Store the answer of a turn and the whole reply."""
        turn = self.turn(step)
        if turn is not None:
            turn.answer, turn.words = answer, words

    def result(self, step: int, played: str, reward: float) -> None:
        """Store the action that was played in a turn and its reward."""
        turn = self.turn(step)
        if turn is not None:
            turn.played, turn.reward = played, reward

    def turn(self, step: int) -> Turn | None:
        """Return the turn of a step, or ``None`` if it is no longer in the memory."""
        return next((turn for turn in reversed(self._turns) if turn.step == step), None)

    def number(self, step: int) -> int:
        """Return the number of a step's turn; for a turn that is not in the memory, ``step + 1``."""
        turn = self.turn(step)
        return step + 1 if turn is None else turn.number

    def before(self, step: int) -> Sequence[Turn]:
        """Return the earlier turns that are repeated in the prompt of a step, the oldest first."""
        earlier = [turn for turn in self._turns if turn.step < step]
        return earlier[-self._history :] if self._history else []

    def last(self, step: int) -> Turn | None:
        """Return the turn before a step, or ``None``."""
        return next((turn for turn in reversed(self._turns) if turn.step < step), None)

    def to_sum_up(self, step: int) -> Sequence[Turn]:
        """Return the turns to summarize in notes before a step; empty if no summary is due."""
        # The count already includes the turn that has just begun.
        if not self._summary or self._unsummed <= SUMMARY_EVERY or self._summed_at == step:
            return []
        return [turn for turn in self._turns if turn.step < step][-SUMMARY_EVERY:]

    def sum_up(self, step: int, notes: str) -> None:
        """Store new notes; ``""`` keeps the old ones until the next summary."""
        self.notes = notes or self.notes
        self._summed_at, self._unsummed = step, 1

    def add_tokens(self, step: int, input_tokens: int, output_tokens: int) -> None:
        """Add the tokens of a call to those of its decision."""
        before = self._tokens.get(step, (0, 0))
        self._tokens[step] = before[0] + input_tokens, before[1] + output_tokens

    def spent(self, step: int) -> dict[str, int]:
        """Return the tokens of a decision so far, including those of refused answers."""
        before = self._tokens.get(step, (0, 0))
        return {"input": before[0], "output": before[1]}
