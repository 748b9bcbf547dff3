"""Pairs operators on shared seeds, and teams in shared episodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from gym_gui.analysis import wording
from gym_gui.analysis.collect import OperatorData, Played, SquadResult
from gym_gui.analysis.estimates import Pairs, Sides, compare_family, estimate
from gym_gui.analysis.reader import OperatorRun, Run
from gym_gui.analysis.summary import Comparison, Verdict


@dataclass(frozen=True)
class Entry:
    """An operator with its data and its place in a report.

    Attributes:
        key: Unique in the report.
        label: What it is called there, unique too.
        run: The run it is of.
        operator: Its part of the run folder.
        data: Its episodes.
    """

    key: str
    label: str
    run: Run
    operator: OperatorRun
    data: OperatorData


def compare_operators(entries: Sequence[Entry]) -> list[Comparison]:
    """All pairs of operators by task; each task is a family of its own."""
    by_task: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_task[entry.operator.task].append(entry)
    comparisons: list[Comparison] = []
    for group in by_task.values():
        ranked = sorted(group, key=_rank)
        family = [pair for a, b in combinations(ranked, 2) if (pair := _operator_pair(a, b))]
        comparisons += compare_family(family)
    return comparisons


def _rank(entry: Entry) -> float:
    """Best first, by what operators are compared by; those without a result last."""
    team = _studied_team(entry)
    measure = _measure([entry], team)
    values = [v for e in entry.data.played if (v := _value(e, team, measure)) is not None]
    return -sum(values) / len(values) if values else float("inf")


def _studied_team(entry: Entry) -> str:
    """The first team where teams compete, else none: then the whole return counts.

    The sum over competing teams says nothing; in a zero-sum game it is always 0.
    """
    return next(iter(entry.data.squads)) if len(entry.data.squads) > 1 else ""


def _operator_pair(a: Entry, b: Entry) -> tuple[Sides, Pairs] | None:
    """The results of two operators side by side, or ``None`` where they are of other teams."""
    team = _studied_team(a)
    if team != _studied_team(b):
        return None
    measure = _measure([a, b], team)
    left = {(e.seed, e.episode): _value(e, team, measure) for e in a.data.played}
    right = {(e.seed, e.episode): _value(e, team, measure) for e in b.data.played}
    shared = sorted(_scheduled(a) & _scheduled(b), key=lambda pair: pair[1])
    sides = Sides("operators", "", a.key, b.key, a.label, b.label, measure)
    return sides, _pairs([(seed, left.get((seed, i)), right.get((seed, i))) for seed, i in shared])


def _measure(entries: Iterable[Entry], team: str) -> str:
    results = [e.squads.get(team) for entry in entries for e in entry.data.played] if team else []
    return score_or_return(result for result in results if result is not None)


def score_or_return(results: Iterable[SquadResult]) -> str:
    """``score`` where every result has one, else ``return``."""
    scores = [result.score for result in results]
    return "score" if scores and None not in scores else "return"


def _value(episode: Played, team: str, measure: str) -> float | None:
    if not team:
        return episode.total
    result = episode.squads.get(team)
    return None if result is None else result.score if measure == "score" else result.return_


def _scheduled(entry: Entry) -> set[tuple[int | None, int]]:
    return {(e.seed, e.episode) for e in (*entry.data.played, *entry.data.unfinished)}


def _pairs(rows: Sequence[tuple[int | None, float | None, float | None]]) -> Pairs:
    usable = [(seed, x - y) for seed, x, y in rows if x is not None and y is not None]
    return Pairs(tuple(s for s, _ in usable), tuple(d for _, d in usable), len(rows) - len(usable))


def compare_teams(entry: Entry) -> list[Comparison]:
    """All pairs of teams of one operator: a family of its own."""
    data = entry.data
    family: list[tuple[Sides, Pairs]] = []
    for first, second in combinations(data.squads, 2):
        shared = [
            (e.seed, e.squads[first], e.squads[second])
            for e in data.played
            if {first, second} <= set(e.squads)
        ]
        measure = score_or_return(r for _, a, b in shared for r in (a, b))
        rows = [
            (seed, a.score, b.score) if measure == "score" else (seed, a.return_, b.return_)
            for seed, a, b in shared
        ]
        names = [f"{team} ({', '.join(members(data, team))})" for team in (first, second)]
        left_out = len(data.unfinished)
        pairs = _pairs(rows)
        sides = Sides("teams", entry.key, first, second, names[0], names[1], measure)
        family.append((sides, pairs._replace(left_out=pairs.left_out + left_out)))
    return compare_family(family)


def headline(entries: Sequence[Entry], comparisons: Sequence[Comparison]) -> list[Verdict]:
    """The best operator of each task against the others, then the teams; a lone one by itself."""
    best: dict[str, str] = {}
    task = {entry.key: entry.operator.task for entry in entries}
    for c in comparisons:
        if c.kind == "operators":
            best.setdefault(task[c.first], c.first)
    told = [c for c in comparisons if c.kind == "teams" or best[task[c.first]] == c.first]
    verdicts = [Verdict(c.claim, c.detail, c.verdict != "undecided") for c in told]
    compared = {key for c in comparisons for key in (c.operator, c.first, c.second)}
    return verdicts + [_alone(entry) for entry in entries if entry.key not in compared]


def _alone(entry: Entry) -> Verdict:
    usable = [(e.total, e.seed) for e in entry.data.played if e.total is not None]
    if not usable:
        return Verdict(f"{entry.label} has no completed episode", "", False)
    found = estimate([total for total, _ in usable], [seed for _, seed in usable])
    detail = f" over {wording.count(found.n, 'episode')}"
    return Verdict(f"{entry.label} has a mean return of {wording.estimate(found)}", detail, False)


def members(data: OperatorData, team: str) -> tuple[str, ...]:
    """What the slots of a team are played by."""
    agents = (data.agents.get(slot) for slot in data.squads[team])
    return tuple(agent.policy or agent.worker_id for agent in agents if agent is not None)
