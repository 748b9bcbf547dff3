"""Chooses episodes of an operator to show: the best, the median, the worst and failed ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gym_gui.analysis.compute.collect import CompletedEpisode, OperatorData
from gym_gui.analysis.compute.pairing import Entry, totals
from gym_gui.analysis.findings.summary import Highlight
from gym_gui.analysis.statistics import stats
from gym_gui.core.enums import EpisodeStatus

RETURN = "return"


class _Ranked(NamedTuple):
    value: float
    episode: CompletedEpisode


class ShownEpisode(NamedTuple):
    """Episode that a report may show; known before the statistics are computed.

    Attributes:
        operator_key: Key of the operator that played the episode.
        key: Run id, operator id and episode index.
        bad: Reason why the episode failed; empty if it did not fail.
    """

    operator_key: str
    key: tuple[str, str, int]
    bad: str = ""


def shown_episodes(entries: Sequence[Entry]) -> list[ShownEpisode]:
    """Return the episodes that a report may show, of each task the operators with the best IQM first."""
    tasks = list(dict.fromkeys(entry.title for entry in entries))

    def rank(entry: Entry) -> tuple[int, float]:
        values = [value for value, _ in totals(entry)]
        return tasks.index(entry.title), -stats.iqm(values) if values else math.inf

    return [shown for entry in sorted(entries, key=rank) for shown in _shown(entry)]


def _shown(entry: Entry) -> list[ShownEpisode]:
    place = entry.run.run_id, entry.operator.operator_id
    good = [ShownEpisode(entry.key, (*place, h.episode_index)) for h in highlights_of(entry.data)]
    failed = [e for e in entry.data.unfinished if e.status is EpisodeStatus.FAILED]
    return good + [ShownEpisode(entry.key, (*place, e.episode), e.reason) for e in failed]


def highlights_of(data: OperatorData) -> tuple[Highlight, ...]:
    """Return the best, the median and the worst episode that counts; among equal episodes, the earliest.

    Episodes are ranked by the return of all agents; if teams compete, by the first team's lead over the best
    other team.
    """
    measure, ranked = _ranked(data)
    if not ranked:
        return ()
    ordered = sorted(ranked, key=lambda r: (r.value, r.episode.episode))
    values = [r.value for r in ordered]
    best = next(r for r in ordered if r.value == values[-1])
    chosen = {"best": best, "median": ordered[(len(ordered) - 1) // 2], "worst": ordered[0]}
    if values[0] == values[-1]:
        chosen = {"alike" if len(ordered) > 1 else "only": best}
    elif chosen["median"].value in (values[0], values[-1]):
        del chosen["median"]
    return tuple(
        Highlight(why, e.episode, e.seed, e.length, value, measure, values.count(value), len(values))
        for why, (value, e) in chosen.items()
    )


def _ranked(data: OperatorData) -> tuple[str, Sequence[_Ranked]]:
    if len(data.squads) < 2:
        return RETURN, [_Ranked(e.total, e) for e in data.played if e.total is not None]
    first, *others = data.squads
    scored = all(r.score is not None for e in data.played for r in e.squads.values())
    found: list[_Ranked] = []
    for e in data.played:
        results = {name: r.score if scored else r.return_ for name, r in e.squads.items()}
        mine = results.get(first)
        theirs = [v for name in others if (v := results.get(name)) is not None]
        if mine is not None and theirs:
            found.append(_Ranked(mine - max(theirs), e))
    return f"lead of {first} in {'score' if scored else RETURN}", found
