"""Home page: four cards that start an episode, the newest runs with verdicts, and a list of commands to
start with.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from PyQt6.QtCore import QRectF, QSize, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QKeySequence, QPainter, QPainterPath, QPaintEvent, QPixmap, QResizeEvent
from PyQt6.QtWidgets import (
    QGridLayout,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from gym_gui.core.errors import UsageError
from gym_gui.services.runs.recent_runs import RecentRun, RecentRuns
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.home_examples import HOME_EXAMPLES, Starter
from gym_gui.ui.numbers import screen
from gym_gui.ui.page import Page
from gym_gui.ui.style_sheet import ASSETS
from gym_gui.ui.widgets import (
    Card,
    Divider,
    ElidedLabel,
    EmptyHint,
    IconButton,
    KeyCap,
    QuietButton,
    label,
    muted_label,
    section_label,
)
from gym_gui.ui.widgets.layouts import column_layout, empty, row_layout
from gym_gui.ui.widgets.scrolling import fill_scrolling

WIDEST: Final = 1320
"""Largest width of the page's content, in pixels, so that lines stay readable."""
_EPISODES_WIDTH, _WHEN_WIDTH = 96, 84
"""Column widths for number of episodes and date in the list of recent runs, in pixels."""
_ROOMY_ROW: Final = 560
"""Width in pixels from which a row of the recent runs shows all its columns."""
_PICTURE_RATIO: Final = 400 / 616
_WAYS: Final = ("file.new", "file.open", "go.train", "go.play", "go.results", "help.tours")
"""Ids of the commands in the Start list; ids without a command are left out."""


class Picture(QWidget):
    """Picture with rounded corners that fills the width of its parent."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pixmap = QPixmap(str(ASSETS / f"home-{name}.png"))
        self._scaled = QPixmap()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)
        self.setMinimumWidth(64)  # Four fit side by side even beside an open guide.

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Set the height that keeps the aspect ratio at the new width."""
        super().resizeEvent(a0)
        self.setFixedHeight(round(self.width() * _PICTURE_RATIO))
        self._scaled = QPixmap()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the picture; it is scaled once for each size."""
        ratio = self.devicePixelRatioF()
        size = QSize(round(self.width() * ratio), round(self.height() * ratio))
        if self._scaled.size() != size:
            self._scaled = self._pixmap.scaled(
                size,
                Qt.AspectRatioMode.KeepAspectRatioByExpanding,
                Qt.TransformationMode.SmoothTransformation,
            ).copy(0, 0, size.width(), size.height())
            self._scaled.setDevicePixelRatio(ratio)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()), theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        painter.setClipPath(path)
        painter.drawPixmap(0, 0, self._scaled)
        painter.setClipping(False)
        painter.setPen(theme.current().color("line"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)


class StarterCard(Card):
    """Card that starts an environment or experiment on a click or Enter."""

    started = pyqtSignal(object)

    def __init__(self, starter: Starter, parent: QWidget | None = None) -> None:
        super().__init__(clickable=True, margin=10, parent=parent)
        self.starter = starter
        self.setObjectName(f"start-{starter.name}")
        self.setAccessibleName(starter.title)
        self.setAccessibleDescription(starter.text)
        self.setToolTip(f"{starter.title}: start now")
        self.add(Picture(starter.name))
        words = column_layout(margin=(3, 4, 3, 2), spacing=3)
        words.addWidget(label(starter.title, "strong", wrap=True))
        words.addWidget(muted_label(starter.text, wrap=True))
        words.addStretch(1)  # Needed if a neighbor's text has one more line.
        self.body.addLayout(words)
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        self.started.emit(self.starter)


class RunRow(QPushButton):
    """Row with one of the newest runs; a click opens the run on the Results page."""

    def __init__(self, run: RecentRun, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.run = run
        self.setObjectName(f"run-{run.path.name}")
        self.setProperty("role", "row")
        self.setFixedHeight(34)
        words = ", ".join(part for part in (run.title, run.environment, run.episodes, run.verdict) if part)
        self.setAccessibleName(f"Run {words}")
        self.setToolTip("\n".join(part for part in (words, run.detail) if part))
        row = row_layout(self, margin=(8, 0, 8, 0), spacing=theme.GAP)
        cells = (
            (ElidedLabel(run.title), 10, 0),
            (ElidedLabel(run.environment, "muted"), 10, 0),
            (ElidedLabel(run.episodes, "muted"), 0, _EPISODES_WIDTH),
            (ElidedLabel(run.verdict), 6, 0),
            (ElidedLabel(run.when, "muted"), 0, _WHEN_WIDTH),
        )
        for cell, stretch, width in cells:
            # All rows divide their width in the same way, so that the columns are aligned.
            across = QSizePolicy.Policy.Fixed if width else QSizePolicy.Policy.Ignored
            cell.setSizePolicy(across, QSizePolicy.Policy.Fixed)
            if width:
                cell.setFixedWidth(width)
            cell.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            row.addWidget(cell, stretch)
        cells[-1][0].setAlignment(Qt.AlignmentFlag.AlignRight)
        self._less = (cells[1][0], cells[2][0])

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Hide environment and number of episodes in a narrow row; the tooltip shows both."""
        super().resizeEvent(a0)
        for cell in self._less:
            cell.setVisible(self.width() >= _ROOMY_ROW)


