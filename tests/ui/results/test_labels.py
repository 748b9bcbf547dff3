"""Runs are named, tagged and found in the list, compared with each other; other folders are opened."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QLineEdit, QMenu, QPlainTextEdit, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.core.run_labels import RunLabels, change_labels, read_labels
from gym_gui.services.store import Store
from gym_gui.ui.context import Notice
from gym_gui.ui.pages.results import ResultsPage
from gym_gui.ui.results.comparison_view import ComparisonView
from gym_gui.ui.results.jobs import JobStrip
from gym_gui.ui.results.library_model import RUN, STAR
from gym_gui.ui.results.library_view import LibraryView
from gym_gui.ui.results.run_details import RunDetails
from gym_gui.ui.widgets.inspector import Inspector
from gym_gui.ui.widgets.tables import RowsTable
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named


def copy_of(run: Path, name: str, *, episodes: int | None = None, out: Path | None = None) -> Path:
    """The run again, under an id of its own, perhaps with its first episodes alone."""
    target = Path(shutil.copytree(run, (out or run.parent) / name))
    data = orjson.loads((target / "run.json").read_bytes())
    (target / "run.json").write_bytes(orjson.dumps({**data, "run_id": name}))
    for file in target.glob("operators/*/episodes.jsonl"):
        kept = [line for line in file.read_bytes().splitlines(keepends=True) if _among(line, episodes)]
        file.write_bytes(b"".join(kept))
    return target


def _among(line: bytes, episodes: int | None) -> bool:
    return episodes is None or orjson.loads(line)["episode_index"] < episodes


@pytest.fixture
def other(run: Path) -> Path:
    return copy_of(run, "01M7XC2FC3SJDZTP4ZDAN19XJT", episodes=2)


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot, run: Path, other: Path) -> ResultsPage:
    window.go("results")
    result = named(window, ResultsPage, "page-results")
    qtbot.waitUntil(lambda: result.reader.complete)
    return result


def titles(page: ResultsPage) -> Sequence[str]:
    model = named(page, LibraryView, "run-library").model
    return [str(model.index(row, model.section(RUN)).data()) for row in range(model.rowCount())]


def labels(path: Path, wanted: Callable[[RunLabels], object]) -> Callable[[], bool]:
    return lambda: bool(wanted(read_labels(path)))


def test_a_name_is_typed_in_its_row_and_undone(page: ResultsPage, qtbot: QtBot, run: Path) -> None:
    table = named(page, RowsTable, "run-table")
    table.select(run)
    before = titles(page)
    assert len(set(before)) == 2, "two of one title are told apart"
    named(page, LibraryView, "run-library").rename_current()
    editor = named(table, QLineEdit, "run-name-editor")
    qtbot.keyClicks(editor, "My baseline")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "My baseline" in titles(page))
    assert read_labels(run).name == "My baseline" and len(page.history) == 1
    assert named(page, LibraryView, "run-library").isVisible(), "the run was renamed, not opened"
    page.history.undo()
    qtbot.waitUntil(lambda: titles(page) == before)
    assert not (run / "labels.json").exists()
    page.history.redo()
    qtbot.waitUntil(lambda: "My baseline" in titles(page))


def test_a_click_on_the_star_marks_a_run(page: ResultsPage, qtbot: QtBot, run: Path) -> None:
    table = named(page, RowsTable, "run-table")
    index = table.rows.index(table.rows.row_of(run), table.rows.section(STAR))
    viewport = table.viewport()
    assert viewport is not None
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=table.visualRect(index).center())
    qtbot.waitUntil(labels(run, lambda found: found.star))
    search = named(page, QLineEdit, "run-search")
    qtbot.waitUntil(lambda: any(each.labels.star for each in page.reader.runs))
    qtbot.keyClicks(search, "star")
    assert table.rows.rowCount() == 1 and table.current.path == run


def test_the_inspector_keeps_what_is_typed_for_one_run_and_for_several(
    page: ResultsPage, qtbot: QtBot, run: Path, other: Path
) -> None:
    table = named(page, RowsTable, "run-table")
    table.select(run)
    details = named(page, RunDetails, "run-details")
    assert named(page, Inspector, "inspector").isVisible()
    tags, notes = (
        named(details, QLineEdit, "run-details-tags"),
        named(details, QPlainTextEdit, "run-details-notes"),
    )
    qtbot.keyClicks(tags, "paper, draft")
    qtbot.keyClick(tags, Qt.Key.Key_Return)
    qtbot.waitUntil(labels(run, lambda found: found.tags == ("paper", "draft")))
    qtbot.keyClicks(notes, "Look at this")
    table.select(other)  # before the field was left
    qtbot.waitUntil(labels(run, lambda found: found.notes == "Look at this"))
    assert not (other / "labels.json").exists() and not notes.toPlainText()
    table.selectAll()
    assert "2 runs" in named(details, QLabel, "run-details-title").text()
    assert not named(details, QLineEdit, "run-details-name").isEnabled()
    group = named(details, QLineEdit, "run-details-group")
    qtbot.keyClicks(group, "sweep")
    qtbot.keyClick(group, Qt.Key.Key_Return)
    qtbot.keyClicks(tags, "seen")
    qtbot.keyClick(tags, Qt.Key.Key_Return)
    qtbot.waitUntil(labels(other, lambda found: found.tags == ("seen",) and found.group == "sweep"))
    qtbot.waitUntil(labels(run, lambda found: found.tags == ("paper", "draft", "seen")))


def test_a_damaged_file_is_named_and_never_written_over(
    page: ResultsPage, qtbot: QtBot, run: Path, window: MainWindow
) -> None:
    (run / "labels.json").write_text("{")
    table = named(page, RowsTable, "run-table")
    table.select(run)
    told: list[str] = []
    window.context.noticed.connect(lambda notice: told.append(notice.text))
    assert window.context.commands.run("results.star")
    qtbot.waitUntil(lambda: bool(told))
    assert "is damaged" in told[0] and "mv " in told[0] and len(page.history) == 0
    qtbot.waitUntil(lambda: any(each.labels_problem for each in page.reader.runs))
    assert named(page, QLabel, "run-details-title").isVisible() and (run / "labels.json").read_text() == "{"


def test_what_there_is_is_offered(page: ResultsPage, qtbot: QtBot, run: Path) -> None:
    change_labels(run, {"tags": ["two words"]})
    page.reader.refresh()
    page.reader.set_others([])  # which looks at every run again
    qtbot.waitUntil(lambda: any(each.labels.tags for each in page.reader.runs))
    menu = named(page, QToolButton, "run-offers").menu()
    assert menu is not None
    menu.aboutToShow.emit()
    (action,) = [a for m in menu.findChildren(QMenu) for a in m.actions() if a.text() == 'tag:"two words"']
    action.trigger()
    assert named(page, QLineEdit, "run-search").text() == 'tag:"two words"'
    assert named(page, RowsTable, "run-table").rows.rowCount() == 1


def test_several_runs_are_compared_and_seeds_that_not_all_have_are_said(
    page: ResultsPage, qtbot: QtBot, run: Path, other: Path
) -> None:
    change_labels(run, {"name": "Long"})
    named(page, RowsTable, "run-table").selectAll()
    button = named(page, QPushButton, "results-compare")
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    view = named(page, ComparisonView, "comparison")
    qtbot.waitUntil(lambda: view.analysis is not None)
    analysis = view.analysis
    assert analysis is not None and {each.run_id for each in analysis.runs} == {run.name, other.name}
    assert "Good (Long)" in [o.name for o in analysis.operators]
    verdict = named(view, QLabel, "results-verdict").text()
    assert "Not all have played the same seeds" in verdict
    assert "2 seeds are common to all, 1 seed is not (3)" in verdict, verdict
    assert not named(page, QPushButton, "results-verify").isVisible()
    assert named(page, QPushButton, "results-report").isVisible()


def test_the_runs_of_another_folder_stand_beside_ones_own_and_are_watched(
    page: ResultsPage, qtbot: QtBot, run: Path, tmp_path: Path, window: MainWindow, store: Store
) -> None:
    theirs = copy_of(run, "01M7XC2FC3SJDZTP4ZDAN19XJA", out=tmp_path / "cluster")
    told: list[str] = []
    window.context.noticed.connect(lambda notice: told.append(notice.text))
    page.folders.open(theirs)
    qtbot.waitUntil(lambda: bool(told))
    assert "is a run itself" in told[0] and not page.reader.others
    page.folders.open(theirs.parent)
    qtbot.waitUntil(lambda: len(page.reader.runs) == 3)
    named(page, QLineEdit, "run-search").setText("folder:cluster")
    assert named(page, RowsTable, "run-table").current.path == theirs
    another = copy_of(theirs, "01M7XC2FC3SJDZTP4ZDAN19XJB")
    qtbot.waitUntil(lambda: another in [each.path for each in page.reader.runs])
    menu = named(page, QToolButton, "run-folders").menu()
    assert menu is not None
    menu.aboutToShow.emit()
    (close,) = [action for action in menu.actions() if action.objectName() == "run-folder-close-cluster"]
    close.trigger()
    qtbot.waitUntil(lambda: len(page.reader.runs) == 2)
    assert theirs.is_dir()


@pytest.fixture
def trash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import send2trash.plat_other as other

    folder = tmp_path / "share"
    folder.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.setattr(other, "HOMETRASH_B", str(folder / "Trash").encode())
    return folder / "Trash"


def test_undo_after_a_deletion_brings_the_run_back_and_older_labels_stay(
    page: ResultsPage, window: MainWindow, qtbot: QtBot, run: Path, other: Path, trash: Path
) -> None:
    table, commands = named(page, RowsTable, "run-table"), window.context.commands
    table.select(run)
    assert commands.run("results.star")
    qtbot.waitUntil(lambda: len(page.history) == 1)
    for turn in ("at once", "when the list has changed"):
        table.select(other)
        table.setFocus()
        qtbot.keyClick(table, Qt.Key.Key_Delete)
        if turn != "at once":
            qtbot.waitUntil(lambda: not other.exists() and len(titles(page)) == 1)
        assert commands.run("results.undo")
        qtbot.waitUntil(lambda: not page.history.order.locked() and not window.context.busy)
        qtbot.waitUntil(lambda: len(titles(page)) == 2)
        assert (other / "run.json").is_file() and read_labels(run).star, turn
    assert commands.run("results.redo")
    qtbot.waitUntil(lambda: not other.exists() and len(titles(page)) == 1)
    assert commands.run("results.undo") and commands.run("results.undo")
    qtbot.waitUntil(labels(run, lambda found: not found.star))
    qtbot.waitUntil(lambda: other.exists() and len(titles(page)) == 2)


def test_a_notice_undoes_its_own_deletion_alone(
    page: ResultsPage, window: MainWindow, qtbot: QtBot, run: Path, other: Path, trash: Path
) -> None:
    told: list[Notice] = []
    window.context.noticed.connect(told.append)
    table, commands = named(page, RowsTable, "run-table"), window.context.commands
    table.select(other)
    assert commands.run("results.trash")
    qtbot.waitUntil(lambda: bool(told) and len(titles(page)) == 1)
    table.select(run)
    assert commands.run("results.star")
    qtbot.waitUntil(labels(run, lambda found: found.star))
    qtbot.waitUntil(lambda: len(page.history) == 2)
    action = told[0].action
    assert action is not None
    action[1]()
    qtbot.waitUntil(lambda: len(titles(page)) == 2)
    assert read_labels(run).star
    assert commands.run("results.undo")
    qtbot.waitUntil(labels(run, lambda found: not found.star))
    assert commands.run("results.undo")  # only the deletion is left, which is undone already
    qtbot.waitUntil(lambda: not window.context.busy and not page.history.can_undo)
    assert other.exists() and len(told) == 1


def test_a_run_deleted_while_its_report_is_written_does_not_come_back(
    page: ResultsPage, window: MainWindow, qtbot: QtBot, run: Path, trash: Path
) -> None:
    page.show_run(run)
    report, table = named(page, QPushButton, "results-report"), named(page, RowsTable, "run-table")
    qtbot.waitUntil(report.isEnabled)
    report.click()
    jobs = named(page, JobStrip, "results-jobs")
    assert jobs.busy
    page.show_library()
    table.select(run)
    assert window.context.commands.run("results.trash")
    qtbot.waitUntil(lambda: len(titles(page)) == 1 and not window.context.busy)
    assert not run.exists() and not jobs.busy
