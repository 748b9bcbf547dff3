"""Sources of turns (model calls and decisions of an operator) and a list model of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

import orjson
from PyQt6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt

from gym_gui.analysis.transcripts.turn import Turn, turn_of
from gym_gui.controllers.live_play.call_log import CallLog
from gym_gui.ui.language.player_strip import answer_line

TURN_ROLE: Final = Qt.ItemDataRole.UserRole + 1


class TurnSource(Protocol):
    """Protocol of a numbered sequence of turns; a turn is a model call or a program's decision."""

    @property
    def unit(self) -> str:
        """Singular noun for the entries: ``call``, ``decision``, or ``turn`` if there are both."""
        ...

    @property
    def first(self) -> int:
        """Number of the oldest turn that the source still has."""
        ...

    def __len__(self) -> int:
        """Return the number of the newest turn plus one."""
        ...

    def turn(self, number: int) -> Turn:
        """Return the turn with a number."""
        ...

    def agent(self, number: int) -> str:
        """Return the agent of the turn with a number."""
        ...

    def place(self, number: int) -> tuple[int, int]:
        """Return episode and step of the turn with a number."""
        ...

    def search(self, wanted: TurnFilter) -> Callable[[], list[int]]:
        """Return a function, safe to call in a thread, that returns the numbers of the turns that match a
        filter.
        """
        ...


@dataclass(frozen=True, slots=True)
class TurnFilter:
    """Filter of turns.

    Attributes:
        agent: Slot whose turns are shown; ``""`` for all slots.
        words: Words that a turn must contain, ignoring case.
        failed: Whether only turns without a usable reply are shown.
    """

    agent: str = ""
    words: str = ""
    failed: bool = False

    @property
    def quick(self) -> bool:
        """Whether the filter needs no texts of turns and is therefore fast."""
        return not self.words and not self.failed

    def takes(self, turn: Turn) -> bool:
        """Return whether a model call or decision passes the filter."""
        if (self.agent and turn.agent != self.agent) or (self.failed and not turn.failed):
            return False
        return not self.words or turn.contains(self.words)


class EpisodeTurns:
    """Source with the model calls and decisions of a finished episode."""

    first = 0

    def __init__(self, turns: Sequence[Turn] = ()) -> None:
        self._turns = turns
        self.unit = _unit(len(turns), sum(turn.is_decision for turn in turns))

    def __len__(self) -> int:
        return len(self._turns)

    def turn(self, number: int) -> Turn:
        return self._turns[number]

    def agent(self, number: int) -> str:
        return self._turns[number].agent

    def place(self, number: int) -> tuple[int, int]:
        turn = self._turns[number]
        return turn.episode, turn.step

    def search(self, wanted: TurnFilter) -> Callable[[], list[int]]:
        turns = self._turns
        return lambda: [i for i, turn in enumerate(turns) if wanted.takes(turn)]


class LiveTurns:
    """Source with the model calls and decisions of a running operator."""

    def __init__(self, log: CallLog) -> None:
        self.log = log

    @property
    def unit(self) -> str:
        return _unit(self.log.spending.calls + self.log.decisions, self.log.decisions)

    @property
    def first(self) -> int:
        return self.log.first

    def __len__(self) -> int:
        return len(self.log)

    def turn(self, number: int) -> Turn:
        return self.log.turn(number)

    def agent(self, number: int) -> str:
        return self.log.agent(number)

    def place(self, number: int) -> tuple[int, int]:
        return self.log.place(number)

    def search(self, wanted: TurnFilter) -> Callable[[], list[int]]:
        return partial(_search, self.log.lines(), self.log.all_refused, wanted)


def _unit(turns: int, decisions: int) -> str:
    if not decisions:
        return "call"
    return "decision" if decisions == turns else "turn"


