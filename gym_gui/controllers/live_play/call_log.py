"""Keeps the model calls and reported decisions of one operator while it plays.

Log lines are stored unparsed and parsed only when the user opens them, because a person reads only a few of
ten thousand turns.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from gym_gui.analysis.transcripts.decision_rows import CONSIDERED, DECISION, SCORES
from gym_gui.analysis.transcripts.turn import CHAT, DRY, Turn, turn_of, with_row
from gym_gui.core.enums import FALLBACKS
from gym_gui.core.experiment.slot_patterns import is_pattern
from gym_gui.core.live import LiveView
from gym_gui.core.record_fields import mapping
from gym_gui.core.types import REFUSED, WORD

MOST_CALLS: Final = 20_000
MOST_BYTES: Final = 32 << 20
_NEAR: Final = 400
"""Number of recent turns in which a decision's model calls are searched among those of other decisions."""
_KEPT_TURNS: Final = 400
"""Largest number of parsed turns in the cache."""


@dataclass(slots=True)
class Spending:
    """Sums of an operator's model calls, tokens and cost.

    Attributes:
        calls: Number of calls.
        failed: Calls without a reply.
        input_tokens: Tokens read by models.
        output_tokens: Tokens written by models.
        usd: Cost of the calls whose price is known.
        unpriced: Calls whose price is not known.
        replayed: Calls that were answered from recorded replies (a cassette).
    """

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    replayed: int = 0

    def add(self, turn: Turn) -> None:
        """Add one call to the sums."""
        self.calls += 1
        self.failed += bool(turn.error)
        if turn.replayed:
            self.replayed += 1
            return
        self.input_tokens += turn.input_tokens
        self.output_tokens += turn.output_tokens
        if turn.usd is not None:
            self.usd += turn.usd
        elif not turn.error:
            self.unpriced += 1

    @property
    def words(self) -> str:
        """Sums of calls, cost and tokens as text: ``12 calls · $0.021 · 14,208 tokens``."""
        parts = [f"{self.calls:,} call{'' if self.calls == 1 else 's'}"]
        if self.usd:
            parts.append(("at least " if self.unpriced else "") + dollars(self.usd))
        if tokens := self.input_tokens + self.output_tokens:
            parts.append(f"{tokens:,} tokens")
        if self.replayed:
            parts.append("replayed" if self.replayed == self.calls else f"{self.replayed:,} replayed")
        if self.unpriced and not self.usd:
            parts.append("price not known")
        return " \N{MIDDLE DOT} ".join(parts)


