"""What menus on pages do is in the palette, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMenu

from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.ui.commands import COMMAND
from gym_gui.ui.pages import places
from gym_gui.ui.train.run_menu import menu_entries
from gym_gui.ui.window.main_window import MainWindow

OF_THEIR_OWN = {
    "comparison-recent": "files",
    "presets_menu": "presets",
    "presets_delete": "presets",
    "run-offers-menu": "words of runs, typed into the search field",
    "script-executor-menu": "machines, which the command asks for",
    "train-use-menu": "where to, which the command asks for",
    "train-use-agent-menu": "the same, of one agent",
    "train-league-use-menu": "the same, of an opponent",
}
"""Menus whose entries are things, not commands."""
KNOWN = {"operators": "operators.whole", "results": "results.export-figure"}


@pytest.mark.parametrize("place", [place.name for place in places()])
def test_every_entry_of_a_menu_has_a_command(window: MainWindow, place: str) -> None:
    window.go(place)
    assert window.page is not None
    entries: list[QAction] = []
    for menu in window.page.findChildren(QMenu):
        if menu.objectName() not in OF_THEIR_OWN:
            menu.aboutToShow.emit()
            entries += [a for a in menu.actions() if not a.isSeparator() and a.menu() is None]  # type: ignore[misc]
    commands = window.context.commands
    ids = {entry.text(): str(entry.property(COMMAND)) for entry in entries}
    assert [text for text, command_id in ids.items() if commands.get(command_id) is None] == []
    assert KNOWN.get(place) in {*ids.values(), None}


@pytest.mark.parametrize("state", ["running", "paused", "failed", "completed"])
def test_what_can_be_done_with_a_training_has_a_command(window: MainWindow, state: str) -> None:
    window.go("train")
    run = TrainingRecord("r1", "w", "ppo", "CartPole-v1", 1, Path("/r1"), 1.0, state=state)  # type: ignore[arg-type]
    ids = {command.id for command in window.context.commands.all()}
    actions = {action for action, _ in menu_entries(run, drawn=False)} - {"resume"}  # "Pause or go on"
    assert {f"train.{action}" for action in actions} <= ids


def test_hosts_and_an_agent_s_menu_are_in_the_palette(window: MainWindow) -> None:
    window.go("agents")
    ids = {command.id for command in window.context.commands.all()}
    assert {"hosts.open", "agents.link", "agents.unlink", "agents.same_all", "agents.same_team"} <= ids
