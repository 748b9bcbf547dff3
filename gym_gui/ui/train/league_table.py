"""Table of a self-play league: its members, and the results of their games with the learner."""

from __future__ import annotations

from typing import Final

from PyQt6.QtWidgets import QWidget

from gym_gui.analysis.words.wording import percent
from gym_gui.services.trainings.training_league import LeagueMember, TrainingLeague
from gym_gui.ui.numbers import local, number
from gym_gui.ui.training_numbers import NONE, return_in_words, steps_in_words
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable

_LOWEST: Final = float("-inf")


def name_of(member: LeagueMember) -> str:
    """Return the name of a league member, which is unique in the league."""
    return member.name


def rating_in_words(rating: float | None) -> str:
    """Return a rating as text, in whole Elo points."""
    return NONE if rating is None else number(rating, 0)


def origin(member: LeagueMember) -> str:
    """Return the step at which the learner was copied, or ``pool`` for an initial member."""
    return "pool" if member.step is None else steps_in_words(member.step)


def about(member: LeagueMember) -> str:
    """Return all facts about a league member as sentences, for a tooltip."""
    what = f" ({member.plays})" if member.plays and member.plays != member.name else ""
    came = (
        "a member of the initial pool"
        if member.step is None
        else f"a copy of the learner from step {local(member.step):,}"
    )
    words = [f"{member.name}{what}: {came}."]
    if member.won or member.drawn or member.lost:
        words.append(
            f"Of {local(member.games):,} games against the learner, the member won {local(member.won):,}, "
            f"drew {local(member.drawn):,} and lost {local(member.lost):,}."
        )
    if member.mean_return is not None:
        words.append(f"The learner's mean return with this member is {return_in_words(member.mean_return)}.")
    if member.odds is not None:
        words.append(f"{percent(member.odds)} of the next games are with this member.")
    return " ".join(words)


def _rating(member: LeagueMember) -> str:
    return rating_in_words(member.rating)


def _return(member: LeagueMember) -> str:
    return return_in_words(member.mean_return)


def _games(member: LeagueMember) -> str:
    return f"{local(member.games):,}" if member.games else NONE


def _results(member: LeagueMember) -> str:
    return f"{local(member.won):,}/{local(member.drawn):,}/{local(member.lost):,}" if member.games else NONE


def _odds(member: LeagueMember) -> str:
    return NONE if member.odds is None else percent(member.odds)


def _origin_key(member: LeagueMember) -> int:
    return -1 if member.step is None else member.step


def _rating_key(member: LeagueMember) -> float:
    return _LOWEST if member.rating is None else member.rating


def _return_key(member: LeagueMember) -> float:
    return _LOWEST if member.mean_return is None else member.mean_return


def _games_key(member: LeagueMember) -> int:
    return member.games


def _results_key(member: LeagueMember) -> float:
    """Return the member's mean points per game: 1 for a win, 0.5 for a draw."""
    return (member.won + 0.5 * member.drawn) / member.games if member.games else _LOWEST


def _odds_key(member: LeagueMember) -> float:
    return _LOWEST if member.odds is None else member.odds


_MEMBER: Final = Column("Member", name_of, tip=about, usual="past_000000000")
_FROM: Final = Column(
    "Step",
    origin,
    _origin_key,
    about,
    "Training step of this copy of the learner, or the initial pool",
    width=72,
    gives=1,
)
_GAMES: Final = Column(
    "Games", _games, _games_key, about, "Games with the learner", figure=True, width=72, gives=2
)
_NEXT: Final = Column(
    "Next", _odds, _odds_key, about, "Share of the next games with this member", figure=True, width=64
)
_RATING: Final = Column(
    "Rating", _rating, _rating_key, about, "Elo points: 400 more mean ten times the odds of winning", True, 74
)
_RESULTS: Final = Column(
    "Won/drawn/lost", _results, _results_key, about, "Results of the member against the learner", True, 126
)
_RETURN: Final = Column(
    "Mean return",
    _return,
    _return_key,
    about,
    "Mean return of the learner in games with this member",
    True,
    110,
)
RATED: Final = (_MEMBER, _FROM, _RATING, _GAMES, _RESULTS, _NEXT)
"""Columns of a league whose members play against the learner; each row is a :class:`LeagueMember`."""
TOGETHER: Final = (_MEMBER, _FROM, _RETURN, _GAMES, _NEXT)
"""Columns of a league whose members cooperate with the learner, so that no member wins or loses."""
_ROW: Final = 28
_SCROLL_BAR: Final = 12


class LeagueTable(RowsTable[LeagueMember]):
    """Table of a league's members, sorted at first by its third column.

    Args:
        parent: Qt owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        model = RowsModel[LeagueMember](RATED, name_of)
        super().__init__(model, "train-league-table", "Members of the league", _ROW, parent)
        model.setParent(self)
        fewest = sum(column.width for column in (_RATING, _RESULTS, _NEXT))
        self.setMinimumWidth(self.cell_width(_MEMBER.usual) + fewest + _SCROLL_BAR)
        self._fit()

    def show_members(self, league: TrainingLeague) -> None:
        """Show the members of a league; keep the selected member selected."""
        columns = RATED if league.rated else TOGETHER
        if columns != self.rows.columns:
            self.rows.show_table(columns, ())
            self._fit()
        self.rows.set_rows(league.members)

    def _fit(self) -> None:
        self.fit_columns()
        self.sort_by(self.rows.columns[2])
