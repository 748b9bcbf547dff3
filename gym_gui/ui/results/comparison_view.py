"""View of the results of runs: verdicts, table, interval plots, and the difference between two operators per
seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QFrame,
    QLabel,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from gym_gui.analysis.charts import interval_charts, outcome_chart, pair_chart
from gym_gui.analysis.charts.shapes import operator_roles
from gym_gui.analysis.findings.comparison import Comparison, Verdict
from gym_gui.analysis.findings.summary import OperatorSummary, Summary
from gym_gui.analysis.words.report_text import all_notes, by_task, clean, incomplete_in_words
from gym_gui.services.runs.recorder import RUNNING
from gym_gui.ui import theme
from gym_gui.ui.numbers import in_sentences
from gym_gui.ui.plots import ChartView
from gym_gui.ui.results.comparison_table import ComparisonTable
from gym_gui.ui.results.ratings_view import RatingsView, retitle
from gym_gui.ui.results.trainings_view import TrainingsView
from gym_gui.ui.theme import Theme
from gym_gui.ui.widgets import (
    Card,
    EmptyHint,
    InlineMessage,
    PickerButton,
    PickerItem,
    muted_label,
    section_label,
)
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.scrolling import scroll_over

HIGHEST_PLOTS = 760
"""Largest height of the plots, in pixels; taller bars would not help."""
MOST_VERDICTS = 3
"""Largest number of verdicts that are shown at first; a link shows all."""
_PLOT_HEIGHT = 200
_REPLAY = "Click a bar to replay both episodes."
_LINE = '<p style="margin-top: 2px; margin-bottom: 2px">{}</p>'


@dataclass(frozen=True, slots=True)
class PairChosen:
    """Bar of the paired-seeds plot that the user clicked: two results with the same seed.

    Attributes:
        comparison: Comparison that the plot shows.
        pair: Index of the pair in ``comparison.seeds``.
    """

    comparison: Comparison
    pair: int

    @property
    def seed(self) -> int | None:
        """Seed of both results; ``None`` if none was used."""
        return self.comparison.seeds[self.pair]

    @property
    def repetition(self) -> int:
        """Number of earlier pairs with the same seed (a seed is played once per seating)."""
        return self.comparison.seeds[: self.pair].count(self.seed)


class ComparisonView(QWidget):
    """View of a run's analysis, one environment at a time; its ``task`` picker belongs in the page's bar.

    Args:
        current: Color theme.
        parent: Qt owner.
    """

    pair_chosen = pyqtSignal(object)
    """Emits the :class:`PairChosen` that the user asks to replay."""
    operator_chosen = pyqtSignal(object)
    """Emits the :class:`OperatorSummary` whose episodes the user asks to replay."""
    failure_chosen = pyqtSignal(object)
    """Emits the :class:`~gym_gui.analysis.findings.summary.Failure` that the user asks to replay."""

    def __init__(self, current: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("comparison")
        self._summary: Summary | None = None
        self._roles: dict[str, str] = {}
        self._told_all = False
        self.task = PickerButton(
            name="results-task", search_hint="Search environments", elide=Qt.TextElideMode.ElideMiddle
        )
        self.task.setAccessibleName("Environment")
        self.task.setToolTip("Choose the environment whose operators are compared")
        self.task.chosen.connect(self._on_task_chosen)
        self._make_verdict()
        self.failed = InlineMessage("warning", "", ("Replay the first", self._on_failure_clicked))
        self.failed.setObjectName("results-failures")
        self.table = ComparisonTable()
        self.table.operator_activated.connect(self.operator_chosen)
        self.ratings = RatingsView(current)
        self.ratings.pairing_chosen.connect(self._on_square_clicked)
        self.trainings = TrainingsView(current)
        self.notes = muted_label(wrap=True, name="results-notes")
        self._make_plots(current)
        self.hint = EmptyHint("Reading the run…", "", icon_name="results", name="results-hint")
        self._build()
        current.changed.connect(self._on_theme_changed)

    def _make_verdict(self) -> None:
        self.verdict = QLabel()
        self.verdict.setObjectName("results-verdict")
        self.verdict.setTextFormat(Qt.TextFormat.RichText)
        self.verdict.setWordWrap(True)
        self.verdict.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
        )
        self.verdict.linkActivated.connect(self._on_more_verdicts)
        self.banner = QFrame()
        self.banner.setProperty("role", "wash")
        self.banner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        box = column_layout(self.banner, margin=(theme.GAP, 10, theme.GAP, 10), spacing=None)
        box.addWidget(self.verdict)

    def _make_plots(self, current: Theme) -> None:
        nothing = "No completed episodes yet. Intervals appear after the first episode."
        self.intervals = ChartView(current, "intervalPlot", nothing)
        self.team_intervals = ChartView(current, "teamIntervalPlot", "")
        self.outcomes = ChartView(current, "outcomePlot", "")
        nothing = "This plot compares two operators that played the same seeds."
        self.paired = ChartView(current, "pairedSeedsPlot", nothing, invitation=_REPLAY)
        self.paired.chosen.connect(self._on_pair_clicked)
        self.caption = muted_label(wrap=True)
        self.caption.setMinimumHeight(
            self.caption.fontMetrics().height()
        )  # Otherwise the height of a narrow caption.
        self.caption.setObjectName("results-pair-caption")
        self.pair = PickerButton(name="results-pair", search_hint="Search pairs")
        self.pair.setAccessibleName("Compared pair")
        self.pair.setToolTip("Choose the two operators or teams to compare on the same seeds")
        self.pair.chosen.connect(self._on_pair_picked)
        self.interval_card = _plot_card("IQM return, 95 % interval", self.intervals)
        self.team_card = _plot_card("Mean score, 95 % interval", self.team_intervals)
        self.team_card.setObjectName("results-team-card")
        self.outcome_card = _plot_card("Outcomes by team", self.outcomes)
        self.outcome_card.setObjectName("results-outcome-card")
        self.paired_card = _plot_card("Same seed", self.caption, self.paired)
        self.paired_card.add_to_heading(self.pair)
        self.paired.setMinimumHeight(_PLOT_HEIGHT)

    def _build(self) -> None:
        table = Card(margin=theme.STEP)
        self.pairings = section_label(" ")
        self.pairings.setObjectName("results-pairings")
        self.pairings.setContentsMargins(theme.GAP, theme.GAP, theme.GAP, 0)
        table.setSizePolicy(
            QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum
        )  # The plots share the rest.
        table.add(self.pairings)
        table.add(self.table)
        self.plots = QWidget()
        self.plots.setMaximumHeight(HIGHEST_PLOTS)
        plots = row_layout(self.plots, spacing=theme.GAP)
        estimates = column_layout(spacing=theme.GAP)
        estimates.addWidget(self.interval_card, 1)
        estimates.addWidget(self.team_card, 1)
        estimates.addWidget(self.outcome_card, 1)
        plots.addLayout(estimates, 1)
        plots.addWidget(self.paired_card, 1)
        content = QWidget()
        content.setProperty("role", "scrolled")
        column = self._content = column_layout(content, margin=theme.PAGE, spacing=theme.GAP)
        for widget in (self.banner, self.failed, self.ratings, self.trainings, table):
            column.addWidget(widget)
        column.addWidget(self.plots, 100)
        column.addWidget(self.notes)
        column.addStretch(1)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.hint)
        self._stack.addWidget(scroll_over(content, "comparison-scroll", called="Results"))
        layout = column_layout(self, spacing=None)
        layout.addWidget(self._stack)

    def set_frameless(self) -> None:
        """Remove the outer margins, for a view inside a card that has margins."""
        self._content.setContentsMargins(0, 0, theme.ROW, 0)

    # -- contents ----------------------------------------------------------------------

    @property
    def analysis(self) -> Summary | None:
        """Analysis that is shown, or ``None``."""
        return self._summary

    @property
    def comparison(self) -> Comparison | None:
        """Comparison whose seeds are plotted, or ``None``."""
        value = self.pair.value
        summary = self._summary
        return summary.comparisons[value] if summary is not None and isinstance(value, int) else None

    @property
    def current_operator(self) -> OperatorSummary | None:
        """Selected operator, else the best operator; ``None`` if the environment has no operators."""
        shown = self._operators
        return self.table.operator or (shown[0] if shown else None)

    @property
    def _operators(self) -> Sequence[OperatorSummary]:
        summary = self._summary
        tasks = by_task(summary) if summary is not None else {}
        return tasks.get(str(self.task.value), ())

    def show_message(self, title: str, text: str = "") -> None:
        """Show a title and a text in place of the results."""
        self._summary = None
        self.hint.set_text(title, text)
        self._stack.setCurrentIndex(0)
        self.task.hide()

    def show_analysis(self, summary: Summary) -> None:
        """Show the results of a run; keep the chosen environment and pair if the run has them."""
        self._summary = summary
        tasks = list(by_task(summary))
        self.task.set_items([PickerItem(t, t.rpartition("/")[2], detail=t.partition("/")[0]) for t in tasks])
        if self.task.value not in tasks:
            self.task.set_value(tasks[0] if tasks else "")
        self.task.setVisible(len(tasks) > 1)
        found = summary.standings or summary.cross_play
        if found is None and not any(o.recorded for o in summary.operators):
            if any(run.status == RUNNING for run in summary.runs):
                self.hint.set_text(
                    "No episode is finished yet",
                    "Results appear after the first episode, while the run continues.",
                )
            else:
                self.hint.set_text("No episodes are recorded", clean(" ".join(summary.missing)))
            self._stack.setCurrentIndex(0)
            return
        self._stack.setCurrentIndex(1)
        self._show_verdicts()
        self._show_failures(summary)
        self._show_task()

    def _show_verdicts(self) -> None:
        summary = self._summary
        assert summary is not None
        found = summary.standings or summary.cross_play
        if found is not None:  # These sentences rate policies; the verdicts are about single pairings.
            rest = (*found.remarks, *summary.missing)
            lines = [*map(_verdict, found.opening_verdicts), *(escape(clean(sentence)) for sentence in rest)]
            self.verdict.setText("".join(map(_LINE.format, lines)))
            return
        verdicts = list(summary.verdicts)
        shown = verdicts if self._told_all else verdicts[:MOST_VERDICTS]
        lines = list[str]()
        for i, verdict in enumerate(shown):
            if verdict.task and (i == 0 or verdict.task != shown[i - 1].task):
                lines.append(_LINE.format(escape(clean(verdict.task))))
            lines.append(_LINE.format(_verdict(verdict)))
        if rest := len(verdicts) - len(shown):
            lines.append(_LINE.format(f'<a href="more">Show {rest} more</a>'))
        lines += (_LINE.format(escape(clean(sentence))) for sentence in summary.missing)
        self.verdict.setText("".join(lines))

    def _on_theme_changed(self) -> None:
        """Write the verdicts again, because a link keeps the color of the theme in which it was written."""
        if self._summary is not None:
            self.verdict.clear()  # Qt would ignore a text that is the same.
            self._show_verdicts()

    def _show_failures(self, summary: Summary) -> None:
        failures = summary.failures
        self.failed.setVisible(bool(failures))
        if failures:
            first = failures[0]
            what = f"episode {first.episode_index}, seed {first.seed}, {first.status}: {first.reason}"
            with in_sentences():
                self.failed.set_text(clean(f"{incomplete_in_words(summary)}. First: {what}"))

    def _show_task(self) -> None:
        operators, summary = self._operators, self._summary
        assert summary is not None
        self._roles = operator_roles(summary.operators)
        self.table.show_operators(operators, self._roles)
        # Players of a tournament are compared, not its pairings.
        standings, cross_play = summary.standings, summary.cross_play
        found = standings or cross_play
        self.ratings.setVisible(found is not None)
        self.plots.setVisible(found is None)
        self.pairings.setVisible(found is not None)
        self.pairings.setText("GAMES BY TEAM" if standings is None else "GAMES BY PAIRING")
        if standings is not None:
            self.ratings.show_standings(standings)
        elif cross_play is not None:
            self.ratings.show_cross_play(cross_play)
        rated = None if standings is None else standings.algorithms
        if rated is None:
            self.trainings.show_reports(summary.trainings, str(self.task.value))
        else:
            self.trainings.show_reports([rated], rated.environments[0])
        # An environment may have players that play alone and teams that compete: each gets a chart.
        first, *others = interval_charts(operators, self._roles)
        self.intervals.set_chart(first)
        retitle(self.interval_card, first.title)
        self.team_intervals.set_chart(others[0] if others else None)
        self.team_card.setVisible(bool(others))
        if others:
            retitle(self.team_card, others[0].title)
        self.outcomes.set_chart(outcome_chart(operators))
        self.outcome_card.setVisible(self.outcomes.chart is not None)
        self._fill_pairs(operators)
        elsewhere = [o.name for o in summary.operators if o not in operators]
        with in_sentences():
            told = found.notes if found is not None else all_notes(summary, missing=False)
        notes = [clean(n) for n in told if not n.startswith(tuple(map(_colon, elsewhere)))]
        self.notes.setText("\n".join(notes))
        self.notes.setVisible(bool(notes))

    def _fill_pairs(self, operators: Sequence[OperatorSummary]) -> None:
        summary = self._summary
        assert summary is not None
        keys = {o.key: o for o in operators}
        items = [
            PickerItem(i, _pair_words(c, keys), detail=_pair_detail(c))
            for i, c in enumerate(summary.comparisons)
            if c.pairs and (c.first in keys if c.kind == "operators" else c.operator in keys)
        ]
        self.pair.set_items(items)
        if self.pair.value not in [item.value for item in items]:
            self.pair.set_value(items[0].value if items else None)
        self.pair.setVisible(len(items) > 1)
        self._show_pair(keys)

    def _show_pair(self, keys: dict[str, OperatorSummary]) -> None:
        c = self.comparison
        chart = pair_chart(c, keys, self._roles) if c is not None else None
        self.paired.set_chart(chart)
        self.caption.setText(f"{chart.caption} {_REPLAY}" if chart else "")
        self.caption.setVisible(bool(chart))
        several = len(self.pair.items) > 1  # The picker says which pair is shown.
        retitle(self.paired_card, "Same seed" if chart is None or several else chart.title)

    # -- clicks ------------------------------------------------------------------------

    def _on_task_chosen(self, _value: object) -> None:
        if self._summary is not None:
            self._show_task()

    def _on_pair_picked(self, _value: object) -> None:
        self._show_pair({o.key: o for o in self._operators})

    def _on_pair_clicked(self, pair: int) -> None:
        if (c := self.comparison) is not None:
            self.pair_chosen.emit(PairChosen(c, pair))

    def _on_square_clicked(self, operator_id: str) -> None:
        operator = next((o for o in self._operators if o.operator_id == operator_id), None)
        if operator is not None:
            self.operator_chosen.emit(operator)

    def _on_failure_clicked(self) -> None:
        summary = self._summary
        if summary is not None and summary.failures:
            self.failure_chosen.emit(summary.failures[0])

    def _on_more_verdicts(self, _link: str) -> None:
        self._told_all = True
        self._show_verdicts()


def _colon(name: str) -> str:
    return f"{name}:"


def _plot_card(title: str, *widgets: QWidget) -> Card:
    card = Card(title, margin=theme.PAGE)
    for widget in widgets:
        card.add(widget, widget is widgets[-1])
    return card


def _verdict(verdict: Verdict) -> str:
    """Return a verdict as HTML: the claim in bold, then its numbers.

    If the claim is open, only "not decided" or "not compared" is bold.
    """
    claim, detail = escape(clean(verdict.claim)), escape(clean(verdict.detail))
    for open_ in ("not decided", "not compared"):
        if not verdict.decided and claim.endswith(open_):
            return f"{claim.removesuffix(open_)}{_strong(open_)}{detail}."
    return f"{_strong(claim)}{detail}."


def _strong(markup: str) -> str:
    # Use the weight of headings, since Qt makes the font of ``<b>`` bolder than it draws bold text.
    return f'<span style="font-weight: 600">{markup}</span>'


def _pair_words(c: Comparison, keys: dict[str, OperatorSummary]) -> str:
    chart = pair_chart(c, keys)
    first, second = chart.first, chart.second
    words = f"{first.name} – {second.name}"  # noqa: RUF001  # first minus second
    return words if c.kind == "operators" else f"{keys[c.operator].name}: {words}"


def _pair_detail(c: Comparison) -> str:
    return "not decided" if c.verdict == "undecided" else "decided"
