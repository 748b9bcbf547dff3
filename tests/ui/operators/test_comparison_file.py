"""A comparison has a name and a file: saved, opened, duplicated, found again, never written over unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from PyQt6.QtWidgets import QFileDialog, QLineEdit, QPushButton

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.run_labels import read_labels
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.store import Store
from gym_gui.ui.context import AppContext, Notice
from gym_gui.ui.pages.operators import OperatorsTab
from gym_gui.ui.results.library_view import LibraryView
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

pytestmark = pytest.mark.usefixtures("looks_here", "plays_here")


def baseline(name: str, behavior: str = "random") -> OperatorConfig:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})
    return OperatorConfig(name, f"My {name}", "", "CartPole-v1", {"agent_0": player}, max_steps=9)


@pytest.fixture
def page(window: MainWindow) -> OperatorsTab:
    window.context.go("operators")
    page = named(window, OperatorsTab, "page-operators")
    for config in (baseline("a"), baseline("b", "cycle")):
        page.deck.add(config, start=False)
    page.deck.set_seed(5)
    return page


@pytest.fixture
def told(window: MainWindow) -> list[Notice]:
    notices: list[Notice] = []
    window.context.noticed.connect(notices.append)
    return notices


def title(page: OperatorsTab) -> str:
    return named(page, QPushButton, "comparison").text()


def test_it_is_saved_as_an_experiment_and_says_when_it_differs(page: OperatorsTab, tmp_path: Path) -> None:
    assert title(page) == "Untitled"
    file = tmp_path / "duel.yaml"
    page.comparison.save_to(str(file))
    assert title(page) == "duel"
    experiment = load_experiment(file, allow_code=False)
    assert [o.operator_id for o in experiment.operators] == ["a", "b"]
    assert experiment.execution.seeds == tuple(range(5, 15))
    page.deck.duplicate("b")
    assert title(page) == "duel •"
    page.comparison.save()
    assert title(page) == "duel"
    assert len(load_experiment(file, allow_code=False).operators) == 3
    page.deck.undo_stack.undo()
    assert title(page) == "duel •"
    page.comparison.duplicate()
    assert title(page) == "Untitled" and len(page.deck.operators) == 2


def test_a_new_one_has_no_file_and_undo_brings_the_old_ones_back(
    page: OperatorsTab, window: MainWindow, tmp_path: Path
) -> None:
    page.comparison.save_to(str(tmp_path / "duel.yaml"))
    assert window.context.commands.run("file.new")
    assert (title(page), tuple(page.deck.operators)) == ("Untitled", ())
    page.deck.undo_stack.undo()
    assert title(page) == "duel" and len(page.deck.operators) == 2


def test_it_is_opened_side_by_side_with_the_seed_and_episodes_of_its_file(
    page: OperatorsTab, qtbot: Any, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    player = {"type": "baseline", "settings": {"behavior": "random"}}
    operators = [{"id": n, "task": "CartPole-v1", "workers": {"agent_0": player}} for n in ("x", "y")]
    words = "# what I wrote\n" + yaml.safe_dump(
        {"operators": operators, "execution": {"num_episodes": 3, "seeds": 70}}
    )
    file.write_text(words)
    page.comparison.open(file)
    qtbot.waitUntil(lambda: title(page) == "mine", timeout=PATIENCE_MS)
    assert page.deck.table.ids == ("x", "y") and page.deck.seed == 70
    page.deck.duplicate("y")
    page.comparison.save()  # a user wrote that file: the program asks where to save
    dialog = named(page.window(), QFileDialog, "comparison-save-dialog")
    assert file.read_text() == words
    dialog.reject()
    page.comparison.save_to(str(tmp_path / "again.yaml"))
    assert load_experiment(tmp_path / "again.yaml", allow_code=False).execution.seeds == (70, 71, 72)


def test_what_cannot_be_shown_side_by_side_is_said_and_changes_nothing(
    page: OperatorsTab, told: list[Notice], qtbot: Any, tmp_path: Path
) -> None:
    before = page.deck.table
    file = tmp_path / "program.py"
    file.write_text("operators = [__import__('os').getcwd()]\n")
    page.comparison.open(file)
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    assert told[0].kind == "warning" and told[0].action is not None
    assert page.deck.table == before and title(page) == "Untitled"


def test_its_name_is_there_after_a_restart(
    page: OperatorsTab, window: MainWindow, store: Store, finish: Callable[[object], object], tmp_path: Path
) -> None:
    page.comparison.save_to(str(tmp_path / "duel.yaml"))
    finish(window.shut_down())
    again = MainWindow(AppContext(bootstrap_default_services(store=store), window.context.theme))
    try:
        again.context.go("operators")
        page = named(again, OperatorsTab, "page-operators")
        assert title(page) == "duel"
        page.deck.remove("a")
        assert title(page) == "duel •"
    finally:
        finish(again.shut_down())
        again.close()
        finish(again.context.close())
        again.deleteLater()


def test_its_runs_by_hand_and_as_a_script_are_found_under_its_name(
    page: OperatorsTab, window: MainWindow, store: Store, qtbot: Any, tmp_path: Path
) -> None:
    file = tmp_path / "duel.yaml"
    page.comparison.save_to(str(file))

    def groups() -> list[str]:
        return sorted(read_labels(folder).group for folder in store.runs_dir().glob("*") if folder.is_dir())

    page.deck.play.run()
    qtbot.waitUntil(lambda: groups() == ["duel"], timeout=PATIENCE_MS)
    page.deck.stop_all()
    page.comparison.run_as_script()
    start = named(window, QPushButton, "script-run")
    qtbot.waitUntil(start.isEnabled, timeout=PATIENCE_MS)
    start.click()
    qtbot.waitUntil(lambda: groups() == ["duel", "duel"], timeout=PATIENCE_MS)
    page.comparison.show_runs()
    library = named(window, LibraryView, "run-library")
    qtbot.waitUntil(lambda: library.model.rowCount() == 2, timeout=PATIENCE_MS)
    assert named(library, QLineEdit, "run-search").text() == 'group:"duel"'
