"""Compares the records of two runs and finds the first difference."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast

import orjson

from gym_gui.analysis.records.jsonl import open_rows
from gym_gui.analysis.records.reader import OperatorRun, Run, open_run
from gym_gui.core.experiment.execution import PACE
from gym_gui.core.record_digest import UNTIMED
from gym_gui.core.record_fields import count, mapping, text
from gym_gui.core.records import parse_step
from gym_gui.core.types import WORD

IGNORED = UNTIMED | {"run_id"}
"""Keys of rows that may differ between equal runs: the run's id, times, latencies, digests."""

_ABSENT = object()


@dataclass(frozen=True)
class RunDifference:
    """First difference between two runs, with its position.

    Attributes:
        what: Key or description of the differing value.
        first: Value in the first run.
        second: Value in the second run.
        operator_id: Id of the operator; ``None`` if the difference concerns the whole run.
        episode_index: Index of the episode; ``None`` if the difference concerns no episode.
        step_index: Index of the step; ``None`` if the difference concerns no step.
        agent_id: Id of the agent; ``None`` if the difference concerns no agent.
    """

    what: str
    first: object
    second: object
    operator_id: str | None = None
    episode_index: int | None = None
    step_index: int | None = None
    agent_id: str | None = None

    def __str__(self) -> str:
        place = [
            f"{label} {value}"
            for label, value in (
                ("operator", self.operator_id),
                ("episode", self.episode_index),
                ("step", self.step_index),
                ("agent", self.agent_id),
            )
            if value is not None
        ]
        start = ", ".join(place) + ": " if place else ""
        first, second = _shown(self.first), _shown(self.second)
        return f"{start}{self.what} is {first} in the first run, {second} in the second"


def _shown(value: object) -> str:
    if value is _ABSENT:
        return "absent"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def compare_runs(first: Run | str | Path, second: Run | str | Path) -> RunDifference | None:
    """Return the first difference between two runs, or ``None`` if they are equal.

    Runs are equal if they have the same experiment and their episodes, sorted by index, agree in
    everything but run id, times and latencies. The number of processes, concurrency, machine and
    versions do not matter. An episode's steps are compared before its result, so that the
    difference names the first differing step. Rows are read one episode at a time.

    Raises:
        UsageError: One of the paths is no run folder.
        RunFormatError: A row is damaged.
    """
    a = first if isinstance(first, Run) else open_run(first)
    b = second if isinstance(second, Run) else open_run(second)
    if difference := _compare_experiments(a, b):
        return difference
    for operator_id in a.operators:
        if difference := _compare_operators(a.operators[operator_id], b.operators[operator_id]):
            return difference
    return None


def _compare_experiments(a: Run, b: Run) -> RunDifference | None:
    if set(a.operators) != set(b.operators):
        return RunDifference("the list of operators", sorted(a.operators), sorted(b.operators))
    if a.record.seeds != b.record.seeds:
        return RunDifference("the list of seeds", list(a.record.seeds), list(b.record.seeds))
    return _compare_rows(essence(a.record.experiment), essence(b.record.experiment), "experiment.")


_WITHOUT_EFFECT = frozenset({"folder", "isolation"})
"""Keys of an operator's configuration that do not affect its episodes."""


def _without_irrelevant_keys(operator: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in operator.items() if key not in _WITHOUT_EFFECT}


def essence(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded experiment without keys that do not affect its episodes, such as ``concurrency``."""
    kept = {key: value for key, value in experiment.items() if key != "matrix"}  # operators are its rows
    operators = kept.get("operators")
    if isinstance(operators, list):
        rows = cast("list[Any]", operators)
        kept["operators"] = [
            each if (row := mapping(each)) is None else _without_irrelevant_keys(row) for each in rows
        ]
    execution = kept.get("execution")
    if isinstance(execution, dict):
        settings = cast("dict[str, Any]", execution)
        done = {key: value for key, value in settings.items() if key not in PACE}
        if (record := mapping(done.get("record"))) is not None:
            done["record"] = {key: value for key, value in record.items() if key != "compress"}
        kept["execution"] = done
    return kept


def _compare_operators(a: OperatorRun, b: OperatorRun) -> RunDifference | None:
    episodes_a, episodes_b = EpisodeRows(a), EpisodeRows(b)
    for index in sorted(set(episodes_a.rows) | set(episodes_b.rows)):
        row_a, row_b = episodes_a.rows.get(index), episodes_b.rows.get(index)
        if row_a is None or row_b is None:
            present = ("absent", "present") if row_a is None else ("present", "absent")
            return RunDifference("the episode", *present, operator_id=a.operator_id, episode_index=index)
        for step_a, step_b in zip_longest(episodes_a.steps(index), episodes_b.steps(index)):
            if difference := _compare_steps(step_a, step_b, a.operator_id, index):
                return difference
        if difference := _compare_rows(row_a, row_b, "", operator_id=a.operator_id, episode_index=index):
            return difference
    return None


def _compare_steps(
    a: dict[str, Any] | None, b: dict[str, Any] | None, operator_id: str, episode: int
) -> RunDifference | None:
    row = a if a is not None else b
    assert row is not None
    place: dict[str, Any] = {
        "operator_id": operator_id,
        "episode_index": episode,
        "step_index": row.get("step_index"),
        "agent_id": row.get("agent_id"),
    }
    if a is None or b is None:
        present = ("absent", "present") if a is None else ("present", "absent")
        return RunDifference("the step", *present, **place)
    if (WORD in a) != (WORD in b):  # earlier versions did not record a word that the action implies
        a, b = ({key: value for key, value in each.items() if key != WORD} for each in (a, b))
    return _compare_rows(a, b, "", **place)


def _compare_rows(
    a: Mapping[str, Any], b: Mapping[str, Any], prefix: str, **place: Any
) -> RunDifference | None:
    for key in [*a, *(key for key in b if key not in a)]:
        if key in IGNORED:
            continue
        left, right = a.get(key, _ABSENT), b.get(key, _ABSENT)
        if left != right:
            return RunDifference(prefix + key, left, right, **place)
    return None


class EpisodeRows:
    """Rows of an operator's finished episodes, with access to the step rows of each episode.

    Steps of unfinished episodes are not included, because resuming the run drops them.

    Raises:
        RunFormatError: A row is damaged, or a step does not name its decision.
    """

    def __init__(self, operator: OperatorRun) -> None:
        self._file = operator.path / "steps.jsonl"
        self.rows = {episode.episode_index: line.value for episode, line in operator.episode_lines()}
        self._offsets: dict[int, array[int]] = {}
        for line in operator.step_lines():
            index, step = (count(line.value.get(key)) for key in ("episode_index", "step_index"))
            if index is None or step is None or text(line.value.get("agent_id")) is None:
                parse_step(line.value, line.where)  # raises an error that says what is wrong
                continue
            self._offsets.setdefault(index, array("q")).append(line.start)

    def steps(self, episode: int) -> Iterator[dict[str, Any]]:
        """Yield the step rows of one episode in file order."""
        offsets = self._offsets.get(episode)
        if not offsets:
            return
        with open_rows(self._file) as file:
            for offset in offsets:
                if file.tell() != offset:
                    file.seek(offset)
                yield orjson.loads(file.readline())
