"""Pairs the results of competing teams in the same episodes, for comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from gym_gui.analysis.compute.collect import OperatorData
from gym_gui.analysis.compute.interim_analysis import has_planned_looks
from gym_gui.analysis.compute.matrix_rows import matrix_of
from gym_gui.analysis.compute.pairing import Entry, members, score_or_return
from gym_gui.analysis.findings.pairs import Pairs, Sides
from gym_gui.analysis.statistics.summary_numbers import Bounds
from gym_gui.core.record_fields import mapping


def team_pairs(entry: Entry) -> list[tuple[Sides, Pairs]]:
    """Return the paired results of each two teams of one operator."""
    return [_team_pair(entry, *pair) for pair in combinations(entry.data.squads, 2)]


def row_pairs(entries: Sequence[Entry]) -> list[tuple[Sides, Pairs]]:
    """Return the paired results of each two sides of matrix rows; verdicts name the row."""
    found: list[tuple[Sides, Pairs]] = []
    for entry in entries:
        called = _names_in_matrix(entry)
        for first, second in combinations(entry.data.squads, 2):
            sides, pairs = _team_pair(entry, first, second)
            alike = entry.data.swapped and _same_players(entry, first, second)
            names = (called.get(first, sides.first_name), called.get(second, sides.second_name))
            sides = sides._replace(within=entry.label, first_name=names[0], second_name=names[1])
            found.append((sides, replace(pairs, alike=alike)))
    return found


def _names_in_matrix(entry: Entry) -> dict[str, str]:
    """Return each team's name with the matrix's names of its players; teams without such are left out."""
    table = matrix_of(entry.run)
    rows = () if table is None else table.rows
    row = next((row for row in rows if row.operator == entry.operator.operator_id), None)
    found: dict[str, str] = {}
    for team, slots in entry.data.squads.items():
        named = () if row is None else row.sides.get(team, ())
        trained = [entry.data.agents[s].worker_type == "rl" for s in slots if s in entry.data.agents]
        each = trained if len(named) == len(trained) else [any(trained)] * len(named)
        names_of_team = [f"this checkpoint of {n}" if t else n for n, t in zip(named, each, strict=True)]
        if names_of_team:
            found[team] = f"{entry.data.team_title(team)} ({' + '.join(names_of_team)})"
    return found


def _same_players(entry: Entry, first: str, second: str) -> bool:
    """Return whether two sides have the same players, so that with swapped seats neither can be better."""
    workers = mapping(entry.operator.config.get("workers")) or {}
    one, other = ([workers.get(slot) for slot in entry.data.squads[side]] for side in (first, second))
    return one == other


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
    names = [f"{data.team_title(team)} ({', '.join(_member_names(data, team))})" for team in (first, second)]
    pairs = Pairs(
        tuple(sample for sample, _ in usable),
        differences,
        shared=shared,
        failed=(failed, failed),
        stopped=sum(not e.failed for e in data.unfinished),
        bounds=_team_bounds(differences, shared),
        finished=entry.run.has_ended,
        begun_again=(entry.begun_again, entry.begun_again),
        gone=entry.lost_lines,
        chosen=has_planned_looks(entry.run),
        unlike=measure == "return" and _are_unlike(data, first, second),
    )
    return Sides("teams", entry.key, first, second, names[0], names[1], measure), pairs


def _are_unlike(data: OperatorData, first: str, second: str) -> bool:
    """Return whether two sides differ in size and no episode has a winner.

    Returns are then sums over different numbers of agents.
    """
    same_size = len(data.squads[first]) == len(data.squads[second])
    won = any(squad.outcome is not None for e in data.played for squad in e.squads.values())
    return not same_size and not won


def _team_bounds(differences: Sequence[float], shared: int) -> Bounds | None:
    """Return bounds of the mean difference, with the largest observed difference for each missing match."""
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


def _member_names(data: OperatorData, team: str) -> list[str]:
    """Return the names of a team's members, with "this checkpoint of" before trained policies."""
    trained = [data.agents[slot].worker_type == "rl" for slot in data.squads[team] if slot in data.agents]
    return [
        f"this checkpoint of {name}" if is_trained else name
        for name, is_trained in zip(members(data, team), trained, strict=True)
    ]
