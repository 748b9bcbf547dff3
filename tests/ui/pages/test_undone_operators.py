"""A comparison that the user has built is not lost: undo brings it back, and so does a restart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QPushButton, QSpinBox

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.trusted.trust import Origin
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.operator_table import NAME
from gym_gui.services.store import Store
from gym_gui.ui.context import AppContext
from gym_gui.ui.operators.manual import ManualOperators
from gym_gui.ui.pages.home import StarterCard
from gym_gui.ui.pages.operators import OperatorsTab
from gym_gui.ui.widgets.message_panels import EmptyHint, InlineMessage
from gym_gui.ui.widgets.seed import SeedBox
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

WAIT = PATIENCE_MS
LEFT = Qt.MouseButton.LeftButton

pytestmark = pytest.mark.usefixtures("looks_here", "plays_here")


def baseline(name: str, behavior: str = "random") -> OperatorConfig:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})
    return OperatorConfig(name, f"My {name}", "", "CartPole-v1", {"agent_0": player}, max_steps=9)


def build(window: MainWindow) -> OperatorsTab:
    """Two operators, put there by hand."""
    window.context.go("operators")
    page = window.findChild(OperatorsTab)
    assert page is not None
    for config in (baseline("a"), baseline("b", "cycle")):
        page.deck.add(config)
    named(page, QSpinBox, "seed").setValue(77)
    return page


def ready(page: OperatorsTab, seed: int) -> bool:
    looks = [o.player.last_view for o in page.deck.operators]
    return all(look is not None and look.seed == seed for look in looks) and all(
        o.player.alive and not o.player.busy for o in page.deck.operators
    )


def click_card(window: MainWindow, name: str, qtbot: Any) -> None:
    window.context.go("home")
    card = next(c for c in window.findChildren(StarterCard) if c.starter.name == name)
    qtbot.mouseClick(card, LEFT)


def test_an_edit_of_an_operator_that_is_removed_goes_with_it(window: MainWindow, qtbot: Any):
    page = build(window)
    notices: list[str] = []
    window.context.noticed.connect(lambda notice: notices.append(notice.text))
    qtbot.waitUntil(lambda: page.config.panel is not None, timeout=WAIT)
    operator = page.config.operator
    assert operator is not None
    page.config.environment.chosen.emit("FrozenLake-v1")
    page.deck.remove(operator.player.config.operator_id)
    assert page.config.operator is not operator
    qtbot.waitUntil(lambda: "Checking the operator" not in window.context.busy, timeout=WAIT)
    assert not [text for text in notices if "operator" in text], notices


def test_what_a_card_replaced_comes_back(window: MainWindow, qtbot: Any):
    page = build(window)
    built = page.deck.table
    manual = named(page, ManualOperators, "manual-operators")
    assert manual.findChild(InlineMessage, "message-info") is None  # nothing was lost so far
    click_card(window, "duel", qtbot)
    message = named(page, InlineMessage, "message-info")
    assert message is not None and message.text == "My a and My b were replaced."
    assert page.deck.table.ids == ("ppo", "random") and page.deck.seed == 42
    qtbot.mouseClick(named(message, QPushButton, "message-action"), LEFT)
    assert page.deck.table == built and named(page, SeedBox, "seed-box").seed == 77
    gone = lambda: manual.findChild(InlineMessage, "message-info") is None  # noqa: E731
    qtbot.waitUntil(gone, timeout=WAIT)  # its button would undo something else now
    qtbot.waitUntil(lambda: ready(page, 77), timeout=WAIT)
    assert not page.deck.play.running  # they play when the user asks for it
    assert window.context.commands.run("operators.redo")
    assert page.deck.table.ids == ("ppo", "random")
    assert window.context.commands.run("operators.undo")
    assert page.deck.table == built


def test_every_change_can_be_undone_in_turn(window: MainWindow, qtbot: Any):
    page = build(window)
    tables = [page.deck.table]
    page.deck.change(replace(page.deck.operators[0].player.config, display_name="Chance"))
    tables.append(page.deck.table)
    page.deck.duplicate("b")
    tables.append(page.deck.table)
    named(page, ManualOperators, "manual-operators").remove("a")
    tables.append(page.deck.table)
    window.context.go("operators", operators=[baseline("c")], seed=5)
    assert page.deck.table.ids == ("c",) and len(set(map(id, tables))) == 4
    for table in reversed(tables):
        page.deck.undo_stack.undo()
        assert page.deck.table == table


def test_they_are_there_after_a_restart(
    window: MainWindow, store: Store, qtbot: Any, finish: Callable[[object], object]
):
    page = build(window)
    odd = replace(baseline("c"), origin=Origin("/x/maze.yaml", "/x"), named=False, host="one")
    page.deck.add(odd, start=False)
    built = page.deck.table
    finish(window.shut_down())
    assert (store.data / NAME).is_file()

    again = MainWindow(AppContext(bootstrap_default_services(store=store), window.context.theme))
    try:
        again.context.go("operators")
        page = again.findChild(OperatorsTab)
        assert page is not None and page.deck.table == built
        # After the restart, neither the file's origin nor a generated name counts as the user's own choice.
        third = page.deck.operators[2].player.config
        assert third.host == "one", "an operator stays where it runs"
        assert third.origin == odd.origin and not third.named and page.deck.operators[0].player.config.named
        assert (
            named(page, SeedBox, "seed-box").seed == 77
            and named(page, EmptyHint, "operators-empty").isHidden()
        )
        assert not page.deck.undo_stack.canUndo() and not page.deck.play.running
        qtbot.waitUntil(lambda: page.deck.operators[0].player.last_view is not None, timeout=WAIT)
        click_card(again, "soccer", qtbot)
        assert page.deck.table.ids == ("soccer",)
        page.deck.undo_stack.undo()
        assert page.deck.table == built
    finally:
        finish(again.shut_down())
        again.close()
        finish(again.context.close())
        again.deleteLater()


def test_a_file_that_cannot_be_read_is_told_and_kept(window: MainWindow, store: Store):
    told: list[str] = []
    window.context.noticed.connect(lambda notice: told.append(notice.text))
    store.data_dir()
    (store.data / NAME).write_text('{"mosaic_operators": 1, "operators": 7}')
    page = build(window)
    assert page.deck.table.ids == ("a", "b")
    (sentence,) = told
    assert "is damaged" in sentence
    assert '"operators": 7' in (store.data / "operators.unread.json").read_text()
