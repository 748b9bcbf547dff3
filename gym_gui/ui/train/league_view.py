"""View of a run's self-play league: the learner's rating or return over its steps, and the members."""

from __future__ import annotations

from functools import partial
from typing import Final

from PyQt6.QtCore import QModelIndex, QPoint, Qt
from PyQt6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.trainings.training_league import LeagueMember, TrainingLeague
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.numbers import local
from gym_gui.ui.policies.use_policy_menu import UseMenu, operator_of
from gym_gui.ui.train.league_plot import LeaguePlot
from gym_gui.ui.train.league_table import LeagueTable, rating_in_words
from gym_gui.ui.widgets import ElidedLabel, EmptyHint, QuietButton
from gym_gui.ui.widgets.layouts import row_layout

_RATED: Final = ("Rating, Elo points", "0: rating at the start of the training", "Opponents of the learner")
_TOGETHER: Final = ("Return over steps", "Points: mean return with a member", "Partners of the learner")
"""Texts of the view: heading of the plot, text below the plot, heading of the table."""


class LeagueView(QWidget):
    """View with plot and table of a league; :attr:`note` and :attr:`use` belong in the heading of its card.

    Args:
        context: Opens the other pages.
        plot: Plot of the learner's rating; the board of curves draws its contents.
        parent: Qt owner.
    """

    def __init__(self, context: AppContext, plot: LeaguePlot, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-league")
        self._record: TrainingRecord | None = None
        self._title = ""
        self.note = ElidedLabel("", "muted", name="train-league-note")
        self.use = QuietButton("Use member", name="train-league-use", on_click=self._on_use)
        self._menu = UseMenu(context, self, "train-league-use-menu")
        self._plot = plot
        self._plot_heading, self._who_heading = ElidedLabel("", "section"), ElidedLabel("", "section")
        self._plot_heading.setObjectName("train-league-heading")
        self._unit = ElidedLabel("", "muted", name="train-league-unit")
        self._table = LeagueTable()
        self._table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._table.customContextMenuRequested.connect(self._on_menu_requested)
        chosen = self._table.selectionModel()
        assert chosen is not None
        chosen.currentRowChanged.connect(self._on_current_changed)
        self._trouble = EmptyHint("No league available", "", icon_name="train", name="train-league-trouble")
        self._make_layout()
        self._set_headings(rated=True)
        self._update_use_button()

    def _make_layout(self) -> None:
        self._who = QStackedWidget()
        for view in (self._table, self._trouble):
            self._who.addWidget(view)
        left, right = QVBoxLayout(), QVBoxLayout()
        for column, *parts in (
            (left, self._plot_heading, self._plot, self._unit),
            (right, self._who_heading, self._who),
        ):
            column.setSpacing(theme.STEP)
            for part in parts:
                column.addWidget(part, 1 if part in (self._plot, self._who) else 0)
        row = row_layout(self, spacing=theme.PAGE)
        row.addLayout(left, 2)
        row.addLayout(right, 3)

    def show_league(self, record: TrainingRecord, title: str, league: TrainingLeague) -> None:
        """Show the current league of a run.

        Args:
            record: The run.
            title: Name of the run.
            league: League as read from the run's folder.
        """
        self._record, self._title = record, title
        if league.problem:
            self._trouble.set_text("No league available", _why_none(record, league))
        else:
            self._set_headings(league.rated)
            self._table.show_members(league)
        self._who.setCurrentWidget(self._trouble if league.problem else self._table)
        self.note.setText(_summary(title, league))
        self._update_use_button()

    # -- internal ------------------------------------------------------------------------

    def _set_headings(self, rated: bool) -> None:
        plot, unit, who = _RATED if rated else _TOGETHER
        for heading, words in ((self._plot_heading, plot), (self._who_heading, who)):
            heading.setText(words.upper())
            heading.setAccessibleName(words)
        self._unit.setText(unit)
        self._plot.set_word(plot)

    def _update_use_button(self) -> None:
        member, record = self._table.current, self._record
        policy = member.policy if member is not None else None
        self.use.setEnabled(policy is not None)
        if member is None or record is None or policy is None:
            self._menu.set_operator(None)
            why = "Select a member of the league first" if member is None else _why_unusable(member)
            self.use.setToolTip(why)
            return
        self.use.setToolTip(f"Watch {member.name}, play against it, or add it to an operator")
        self._menu.set_operator(
            partial(
                operator_of,
                policy,
                worker_id=record.worker_id,
                env_id=record.env_id,
                title=f"{self._title}, {member.name}",
            )
        )

    def _on_current_changed(self, _now: QModelIndex, _before: QModelIndex) -> None:
        self._update_use_button()

    def _on_use(self) -> None:
        self._menu.popup(self.use.mapToGlobal(self.use.rect().bottomLeft()))

    def _on_menu_requested(self, place: QPoint) -> None:
        viewport = self._table.viewport()
        if viewport is not None and self.use.isEnabled():
            self._menu.popup(viewport.mapToGlobal(place))


def _summary(title: str, league: TrainingLeague) -> str:
    if league.problem:
        return title
    count = len(league.members)
    members = "1 member" if count == 1 else f"{local(count):,} members"
    rated = f"learner at {rating_in_words(league.rating)}, " if league.rating is not None else ""
    return f"{title}: {rated}{members}"


def _why_none(record: TrainingRecord, league: TrainingLeague) -> str:
    if record.place and not record.has_ended:
        return f"The run trains on {record.place}: its league is copied here when the run ends."
    return league.problem


def _why_unusable(member: LeagueMember) -> str:
    if member.plays:
        return f"{member.name} is not a trained policy, so it cannot be used"
    return f"The folder of {member.name} is missing or contains no policy"
