"""A tour watches what really happens, points at what it is about, and can be left and taken up again."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.core.run_labels import change_labels
from gym_gui.services.store import Store
from gym_gui.ui.context import AppContext
from gym_gui.ui.guide.book import Book
from gym_gui.ui.tours import step_conditions
from gym_gui.ui.tours.highlight_ring import Ring
from gym_gui.ui.tours.tour import TOURS
from gym_gui.ui.tours.tour_context import Scene, read_record
from gym_gui.ui.tours.tour_strip import TourStrip
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.support.no_processes import record_file

EXPERIMENT = {
    "operators": [
        {"id": "slip", "name": "Slipping", "task": "FrozenLake-v1", "workers": {"agent": {"type": "random"}}},
        {"id": "still", "name": "Still", "task": "FrozenLake-v1", "workers": {"agent": {"type": "passive"}}},
    ],
    "execution": {"num_episodes": 3, "seeds": [1, 2, 3]},
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two operators."""
    folder = tmp_path_factory.mktemp("played")
    file = folder / "lake.json"
    file.write_text(json.dumps(EXPERIMENT))
    return record_file(file, folder / "runs")


@pytest.fixture
def run_folder(played: Path, store: Store) -> Path:
    """The same run among the runs of this test."""
    return Path(shutil.copytree(played, store.runs / played.name))


def place(window: MainWindow) -> str:
    return named(window, QLabel, "tour-place").accessibleName()


def choose(window: MainWindow, name: str) -> str:
    """Choose a tour from the list of them; what its row says."""
    window.context.commands.run("help.tours")
    row = named(named(window, QDialog, "tours"), QPushButton, f"tour-{name}")
    said = row.accessibleName()
    row.click()
    return said


def test_a_tour_is_left_and_taken_up_again(
    window: MainWindow, context: AppContext, run_folder: Path, qtbot: QtBot
) -> None:
    assert window.findChild(TourStrip) is None, "made when a tour is wanted"
    assert "about 3 minutes" in choose(window, "publish")
    assert place(window) == "Tour: Publish, step 1 of 4" and window.current == "results"
    ring = named(window, QWidget, "tour-ring")
    qtbot.waitUntil(ring.isVisible)
    table = named(window, QWidget, "run-table")
    assert ring.geometry().contains(table.mapTo(window, table.rect().center()))

    context.go("results", run=run_folder)  # as Enter in the list does
    qtbot.waitUntil(lambda: place(window) == "Tour: Publish, step 2 of 4")
    window.activateWindow()  # there is no window manager that does when the list of tours closes
    qtbot.waitUntil(window.isActiveWindow)
    verify = named(window, QWidget, "results-verify")
    qtbot.waitUntil(verify.isEnabled)
    QTest.keyClick(window, Qt.Key.Key_F6)
    qtbot.waitUntil(verify.hasFocus)
    assert verify.accessibleDescription().startswith("Tour: Check that the run is reproducible")

    window.go("home")
    rail = named(window, QWidget, "go-results")
    qtbot.waitUntil(lambda: ring.geometry().contains(rail.mapTo(window, rail.rect().center())))
    window.tours.leave()
    assert not ring.isVisible() and not named(window, TourStrip, "tour-strip").isVisible()
    assert (
        not verify.accessibleDescription().startswith("Tour")
        and context.commands.get("help.tour_show") is None
    )

    assert "continue at step 2 of 4" in choose(window, "publish")
    assert place(window) == "Tour: Publish, step 2 of 4" and window.current == "results"
    window.tours.go_to(2)
    assert place(window) == "Tour: Publish, step 3 of 4"
    assert context.layout.value("tours/current") == "publish", "on again, should the window be killed"
    (run_folder / "report.html").write_text("written by somebody")
    qtbot.waitUntil(lambda: place(window) == "Tour: Publish, step 4 of 4")

    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    home, play = (named(window, QWidget, f"go-{name}") for name in ("home", "play"))
    home.setFocus()
    window.tours.go_to(1)
    said = home.accessibleDescription()
    assert said.startswith("Tour: Publish, step 2 of 4") and "reproducible" in said, (
        "heard where the keyboard is"
    )
    play.setFocus()
    assert home.accessibleDescription() == ""
    window.tours.leave()


def test_the_ring_outlives_a_dialog_that_it_stood_in(window: MainWindow, qtbot: QtBot) -> None:
    ring = Ring(window)
    dialog = QDialog(window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    button = QPushButton("Here", dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    ring.show_around(button)
    assert ring.isVisible() and ring.window() is dialog
    with qtbot.waitSignal(dialog.destroyed):
        dialog.close()
    home = named(window, QWidget, "go-home")
    ring.show_around(home)
    assert ring.isVisible() and ring.window() is window


def test_only_what_has_happened_since_counts(window: MainWindow, store: Store, run_folder: Path) -> None:
    def scene(since: float) -> Scene:
        record = read_record(store.runs, store.data, since)
        return Scene(window.context, window, window.current, window.pages, since, record)

    now, later = scene(0.0), scene(time.time() + 60)
    assert step_conditions.side_by_side(3)(now) and not step_conditions.side_by_side(4)(now)
    assert not step_conditions.side_by_side(3)(later) and not later.record.runs
    assert not step_conditions.played_by("human")(now) and step_conditions.played_by("baseline")(now)
    assert not step_conditions.mixed_team(now), "one agent is no team"
    assert not step_conditions.named_run(now)
    change_labels(run_folder, {"name": "Slippery"})
    assert step_conditions.named_run(scene(0.0)) and not step_conditions.named_run(later)
    (run_folder / "operators/slip/episodes.jsonl").write_text("{damaged\n")
    assert not scene(0.0).record.runs, "what cannot be read is no sign"


def test_each_tour_has_a_page_of_the_guide() -> None:
    pages = {page for page, _ in Book().contents()}
    assert [tour.name for tour in TOURS] == ["play", "compare", "team", "ask", "train", "publish"]
    assert {tour.guide for tour in TOURS} <= pages
