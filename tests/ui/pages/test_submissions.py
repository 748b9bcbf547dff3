"""A study in shards, in the window: begun from Script mode, one entry of Results until it is a run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QApplication, QDialog, QLabel, QListView, QPlainTextEdit, QPushButton, QWidget

from gym_gui.core.experiment.spending import Amount
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.store import Store
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.bundle import write_bundle
from gym_gui.services.submissions.follower import follower_of
from gym_gui.services.submissions.host_state import save_log_tail
from gym_gui.services.submissions.own_submissions import unconfirmed
from gym_gui.services.submissions.submission_record import (
    COLLECTED,
    FAILED,
    SENT,
    PlaceState,
    ShardState,
    Submission,
)
from gym_gui.ui.operators.script_executor import ExecutorChoice
from gym_gui.ui.results.jobs import JobStrip
from gym_gui.ui.results.library_view import LibraryView
from gym_gui.ui.results.submissions.submission_view import SubmissionView
from gym_gui.ui.widgets.tables import RowsTable
from gym_gui.ui.window.main_window import MainWindow
from tests.support.commands import COMMAND, experiment
from tests.support.named import named
from tests.support.seldom import some_of
from tests.ui.conftest import messages

pytestmark = pytest.mark.usefixtures("looks_here", "analyzes_here")


@pytest.fixture
def submission(store: Store, tmp_path: Path) -> Submission:
    """Four shards that no process follows: one here, one that may run, one that failed, one not begun."""
    runs = store.runs_dir()
    found = Submission(runs / "submissions" / "01M8H83KEBJ7758D9XJK3WVK24", "local", {}, "run", 4, 16, runs)
    file = experiment(tmp_path, {"id": "a", "name": "Chance"}, num_episodes=16)
    write_bundle(found.bundle, load_experiment(file, allow_code=False), [])
    found.states = {
        1: ShardState(COLLECTED, "one", 1, done=4),
        2: ShardState(SENT, "two", 1, done=2, playing=True, job="7_2"),
        3: ShardState(FAILED, "two", 3, lost=3, problem="two: no such key"),
    }
    found.places = {"two": PlaceState("2026-11-28T14:00:00+00:00", "two does not answer")}
    save_log_tail(found.log(3, 3), ["Traceback", "KeyError: 'no such key'"])
    found.save()
    BudgetLeases(found.folder, {"run": Amount(1000, 0.0)}, 2).save()
    return found


def text(widget: QWidget, name: str) -> str:
    return named(widget, QLabel, name).text()


def offered(window: MainWindow) -> set[str]:
    """Buttons of a submission that can be pressed."""
    buttons = window.pages["results"].findChildren(QPushButton)
    ours = (button for button in buttons if button.objectName().startswith("submission-"))
    return {b.objectName().removeprefix("submission-") for b in ours if b.isVisible() and b.isEnabled()}


def test_what_its_record_says_is_seen_and_what_failed_leads_to_its_log(
    window: MainWindow, qtbot: Any, submission: Submission
) -> None:
    window.go("results")
    library = named(window, LibraryView, "run-library")
    qtbot.waitUntil(lambda: library.model.rowCount() == 1)
    library.table.selectRow(0)
    named(window, QPushButton, "results-open").click()
    view = named(window, SubmissionView, "submission")
    qtbot.waitUntil(lambda: view.seen is not None)
    assert "6 of 16 episodes" in text(view, "submission-done")
    assert "0 of 1,000 tokens" in text(view, "submission-budget")
    told = named(view, QWidget, "submission-legend").accessibleName()
    assert told == "1 waiting, 1 running, 1 finished, 1 failed"
    grid, table = named(view, QListView, "submission-grid"), named(view, RowsTable, "submission-shards")
    assert table.rows.rowCount() == 4
    assert offered(window) == {"go-on", "stop", "merge", "log"} - {"log"}
    assert named(window, QPushButton, "submission-go-on").text() == "Retry failed shards"
    grid.setFocus()
    grid.setCurrentIndex(table.rows.index(0, 0))
    for _ in range(2):
        qtbot.keyClick(grid, Qt.Key.Key_Right)
    assert table.currentIndex().row() == 2, "a square and its row are selected together"
    spoken = grid.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
    assert "failed" in spoken and "no such key" in spoken
    assert "no such key" in messages(view)[0]
    named(view, QPushButton, "message-place").click()
    qtbot.waitUntil(lambda: bool(_editors()))
    (editor,) = _editors()
    assert "KeyError" in named(editor, QPlainTextEdit, "file-text").toPlainText()
    editor.close()
    submission.run = str(submission.folder.parent)  # it has become one meanwhile
    submission.save()
    qtbot.waitUntil(lambda: offered(window) == {"open", "log"})


def _editors() -> list[QWidget]:
    return [w for w in QApplication.topLevelWidgets() if w.objectName() == "file-editor" and w.isVisible()]


@pytest.fixture
def ended(store: Store) -> Iterator[None]:
    """What goes on without the window ends with the test."""
    yield
    for folder in store.runs_dir().glob("submissions/*"):
        subprocess.run([*COMMAND, "runs", "stop", str(folder)], capture_output=True, check=True)


@pytest.mark.usefixtures("ended")
def test_one_is_begun_from_a_file_watched_stopped_and_merged_as_far_as_it_is(
    window: MainWindow, qtbot: Any, store: Store, tmp_path: Path
) -> None:
    file = experiment(tmp_path, {"id": "a", "name": "Chance"}, num_episodes=100_000)
    profile = tmp_path / "one.yaml"
    profile.write_text("shards: 1\n")
    window.go("operators", {"script": file})
    page = window.pages["operators"]
    run = named(page, QPushButton, "script-run")
    named(page, ExecutorChoice, "script-executor").choose("local", profile)
    qtbot.waitUntil(run.isEnabled)
    run.click()
    qtbot.waitUntil(lambda: window.current == "results")
    view = named(window, SubmissionView, "submission")
    qtbot.waitUntil(lambda: view.seen is not None and view.seen.done > 0 and view.seen.count("playing") > 0)
    assert offered(window) >= {"stop", "merge"} and "go-on" not in offered(window)
    assert window.context.commands.run("results.submission_stop")
    qtbot.waitUntil(lambda: "go-on" in offered(window))
    assert any("Stopped" in said for said in messages(window))
    assert view.seen is not None and view.seen.count("waiting") == len(view.seen.shards)
    assert follower_of(view.seen.submission.folder) is None
    named(window, QPushButton, "submission-merge").click()
    qtbot.waitUntil(lambda: any("now one run, which is marked as incomplete" in m for m in messages(window)))
    named(named(window, JobStrip, "results-jobs"), QPushButton, "message-action").click()
    qtbot.waitUntil(lambda: "Chance" in text(window, "results-verdict"))
    library = named(window, LibraryView, "run-library")
    qtbot.waitUntil(lambda: sorted(bool(each.submission) for each in library.model.rows) == [False, True])
    assert {each.status for each in library.model.rows} == {"stopped"}


@pytest.mark.parametrize("button", some_of(["go-on", "stop"], "go-on"))
def test_one_that_came_along_is_shown_as_a_whole_before_it_is_used(
    window: MainWindow, qtbot: Any, submission: Submission, tmp_path: Path, button: str
) -> None:
    stolen = tmp_path / "stolen"
    submission.profile = {"shards": 1, "mosaic": f"touch {stolen}; false"}
    submission.save()
    window.go("results", {"run": submission.folder})
    view = named(window, SubmissionView, "submission")
    qtbot.waitUntil(lambda: view.seen is not None)
    named(window, QPushButton, f"submission-{button}").click()
    qtbot.waitUntil(lambda: window.findChild(QDialog, "confirm-submission") is not None)
    dialog = named(window, QDialog, "confirm-submission")
    assert f"touch {stolen}" in named(dialog, QPlainTextEdit, "confirm-what").toPlainText()
    assert not named(window, JobStrip, "results-jobs").busy
    named(dialog, QPushButton, "confirm-refuse").click()
    qtbot.waitUntil(lambda: window.findChild(QDialog, "confirm-submission") is None)
    assert not stolen.exists() and unconfirmed(submission.folder) is not None
    named(window, QPushButton, f"submission-{button}").click()
    qtbot.waitUntil(lambda: window.findChild(QDialog, "confirm-submission") is not None)
    confirm_it = named(window.findChild(QDialog, "confirm-submission"), QPushButton, "confirm-yes")
    confirm_it.click()
    qtbot.waitUntil(lambda: unconfirmed(submission.folder) is None)
    if button == "go-on":
        qtbot.waitUntil(stolen.exists)
    qtbot.waitUntil(lambda: not named(window, JobStrip, "results-jobs").busy)


def test_what_has_nothing_to_merge_says_so(window: MainWindow, qtbot: Any, submission: Submission) -> None:
    window.go("results", {"run": submission.folder})
    view = named(window, SubmissionView, "submission")
    qtbot.waitUntil(lambda: view.seen is not None)
    named(window, QPushButton, "submission-merge").click()
    qtbot.waitUntil(lambda: any("No shard is on this machine yet" in said for said in messages(window)))


def test_parts_that_were_played_by_hand_are_merged_in_the_list(
    window: MainWindow, qtbot: Any, store: Store, tmp_path: Path
) -> None:
    file = experiment(tmp_path, {"id": "a", "name": "Chance"}, num_episodes=4)
    asked = (*COMMAND, "run", str(file), "--shard", "1,2/2", "--out", str(store.runs_dir()))
    subprocess.run(asked, capture_output=True, check=True)
    window.go("results")
    library = named(window, LibraryView, "run-library")
    qtbot.waitUntil(lambda: library.model.rowCount() == 2)
    library.table.selectRow(0)
    assert window.context.commands.run("results.merge")
    qtbot.waitUntil(lambda: any("of 2 is missing" in said for said in messages(window)))
    jobs = named(window, JobStrip, "results-jobs")
    assert named(jobs, QPushButton, "message-action").text() == "Merge available parts"
    library.table.selectAll()
    assert window.context.commands.run("results.merge")
    qtbot.waitUntil(lambda: any("2 shards, 4 episodes are now one run." in said for said in messages(window)))
    qtbot.waitUntil(lambda: library.model.rowCount() == 3)