class WayRow(QPushButton):
    """Row with one command to start with, and its shortcut."""

    def __init__(self, command_id: str, title: str, keys: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.command_id = command_id
        self.setObjectName(f"way-{command_id}")
        self.setProperty("role", "row")
        self.setAccessibleName(title)
        self.setFixedHeight(30)
        row = row_layout(self, margin=(8, 0, 8, 0), spacing=None)
        words = label(title)
        words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row.addWidget(words, 1)
        if keys:
            row.addWidget(KeyCap(keys))

    def minimumSizeHint(self) -> QSize:
        """Return the size of the row's labels, because a button without its own text has no minimum size."""
        row = self.layout()
        return super().minimumSizeHint() if row is None else row.minimumSize()


class HomePage(Page):
    """Page with cards that start episodes, the recent runs and commands to start with."""

    name = "home"
    title = "Home"
    icon = "home"

    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self._recent = RecentRuns(context.store, locale=screen())
        self._runs_due = False
        self._reading: asyncio.Task[None] | None = None
        self._shown: list[RecentRun] | None = None
        self._fill_bar()
        content = QWidget()
        content.setProperty("role", "scrolled")
        content.setMaximumWidth(WIDEST)
        column = column_layout(content, margin=(34, 28, 34, 24), spacing=0)
        column.addWidget(label("Put any agent in any slot.", "headline"))
        column.addSpacing(6)
        column.addWidget(
            muted_label(
                "Compare learned policies, language models, planners and people in one environment, on "
                "the same seeds.",
                wrap=True,
            )
        )
        column.addSpacing(18)
        column.addLayout(self._cards())
        column.addSpacing(20)
        column.addLayout(self._lists())
        column.addStretch(1)
        fill_scrolling(self.body, content, "home-scroll")

    # ------------------------------------------------------------------ widgets

    def _fill_bar(self) -> None:
        search = QuietButton(
            "Search everything",
            icon_name="search",
            key="Ctrl ⇧ P",
            name="search-everything",
            tooltip="Find a command, a page, an environment or a run",
            on_click=self._on_search,
        )
        search.setMinimumWidth(300)
        search.setProperty("role", "search")
        self.bar.add_action(search)
        self._switch = IconButton("dark", "Switch to dark", name="switch-theme", on_click=self._on_switch)
        self.bar.add_action(self._switch)
        self.context.theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _cards(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(theme.GAP)
        for column, starter in enumerate(HOME_EXAMPLES):
            card = StarterCard(starter)
            card.started.connect(self._on_started)
            grid.addWidget(card, 0, column)
            grid.setColumnStretch(column, 1)
        return grid

    def _lists(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(theme.ROW)
        grid.setColumnStretch(0, 3)
        grid.setColumnStretch(1, 2)
        self.runs = Card(margin=6)
        self.runs.setObjectName("recent-runs")
        self.runs.body.setSpacing(0)
        self._show_runs([])
        top = Qt.AlignmentFlag.AlignTop
        grid.addWidget(section_label("Recent runs"), 0, 0)
        grid.addWidget(section_label("Start"), 0, 1)
        grid.addWidget(self.runs, 1, 0, top)
        grid.addWidget(self._ways(), 1, 1, top)
        return grid

    def _ways(self) -> Card:
        card = Card(margin=8)
        card.setObjectName("ways-to-start")
        card.body.setSpacing(0)
        titles = {
            "go.train": "Train a policy",
            "go.play": "Play an environment",
            "go.results": "Open results",
            "help.tours": "Take a tour",
        }
        for command_id in _WAYS:
            command = self.context.commands.get(command_id)
            if command is None:
                continue
            keys = QKeySequence(command.shortcut).toString(QKeySequence.SequenceFormat.NativeText)
            row = WayRow(command_id, titles.get(command_id, command.title), keys)
            row.clicked.connect(self._on_way_clicked)
            card.add(row)
        return card

    # ------------------------------------------------------------------ recent runs

    def opened(self, **request: object) -> None:
        """Read the recent runs after the next paint, so that reading does not delay the window."""
        self._runs_due = True
        self.update()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint the page, then start reading the recent runs if requested."""
        super().paintEvent(a0)
        if self._runs_due:
            self._runs_due = False
            QTimer.singleShot(0, self._begin_reading)

    def _begin_reading(self) -> None:
        if self._reading is None or self._reading.done():
            self._reading = self.context.spawn(self._read_runs(), "Reading the recent runs")

    async def closed(self) -> None:
        """Stop reading the recent runs."""
        if self._reading is not None:
            self._reading.cancel()

    async def _read_runs(self) -> None:
        async for lines in self._recent.lines():
            self._show_runs(lines)

    def _show_runs(self, runs: Sequence[RecentRun]) -> None:
        if self._shown == list(runs):
            return
        self._shown = list(runs)
        empty(self.runs.body)
        if not runs:
            hint = EmptyHint(
                "No runs yet",
                "MOSAIC records every episode that you watch or play. Start with a card above, or take a "
                "tour.",
                ("Take a tour", self._on_tours) if self.context.commands.get("help.tours") else None,
            )
            hint.setMinimumHeight(118)
            self.runs.add(hint)
        for number, run in enumerate(runs):
            if number:
                self.runs.add(Divider())
            row = RunRow(run)
            row.clicked.connect(self._on_run_clicked)
            self.runs.add(row)

    # ------------------------------------------------------------------ slots

    def _on_started(self, starter: Starter) -> None:
        try:
            request = starter.request()
        except UsageError as error:
            self.context.notify(error.sentence, "warning")
            return
        self.context.go(starter.page, **request)

    def _on_run_clicked(self) -> None:
        row = self.sender()
        if isinstance(row, RunRow):
            self.context.go("results", run=row.run.path)

    def _on_way_clicked(self) -> None:
        row = self.sender()
        if isinstance(row, WayRow):
            self.context.commands.run(row.command_id)

    def _on_tours(self) -> None:
        self.context.commands.run("help.tours")

    def _on_search(self) -> None:
        self.context.commands.run("view.palette")

    def _on_switch(self) -> None:
        self.context.commands.run("view.theme")

    def _on_theme_changed(self) -> None:
        dark = self.context.theme.dark
        self._switch.set_icon("light" if dark else "dark")
        self._switch.setToolTip("Switch to light" if dark else "Switch to dark")
        self._switch.setAccessibleName(self._switch.toolTip())