def _search(lines: Sequence[tuple[int, bytes]], refused: frozenset[int], wanted: TurnFilter) -> list[int]:
    # The raw lines are searched first, most need no parsing; text that is not ASCII may be encoded in several
    # ways.
    plain = wanted.words.lower()
    needle = orjson.dumps(plain)[1:-1] if plain.isascii() else b""
    found: list[int] = []
    for number, line in lines:
        if needle and needle not in line.lower():
            continue
        turn = turn_of(orjson.loads(line))
        if wanted.takes(replace(turn, refused=True) if number in refused else turn):
            found.append(number)
    return found


class TurnModel(QAbstractListModel):
    """List model of the model calls and decisions that pass a filter, oldest first, each read when shown."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source: TurnSource = EpisodeTurns()
        self._rows: list[int] = []
        self._seen = 0
        self.wanted = TurnFilter()

    @property
    def source(self) -> TurnSource:
        """Source whose turns are shown."""
        return self._source

    def show(self, source: TurnSource, numbers: Sequence[int] | None = None) -> None:
        """Show the turns of another source.

        Args:
            source: The source.
            numbers: Numbers of the turns to show; ``None`` applies :attr:`wanted`, which must be quick.
        """
        self.beginResetModel()
        self._source, self._seen = source, len(source)
        agent = self.wanted.agent
        if numbers is not None:
            self._rows = list(numbers)
        else:
            every = range(source.first, len(source))
            self._rows = [i for i in every if source.agent(i) == agent] if agent else list(every)
        self.endResetModel()

    def grow(self) -> None:
        """Add new turns of the source, and remove turns that the source no longer has."""
        source = self._source
        gone = 0
        while gone < len(self._rows) and self._rows[gone] < source.first:
            gone += 1
        if gone:
            self.beginRemoveRows(QModelIndex(), 0, gone - 1)
            del self._rows[:gone]
            self.endRemoveRows()
        fresh = range(max(self._seen, source.first), len(source))
        self._seen = len(source)
        agent = self.wanted.agent
        if self.wanted.quick:
            new = [i for i in fresh if not agent or source.agent(i) == agent]
        else:
            new = [i for i in fresh if self.wanted.takes(source.turn(i))]
        if new:
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + len(new) - 1)
            self._rows += new
            self.endInsertRows()

    def retell(self) -> None:
        """Repaint all rows, because the outcome of some replies is known now."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 0))

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the turn of a row, or its summary in one line."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        if role not in (TURN_ROLE, Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return None
        turn = self.turn(index.row())
        if turn is None or role == TURN_ROLE:
            return turn
        return f"{turn.agent}, step {turn.step}: {turn.error or answer_line(turn)}"

    def turn(self, row: int) -> Turn | None:
        """Return the model call or decision in a row; ``None`` if the source no longer has it."""
        try:
            return self._source.turn(self._rows[row])
        except IndexError:
            return None

    def before(self, row: int) -> Turn | None:
        """Return the same agent's previous turn before a row, within 50 turns, or ``None``."""
        number = self._rows[row]
        agent = self._source.agent(number)
        for other in range(number - 1, max(number - 50, self._source.first) - 1, -1):
            if self._source.agent(other) == agent:
                return self._source.turn(other)
        return None

    def row_at(self, episode: int | None, step: int, agent: str = "") -> int | None:
        """Return the row of a step's last turn, else of the nearest earlier turn, else of the nearest later
        turn.

        An earlier turn counts because a manager's option remains in effect until the manager's next decision.
        Without a matching turn the result is ``None``.

        Args:
            episode: Index of the episode; ``None`` for the last one.
            step: Environment step, from 0.
            agent: Slot of the agent; ``""`` for any agent.
        """
        if not self._rows:
            return None
        place, source = self._source.place, self._source
        if episode is None:
            episode = place(self._rows[-1])[0]
        best: tuple[int, int] | None = None
        later: tuple[int, int] | None = None
        for row, number in enumerate(self._rows):
            of, at = place(number)
            if of != episode or (agent and source.agent(number) != agent):
                continue
            if at <= step and (best is None or at >= best[0]):
                best = (at, row)
            elif at > step and (later is None or at < later[0]):
                later = (at, row)
        nearest = best or later
        return nearest[1] if nearest is not None else None
