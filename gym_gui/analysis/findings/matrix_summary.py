"""Data classes of the results of a matrix experiment: its rows, and the settings of its players."""

from __future__ import annotations

from dataclasses import dataclass

from gym_gui.analysis.statistics.summary_numbers import Estimate


@dataclass(frozen=True)
class RowSummary:
    """Results of a row of a matrix.

    Attributes:
        run_id: Id of the run that played the matrix.
        name: Name of the row.
        title: Title of the row.
        task: Environment family and id.
        players: Names of the players.
        operator: Key of the operator that played the row; empty if it was not played.
        episodes: Number of completed episodes.
        mean: Mean return, if no sides compete.
        difference: First side minus second side, if two sides compete.
        measure: Measure of the difference: ``score`` or ``return``.
        p_adjusted: p-value of the difference, after Holm's correction over the rows.
        better: The better side, or the reason why there is none.
        problem: Reason why the row was not played.
    """

    run_id: str
    name: str
    title: str
    task: str
    players: str
    operator: str = ""
    episodes: int = 0
    mean: Estimate | None = None
    difference: Estimate | None = None
    measure: str = ""
    p_adjusted: float | None = None
    better: str = ""
    problem: str = ""


@dataclass(frozen=True)
class SettingSummary:
    """Results of one setting of a player on a task; the unit of every interval is the seed.

    Attributes:
        run_id: Id of the run that played the matrix.
        players: Names of the players.
        task: Environment family and id.
        setting: Name of the setting.
        operator: Key of the operator that played with the setting; empty if it was not played.
        episodes: Number of completed episodes.
        result: Mean return; if sides compete, the first side's mean score or return.
        measure: Measure of the result: ``score`` or ``return``.
        difference: Result minus that of the first setting on the same seeds; ``None`` for the first setting
            and if the task differs.
        p_adjusted: p-value of the difference, after Holm's correction over its family.
        better: Verdict on the difference as text; empty for the first setting.
        unusable: Mean number of decisions without a playable answer in an episode.
        tokens: Mean number of tokens of model calls in an episode; ``None`` if there were no calls.
    """

    run_id: str
    players: str
    task: str
    setting: str
    operator: str = ""
    episodes: int = 0
    result: Estimate | None = None
    measure: str = ""
    difference: Estimate | None = None
    p_adjusted: float | None = None
    better: str = ""
    unusable: Estimate | None = None
    tokens: Estimate | None = None
