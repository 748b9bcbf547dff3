"""What a summary says of a matrix: its rows, and the settings in which its players have played."""

from __future__ import annotations

from dataclasses import dataclass

from gym_gui.analysis.statistics.summary_numbers import Estimate


@dataclass(frozen=True)
class RowSummary:
    """A row of a matrix.

    Attributes:
        run_id: The run whose matrix it is of.
        name: Its name.
        title: What people call it.
        task: Environment family and id.
        players: Who plays, in words.
        operator: Key of the operator that plays it, empty where it was not played.
        episodes: Completed ones.
        mean: Mean return, where no sides compete.
        difference: What the first side has more than the second, where two compete.
        measure: In what: ``score`` or ``return``.
        p_adjusted: Of that difference, after Holm's correction over the rows.
        better: The better side, or why there is none.
        problem: Why it was not played.
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
    """What one setting came to, of a player on a task; the unit of every interval is the seed.

    Attributes:
        run_id: The run whose matrix it is of.
        players: Who plays, in words.
        task: Environment family and id.
        setting: Its name.
        operator: Key of the operator that plays in it; empty where it was not played.
        episodes: Completed ones.
        result: Mean return; of sides that compete, the first one's score, or return.
        measure: Which of these: ``score`` or ``return``.
        difference: What it has more than in the first setting on the same seeds; ``None`` for the first, and
            where the task is another one.
        p_adjusted: Of that difference, after Holm's correction over its family.
        better: What that says of it, in words; empty where there is nothing to compare.
        unusable: Decisions without a playable answer, in an episode.
        tokens: Tokens of calls to models, in an episode; ``None``: there were no calls.
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
