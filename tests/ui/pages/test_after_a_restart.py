"""What stands on a page is there again after a restart; a new comparison is an empty one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.experiment.execution import TimeControl
from gym_gui.services.store import Store
from gym_gui.ui.pages.agents import AgentsPage
from gym_gui.ui.pages.operators import OperatorsTab
from gym_gui.ui.pages.play import PlayPage
from gym_gui.ui.play.time_rows import TimeRows
from gym_gui.ui.widgets import IconButton
from gym_gui.ui.widgets.message_panels import EmptyHint
from gym_gui.ui.widgets.seed import SeedBox
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.support.restart import restarted
from tests.ui.conftest import PATIENCE_MS

Finish = Callable[[object], object]
FOUR = "classic/connect_four_v3"

pytestmark = pytest.mark.usefixtures("looks_here", "plays_here")


def baseline(behavior: str = "random") -> WorkerAssignment:
    return WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})


def four() -> OperatorConfig:
    players = {"player_0": WorkerAssignment("human_worker", "human"), "player_1": baseline("cycle")}
    return OperatorConfig("it", "Four", "", FOUR, players, max_steps=9)


def test_the_configuration_that_is_being_written(
    window: MainWindow, store: Store, qtbot: Any, finish: Finish
) -> None:
    window.context.go("agents", operator=four())
    page = named(window, AgentsPage, "page-agents")
    qtbot.waitUntil(lambda: page.model.report is not None, timeout=PATIENCE_MS)
    named(page, SeedBox, "seed-box").set_seed(31)
    page.model.set_row("player_0", baseline("noop"), "another")
    qtbot.waitUntil(lambda: page.model.settled, timeout=PATIENCE_MS)
    written = page.model.draft
    with restarted(window, store, finish) as again:
        again.go("agents")
        page = named(again, AgentsPage, "page-agents")
        qtbot.waitUntil(lambda: page.model.report is not None, timeout=PATIENCE_MS)
        assert page.model.draft == written
        assert named(page, SeedBox, "seed-box").seed == 31
        assert not page.model.undo_stack.canUndo()
        again.context.go(
            "agents", operator=OperatorConfig("b", "B", "", "CartPole-v1", {"agent_0": baseline()})
        )
        page.model.undo_stack.undo()
        assert page.model.draft.task == FOUR, "what was there before is not lost"


def test_the_game_that_was_played(window: MainWindow, store: Store, qtbot: Any, finish: Finish) -> None:
    window.context.go("play", operator=four(), seed=12)
    page = named(window, PlayPage, "page-play")
    qtbot.waitUntil(lambda: page.game.config is not None and page.env_info is not None, timeout=PATIENCE_MS)
    config = page.game.config
    page.game.set_time_control(TimeControl(150, 4))
    with restarted(window, store, finish) as again:
        again.go("play")
        page = named(again, PlayPage, "page-play")
        qtbot.waitUntil(
            lambda: page.game.config is not None and page.env_info is not None, timeout=PATIENCE_MS
        )
        assert page.game.config == config and page.game.seed == 12
        assert named(page, SeedBox, "seed-box").seed == 12
        assert page.game.time_control == named(page, TimeRows, "time-rows").value == TimeControl(150, 4)


def test_another_game_takes_the_place_of_the_last_one(
    window: MainWindow, store: Store, qtbot: Any, finish: Finish
) -> None:
    window.context.go("play", operator=four(), seed=12)
    page = named(window, PlayPage, "page-play")
    qtbot.waitUntil(lambda: page.env_info is not None, timeout=PATIENCE_MS)
    page.game.set_time_control(TimeControl(60))
    assert page.game.playing_on == TimeControl(60) and named(page, TimeRows, "time-rows").isVisibleTo(page)
    with restarted(window, store, finish) as again:
        again.context.go("play", task="CartPole-v1")
        page = named(again, PlayPage, "page-play")
        qtbot.waitUntil(lambda: page.env_info is not None, timeout=PATIENCE_MS)
        # An environment of one agent has no turns.
        assert page.game.playing_on is None and not named(page, TimeRows, "time-rows").isVisibleTo(page)
        assert page.game.config is not None and page.game.config.task == "CartPole-v1"


def test_a_new_comparison_is_an_empty_one_and_can_be_taken_back(window: MainWindow) -> None:
    window.go("operators")
    page = named(window, OperatorsTab, "page-operators")
    page.deck.add(OperatorConfig("a", "A", "", "CartPole-v1", {"agent_0": baseline()}), start=False)
    built = page.deck.table
    assert window.context.commands.run("file.new")
    assert page.deck.table.operators == () and named(page, EmptyHint, "operators-empty").isVisibleTo(page)
    page.deck.undo_stack.undo()
    assert page.deck.table == built
    assert window.context.commands.run("operators.add")
    assert len(page.deck.operators) == 2


def test_a_card_is_pinned_large_beside_small_ones(window: MainWindow, store: Store, finish: Finish) -> None:
    configs = [OperatorConfig(name, "", "", "CartPole-v1", {"agent_0": baseline()}) for name in "abcd"]
    window.resize(1024, 700)
    window.context.go("operators", operators=configs, seed=1)

    def sizes(page: OperatorsTab) -> list[int]:
        places = [page.manual.card(o).geometry() for o in page.deck.operators]
        assert not any(one.intersects(other) for i, one in enumerate(places) for other in places[:i])
        return [place.width() * place.height() for place in places]

    page = named(window, OperatorsTab, "page-operators")
    second = page.manual.card(page.deck.operators[1])
    pin = named(second, IconButton, "operator-pin")
    assert pin.accessibleName() == "Pin b large"
    pin.click()
    a, b, c, d = sizes(page)
    assert b > 3 * a and max(a, c, d) - min(a, c, d) < a / 20
    page.manual.select(page.deck.operators[2])
    window.context.commands.run("operators.enlarge")
    assert not second.isVisible()
    window.context.commands.run("operators.enlarge")
    assert sizes(page) == [a, b, c, d], "it is the large one again"
    page.manual.remove("b")
    assert max(sizes(page)) < 1.1 * min(sizes(page))
    window.context.commands.run("operators.undo")
    assert sizes(page) == [a, b, c, d]
    with restarted(window, store, finish) as again:
        again.resize(1024, 700)
        again.show()
        again.go("operators")
        page = named(again, OperatorsTab, "page-operators")
        assert sizes(page)[1] > 3 * sizes(page)[0]
        page.manual.select(page.deck.operators[1])
        again.context.commands.run("operators.pin")
        assert max(sizes(page)) < 1.1 * min(sizes(page))
