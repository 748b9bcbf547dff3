"""Pairs the results of two operators on their shared seeds, for comparisons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

from gym_gui.analysis.compute.collect import CompletedEpisode, OperatorData, SquadResult
from gym_gui.analysis.compute.interim_analysis import (
    Pair,
    compare_at_looks,
    has_planned_looks,
    operators_in_same_looks,
)
from gym_gui.analysis.compute.tasks import Task, differences_in_words
from gym_gui.analysis.findings.comparison import Comparison, Refusal
from gym_gui.analysis.findings.pairs import Pairs, Sides
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.analysis.statistics.summary_numbers import Bounds
from gym_gui.analysis.statistics.units import Sample
from gym_gui.analysis.words import wording
from gym_gui.core.record_fields import mapping
from gym_gui.core.records import AgentRecord

STATE_MARK = "†"
"""Mark after the name of an operator or team that received the simulator's state."""


@dataclass(frozen=True)
class Entry:
    """An operator with its data and its name in a report.

    Attributes:
        key: Key that is unique in the report.
        label: Name in the report, unique among the operators of the same task.
        run: The run that contains the operator.
        operator: The operator's record in the run folder.
        data: The operator's episodes.
        task: The task that the operator played.
        title: Name of the task in the report; operators of the same task have equal titles.
        failure_score: Value of a failed episode; ``None`` if the experiment declares none.
    """

    key: str
    label: str
    run: Run
    operator: OperatorRun
    data: OperatorData
    task: Task
    title: str
    failure_score: float | None

    @property
    def is_trained(self) -> bool:
        """Whether a trained policy plays; verdicts then hold for this checkpoint only."""
        return any(agent.worker_type == "rl" for agent in self.data.agents.values())

    @property
    def training(self) -> tuple[str, int] | None:
        """Group and seed of the operator's training, if its whole group of trainings plays; else ``None``."""
        of = mapping(self.operator.config.get("group")) or {}
        name, seed = of.get("name"), of.get("seed")
        return (name, seed) if isinstance(name, str) and isinstance(seed, int) else None

    @property
    def lost_lines(self) -> int:
        """Number of episodes that were played but whose line is missing in the operator's folder."""
        there = len(self.data.indices) + self.data.taken_back + self.data.out_of_time
        return self.run.lost_lines(self.operator.operator_id, there)

    @property
    def begun_again(self) -> int:
        """Number of the operator's episodes that were begun again because a process was lost."""
        again = (r for r in self.run.record.retries if r.operator_id == self.operator.operator_id)
        return len({r.episode_index for r in again})

    @property
    def workers(self) -> str:
        """Ids of the workers that play the operator's slots, separated by commas."""
        return ", ".join(dict.fromkeys(agent.worker_id for agent in self.data.agents.values()))


class MeasuredResult(NamedTuple):
    """Result of an episode in the measure of a comparison.

    Attributes:
        seed: The environment's seed.
        value: Return or score; ``None`` if there is none.
        failed: Whether the episode failed or its return is not finite; the value is then the declared
            failure score, if any.
        digest: Digest of the episode's trajectory; ``None`` if it was not recorded.
    """

    seed: int | None
    value: float | None
    failed: bool
    digest: str | None


Rounds = Mapping[tuple[int | None, int], Sequence[MeasuredResult]]
"""Results by seed and repetition (0, 1, …) of that seed, one result per seating."""


def operator_pairs(entries: Sequence[Entry]) -> list[tuple[Sides, Pairs] | Comparison]:
    """Return the paired results of each two operators of the same task.

    Pairs that a run compared at interim looks are returned as finished comparisons.
    """
    by_task: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_task[entry.title].append(entry)
    found: list[tuple[Sides, Pairs] | Comparison] = []
    for group in by_task.values():
        ranked = sorted(group, key=_rank)
        in_order, rounds_of = _ended_in_order(ranked), _RoundsOf()
        # Groups of trainings are compared as algorithms, so skip comparisons of their checkpoints.
        pairs = [(a, b) for a, b in combinations(ranked, 2) if a.training is None or b.training is None]
        looked = _at_looks([pair for pair in pairs if _was_looked_at(*pair)])
        found += [
            looked[_pair(a.key, b.key)] if _was_looked_at(a, b) else _operator_pair(a, b, in_order, rounds_of)
            for a, b in pairs
        ]
    return found


def _was_looked_at(a: Entry, b: Entry) -> bool:
    """Return whether one run compared two operators at interim looks while it added seeds."""
    if a.run is not b.run or not has_planned_looks(a.run):
        return False
    first, second = (operators_in_same_looks(a.run, each.operator.operator_id) for each in (a, b))
    return first == second


