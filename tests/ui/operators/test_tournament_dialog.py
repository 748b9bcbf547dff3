"""A tournament is put together in the window: a game, a pool, seeds; the file opens ready to run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QListWidget, QPushButton, QSpinBox, QWidget

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.experiment_file import load_tournament
from gym_gui.ui.context import AppContext
from gym_gui.ui.operators.tournament_dialog import TournamentDialog
from gym_gui.ui.policies.tournament_draft import TournamentRequest
from tests.support.named import named

from .conftest import WAIT

pytestmark = pytest.mark.usefixtures("looks_here")

CYCLE = WorkerAssignment("operators_worker", "baseline", {"behavior": "cycle"})
SEARCH = WorkerAssignment("openspiel_worker", "planner", {"simulations": 7})
PERSON = WorkerAssignment("human_worker", "human")


@pytest.fixture
def page(qtbot: Any) -> QWidget:
    page = QWidget()
    qtbot.addWidget(page)
    page.show()
    return page


@pytest.fixture
def catalog(context: AppContext, finish: Any) -> Iterator[CatalogCache]:
    catalog = CatalogCache(context.store)
    yield catalog
    finish(catalog.close())


def begun(
    context: AppContext, catalog: CatalogCache, page: QWidget, qtbot: Any, *request: Any
) -> TournamentDialog:
    dialog = TournamentDialog(context, catalog, TournamentRequest(*request), page)
    dialog.open()
    told = named(dialog, QLabel, "tournament-words"), named(dialog, QLabel, "tournament-problem")
    qtbot.waitUntil(
        lambda: any(each.text() and not each.text().startswith("Reading") for each in told), timeout=WAIT
    )
    return dialog


def row(dialog: TournamentDialog, title: str) -> Any:
    policies = named(dialog, QListWidget, "tournament-policies")
    items = [policies.item(i) for i in range(policies.count())]
    return next(item for item in items if item is not None and item.text().startswith(title))


def test_a_newcomer_has_one_without_choosing_and_saves_it(
    context: AppContext, catalog: CatalogCache, page: QWidget, tmp_path: Path, qtbot: Any
):
    dialog = begun(context, catalog, page, qtbot)
    words = named(dialog, QLabel, "tournament-words")
    pool = len(dialog.chosen)
    assert pool > 2 and f"{pool} policies at classic/connect_four_v3" in words.text()
    assert f"{20 * pool * (pool - 1)} games in all" in words.text()
    save = named(dialog, QPushButton, "tournament-save")
    assert save.isEnabled()
    for each in dialog.chosen:
        if not each.title.startswith("Connect four"):
            row(dialog, each.title).setCheckState(Qt.CheckState.Unchecked)
    assert not save.isEnabled() and named(dialog, QLabel, "tournament-problem").isVisible()

    for title in ("Random", "Cycles"):
        row(dialog, title).setCheckState(Qt.CheckState.Checked)
    named(dialog, QSpinBox, "tournament-seeds").setValue(12)
    qtbot.mouseClick(named(dialog, QPushButton, "tournament-schedule-swiss"), Qt.MouseButton.LeftButton)
    assert "Swiss, 2 rounds" in words.text() and save.isEnabled()
    path = tmp_path / "mine.yaml"
    with qtbot.waitSignal(dialog.written) as told:
        dialog.write(str(path))
    assert told.args == [path]
    assert "seeds: range(0, 12)" in path.read_text()
    saved = load_tournament(path)
    assert saved.schedule.kind == "swiss" and len(saved.execution.seeds) == 12
    assert {p.settings["behavior"] for p in saved.policies.values() if isinstance(p, WorkerAssignment)} == {
        "random",
        "cycle",
        "connect_four_one_ply",
    }


def test_those_who_play_side_by_side_are_its_pool(
    context: AppContext, catalog: CatalogCache, page: QWidget, qtbot: Any
):
    def match(name: str, *players: WorkerAssignment) -> OperatorConfig:
        return OperatorConfig(
            name, "", "", "tictactoe_v3", dict(zip(("player_1", "player_2"), players, strict=True))
        )

    request = TournamentRequest.of([match("a", SEARCH, CYCLE), match("b", PERSON, SEARCH)])
    assert request == TournamentRequest("tictactoe_v3", (SEARCH, CYCLE))
    dialog = begun(context, catalog, page, qtbot, request.task, request.players)
    assert [each.player for each in dialog.chosen][-1] == CYCLE
    assert CYCLE in [each.player for each in dialog.chosen]


def test_a_game_of_one_agent_says_what_is_wrong(
    context: AppContext, catalog: CatalogCache, page: QWidget, qtbot: Any
):
    dialog = begun(context, catalog, page, qtbot, "CartPole-v1")
    for i in (0, 1):
        item = named(dialog, QListWidget, "tournament-policies").item(i)
        assert item is not None
        item.setCheckState(Qt.CheckState.Checked)
    assert "has one agent" in named(dialog, QLabel, "tournament-problem").text()
    assert not named(dialog, QPushButton, "tournament-save").isEnabled()
