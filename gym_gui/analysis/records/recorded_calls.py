"""Groups an operator's recorded calls to language models by decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gym_gui.analysis.records.reader import OperatorRun
from gym_gui.core.record_fields import count, text

KEPT: Final = ("turn", "reply", "thinking", "tool_calls", "finish", "error")
"""Keys of a row of ``calls.jsonl`` that describe the reply."""

Attempts = Sequence[Sequence[Mapping[str, Any]]]
"""Calls of a decision, as one list per attempt; each call has the keys :data:`KEPT` of its row."""


class RecordedCalls:
    """The recorded model calls of an operator, without their prompts.

    Attributes:
        total: Number of calls in the file.
        without_words: Number of calls whose texts were not recorded (``cassette: off``).

    Args:
        operator: Operator whose calls are read.

    Raises:
        RunFormatError: A row is damaged.
    """

    def __init__(self, operator: OperatorRun) -> None:
        self.total = self.without_words = 0
        self._by_decision: dict[tuple[int, str, int], dict[int, dict[int, Mapping[str, Any]]]] = {}
        for call in operator.calls():
            self._note(call)

    def _note(self, call: Mapping[str, Any]) -> None:
        if call.get("kind") != "chat":
            return
        place = [count(call.get(key)) for key in ("episode", "step", "attempt", "turn")]
        agent = text(call.get("agent"))
        self.total += 1
        if "reply" not in call and not call.get("error"):
            self.without_words += 1
            return
        episode, step, attempt, turn = place
        if episode is None or step is None or agent is None:
            return
        attempts = self._by_decision.setdefault((episode, agent, step), {})
        if (turn or 0) in attempts.get(attempt or 0, {}):
            # An episode that was begun again has calls of both plays; only the later ones are valid.
            for later in [number for number in attempts if number > (attempt or 0)]:
                del attempts[later]
        kept = {key: call[key] for key in KEPT if key in call}
        attempts.setdefault(attempt or 0, {})[turn or 0] = kept

    def of(self, episode: int, agent: str, step: int) -> Attempts:
        """Return the calls of one decision; empty if none are recorded."""
        attempts = self._by_decision.get((episode, agent, step), {})
        return [list(attempts[number].values()) for number in sorted(attempts)]

    def decisions(self) -> Iterator[tuple[int, str, int]]:
        """Yield episode, agent and step of each decision with recorded calls."""
        return iter(self._by_decision)
