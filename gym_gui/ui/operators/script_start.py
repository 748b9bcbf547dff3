"""The start view of script mode: a sample experiment, the steps of a run, and recent files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QShowEvent
from PyQt6.QtWidgets import QGridLayout, QPlainTextEdit, QWidget

from gym_gui.ui import theme
from gym_gui.ui.operators.examples import example_experiment
from gym_gui.ui.operators.recent_files import RecentFiles
from gym_gui.ui.save_dialog import save_dialog
from gym_gui.ui.widgets import Card, ElidedLabel, LinkButton, PrimaryButton, QuietButton, label, muted_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from mosaic_worker.plain_files import replace_file

SAMPLE: Final = """\
# Who is compared: an operator is one environment
# and the players of its slots.
operators:
  - id: random
    name: Random
    task: CartPole-v1
    workers: {agent: {type: random}}
  - id: passive
    name: Does nothing
    task: CartPole-v1
    workers: {agent: {type: passive}}

# How often: all of them play the same seeds.
execution:
  num_episodes: 20
  seeds: range(20)
"""
STEPS: Final = (
    ("Open a file", "Python, YAML or JSON; dropping it on the window does the same. A Python file that "
     "computes is shown to you before it is run."),
    ("Check the plan", "Environments, policies, seeds and the largest number of steps. Errors are shown "
     "before anything starts."),
    ("Run", "Every core plays, without pictures, and every step is recorded. Stop keeps finished episodes, "
     "Resume plays the rest."),
    ("Read the verdict", "Results says which operator is better, and how sure that is. "
     "Without the window: mosaic run FILE."),
)  # fmt: skip
_WIDEST: Final = 1240


class ScriptStart(QWidget):
    """Shows a sample experiment, the steps of a run and recent files.

    Args:
        recent: List of the files that were opened last.
        on_open: Called when the user wants to choose a file.
        parent: Qt owner.
    """

    chosen = pyqtSignal(object)
    """Emits the path of the file that the user chose."""
    tournament_wanted = pyqtSignal()
    """Emitted when the user asks to set up a tournament."""
    failed = pyqtSignal(str)
    """Emits a sentence that says why the sample could not be written."""

    def __init__(
        self, recent: RecentFiles, on_open: Callable[[], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("script-empty")
        self._recent = recent
        inner = QWidget(self)
        inner.setMaximumWidth(_WIDEST)
        grid = QGridLayout(inner)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(theme.GAP)
        grid.addWidget(self._sample(), 0, 0)
        grid.addWidget(self._steps(on_open), 0, 1)
        grid.addWidget(self._before(), 1, 0, 1, 2)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(2, 1)
        around = row_layout(self, spacing=None)
        around.addWidget(inner, 1)

    def _sample(self) -> Card:
        card = Card("An experiment", margin=theme.PAGE)
        card.add(
            muted_label(
                "A complete experiment: what is compared, and how often. Save it to a file and change it.",
                wrap=True,
            )
        )
        text = self.text = QPlainTextEdit(SAMPLE.rstrip())
        text.setObjectName("script-sample")
        text.setAccessibleName("A whole experiment")
        text.setReadOnly(True)
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        text.setFont(theme.mono_font(theme.TEXT_PX))
        lines = text.fontMetrics().lineSpacing() * (SAMPLE.count("\n") + 1)
        text.setMinimumHeight(lines + 2 * theme.PAGE)  # The text is shown whole, without scrolling.
        card.add(text, 1)
        self.save = QuietButton("Save as a file…", name="script-save-sample", on_click=self.ask_where)
        self.save.setToolTip("Write this experiment to a file and open the file")
        buttons = row_layout()
        buttons.addWidget(self.save)
        if example_experiment() is not None:
            example = QuietButton("Open the example", name="script-example", on_click=self._on_example)
            example.setToolTip("Open an example: a trained policy beside random actions, and a soccer match")
            buttons.addWidget(example)
        buttons.addStretch(1)
        card.body.addLayout(buttons)
        return card

    def _steps(self, on_open: Callable[[], object]) -> Card:
        card = Card("Steps", margin=theme.PAGE)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.ROW)
        grid.setVerticalSpacing(theme.STEP)
        grid.setColumnStretch(1, 1)
        for number, (title, text) in enumerate(STEPS):
            grid.addWidget(label(str(number + 1), "muted"), 2 * number, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label(title, "strong"), 2 * number, 1)
            about = muted_label(text, wrap=True)
            about.setContentsMargins(0, 0, 0, theme.ROW)
            grid.addWidget(about, 2 * number + 1, 1)
        card.body.addLayout(grid)
        card.body.addStretch(1)
        open_button = PrimaryButton("Open…", name="script-start-open", on_click=on_open)
        open_button.setToolTip("Choose an experiment or tournament file (Ctrl+O)")
        tournament = QuietButton("Hold a tournament…", name="script-tournament", on_click=self._on_tournament)
        tournament.setToolTip("Choose a game and its policies; MOSAIC writes the file")
        row = row_layout()
        row.addWidget(open_button)
        row.addWidget(tournament)
        row.addStretch(1)
        card.body.addLayout(row)
        return card

    def _before(self) -> Card:
        self.before = Card("Recent files", margin=theme.PAGE)
        self.before.setObjectName("script-recent")
        self._list = column_layout(spacing=theme.STEP)
        self.before.body.addLayout(self._list)
        self._rows: list[QWidget] = []
        self._shown: Sequence[Path] | None = None
        return self.before

    def showEvent(self, a0: QShowEvent | None) -> None:
        """Update the list of recent files."""
        super().showEvent(a0)
        self.refresh()

    def refresh(self) -> None:
        """List the recent files that still exist."""
        files = self._recent.files()
        if files == self._shown:
            return
        self._shown = files
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = [_RecentRow(path, self) for path in files]
        for row in self._rows:
            self._list.addWidget(row)
        self.before.setVisible(bool(files))

    # -- the sample ------------------------------------------------------------------

    def ask_where(self) -> None:
        """Ask for a file, then write the sample experiment to it."""
        title, name, file = "Save the experiment", "script-save-dialog", "experiment.yaml"
        save_dialog(self.window(), title, name, "Experiments", file, self.write).open()

    def write(self, path: str) -> None:
        """Write the sample experiment to a file and open the file."""
        try:
            replace_file(path, SAMPLE.encode())
        except OSError as error:
            self.failed.emit(f"{path} cannot be written: {error.strerror}. Choose another folder.")
            return
        self.chosen.emit(Path(path))

    def _on_tournament(self) -> None:
        self.tournament_wanted.emit()

    def _on_example(self) -> None:
        path = example_experiment()
        if path is not None:
            self.chosen.emit(path)


class _RecentRow(QWidget):
    """Row with the name of a recent file, which opens it on a click, and its folder."""

    def __init__(self, path: Path, start: ScriptStart) -> None:
        super().__init__(start)
        self._path, self._start = path, start
        name = LinkButton(path.name, name="script-recent-file", on_click=self._on_clicked)
        name.setToolTip(f"Open {path}")
        folder = ElidedLabel(str(path.parent), "muted", mode=Qt.TextElideMode.ElideMiddle)
        row = row_layout(self)
        row.addWidget(name)
        row.addWidget(folder, 1)

    def _on_clicked(self) -> None:
        self._start.chosen.emit(self._path)