def _at_looks(pairs: Sequence[tuple[Entry, Entry]]) -> dict[Pair, Comparison]:
    """Compare operators by the interim looks of their run.

    Operators with common looks form a family, whose p-values are corrected together.
    """
    found: dict[Pair, Comparison] = {}
    families: dict[tuple[str, frozenset[str]], list[tuple[Entry, Entry]]] = defaultdict(list)
    for a, b in pairs:
        families[a.run.run_id, operators_in_same_looks(a.run, a.operator.operator_id)].append((a, b))
    for family in families.values():
        run = family[0][0].run
        ids = {_pair(a.key, b.key): _pair(a.operator.operator_id, b.operator.operator_id) for a, b in family}
        on_seeds = {_pair(a.key, b.key): partial(pair_on_seeds, a, b) for a, b in family}
        found |= compare_at_looks(run, ids, on_seeds, run.has_ended)
    return found


def _pair(first: str, second: str) -> Pair:
    return frozenset((first, second))


def pair_on_seeds(a: Entry, b: Entry, seeds: int) -> tuple[Sides, Pairs]:
    """Return the paired results of two operators of a run on the run's first ``seeds`` seeds."""
    sides, pairs = _operator_pair(_on_first(a, seeds), _on_first(b, seeds), False, _RoundsOf())
    return sides, replace(pairs, finished=True, gone=a.lost_lines + b.lost_lines)  # of all seeds


def _on_first(entry: Entry, seeds: int) -> Entry:
    data, end = entry.data, seeds * entry.data.seatings
    played, halved = ([e for e in each if e.episode < end] for each in (data.played, data.halved))
    unfinished = [e for e in data.unfinished if e.episode < end]
    return replace(entry, data=replace(data, played=played, halved=halved, unfinished=unfinished))


def _ended_in_order(entries: Sequence[Entry]) -> bool:
    """Return whether a budget ended some of the entries' runs and every other run has ended.

    The seeds were then played in order, so that two operators can be compared on their common seeds.
    """
    if not any(entry.run.record.extra.get("unplayed") for entry in entries):
        return False
    return all(e.run.has_ended or e.run.record.extra.get("unplayed") for e in entries)


def refusals(entries: Sequence[Entry]) -> list[Refusal]:
    """Return pairs of tasks that are not compared, because one environment has different settings in them."""
    by_title: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_title[entry.title].append(entry)
    groups = list(by_title.values())
    found: list[Refusal] = []
    for a, b in combinations(groups, 2):
        if a[0].task.name != b[0].task.name:
            continue
        differs = next(d for x in a for y in b if (d := x.task.differences(y.task)))
        names = [wording.names([e.label for e in group]) for group in (a, b)]
        found.append(
            Refusal(
                tuple(e.key for e in a),
                tuple(e.key for e in b),
                differs,
                f"{names[0]} and {names[1]} are not compared",
                f": they played different tasks, {differences_in_words(differs)}",
            )
        )
    return found


def _rank(entry: Entry) -> float:
    """Return a sort key that puts the best operator first, and operators without a result last.

    The key is the negative mean of the compared measure; a failed episode counts as the operator's worst.
    """
    team = _studied_team(entry)
    results = _results(entry, team, _measure([entry], team), entry.failure_score).values()
    values = [result.value for result in results if result.value is not None]
    if not values:
        return float("inf")
    missing = sum(result.value is None for result in results)
    return -(sum(values) + missing * min(values)) / (len(values) + missing)


def _studied_team(entry: Entry) -> str:
    """Return the first team if teams compete, else an empty string.

    The return of all agents is not used if teams compete, because in a zero-sum game it is always 0.
    """
    return next(iter(entry.data.squads)) if len(entry.data.squads) > 1 else ""


# --------------------------------------------------------------- operator and operator


class _RoundsOf:
    """Cache of operators' results by seed, which several comparisons use."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str, float | None], Rounds] = {}

    def __call__(self, entry: Entry, team: str, measure: str, score: float | None) -> Rounds:
        key = entry.key, team, measure, score
        if key not in self._kept:
            self._kept[key] = _rounds(entry, _results(entry, team, measure, score))
        return self._kept[key]


def _operator_pair(a: Entry, b: Entry, in_order: bool, rounds_of: _RoundsOf) -> tuple[Sides, Pairs]:
    """Return the paired results of two operators; for ``in_order`` see :func:`_ended_in_order`."""
    team = _studied_team(a) or _studied_team(b)
    measure = _measure([a, b], team)
    score = a.failure_score if a.failure_score == b.failure_score else None
    first, second = (rounds_of(e, team, measure, score) for e in (a, b))
    finished = in_order or all(e.run.has_ended for e in (a, b))
    sides = Sides("operators", "", a.key, b.key, a.label, b.label, measure, (a.is_trained, b.is_trained))
    pairs = _paired(first, second, score, finished)
    chosen = any(has_planned_looks(each.run) for each in (a, b)) and not _was_looked_at(a, b)
    again, gone = (a.begun_again, b.begun_again), a.lost_lines + b.lost_lines
    return sides, replace(pairs, begun_again=again, chosen=chosen, gone=gone)


def _results(entry: Entry, team: str, measure: str, score: float | None) -> dict[int, MeasuredResult]:
    """Return an operator's results by episode; ``score`` is the declared value of a failed episode."""
    found: dict[int, MeasuredResult] = {}
    for e in entry.data.completed:
        value = _value(e, team, measure)
        found[e.episode] = MeasuredResult(e.seed, score if value is None else value, value is None, e.digest)
    for e in entry.data.unfinished:
        found[e.episode] = MeasuredResult(e.seed, score if e.failed else None, e.failed, None)
    return found


