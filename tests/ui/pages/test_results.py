"""The Results page in the window: found, opened, compared, replayed, exported, thrown away."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gym_gui.analysis.records import packed_rows
from gym_gui.analysis.records.jsonl import open_rows
from gym_gui.core.config import OperatorConfig
from gym_gui.services.runs.recorder import Recorder
from gym_gui.services.store import Store
from gym_gui.ui import theme
from gym_gui.ui.pages.results import ResultsPage
from gym_gui.ui.plots.chart_view import ChartView
from gym_gui.ui.replays.replay_view import ReplayView
from gym_gui.ui.results import exports, run_analysis_job
from gym_gui.ui.results.comparison_table import ComparisonTable
from gym_gui.ui.results.comparison_view import ComparisonView
from gym_gui.ui.results.export_menu import ExportMenu
from gym_gui.ui.results.jobs import JobLine, JobStrip
from gym_gui.ui.results.library_view import LibraryView
from gym_gui.ui.widgets import EmptyHint
from gym_gui.ui.widgets.card import Card
from gym_gui.ui.widgets.picker import PickerButton
from gym_gui.ui.widgets.tables import RowsTable
from gym_gui.ui.window.main_window import MainWindow
from tests.support.engine import player, record_run
from tests.support.named import named
from tests.ui.results.conftest import played_run, run

__all__ = ["played_run", "run"]

pytestmark = pytest.mark.usefixtures("analyzes_here")


@pytest.fixture(scope="session")
def chess_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two operators at chess, each of which has asked models."""

    def legal(s: Any) -> int:
        choices = s.legal_actions
        return choices[(s.seed + s.step_index) % len(choices)]

    def playing(name: str, title: str) -> Any:
        seats = {f"player_{i}": player(legal) for i in (0, 1)}
        return OperatorConfig(name, title, "", "chess_v6", {}), seats

    two = (playing("asked", "Asked"), playing("free", "Free"))
    run = asyncio.run(record_run(tmp_path_factory.mktemp("chess"), *two, seeds=(1,), max_steps=8))
    calls = {"asked": [0.25, 0.5, None], "free": [0.0]}
    for name, prices in calls.items():
        lines = [orjson.dumps({"agent": "player_0", "episode": 0, "step": 0, "usd": usd}) for usd in prices]
        (run / "operators" / name / "calls.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return run


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot, run: Path) -> ResultsPage:
    window.go("results")
    result = named(window, ResultsPage, "page-results")
    qtbot.waitUntil(lambda: result.reader.complete)
    return result


@pytest.fixture
def opened_run(page: ResultsPage, qtbot: QtBot) -> ResultsPage:
    qtbot.keyClick(named(page, RowsTable, "run-table"), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: named(page, ComparisonView, "comparison").analysis is not None)
    return page


