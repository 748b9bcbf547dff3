"""The card of an experiment file: its name, its plan, a row per operator, or the text of the file.

A tournament has three views: its policies, its pairings and the current standings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QBoxLayout, QPlainTextEdit, QScrollArea, QWidget

from gym_gui.core.drawing.colors import kind_colors
from gym_gui.ui import theme
from gym_gui.ui.live.watch_pane import WatchPane
from gym_gui.ui.operators.render_container import leading_kind
from gym_gui.ui.operators.script_job import OperatorPlan, OperatorRunProgress, ScriptPlan
from gym_gui.ui.operators.script_rows import OperatorRow, PolicyRow
from gym_gui.ui.operators.script_words import progress_words, words_of
from gym_gui.ui.operators.tournament_plan import pairings_of
from gym_gui.ui.widgets import Card, Divider, SegmentedControl, label, muted_label, section_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.message_panels import Action
from gym_gui.ui.widgets.scrolling import scroll_over

if TYPE_CHECKING:
    from gym_gui.controllers.runs.tournament_run import TournamentRun

_LIST, _PICTURE = 3, 2
"""Stretch factors of the list and of the picture in a tournament; an experiment uses the first for both."""
_BESIDE = 760
"""Card width, in pixels, from which a picture stands beside the rows instead of below them."""

WIDEST: Final = 1840
"""Largest width of the rows, in pixels, so that names stay near their progress on a 3840-pixel screen."""
PlanLink = Callable[[OperatorPlan], Action | None]
"""Function that returns a link to the line of a file that an operator's error names, or ``None``."""


