"""Pairs teams in shared episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from gym_gui.analysis.collect import OperatorData
from gym_gui.analysis.comparison import Comparison
from gym_gui.analysis.looks import looks_are_planned
from gym_gui.analysis.pairing import UNFINISHED, Entry, members, score_or_return
from gym_gui.analysis.summary_numbers import Bounds
from gym_gui.analysis.verdicts import Pairs, Sides, compare_family


def compare_teams(entry: Entry) -> list[Comparison]:
    """All pairs of teams of one operator: a family of its own."""
    return compare_family([_team_pair(entry, *pair) for pair in combinations(entry.data.squads, 2)])


def _team_pair(entry: Entry, first: str, second: str) -> tuple[Sides, Pairs]:
    data = entry.data
    both = [(e, e.squads[first], e.squads[second]) for e in data.played if {first, second} <= set(e.squads)]
    measure = score_or_return(r for _, a, b in both for r in (a, b))
    rows = [
        (e.sample, a.score, b.score) if measure == "score" else (e.sample, a.return_, b.return_)
        for e, a, b in both
    ]
    usable = [(sample, x - y) for sample, x, y in rows if x is not None and y is not None]
    differences = tuple(difference for _, difference in usable)
    failed = sum(e.failed for e in data.unfinished) + len(rows) - len(usable)
    rounds = Counter(e.round for e in (*data.completed, *data.unfinished))
    shared = sum(n for n in rounds.values() if n == data.seatings)  # the schedule may end between seatings
    names = [f"{team} ({', '.join(_in_claims(data, team))})" for team in (first, second)]
    pairs = Pairs(
        tuple(sample for sample, _ in usable),
        differences,
        shared=shared,
        failed=(failed, failed),
        stopped=sum(not e.failed for e in data.unfinished),
        bounds=_team_bounds(differences, shared),
        finished=entry.run.record.status not in UNFINISHED,
        begun_again=(entry.begun_again, entry.begun_again),
        chosen=looks_are_planned(entry.run),
    )
    return Sides("teams", entry.key, first, second, names[0], names[1], measure), pairs


def _team_bounds(differences: Sequence[float], shared: int) -> Bounds | None:
    """The mean difference, were every match that is missing as far apart as the farthest, either way."""
    missing = shared - len(differences)
    if not missing or not differences:
        return None
    most = max(abs(d) for d in differences)
    return Bounds(
        (sum(differences) - missing * most) / shared,
        (sum(differences) + missing * most) / shared,
        -most,
        most,
    )


def _in_claims(data: OperatorData, team: str) -> list[str]:
    """The same for a verdict, which holds for one training's outcome, not for how it was trained."""
    trained = [data.agents[slot].worker_type == "rl" for slot in data.squads[team] if slot in data.agents]
    return [
        f"this checkpoint of {name}" if is_trained else name
        for name, is_trained in zip(members(data, team), trained, strict=True)
    ]