def _rounds(entry: Entry, results: Mapping[int, MeasuredResult]) -> Rounds:
    """Return an operator's results by seed and repetition; incomplete rounds are left out."""
    of_round: dict[int, list[MeasuredResult]] = defaultdict(list)
    for episode in sorted(results):
        of_round[episode // entry.data.seatings].append(results[episode])
    seen = Counter[int | None]()
    found: dict[tuple[int | None, int], Sequence[MeasuredResult]] = {}
    for _, listed in sorted(of_round.items()):
        if len(listed) < entry.data.seatings:
            continue  # the schedule, or the run, ended between two seatings
        seed = listed[0].seed
        found[seed, seen[seed]] = listed
        seen[seed] += 1
    return found


def _paired(first: Rounds, second: Rounds, score: float | None, finished: bool) -> Pairs:
    shared = [key for key in first if key in second]
    samples: list[Sample] = []
    differences: list[float] = []
    for i, key in enumerate(shared):
        both = list(zip(first[key], second[key], strict=True))
        found = [x.value - y.value for x, y in both if x.value is not None and y.value is not None]
        if len(found) == len(both):  # a seed counts in every seating or not at all
            differences += found
            samples += [Sample(key[0], i, _both_or_none(x.digest, y.digest)) for x, y in both]
    rows = [pair for key in shared for pair in zip(first[key], second[key], strict=True)]
    return Pairs(
        tuple(samples),
        tuple(differences),
        shared=len(rows),
        failed=(sum(x.failed for x, _ in rows), sum(y.failed for _, y in rows)),
        stopped=sum(any(r.value is None and not r.failed for r in pair) for pair in rows),
        unshared=(_count(first) - len(rows), _count(second) - len(rows)),
        bounds=_bounds(rows, [r.value for side in (first, second) for rs in side.values() for r in rs]),
        score=score,
        finished=finished,
    )


def _both_or_none(first: str | None, second: str | None) -> tuple[str, str] | None:
    return None if first is None or second is None else (first, second)


def _count(rounds: Rounds) -> int:
    return sum(len(results) for results in rounds.values())


def _bounds(
    rows: Sequence[tuple[MeasuredResult, MeasuredResult]], values: Iterable[float | None]
) -> Bounds | None:
    """Return bounds of the mean difference, with the worst and best observed value for missing results.

    ``None`` if no result is missing.
    """
    seen = [value for value in values if value is not None]
    if not seen or all(r.value is not None for pair in rows for r in pair):
        return None
    worst, best = min(seen), max(seen)

    def of(result: MeasuredResult, otherwise: float) -> float:
        return otherwise if result.value is None else result.value

    low = sum(of(x, worst) - of(y, best) for x, y in rows) / len(rows)
    high = sum(of(x, best) - of(y, worst) for x, y in rows) / len(rows)
    return Bounds(low, high, worst, best)


def _measure(entries: Iterable[Entry], team: str) -> str:
    results = [e.squads.get(team) for entry in entries for e in entry.data.completed] if team else []
    return score_or_return(result for result in results if result is not None)


def score_or_return(results: Iterable[SquadResult]) -> str:
    """Return ``score`` if every result has a score, else ``return``."""
    scores = [result.score for result in results]
    return "score" if scores and None not in scores else "return"


def _value(episode: CompletedEpisode, team: str, measure: str) -> float | None:
    if not team:
        return episode.total
    result = episode.squads.get(team)
    return None if result is None else result.score if measure == "score" else result.return_


def members(data: OperatorData, team: str) -> tuple[str, ...]:
    """Return the policy or worker of each slot of a team.

    The worker is added if several workers play under the same policy name.
    """
    agents = (data.agents.get(slot) for slot in data.squads[team])
    workers = defaultdict[str, set[str]](set)
    for agent in data.agents.values():
        workers[agent.policy or ""].add(agent.worker_id)

    def named(agent: AgentRecord) -> str:
        if not agent.policy:
            return agent.worker_id
        return f"{agent.policy} of {agent.worker_id}" if len(workers[agent.policy]) > 1 else agent.policy

    return tuple(named(agent) for agent in agents if agent is not None)


def totals(entry: Entry) -> list[tuple[float, Sample]]:
    """Return the total return of each episode that counts; a failed episode counts as its declared score."""
    data, score = entry.data, entry.failure_score
    found = [(e.episode, score if e.total is None else e.total, e.sample) for e in data.played]
    if data.seatings == 1:  # with swapped seats, a seed counts only if all its seatings are complete
        found += [(e.episode, score, Sample(e.seed, e.round)) for e in data.unfinished if e.failed]
    found.sort(key=lambda row: row[0])
    return [(value, sample) for _, value, sample in found if value is not None]
