"""Declares the columns of the table of teams: return, score, games won, drawn and lost."""

from __future__ import annotations

from collections.abc import Sequence

from gym_gui.analysis.columns.cells import Cell, ColumnOutput, ResultColumn, ResultRow
from gym_gui.analysis.statistics.summary_numbers import Share
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import Locale


def _team(row: ResultRow, _: Locale) -> Cell:
    assert row.team is not None
    return Cell(f"{row.team.title}: {', '.join(row.team.members)}", row.team.title)


def _members(row: ResultRow, _: Locale) -> Cell:
    return Cell(", ".join(row.team.members if row.team else ()))


def _team_return(row: ResultRow, locale: Locale) -> Cell:
    """Return the team's mean return; with its interval only if no team has a score."""
    assert row.team is not None
    full = wording.estimate_or_why(row.team.mean, locale)
    scored = any(team.score for team in row.operator.teams)
    return Cell(wording.number(row.team.mean.value, locale=locale) if scored else full, full)


def _team_score(row: ResultRow, locale: Locale) -> Cell:
    score = row.team.score if row.team else None
    return Cell(wording.estimate_or_why(score, locale) if score else locale.none)


def _any_score(rows: Sequence[ResultRow], place: ColumnOutput) -> bool:
    return place is ColumnOutput.PAGE or any(row.team and row.team.score for row in rows)


def _no_score(rows: Sequence[ResultRow], place: ColumnOutput) -> bool:
    return not _any_score(rows, place)


def _any_win(rows: Sequence[ResultRow], place: ColumnOutput) -> bool:
    return place is ColumnOutput.PAGE or any(row.team and row.team.win for row in rows)


def _team_won(row: ResultRow, locale: Locale) -> Cell:
    return Cell(wording.share(row.team.win if row.team else None, locale))


def _team_drew(row: ResultRow, locale: Locale) -> Cell:
    return _counted(row.team.draw if row.team else None, locale)


def _team_lost(row: ResultRow, locale: Locale) -> Cell:
    return _counted(row.team.loss if row.team else None, locale)


def _counted(share: Share | None, locale: Locale) -> Cell:
    return Cell(f"{share.hits}" if share else locale.none, wording.share(share, locale))


TEAM_COLUMNS: tuple[ResultColumn, ...] = (
    ResultColumn("Team", _team, of_teams=True, words=True),
    ResultColumn("Played by", _members, places=ColumnOutput.PAGE, of_teams=True, words=True),
    ResultColumn(
        "Mean return, 95 %",
        _team_return,
        headings={ColumnOutput.TERMINAL: "Return"},
        wanted=_any_score,
        of_teams=True,
    ),
    ResultColumn(
        "Return [95 %]", _team_return, places=ColumnOutput.TERMINAL, wanted=_no_score, of_teams=True
    ),
    ResultColumn(
        "Mean score, 95 %",
        _team_score,
        headings={ColumnOutput.TERMINAL: "Score [95 %]"},
        wanted=_any_score,
        of_teams=True,
    ),
    ResultColumn(
        "Won", _team_won, headings={ColumnOutput.TERMINAL: "Won [95 %]"}, wanted=_any_win, of_teams=True
    ),
    ResultColumn("Drawn", _team_drew, wanted=_any_win, of_teams=True),
    ResultColumn("Lost", _team_lost, wanted=_any_win, of_teams=True),
)
"""Columns of the table with one row per team of an operator."""
