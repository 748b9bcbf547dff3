"""Export menu of the Results page, for tables, chess games, pictures and videos."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMenu, QWidget

from gym_gui.analysis.exports.pgn import is_chess
from gym_gui.ui.replays.replay_view import ReplayView
from gym_gui.ui.results import exports
from gym_gui.ui.results.comparison_view import ComparisonView
from gym_gui.ui.results.jobs import JobStrip


class ExportMenu(QMenu):
    """Menu that asks for a target file and starts a job that exports results to the file.

    Args:
        page: Qt parent; the file dialogs are shown over it.
        comparison: Returns the view of the results, or ``None`` before it is created.
        replay: Returns the replay view, or ``None`` before it is created.
        jobs: Runs the jobs and shows their progress.

    Attributes:
        runs: Folders of the runs that are shown.
        choices: Actions of the menu, by name.
    """

    def __init__(
        self,
        page: QWidget,
        comparison: Callable[[], ComparisonView | None],
        replay: Callable[[], ReplayView | None],
        jobs: JobStrip,
    ) -> None:
        super().__init__(page)
        self.setObjectName("results-export-menu")
        self.runs: Sequence[Path] = ()
        self._page, self._comparison, self._replay, self._jobs = page, comparison, replay, jobs
        self.choices: dict[str, QAction] = {}
        for key, text, slot in (
            ("operators", "Comparison as a table…", self._on_operators),
            ("episodes", "Episodes as a table…", self._on_episodes),
            ("steps", "Steps as a table…", self._on_steps),
            ("games", "Chess games as PGN…", self._on_games),
            ("figure", "Plots as a picture…", self._on_figure),
            ("video", "Replay as a video…", self._on_video),
            ("image", "This step as a picture…", self._on_image),
        ):
            action = QAction(text, self)
            action.setObjectName(f"export-{key}")
            action.triggered.connect(slot)
            self.addAction(action)
            self.choices[key] = action
        self.aboutToShow.connect(self.offer)

    def offer(self) -> None:
        """Enable the exports for which the shown results have data."""
        comparison, replay = self._comparison(), self._replay()
        has_analysis = comparison is not None and comparison.analysis is not None
        for key in ("operators", "figure"):
            self.choices[key].setEnabled(has_analysis)
        analysis = comparison.analysis if comparison is not None else None
        several = len(self.runs) > 1
        for key in ("episodes", "steps"):
            self.choices[key].setEnabled(bool(self.runs) and not several)
        chess = (
            analysis is not None
            and not several
            and any(is_chess(operator) for operator in analysis.operators)
        )
        self.choices["games"].setVisible(chess)
        self.choices["games"].setEnabled(chess)
        played = replay is not None and replay.isVisibleTo(self._page) and replay.current is not None
        self.choices["video"].setEnabled(played)
        self.choices["image"].setEnabled(played and replay is not None and replay.image() is not None)

    def can(self, action: QAction) -> bool:
        """Return whether an action of the menu is enabled."""
        self.offer()
        return action.isEnabled()

    def _on_operators(self) -> None:
        self._ask_table("operators", "comparison.csv")

    def _on_episodes(self) -> None:
        self._ask_table("episodes", "episodes.csv")

    def _on_steps(self) -> None:
        self._ask_table("steps", "steps.csv")

    def _on_games(self) -> None:
        if self.runs:
            use = partial(self._write_games, self.runs[0])
            exports.ask_where(self._page, "Write the chess games", "games.pgn", exports.PGN, use)

    def _write_games(self, run: Path, path: Path) -> None:
        self._jobs.run("Writing the chess games…", exports.games_job(run, path))

    def _ask_table(self, what: str, name: str) -> None:
        if self.runs:
            use = partial(self._write_table, self.runs, what)
            exports.ask_where(self._page, "Write a table", name, exports.TABLES, use)

    def _write_table(self, runs: Sequence[Path], what: str, path: Path) -> None:
        self._jobs.run("Writing the table…", exports.table_job(runs, what, path))

    def _on_figure(self) -> None:
        exports.ask_where(self._page, "Write the plots", "results.png", exports.PICTURES, self._write_figure)

    def _write_figure(self, path: Path) -> None:
        comparison = self._comparison()
        if comparison is not None and comparison.analysis is not None:
            job = exports.figure_job(self.runs, comparison.analysis, comparison.comparison, path)
            self._jobs.run("Drawing the picture…", job)

    def _on_video(self) -> None:
        name = f"{self._episode_name()}.mp4"
        exports.ask_where(self._page, "Write a video", name, exports.MP4, self._write_video)

    def _write_video(self, path: Path) -> None:
        replay = self._replay()
        if replay is not None and replay.current is not None:
            fps = float(replay.transport.speed.value)
            self._jobs.run("Writing the video…", exports.video_job(replay.current.recorded, fps, path))

    def _on_image(self) -> None:
        replay = self._replay()
        step = replay.transport.position if replay is not None else 0
        name = f"{self._episode_name()}-step{step}.png"
        exports.ask_where(self._page, "Write a picture", name, exports.PNG, self._write_image)

    def _write_image(self, path: Path) -> None:
        replay = self._replay()
        if replay is not None and (image := replay.image()) is not None:
            self._jobs.run("Writing the picture…", exports.image_job(image, path))

    def _episode_name(self) -> str:
        replay = self._replay()
        if replay is None or replay.current is None:
            return "replay"
        played = replay.current.recorded
        return f"{played.operator_id}-episode{played.episode.episode_index}"