class ScriptCard(Card):
    """Shows the plan and the progress of one experiment or tournament; does not run it.

    Attributes:
        stage: Text before the progress, such as ``Round 2 of 5`` of a Swiss tournament.
    """

    watch_toggled = pyqtSignal(str, bool)
    """Emits an operator's id and whether the user switched its picture on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("script-card")
        self.rows: dict[str, OperatorRow] = {}
        self.stage = ""
        self._policies: list[PolicyRow] = []
        self._rounds: list[QWidget] = []
        self.name = label("", "title", wrap=True, name="script-name")
        self.views = SegmentedControl(
            [("policies", "Policies"), ("pairings", "Pairings"), ("standings", "Standings")],
            name="script-views",
        )
        self.views.setToolTip("Show the policies, their pairings or the current standings")
        self.views.chosen.connect(self.show_view)
        self.views.hide()
        self._standings: QWidget | None = None
        self._about = muted_label("", wrap=True, name="script-about")
        head = row_layout()
        head.addWidget(self.name, 1)
        head.addWidget(self.views, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(head)
        self.add(self._about)
        self.add(Divider())
        self._scroll = self._make_list()
        self._source = QPlainTextEdit()
        self._source.setObjectName("script-source")
        self._source.setAccessibleName("Text of the file")
        self._source.setReadOnly(True)
        self._source.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._source.setFont(theme.mono_font(theme.SECTION_PX))
        self._source.hide()
        self.pane: WatchPane | None = None
        self._list_and_picture = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._list_and_picture.setSpacing(theme.GAP)
        self._list_and_picture.addWidget(self._scroll, _LIST)
        self.body.addLayout(self._list_and_picture, 1)
        self.add(self._source, 1)

    def _make_list(self) -> QScrollArea:
        self._list = QWidget()
        self._list.setMaximumWidth(WIDEST)
        self._list.setProperty("role", "scrolled")
        self._column = column_layout(self._list, margin=(0, 0, theme.ROW, 0))
        self._column.addStretch(1)
        return scroll_over(self._list, "script-operators", called="Operators of the file")

    def show_path(self, path: Path | None, name: str) -> None:
        """Show the name of the file or of the run, with its path as tool tip."""
        self.name.setText(name)
        self.name.setToolTip(str(path or ""))

    def show_sentence(self, sentence: str) -> None:
        """Show a sentence below the file's name."""
        self._about.setText(sentence)

    def show_source(self, text: str) -> None:
        """Show the text of a file before the user agrees to run it; an empty text shows the operators
        again."""
        self._source.setPlainText(text)
        self._source.setVisible(bool(text))
        self._scroll.setVisible(not text)

    def show_plan(self, plan: ScriptPlan, link_of: PlanLink) -> None:
        """Show what the file will play, with a row for each operator.

        Args:
          plan: The content of the file.
          link_of: Returns the link in the row of an operator that cannot play.
        """
        if plan.tournament_run is not None:
            for policy in plan.operators:
                known = PolicyRow(policy, link_of(policy) if policy.error else None, self._list)
                self._policies.append(known)
                self._insert(known)
            self.show_pairings(plan, plan.tournament_run)
            self.views.set_text("pairings", "Teams" if plan.tournament_run.is_cross_play else "Pairings")
            self.views.show()
            self.views.set_value("policies")
            self.show_view("policies")
            self._show_done(plan)
            self.show_sentence(words_of(plan))
            return
        colors = kind_colors([leading_kind(operator.config) for operator in plan.operators])
        for operator, color in zip(plan.operators, colors, strict=True):
            self._add_row(operator, link_of(operator) if operator.error else None, color)
        self._show_done(plan)
        self.show_sentence(words_of(plan))

    def _show_done(self, plan: ScriptPlan) -> None:
        """Show, per operator, the episodes that a resumed run has finished."""
        at_most = plan.experiment.execution.until == "decided"
        for operator_id, row in self.rows.items():
            done, failed = plan.done.get(operator_id, (0, 0))
            row.show_standing(OperatorRunProgress(done, row.plan.episodes, failed, at_most=at_most))

    def show_pairings(self, plan: ScriptPlan, tournament_run: TournamentRun) -> None:
        """Show the pairings that are determined so far; rounds of a Swiss tournament have headings."""
        pairings = {each.config.operator_id: each for each in pairings_of(plan, tournament_run)}
        for gone in [key for key in self.rows if key not in pairings]:
            _drop(self.rows.pop(gone))
        for heading in self._rounds[len(tournament_run.rounds) :]:
            _drop(heading)
        del self._rounds[len(tournament_run.rounds) :]
        of_round = {pairing: i for i, each in enumerate(tournament_run.rounds) for pairing in each.pairings}
        for key, each in pairings.items():
            if key in self.rows:
                self.rows[key].show_standing(OperatorRunProgress(total=each.episodes))
                continue
            number = of_round.get(tournament_run.pairings[key], -1)
            if number >= len(self._rounds):
                heading = section_label(f"Round {number + 1}")
                self._rounds.append(heading)
                self._insert(heading)
            self._add_row(each)
        self.show_view(self.views.value)

    def _add_row(self, plan: OperatorPlan, link: Action | None = None, color: str = "") -> None:
        row = OperatorRow(plan, link, self._list, color)
        row.watch_toggled.connect(self.watch_toggled)
        self.rows[plan.config.operator_id] = row
        self._insert(row)

    def _insert(self, row: QWidget) -> None:
        self._column.insertWidget(self._column.count() - 1, row)

    # -- the views of a tournament -----------------------------------------------------

    def set_standings(self, view: QWidget | None) -> None:
        """Replace the widget that shows the standings; ``None`` removes it."""
        if self._standings is not None:
            _drop(self._standings)
        self._standings = view
        if view is not None:
            self._list_and_picture.insertWidget(1, view, _LIST)
            self.show_view(self.views.value)

    def show_view(self, view: str) -> None:
        """Show one of the views of a tournament.

        Args:
            view: ``policies``, ``pairings`` or ``standings``.
        """
        if not self.is_tournament:
            return
        self.views.set_value(view)
        standings = self._standings
        if standings is not None:
            standings.setVisible(view == "standings")
        self._scroll.setVisible(view != "standings" or standings is None)
        for row in self._policies:
            row.setVisible(view == "policies" or (view == "standings" and standings is None))
        for row in (*self._rounds, *self.rows.values()):
            row.setVisible(view == "pairings")

    @property
    def is_tournament(self) -> bool:
        """Whether the card shows a tournament."""
        return bool(self._policies)

    def show_standings(self, standings: Mapping[str, OperatorRunProgress]) -> None:
        """Show the progress of each operator, and the sum of all."""
        for operator_id, standing in standings.items():
            row = self.rows.get(operator_id)
            if row is not None:
                row.show_standing(standing)
        words = progress_words(standings, "game" if self.is_tournament else "episode")
        self.show_sentence(f"{self.stage}: {words}" if self.stage else words)

    def show_pane(self, pane: WatchPane | None, operator_id: str = "") -> None:
        """Show a pane with the play of one operator, beside or below the rows.

        Args:
          pane: The pane; ``None`` removes the current one.
          operator_id: Operator that the pane shows.
        """
        if pane is None and self.pane is not None:
            self.pane.hide()
            self.pane.deleteLater()
        elif pane is not None and pane is not self.pane:
            self._list_and_picture.addWidget(pane, _PICTURE if self.is_tournament else _LIST)
        self.pane = pane
        for each, row in self.rows.items():
            row.set_watched(pane is not None and each == operator_id)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Place the picture beside the rows, or below them in a narrow card."""
        super().resizeEvent(a0)
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._list_and_picture.setDirection(beside if self.width() >= _BESIDE else below)

    def clear(self) -> None:
        """Remove all rows and headings from the card."""
        for row in (*self.rows.values(), *self._policies, *self._rounds):
            _drop(row)
        self.rows.clear()
        self.stage = ""
        self._policies.clear()
        self._rounds.clear()
        self.views.hide()
        self._scroll.show()


def _drop(row: QWidget) -> None:
    row.hide()
    row.deleteLater()
