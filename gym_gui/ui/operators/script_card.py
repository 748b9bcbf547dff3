"""What is shown of an experiment file: its name, what it will do, a row per operator, or its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QBoxLayout, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from gym_gui.analysis.wording import count, duration
from gym_gui.ui import theme
from gym_gui.ui.live.watch_pane import WatchPane
from gym_gui.ui.numbers import local
from gym_gui.ui.operators.script_job import OperatorPlan, ScriptPlan, Standing
from gym_gui.ui.operators.script_rows import OperatorRow
from gym_gui.ui.widgets import Card, Divider, label, muted_label
from gym_gui.ui.widgets.messages import Action
from gym_gui.ui.widgets.scrolling import see_through, tell_scrolling

_BESIDE = 760
"""Width from which a picture stands beside the rows."""

LinkOf = Callable[[OperatorPlan], Action | None]
"""What leads to the line that an operator's error is about."""


class ScriptCard(Card):
    """Shows one experiment; does nothing with it."""

    watch_toggled = pyqtSignal(str, bool)
    """Operator id, and whether a person wants to see what it plays."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("script-card")
        self.rows: dict[str, OperatorRow] = {}
        self.name = label("", "title", wrap=True)
        self.name.setObjectName("script-name")
        self._about = muted_label("", wrap=True)
        self._about.setObjectName("script-about")
        self.add(self.name)
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
        self._halves = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._halves.setSpacing(theme.GAP)
        self._halves.addWidget(self._scroll, 1)
        self.body.addLayout(self._halves, 1)
        self.add(self._source, 1)

    def _make_list(self) -> QScrollArea:
        self._list = QWidget()
        self._list.setProperty("role", "scrolled")
        self._column = QVBoxLayout(self._list)
        self._column.setContentsMargins(0, 0, theme.ROW, 0)
        self._column.setSpacing(theme.ROW)
        self._column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("script-operators")
        tell_scrolling(scroll, "Operators of the file")
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._list)
        see_through(scroll)
        return scroll

    def show_path(self, path: Path | None) -> None:
        """Name the file."""
        self.name.setText(path.name if path is not None else "")
        self.name.setToolTip(str(path or ""))

    def say(self, sentence: str) -> None:
        """Say something of it below its name."""
        self._about.setText(sentence)

    def show_source(self, text: str) -> None:
        """Have a person see what would be run, before they agree; ``""``: the operators again."""
        self._source.setPlainText(text)
        self._source.setVisible(bool(text))
        self._scroll.setVisible(not text)

    def show_plan(self, plan: ScriptPlan, link_of: LinkOf) -> None:
        """Say what it will do, with a row for each operator; one that cannot play leads to its line."""
        for operator in plan.operators:
            row = OperatorRow(operator, link_of(operator) if operator.error else None, self._list)
            if plan.experiment.execution.until == "decided":
                row.show_standing(Standing(total=operator.episodes, at_most=True))
            row.watch_toggled.connect(self.watch_toggled)
            self.rows[operator.config.operator_id] = row
            self._column.insertWidget(self._column.count() - 1, row)
        self.say(plan_words(plan))

    def show_standings(self, standings: Mapping[str, Standing]) -> None:
        """Say how far each operator is, and all together."""
        for operator_id, standing in standings.items():
            row = self.rows.get(operator_id)
            if row is not None:
                row.show_standing(standing)
        self.say(progress_words(standings))

    def show_pane(self, pane: WatchPane | None, operator_id: str = "") -> None:
        """Show what an operator plays beside the rows, or below in a narrow window; ``None``: no more."""
        if pane is None and self.pane is not None:
            self.pane.hide()
            self.pane.deleteLater()
        elif pane is not None and pane is not self.pane:
            self._halves.addWidget(pane, 1)
        self.pane = pane
        for each, row in self.rows.items():
            row.set_watched(pane is not None and each == operator_id)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Divide the room."""
        super().resizeEvent(a0)
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._halves.setDirection(beside if self.width() >= _BESIDE else below)

    def clear(self) -> None:
        """Show no operators."""
        for row in self.rows.values():
            row.hide()
            row.deleteLater()
        self.rows.clear()


def plan_words(plan: ScriptPlan) -> str:
    """What will be played, in a sentence."""
    execution = plan.experiment.execution
    operators, episodes = len(plan.operators), execution.num_episodes
    seeds = sorted(set(execution.seeds[:episodes]))
    if len(seeds) == 1:
        seed_words = f"seed {seeds[0]}"
    elif seeds == list(range(seeds[0], seeds[-1] + 1)):
        seed_words = f"seeds {seeds[0]} to {seeds[-1]}"
    else:
        seed_words = f"{len(seeds)} seeds"
    decided = execution.until == "decided"
    most, until = ("at most ", ", until every comparison is decided") if decided else ("", "")
    parts = [
        f"{count(operators, 'operator')}, {most}{count(episodes, 'episode')} each, {seed_words}{until}",
        f"{plan.processes} process{'es' * (plan.processes != 1)} at work",
    ]
    if plan.most_steps is not None:
        parts.append(f"at most {count(plan.most_steps, 'step')} in all")
    parts += [f"not played: {line}" for line in plan.not_played]
    return ". ".join(part[:1].upper() + part[1:] for part in parts) + "."


def progress_words(standings: Mapping[str, Standing]) -> str:
    """How far all operators are together, and the time that is left where it is known of each."""
    done = sum(s.done for s in standings.values())
    total = sum(s.total for s in standings.values())
    left = [s.left_s for s in standings.values() if s.done < s.total]
    most = "at most " if any(s.at_most for s in standings.values()) else ""
    words = f"{local(done):,} of {most}{count(total, 'episode')}"
    known = [seconds for seconds in left if seconds is not None]
    if known and len(known) == len(left):
        words += f", about {duration(max(known), rough=True)} left"
    return words