def click(qtbot: QtBot, widget: QWidget) -> None:
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def test_runs_go_elsewhere_at_once_and_the_list_follows(
    page: ResultsPage, qtbot: QtBot, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MOSAIC_RUNS_DIR", raising=False)
    context, other = page.context, tmp_path / "other"
    shutil.copytree(page.reader.runs[0].path, other / "01ZZZ")
    context.settings.set("runs_folder", str(other))
    assert context.store.runs_dir() == other
    qtbot.waitUntil(lambda: [each.path for each in page.reader.runs] == [other / "01ZZZ"])


def test_the_list_is_searched_and_filtered(page: ResultsPage, qtbot: QtBot) -> None:
    library = named(page, LibraryView, "run-library")
    assert library.model.rowCount() == 1 and named(library, QLabel, "run-count").text() == "1 run"
    search = named(library, QLineEdit, "run-search")
    qtbot.keyClicks(search, "nobody")
    assert library.model.rowCount() == 0 and named(library, EmptyHint, "run-library-nothing").isVisible()
    search.clear()
    environment = named(library, PickerButton, "run-environment")
    environment.chosen.emit(environment.items[1].value)
    status = named(library, PickerButton, "run-status")
    status.set_value("failed")
    status.chosen.emit("failed")
    assert library.model.rowCount() == 0
    named(library, EmptyHint, "run-library-nothing").findChild(QWidget, "button-show-all-runs").click()  # type: ignore[union-attr]
    assert library.model.rowCount() == 1


def test_a_run_that_is_being_written_grows(page: ResultsPage, qtbot: QtBot, store: Store) -> None:
    operators = [{"id": "op", "name": "Newcomer", "env_name": "gymnasium", "task": "CartPole-v1"}]
    data = {"experiment": {"operators": operators}, "episodes": {"op": 2}}
    recorder = Recorder.create(store.runs_dir(), ["op"], data)
    try:
        page.reader.refresh()
        library = named(page, LibraryView, "run-library")
        qtbot.waitUntil(lambda: library.model.rowCount() == 2)
        row = library.model.row_of(recorder.folder)
        cells = [library.model.index(row, column).data() for column in range(1, 7)]
        assert cells[0] == "Newcomer" and cells[3] == "0 of 2" and cells[4] == "Running"
        line = {"operator_id": "op", "episode_index": 0, "seed": 1, "status": "completed", "length": 3}
        recorder.episode("op", b"", orjson.dumps({**line, "total_reward": 3.0}) + b"\n")
        qtbot.waitUntil(lambda: library.model.index(row, 4).data() == "1 of 2")
        page.show_run(recorder.folder)
        qtbot.waitUntil(lambda: named(page, ComparisonView, "comparison").analysis is not None)
        assert named(page, QLabel, "page-note").text() == "Running: 1 of 2 episodes"
    finally:
        recorder.close("completed")


def test_what_a_run_says(
    page: ResultsPage,
    window: MainWindow,
    qtbot: QtBot,
    run: Path,
    qapp: QApplication,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = page.findChild(ComparisonView), page.findChild(ReplayView)
    assert made == (None, None), "views are made when they are first shown"
    exports_view = named(page, ExportMenu, "results-export-menu")
    exports_view.offer()
    assert not any(exports_view.choices[name].isEnabled() for name in ("operators", "figure", "image"))
    it_is_read_once(page, qtbot, run, monkeypatch)
    assert page.findChild(ReplayView) is None
    verdict_table_and_plots(page)
    for family, width in (("Inter", 1024), ("DejaVu Sans", 1024), ("DejaVu Sans", 1920)):
        theme.use_fonts(qapp, family)
        task = named(page, PickerButton, "results-task")
        task.chosen.emit(task.value)
        the_table_fills_its_width_and_badges_stay_by_the_names(page, window, qtbot, width)
    theme.use_fonts(qapp)


def it_is_read_once(page: ResultsPage, qtbot: QtBot, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading is not begun again by each look at the folder."""
    begun: list[Path] = []
    analyze = run_analysis_job.analyze

    def noted(folder: Path, **how: Any) -> Any:
        begun.append(folder)
        return analyze(folder, **how)

    monkeypatch.setattr(run_analysis_job, "analyze", noted)
    page.show_run(run)

    def there() -> bool:
        page.reader.read.emit(page.reader.runs)
        return named(page, ComparisonView, "comparison").analysis is not None

    qtbot.waitUntil(there)
    assert begun == [run]


def verdict_table_and_plots(opened_run: ResultsPage) -> None:
    view = named(opened_run, ComparisonView, "comparison")
    verdict = named(view, QLabel, "results-verdict")
    assert "Good is better than Poor" in verdict.text() or "not decided" in verdict.text()
    model = named(view, ComparisonTable, "comparison-table").rows
    assert [model.index(row, 0).data() for row in range(model.rowCount())] == ["Good", "Poor"]
    assert (
        named(view, ChartView, "intervalPlot").chart is not None
        and named(view, ChartView, "pairedSeedsPlot").chart is not None
    )
    outcome_card = named(view, Card, "results-outcome-card")
    assert not outcome_card.isVisible()
    task = named(opened_run, PickerButton, "results-task")
    task.chosen.emit(task.items[1].value)
    task.set_value(task.items[1].value)
    task.chosen.emit(task.value)
    names = [model.index(row, 0).data().strip() for row in range(model.rowCount())]
    assert names[0] == "Four" and len(names) == 3, "its two sides stand below it"
    assert outcome_card.isVisible() and named(view, ChartView, "outcomePlot").chart is not None


def the_table_fills_its_width_and_badges_stay_by_the_names(
    opened_run: ResultsPage, window: MainWindow, qtbot: QtBot, width: int
) -> None:
    window.resize(width, 800)
    table = named(opened_run, ComparisonTable, "comparison-table")
    port, head = table.viewport(), table.horizontalHeader()
    assert port is not None and head is not None
    columns = range(table.rows.columnCount())
    # Where a wide font needs more than there is, the rest is scrolled to.
    bar = table.horizontalScrollBar()
    assert bar is not None
    qtbot.waitUntil(lambda: head.length() - bar.maximum() == port.width())
    assert table.columnWidth(0) <= max(table.sizeHintForColumn(0), head.sectionSizeHint(0)) + 10
    figures = [table.columnWidth(c) - table.sizeHintForColumn(c) for c in columns[2:]]
    assert min(figures) >= 0


@pytest.mark.usefixtures("replays_here")
def test_a_bar_replays_both(opened_run: ResultsPage, qtbot: QtBot, run: Path, tmp_path: Path) -> None:
    """And what is replayed is exported; another episode is asked for from elsewhere."""
    plot = named(opened_run, ChartView, "pairedSeedsPlot")
    exports_view = named(opened_run, ExportMenu, "results-export-menu")
    exports_view.offer()
    assert not exports_view.choices["video"].isEnabled()
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=plot.spot_rect(1).center().toPoint())
    replay = named(opened_run, ReplayView, "replay")
    qtbot.waitUntil(lambda: len(replay.players) == 2 and all(p.at_end for p in replay.players))
    assert {p.recorded.operator_id for p in replay.players} == {"good", "poor"}
    assert {p.recorded.episode.seed for p in replay.players} == {2}
    choose(opened_run, qtbot, "image", tmp_path / "step.png")
    assert (tmp_path / "step.png").read_bytes()[1:4] == b"PNG"
    choose(opened_run, qtbot, "video", tmp_path / "replay.mp4")
    assert (tmp_path / "replay.mp4").read_bytes()[4:8] == b"ftyp"
    back = named(opened_run, QToolButton, "results-back")
    click(qtbot, back)
    assert named(opened_run, ComparisonView, "comparison").isVisible() and not replay.players
    click(qtbot, back)
    assert named(opened_run, LibraryView, "run-library").isVisible()
    opened_run.context.go("results", replay=(run, "poor", 2))
    qtbot.waitUntil(lambda: bool(replay.players))
    assert replay.players[0].recorded.episode.episode_index == 2


def test_verified_reported_exported(
    opened_run: ResultsPage,
    qtbot: QtBot,
    run: Path,
    chess_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(exports, "open_file", opened.append)  # no browser in a test
    a_verification_is_cancelled(opened_run, qtbot)
    what_was_verified_is_said_of_that_run_alone(opened_run, qtbot, run, chess_run)
    assert opened == [run / "report.html"] and opened[0].is_file()
    for action, name in [
        ("operators", "o.csv"),
        ("episodes", "e.parquet"),
        ("steps", "s.csv"),
        ("figure", "f.svg"),
    ]:
        choose(opened_run, qtbot, action, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100, name


def lines(jobs: JobStrip) -> list[JobLine]:
    return [each for each in jobs.findChildren(JobLine, "results-job") if not each.isHidden()]


def a_verification_is_cancelled(opened_run: ResultsPage, qtbot: QtBot) -> None:
    click(qtbot, named(opened_run, QPushButton, "results-verify"))
    jobs = named(opened_run, JobStrip, "results-jobs")
    (line,) = lines(jobs)
    cancel = named(line, QPushButton, "job-cancel")
    qtbot.waitUntil(cancel.isVisible)
    click(qtbot, cancel)
    qtbot.waitUntil(lambda: not jobs.busy)
    assert not jobs.isVisible()


def what_was_verified_is_said_of_that_run_alone(
    opened_run: ResultsPage, qtbot: QtBot, run: Path, chess_run: Path
) -> None:
    """Neither another run that is opened nor a report that is written meanwhile takes it away."""
    jobs = named(opened_run, JobStrip, "results-jobs")
    click(qtbot, named(opened_run, QPushButton, "results-verify"))
    click(qtbot, named(opened_run, QPushButton, "results-report"))
    assert len(lines(jobs)) == 2
    opened_run.show_run(chess_run)
    assert not jobs.isVisible() and not lines(jobs)
    notices: list[str] = []
    opened_run.context.noticed.connect(lambda notice: notices.append(notice.text))
    qtbot.waitUntil(lambda: any("Verified: 9 episodes" in text for text in notices))
    assert not jobs.isVisible(), "it stands above no other run"
    opened_run.show_library()
    assert not jobs.isVisible()
    opened_run.show_run(run)
    qtbot.waitUntil(lambda: not jobs.busy)
    assert {line.text[:6] for line in lines(jobs)} == {"Verifi", "The re"} and jobs.isVisible()


def choose(page: ResultsPage, qtbot: QtBot, action: str, path: Path) -> None:
    """Answer the file dialog of an entry of the export menu."""
    exports_view = named(page, ExportMenu, "results-export-menu")
    exports_view.offer()
    assert exports_view.choices[action].isEnabled()
    exports_view.choices[action].trigger()
    dialog = page.findChild(QFileDialog, "export-dialog")
    assert dialog is not None
    dialog.setDirectory(str(path.parent))
    dialog.selectFile(path.name)
    kinds = [kind for kind in dialog.nameFilters() if path.suffix in kind]
    dialog.selectNameFilter(kinds[0])
    dialog.accept()
    jobs = named(page, JobStrip, "results-jobs")
    qtbot.waitUntil(lambda: not jobs.busy and jobs.text.startswith("Written"))


def test_games_of_chess_leave_as_pgn_and_calls_have_their_price(
    page: ResultsPage, qtbot: QtBot, chess_run: Path, run: Path, tmp_path: Path
) -> None:
    """Of a run without chess no games are offered, of one without calls no price is told."""
    page.show_run(run)
    qtbot.waitUntil(lambda: named(page, ComparisonView, "comparison").analysis is not None)
    exports_view = named(page, ExportMenu, "results-export-menu")
    exports_view.offer()
    assert not exports_view.choices["games"].isVisible()
    assert "Cost" not in headings(page)
    page.show_run(chess_run)
    qtbot.waitUntil(lambda: "Cost" in headings(page))
    choose(page, qtbot, "games", tmp_path / "games.pgn")
    jobs = named(page, JobStrip, "results-jobs")
    assert jobs.text.startswith("Written") and "(2 games," in jobs.text
    games = (tmp_path / "games.pgn").read_text()
    assert games.count("[Event ") == 2 and "1. " in games
    model = named(page, ComparisonTable, "comparison-table").rows
    cost, cells = headings(page).index("Cost"), {}
    for row in range(model.rowCount()):
        cells[model.index(row, 0).data().strip().partition(":")[0]] = model.index(row, cost).data()
    # One of its three calls has a price that is not known; the other's cost nothing.
    assert cells["Asked"] == "at least $0.7500" and cells["Free"] == "$0"


def headings(page: ResultsPage) -> list[object]:
    """Of the table of operators."""
    model = named(page, ComparisonTable, "comparison-table").rows
    across = Qt.Orientation.Horizontal
    return [model.headerData(column, across) for column in range(model.columnCount())]


def test_several_are_compressed_and_had_back(
    page: ResultsPage, qtbot: QtBot, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, live = run.with_name("01OTHER"), run.with_name("01LIVE")
    for copy in (other, live):
        shutil.copytree(run, copy)
    header = orjson.loads((live / "run.json").read_bytes())
    (live / "run.json").write_bytes(orjson.dumps({**header, "status": "running"}))
    library = named(page, LibraryView, "run-library")
    qtbot.waitUntil(lambda: library.model.rowCount() == 3)
    table, jobs = named(page, RowsTable, "run-table"), named(page, JobStrip, "results-jobs")
    plain = {path: path.read_bytes() for path in run.glob("operators/*/steps.jsonl")}

    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert len(library.selected) == 3
    click(qtbot, named(page, QPushButton, "results-compress"))
    qtbot.waitUntil(lambda: not jobs.busy)
    assert "2 runs are compressed: " in jobs.text
    assert "has not ended: it was cut off" in jobs.text
    for folder in (run, other):
        assert not list(folder.glob("operators/*/steps.jsonl"))
        assert len(list(folder.glob("operators/*/steps.jsonl.zst"))) == 3
    assert len(list(live.glob("operators/*/steps.jsonl"))) == 3

    (line,) = lines(jobs)
    click(qtbot, named(line, QPushButton, "message-action"))
    qtbot.waitUntil(lambda: "2 runs are decompressed" in jobs.text)
    assert {path: path.read_bytes() for path in run.glob("operators/*/steps.jsonl")} == plain

    monkeypatch.setattr(packed_rows, "FRAME", 64)  # many parts, so that there is something to cancel
    library.select(run)
    place = table.visualRect(table.currentIndex()).center()
    table.customContextMenuRequested.emit(place)
    named(table, QMenu, "run-menu").findChild(QAction, "run-menu-compress").trigger()  # type: ignore[union-attr]
    (line,) = jobs.lines
    click(qtbot, named(line, QPushButton, "job-cancel"))
    line.stop()  # twice, as an impatient person does
    qtbot.waitUntil(lambda: not jobs.busy)
    assert not list(run.glob("operators/*/.*"))
    assert ("compressed" in jobs.text) == bool(list(run.glob("operators/*/*.zst")))
    left = b"".join(sorted(plain.values()))
    assert b"".join(sorted(open_rows(path).read() for path in plain)) == left


def test_thrown_away_and_had_back(
    page: ResultsPage, qtbot: QtBot, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import send2trash.plat_other as other

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    (tmp_path / "share").mkdir()
    monkeypatch.setattr(other, "HOMETRASH_B", str(tmp_path / "share" / "Trash").encode())
    notices: list[object] = []
    page.context.noticed.connect(notices.append)
    click(qtbot, named(page, QPushButton, "results-delete"))
    library = named(page, LibraryView, "run-library")
    qtbot.waitUntil(lambda: library.model.rowCount() == 0)
    assert not run.exists() and named(library, EmptyHint, "run-library-empty").isVisible()
    notice = notices[-1]
    notice.action[1]()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: library.model.rowCount() == 1)
    assert (run / "run.json").is_file()
    page.context.noticed.disconnect(notices.append)


def test_runs_from_elsewhere_and_damaged_ones(
    window: MainWindow, page: ResultsPage, qtbot: QtBot, run: Path, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere" / run.name
    shutil.copytree(run, other)
    window.context.go("results", run=other)
    qtbot.waitUntil(lambda: named(page, ComparisonView, "comparison").analysis is not None)
    assert named(page, PickerButton, "results-run").value == other
    (run / "operators" / "good" / "episodes.jsonl").write_text("nonsense\n")
    page.show_run(run)
    hint = named(page, EmptyHint, "results-hint")
    title = named(hint, QLabel, "empty-title")
    qtbot.waitUntil(lambda: title.text() == "This run cannot be read")
    assert "episodes.jsonl:1" in named(hint, QLabel, "empty-text").text()
