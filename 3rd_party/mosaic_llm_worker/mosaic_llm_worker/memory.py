"""What one agent remembers of one episode."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

SUMMARY_EVERY: Final = 8
"""Turns after which the model writes its notes anew."""


@dataclass
class Turn:
    """One turn that is over.

    Attributes:
        step: Environment step.
        number: Which of the agent's own turns it is, from 1. The prompt has this number and not the step,
            which would say how often others have moved, tries that they keep to themselves included.
        seen: The observation in words.
        answer: The action as it was said; ``""`` where no answer could be used.
        words: The whole reply, what it said to team-mates included; ``""`` as ``answer``.
        heard: What team-mates had said to it.
        choices: (action, word) of the legal ones, where words depend on the position.
        played: What was played, said in the same way; ``""`` while that is not known.
        reward: What it brought; NaN where that is not told.
        picture: What was shown beside the words, as (data, mime); ``None`` where it is not shown again.
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
        """The result of this turn, for the next one; ``""`` where there is nothing to say."""
        parts: list[str] = []
        if self.played and self.played != self.answer:
            parts.append(f"Your answer could not be used; {self.played} was played instead.")
        if self.reward and not isnan(self.reward):
            parts.append(f"Your last action brought a reward of {self.reward:g}.")
        return " ".join(parts)


@dataclass
class Refused:
    """An answer that could not be played.

    Attributes:
        step: Environment step.
        reply: What the model wrote.
    """

    step: int
    reply: str


class Memory:
    """The turns of one episode.

    Args:
        agent: The agent that is played in it.
        history: Turns that are shown again.
        summary: Whether notes are written.
        pictures: Turns, of those that are shown again, that have their pictures.
        episode: The run's episode.
    """

    def __init__(self, agent: str, history: int, summary: bool, pictures: int = 0, episode: int = 0) -> None:
        self.agent, self.episode = agent, episode
        self.notes = ""
        self.refused: Refused | None = None
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
        """A turn begins; asking the same again is no new one."""
        if not self._turns or self._turns[-1].step != step:
            self._begun += 1
            kept = picture if self._pictures else None
            self._turns.append(Turn(step, self._begun, seen, choices=choices, picture=kept, heard=heard))
            if len(self._turns) > self._pictures + 1:
                self._turns[-self._pictures - 2].picture = None
            self._unsummed += 1
            self._tokens.clear()

    def answered(self, step: int, answer: str, words: str) -> None:
        """The turn's answer, and the words that it was given in."""
        turn = self.turn(step)
        if turn is not None:
            turn.answer, turn.words = answer, words

    def result(self, step: int, played: str, reward: float) -> None:
        """What was played at a turn, and what it led to."""
        turn = self.turn(step)
        if turn is not None:
            turn.played, turn.reward = played, reward

    def turn(self, step: int) -> Turn | None:
        """The turn of a step, while it is remembered."""
        return next((turn for turn in reversed(self._turns) if turn.step == step), None)

    def number(self, step: int) -> int:
        """Which of the own turns a step is; one that has not begun is counted from the start of the game."""
        turn = self.turn(step)
        return step + 1 if turn is None else turn.number

    def before(self, step: int) -> Sequence[Turn]:
        """The turns that are shown again at this one, the oldest first."""
        earlier = [turn for turn in self._turns if turn.step < step]
        return earlier[-self._history :] if self._history else []

    def last(self, step: int) -> Turn | None:
        """The turn before this one."""
        return next((turn for turn in reversed(self._turns) if turn.step < step), None)

    def to_sum_up(self, step: int) -> Sequence[Turn]:
        """The turns that notes are to be written of before this one; empty while there are too few."""
        # The turn that has just begun is counted already.
        if not self._summary or self._unsummed <= SUMMARY_EVERY or self._summed_at == step:
            return []
        return [turn for turn in self._turns if turn.step < step][-SUMMARY_EVERY:]

    def sum_up(self, step: int, notes: str) -> None:
        """New notes; ``""`` keeps the old ones, and the next try comes with the next turns."""
        self.notes = notes or self.notes
        self._summed_at, self._unsummed = step, 1

    def spend(self, step: int, input_tokens: int, output_tokens: int) -> None:
        """Count the tokens of a call."""
        before = self._tokens.get(step, (0, 0))
        self._tokens[step] = before[0] + input_tokens, before[1] + output_tokens

    def spent(self, step: int) -> dict[str, int]:
        """The tokens of a decision so far, those of refused answers included."""
        before = self._tokens.get(step, (0, 0))
        return {"input": before[0], "output": before[1]}