class CallLog:
    """Log of an operator's turns (model calls and decisions), oldest first, bounded in number and memory.

    Attributes:
        spending: Cost of all calls, including calls that the log has dropped.
        agents: Number of turns by slot, in the order of the slots' first turns.
        decisions: Number of turns that were decisions without a call.
        first: Number of the oldest stored turn. Numbers count from 0 and do not change.
        last: The newest turn, or ``None``.
    """

    def __init__(self) -> None:
        self.spending = Spending()
        self.agents: dict[str, int] = {}
        self.decisions = 0
        self.first = 0
        self.last: Turn | None = None
        self._lines: list[bytes] = []
        self._keys: list[tuple[str, int, int]] = []
        self._bytes = 0
        self._refused: set[int] = set()
        self._newest: dict[tuple[str, int, int], tuple[int, int]] = {}
        self._played: dict[tuple[str, int, int], dict[str, Any]] = {}
        self._action_words: dict[tuple[str, int], str] = {}
        self._kept_turns: OrderedDict[int, Turn] = OrderedDict()

    def __len__(self) -> int:
        """Return the number that the next turn will get, which counts dropped turns too."""
        return self.first + len(self._lines)

    def add(self, line: bytes) -> Turn | None:
        """Add a log line and return its turn; ``None`` if the line is neither a call nor a decision."""
        try:
            value = mapping(orjson.loads(line))
        except orjson.JSONDecodeError:
            return None
        if value is None or value.get("kind", CHAT) not in (CHAT, DRY, DECISION):
            return None
        turn = turn_of(value)
        number = len(self)
        key = (turn.agent, turn.episode, turn.step)
        if turn.is_decision:
            self.decisions += 1  # a decision itself says what was played
        else:
            self._count_call(turn, key, number)
        self._lines.append(line)
        self._keys.append(key)
        self._bytes += len(line)
        self.agents[turn.agent] = self.agents.get(turn.agent, 0) + 1
        self.last = turn
        self._remember(number, turn)
        self._forget()
        return turn

    def _count_call(self, turn: Turn, key: tuple[str, int, int], number: int) -> None:
        before = self._newest.get(key)
        if before is not None and turn.attempt > before[1]:
            # The model was asked again, so its former reply could not be played.
            self._refused.add(before[0])
            self._kept_turns.pop(before[0], None)
        self._newest[key] = (number, turn.attempt)
        self.spending.add(turn)

    def store_actions(self, view: LiveView) -> None:
        """Store the names of a view's actions; rows of games without notation contain only numbers."""
        for agent in view.agents:
            if agent.number is not None and agent.action:
                asked = agent.agent if is_pattern(agent.slot) else agent.slot
                self._action_words[asked, agent.number] = agent.action

    def played(self, steps: bytes, seats: dict[str, str]) -> None:
        """Add the actions that were played to the turns of a finished episode.

        Args:
            steps: Rows of the episode, as JSON lines.
            seats: Slot by agent.
        """
        if not self._keys:
            return
        for line in steps.splitlines():
            row: dict[str, Any] = orjson.loads(line)
            agent = str(row.get("agent_id"))
            key = (seats.get(agent, agent), int(row.get("episode_index", -1)), int(row.get("step_index", -1)))
            if key in self._newest:
                kept = {
                    name: row.get(name)
                    for name in ("action", WORD, "action_source", "said", SCORES, CONSIDERED, REFUSED)
                }
                self._played[key] = kept
                number, attempt = self._newest[key]
                self._newest[key] = self._answer(number, key, row.get("call_ref")), attempt
                self._kept_turns.pop(number, None)
                self._kept_turns.pop(self._newest[key][0], None)

    def _answer(self, newest: int, key: tuple[str, int, int], ref: object) -> int:
        """Return the number of the call whose reply was played, often but not always the newest one."""
        oldest = max(self.first, newest - _NEAR) if ref is not None else newest + 1
        for number in range(newest, oldest - 1, -1):
            at = number - self.first
            if self._keys[at] == key and orjson.loads(self._lines[at]).get("ref") == ref:
                return number
        return newest

    def turn(self, number: int) -> Turn:
        """Return the turn with this number.

        Raises:
            IndexError: The turn has been dropped or does not exist yet.
        """
        if number < self.first:
            raise IndexError(number)
        found = self._kept_turns.get(number)
        if found is not None:
            self._kept_turns.move_to_end(number)
            return found
        turn = turn_of(orjson.loads(self._lines[number - self.first]))
        self._remember(number, turn)
        return self._kept_turns[number]

    def agent(self, number: int) -> str:
        """Return the slot of the turn with this number."""
        return self._keys[number - self.first][0]

    def place(self, number: int) -> tuple[int, int]:
        """Return the episode index and the step of the turn with this number."""
        return self._keys[number - self.first][1:]

    def lines(self) -> Sequence[tuple[int, bytes]]:
        """Return all stored lines with their turn numbers, as a copy that another thread may read."""
        return list(enumerate(self._lines, self.first))

    @property
    def all_refused(self) -> frozenset[int]:
        """Numbers of turns after which the model was asked again or a substitute action was played."""
        fell_back = (self._newest[key][0] for key, row in self._played.items() if _is_fallback(row))
        return frozenset((*self._refused, *fell_back))

    def _remember(self, number: int, turn: Turn) -> None:
        key = (turn.agent, turn.episode, turn.step)
        row = self._played.get(key)
        if number in self._refused:
            turn = replace(turn, refused=True)
        elif row is not None and not turn.is_decision and self._newest.get(key, (-1, 0))[0] == number:
            turn = with_row(turn, row)
            turn = turn if turn.word else replace(turn, word=self._action_word(turn))
        self._kept_turns[number] = turn
        self._kept_turns.move_to_end(number)
        while len(self._kept_turns) > _KEPT_TURNS:
            self._kept_turns.popitem(last=False)

    def _action_word(self, turn: Turn) -> str:
        return self._action_words.get((turn.agent, turn.action), "") if isinstance(turn.action, int) else ""

    def _forget(self) -> None:
        over = 0
        while len(self._lines) - over > 1 and (
            len(self._lines) - over > MOST_CALLS or self._bytes > MOST_BYTES
        ):
            self._bytes -= len(self._lines[over])
            key, number = self._keys[over], self.first + over
            if self._newest.get(key, (-1, 0))[0] == number:
                del self._newest[key]
                self._played.pop(key, None)
            self._refused.discard(number)
            self._kept_turns.pop(number, None)
            over += 1
        if over:
            del self._lines[:over], self._keys[:over]
            self.first += over


def _is_fallback(row: dict[str, Any]) -> bool:
    return row.get("action_source") in FALLBACKS


def dollars(usd: float) -> str:
    """Return an amount of money as text: ``$0.0003``, ``$0.021``, ``$1.25``."""
    if usd <= 0:
        return "$0"
    if usd < 0.0001:
        return "under $0.0001"
    return f"${usd:.4f}" if usd < 0.01 else f"${usd:.3f}" if usd < 1 else f"${usd:,.2f}"
