"""Counts decisions by the source of their action, and computes latencies, from ``steps.jsonl``.

There may be millions of rows, so whole blocks are decoded, and only the counted fields. Rows of managers, of
earlier versions, and malformed rows are read one by one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import orjson
from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from gym_gui.analysis.compute.collect import OperatorData, OptionTally
from gym_gui.analysis.findings.summary import Decisions
from gym_gui.analysis.records.jsonl import Line
from gym_gui.analysis.records.reader import OperatorRun
from gym_gui.core.enums import FALLBACKS
from gym_gui.core.errors import RunFormatError
from gym_gui.core.record_fields import integer, mapping

_CHOICE: Final = "option_arguments"
"""Key that only the rows of managers have."""


class _Row(Struct, gc=False):
    """Fields of a step row that are counted."""

    episode_index: int
    action_source: str
    latency_ms: float | None = None


_ROWS: Final = Decoder(_Row)


def collect_decisions(operator: OperatorRun, data: OperatorData) -> Decisions:
    """Count the decisions of an operator's recorded episodes in constant memory.

    Args:
        operator: Operator whose steps are counted.
        data: The operator's episodes. The function adds counts of the managers' options, the number of
            episodes with missing steps, and unusable decisions that earlier versions did not count.

    Raises:
        RunFormatError: A row is damaged.
    """
    counts = _Counts(data)
    last = b""
    for block in operator.step_blocks():
        last = block.data[block.data.rfind(b"\n", 0, -1) + 1 :]
        rows = None if data.uncounted or _CHOICE.encode() in block.data else _decoded(block.data)
        if rows is not None:
            counts.add_all(rows)
            continue
        for line in block.lines():
            counts.add(line)
    data.stepless = counts.stepless(last)
    return counts.decisions()


def _decoded(data: bytes) -> Sequence[_Row] | None:
    """Decode the counted fields of whole lines; return ``None`` if a line is malformed."""
    try:
        data.decode()  # the decoder checks only the form of fields that are not counted
        rows = _ROWS.decode_lines(data)
    except (UnicodeDecodeError, DecodeError):
        return None
    return rows if len(rows) == data.count(b"\n") else None


class _Counts:
    def __init__(self, data: OperatorData) -> None:
        self._data, self._episodes = data, data.indices
        self._sources, self._latencies = Counter[str](), LatencySketch()
        self._seen = set[int]()

    def add_all(self, rows: Sequence[_Row]) -> None:
        seen = {row.episode_index for row in rows}
        self._seen |= seen
        if not self._episodes.issuperset(seen):
            rows = [row for row in rows if row.episode_index in self._episodes]
        self._sources.update([row.action_source for row in rows])
        self._latencies.add([row.latency_ms for row in rows if row.latency_ms is not None])

    def add(self, line: Line) -> None:
        row, data = line.value, self._data
        try:
            index, source = row["episode_index"], row["action_source"]
            if not isinstance(source, str):
                raise TypeError(f"{source!r} is no text")
            if index not in self._episodes:
                return
            self._sources[source] += 1
            self._seen.add(index)
            if index in data.uncounted and source in FALLBACKS:
                seat = str(row.get("agent_id"))
                data.unusable[data.uncounted[index].get(seat, seat)] += 1
        except (KeyError, TypeError) as error:
            raise RunFormatError(
                line.where, f"'episode_index' or 'action_source' is unusable ({error})"
            ) from None
        if _CHOICE in row:
            _add_option(data, index, row)
        latency = row.get("latency_ms")
        if isinstance(latency, float | int):
            self._latencies.add([latency])

    def stepless(self, last: bytes) -> int:
        """Return the number of completed episodes without steps or with steps cut off at the file's end.

        Args:
            last: The last line of the file.
        """
        lengths = {e.episode: e.length for e in self._data.completed if e.length}
        row = mapping(orjson.loads(last)) if last else None
        index, step = (integer((row or {}).get(key)) for key in ("episode_index", "step_index"))
        cut_off = index is not None and step is not None and step + 1 < lengths.get(index, 0)
        return len(lengths.keys() - self._seen) + cut_off

    def decisions(self) -> Decisions:
        counts = {str(source): n for source, n in sorted(self._sources.items())}
        replaced = sum(self._sources[source] for source in FALLBACKS)
        # An episode that failed because of an unusable answer has no step row for that decision.
        total = sum(counts.values()) + max(0, self._data.unusable.total() - replaced)
        return Decisions(total, counts, self._latencies.quantile(0.5), self._latencies.quantile(0.95))


def _add_option(data: OperatorData, episode: int, row: Mapping[str, Any]) -> None:
    """Add a manager's choice of an option to the counts of an operator."""
    seat = str(row.get("agent_id"))
    key = (data.seats.get(episode, {}).get(seat, seat), str(row.get("option")))
    tally = data.options.setdefault(key, OptionTally())
    reward, moves = row.get("reward"), row.get("option_moves")
    tally.chosen += 1
    tally.earned += reward if isinstance(reward, float | int) else 0.0
    if isinstance(moves, int) and (why := row.get("option_ended_by")) is not None:
        tally.ended[str(why)] += 1
        tally.moves += moves


class LatencySketch:
    """Estimates quantiles of many positive numbers with an error of at most 2 %, in constant memory.

    Source:
        Masson et al., "DDSketch", VLDB 2019: counts in geometric bins.
    """

    _LOG_BASE = math.log(1.04)
    _FLOOR = 1e-6
    _AT_ONCE = 1 << 14

    def __init__(self) -> None:
        self._bins: Counter[int] = Counter()
        self._fresh: list[float] = []

    def add(self, values: Iterable[float]) -> None:
        """Add numbers; numbers below a millionth count as 0."""
        self._fresh.extend(values)
        if len(self._fresh) >= self._AT_ONCE:
            self._settle()

    def _settle(self) -> None:
        """Count the numbers that were added since the last call, in one vectorized step."""
        values = np.maximum(np.array(self._fresh, np.float64), self._FLOOR)
        found, counts = np.unique(np.ceil(np.log(values) / self._LOG_BASE), return_counts=True)
        self._bins.update(dict(zip(found.astype(int).tolist(), counts.tolist(), strict=True)))
        self._fresh.clear()

    def quantile(self, q: float) -> float | None:
        """Return the q-quantile, or ``None`` if nothing was counted."""
        self._settle()
        rank = q * (sum(self._bins.values()) - 1)
        reached = 0
        for index in sorted(self._bins):
            reached += self._bins[index]
            if reached > rank:
                middle = math.exp((index - 0.5) * self._LOG_BASE)
                return middle if middle > 1.1 * self._FLOOR else 0.0
        return None
