"""Turns as rows of a list: of an operator that plays, or of an episode that is over."""

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
    """Turns by number."""

    @property
    def unit(self) -> str:
        """What one is called: a call, a decision, or a turn where there are both."""
        ...

    @property
    def first(self) -> int:
        """The oldest there is."""
        ...

    def __len__(self) -> int:
        """Number after the newest."""
        ...

    def turn(self, number: int) -> Turn:
        """One of them."""
        ...

    def agent(self, number: int) -> str:
        """Whose it is."""
        ...

    def place(self, number: int) -> tuple[int, int]:
        """Its episode and step."""
        ...

    def search(self, wanted: Wanted) -> Callable[[], list[int]]:
        """A search for those that are wanted, among what there is now; it may be called in a thread."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which calls are shown.

    Attributes:
        agent: Of this slot; empty: of all.
        words: In which this stands, in capitals or not.
        failed: Only those without a usable reply.
    """

    agent: str = ""
    words: str = ""
    failed: bool = False

    @property
    def quick(self) -> bool:
        """Whether nothing has to be read to tell."""
        return not self.words and not self.failed

    def takes(self, turn: Turn) -> bool:
        """Whether it wants this one."""
        if (self.agent and turn.agent != self.agent) or (self.failed and not turn.failed):
            return False
        return not self.words or turn.contains(self.words)


class EpisodeTurns:
    """Turns of an episode that is over."""

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

    def search(self, wanted: Wanted) -> Callable[[], list[int]]:
        turns = self._turns
        return lambda: [i for i, turn in enumerate(turns) if wanted.takes(turn)]


class LiveTurns:
    """Calls of an operator that plays."""

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

    def search(self, wanted: Wanted) -> Callable[[], list[int]]:
        return partial(_search, self.log.lines(), self.log.all_refused, wanted)


def _unit(turns: int, decisions: int) -> str:
    if not decisions:
        return "call"
    return "decision" if decisions == turns else "turn"


def _search(lines: Sequence[tuple[int, bytes]], refused: frozenset[int], wanted: Wanted) -> list[int]:
    # Most lines are told apart unread; what is not ASCII may be written in several ways.
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
    """Turns that are wanted, the oldest first; each is read when it is seen."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source: TurnSource = EpisodeTurns()
        self._rows: list[int] = []
        self._seen = 0
        self.wanted = Wanted()

    @property
    def source(self) -> TurnSource:
        """Where they come from."""
        return self._source

    def show(self, source: TurnSource, numbers: Sequence[int] | None = None) -> None:
        """Show these calls.

        Args:
            source: Where they are.
            numbers: Those that are wanted; ``None``: whatever :attr:`wanted` says, which must be quick.
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
        """Take in what has come since, and let go of what has been forgotten."""
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
        """What became of some answers is known now."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 0))

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Rows."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The turn itself, or its reply in a line."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        if role not in (TURN_ROLE, Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return None
        turn = self.turn(index.row())
        if turn is None or role == TURN_ROLE:
            return turn
        return f"{turn.agent}, step {turn.step}: {turn.error or answer_line(turn)}"

    def turn(self, row: int) -> Turn | None:
        """The turn of a row; ``None`` where it has just been forgotten."""
        try:
            return self._source.turn(self._rows[row])
        except IndexError:
            return None

    def before(self, row: int) -> Turn | None:
        """The same agent's call before that of a row."""
        number = self._rows[row]
        agent = self._source.agent(number)
        for other in range(number - 1, max(number - 50, self._source.first) - 1, -1):
            if self._source.agent(other) == agent:
                return self._source.turn(other)
        return None

    def row_at(self, episode: int | None, step: int, agent: str = "") -> int | None:
        """The last call about a step, of that agent where there is one; else that before it, else the next.

        What a manager has asked for holds until it is asked again.

        Args:
            episode: ``None``: of the last episode.
            step: Environment step, from 0.
            agent: Slot; empty: any.
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
