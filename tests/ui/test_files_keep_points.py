"""A German reads commas in the window; what is written to files has points."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from PyQt6.QtCore import QLocale
from PyQt6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.trainings.training_presets import TRAININGS, TrainingPreset
from gym_gui.ui.pages.operators import OperatorsTab
from gym_gui.ui.preset_menu import PresetMenu
from gym_gui.ui.results import exports
from gym_gui.ui.results.comparison_view import ComparisonView
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.support.no_processes import analyzes_here
from tests.ui.results.conftest import played_run, run

__all__ = ["analyzes_here", "played_run", "run"]

COMMA, POINT = re.compile(r"\d,\d+"), re.compile(r"\d\.\d")
UI = Path(__file__).resolve().parents[2] / "gym_gui/ui"


@pytest.fixture(autouse=True)
def german(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    before = QLocale()
    QLocale.setDefault(QLocale("de_DE"))
    yield
    QLocale.setDefault(before)


@pytest.mark.usefixtures("analyzes_here")
def test_results_are_read_with_commas_and_exported_with_points(
    window: MainWindow, qtbot: QtBot, run: Path, tmp_path: Path, finish: Callable[[object], Any]
) -> None:
    window.context.go("results", run=run)
    comparison = named(window, ComparisonView, "comparison")
    qtbot.waitUntil(lambda: comparison.analysis is not None)
    summary = comparison.analysis
    assert summary is not None
    verdict = re.sub(r"<[^>]*>", "", named(comparison, QLabel, "results-verdict").text())
    assert COMMA.search(verdict) and not POINT.search(verdict)

    def write(job: Any) -> None:
        finish(job(lambda *_: None))

    write(exports.table_job([run], "operators", tmp_path / "table.csv"))
    cells = [cell for row in csv.reader((tmp_path / "table.csv").open()) for cell in row]
    assert any(POINT.search(cell) for cell in cells) and not any(COMMA.fullmatch(cell) for cell in cells)
    write(exports.figure_job([run], summary, None, tmp_path / "figure.svg"))
    drawn = " ".join(re.findall(r"<text[^>]*>([^<]*)", (tmp_path / "figure.svg").read_text()))
    assert POINT.search(drawn) and not COMMA.search(drawn)


def test_what_is_saved_has_points(window: MainWindow, tmp_path: Path) -> None:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"}, deadline_s=2.5)
    window.go("operators", {"operators": [OperatorConfig("a", "A", "", "CartPole-v1", {"agent_0": player})]})
    page = named(window, OperatorsTab, "page-operators")
    page.comparison.save_to(str(tmp_path / "mine.yaml"))
    text = (tmp_path / "mine.yaml").read_text()
    assert "2.5" in text and "2,5" not in text
    (saved,) = yaml.safe_load(text)["operators"]
    assert saved["workers"]["agent_0"]["deadline_s"] == 2.5
    preset = TrainingPreset("cleanrl_worker", "ppo", "CartPole-v1", {"learning_rate": 0.0025})
    menu = PresetMenu(window.context, TRAININGS, lambda: preset, lambda: (True, ""), window)
    menu.save("Mine")
    assert "0.0025" in menu.store.path_of("Mine").read_text()


def test_no_number_of_the_window_is_written_without_the_reader_s_marks() -> None:
    """A number with groups or from :mod:`wording` says whose marks it has."""
    grouped = re.compile(r"\{(?!local\()[^{}]*:,[^{}]*\}")
    words = "number|count|percent|share|size|estimate|dollars|price|interval"
    worded = re.compile(rf"wording import .*\b(count|number)\b|wording\.({words})\(")
    wrong = [
        f"{path.name}:{number}: {line.strip()}"
        for path in sorted(UI.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (grouped.search(line) or worded.search(line)) and "screen()" not in line and "local(" not in line
    ]
    assert [each for each in wrong if not each.startswith(("numbers.py", "agent_words.py"))] == []
