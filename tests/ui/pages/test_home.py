"""Home: the cards start what they say, the newest runs stand there with their verdict."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QLabel, QPushButton, QScrollArea
from pytestqt.qtbot import QtBot

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.core.config import OperatorConfig
from gym_gui.services.runs.recent_runs import RecentRun, RecentRuns
from gym_gui.services.store import Store
from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.home_examples import HOME_EXAMPLES
from gym_gui.ui.operators import examples
from gym_gui.ui.pages.home import HomePage, Picture, RunRow, StarterCard
from gym_gui.ui.style_sheet import ASSETS
from gym_gui.ui.widgets import ElidedLabel, IconButton
from gym_gui.ui.widgets.card import Card
from tests.support.cut_words import cut_words
from tests.support.named import named
from tests.support.no_processes import record_file

LEFT = Qt.MouseButton.LeftButton
EXPERIMENT = {
    "operators": [
        {"id": "slip", "name": "Slipping", "task": "FrozenLake-v1", "workers": {"agent": {"type": "random"}}},
        {"id": "still", "name": "Still", "task": "FrozenLake-v1", "workers": {"agent": {"type": "passive"}}},
    ],
    "execution": {"num_episodes": 3, "seeds": [1, 2, 3]},
}


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, finish: Callable[[object], object]) -> Iterator[HomePage]:
    result = HomePage(context)
    qtbot.addWidget(result)
    result.resize(1208, 730)
    result.show()
    yield result
    finish(result.closed())


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of both."""
    place = tmp_path_factory.mktemp("played")
    file = place / "lake.json"
    file.write_text(json.dumps(EXPERIMENT))
    return record_file(file, place / "runs")


@pytest.fixture
def run_folder(played: Path, store: Store) -> Path:
    """The same run among the runs of this test."""
    return Path(shutil.copytree(played, store.runs / played.name))


class TestCards:
    @pytest.mark.parametrize("starter", HOME_EXAMPLES, ids=lambda s: s.name)
    def test_a_click_goes_there(
        self, page: HomePage, context: AppContext, qtbot: QtBot, starter: object
    ) -> None:
        card = next(c for c in page.findChildren(StarterCard) if c.starter is starter)
        with qtbot.waitSignal(context.requested) as told:
            qtbot.mouseClick(card, LEFT)
        assert told.args is not None
        name, request = told.args
        assert name == card.starter.page
        assert request == dict(card.starter.request())

    def test_in_the_smallest_window_every_word_is_read(self, page: HomePage, qtbot: QtBot) -> None:
        page.resize(928, 612)
        qtbot.wait(1)
        assert [text for card in page.findChildren(StarterCard) for text in cut_words(card)] == []

    def test_enter_does_what_a_click_does(self, page: HomePage, context: AppContext, qtbot: QtBot) -> None:
        card = page.findChildren(StarterCard)[0]
        card.setFocus()
        with qtbot.waitSignal(context.requested) as told:
            qtbot.keyClick(card, Qt.Key.Key_Return)
        assert told.args == ["play", {"task": "CartPole-v1"}]

    @pytest.mark.parametrize("starter", HOME_EXAMPLES[1:], ids=lambda s: s.name)
    def test_what_it_starts_can_be_played(self, starter: object) -> None:
        request = starter.request()  # type: ignore[attr-defined]
        configs = request.get("operators") or [request["operator"]]
        assert configs
        for config in configs:
            assert isinstance(config, OperatorConfig)
            resolve_operator(config)

    def test_the_duel_is_trained_against_random(self) -> None:
        ppo, wandering = HOME_EXAMPLES[1].request()["operators"]  # type: ignore[misc]
        assert [ppo.workers["agent_0"].worker_id, wandering.workers["agent_0"].settings["behavior"]] == [
            "cleanrl_worker",
            "random",
        ]
        assert Path(str(ppo.workers["agent_0"].settings["checkpoint"])).is_dir()

    def test_a_missing_policy_is_told(
        self,
        page: HomePage,
        context: AppContext,
        qtbot: QtBot,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        monkeypatch.setattr(examples, "EXAMPLES", (tmp_path,))
        card = next(c for c in page.findChildren(StarterCard) if c.starter.name == "duel")
        with qtbot.waitSignal(context.noticed) as told, qtbot.assertNotEmitted(context.requested):
            qtbot.mouseClick(card, LEFT)
        assert told.args is not None
        assert "not in this installation" in told.args[0].text

    def test_every_card_has_its_picture(self, page: HomePage) -> None:
        pictures = page.findChildren(Picture)
        assert len(pictures) == len(HOME_EXAMPLES)
        for picture, starter in zip(pictures, HOME_EXAMPLES, strict=True):
            # Twice what is shown at the smallest size, for screens of high resolution.
            file = QImage(str(ASSETS / f"home-{starter.name}.png"))
            assert file.width() >= 2 * 250
            painted, middle = picture.grab().toImage(), range(20, picture.width() - 20)
            assert len({painted.pixel(x, picture.height() // 2) for x in middle}) > 1, starter.name
            assert picture.height() == pytest.approx(picture.width() * 400 / 616, abs=1)

    def test_all_of_them_have_room_beside_an_open_guide(self, page: HomePage, qtbot: QtBot) -> None:
        page.resize(600, 560)
        sideways = named(page, QScrollArea, "home-scroll").horizontalScrollBar()
        assert sideways is not None
        qtbot.waitUntil(lambda: sideways.maximum() == 0)
        assert cut_words(page) == []


class TestRuns:
    def test_without_any_it_says_what_to_do(self, page: HomePage) -> None:
        page.opened()
        assert page.findChildren(RunRow) == []
        assert (
            "Start with a card"
            in named(
                named(page, Card, "recent-runs").findChild(object, "empty-hint"), QLabel, "empty-text"
            ).text()
        )  # type: ignore[union-attr]

    def test_a_run_stands_there_with_its_verdict(
        self, page: HomePage, context: AppContext, qtbot: QtBot, run_folder: Path
    ) -> None:
        page.opened()

        def rows() -> list[RunRow]:
            return [row for row in page.findChildren(RunRow) if row.isVisible()]

        qtbot.waitUntil(lambda: bool(rows()) and rows()[0].run.verdict != "")
        (row,) = rows()
        assert row.run.title == "Slipping and Still"
        assert row.run.environment == "FrozenLake-v1"
        assert row.run.episodes == "6 episodes"
        assert row.run.verdict == "not decided"
        assert row.run.detail.startswith("Slipping against Still is not decided")
        assert row.run.when.startswith("today ")
        with qtbot.waitSignal(context.requested) as told:
            qtbot.mouseClick(row, LEFT)
        assert told.args == ["results", {"run": run_folder}]

    def test_a_narrow_row_keeps_who_played_and_what_came_out(self, qtbot: QtBot) -> None:
        run = RecentRun(
            Path("x"), "PPO, Random", "CartPole-v1", "80 episodes", "PPO ahead", "A sentence.", "today"
        )
        row = RunRow(run)
        qtbot.addWidget(row)
        row.resize(700, 34)
        row.show()
        cells = row.findChildren(ElidedLabel)
        assert [c.text() for c in cells if c.isVisible()] == [
            "PPO, Random", "CartPole-v1", "80 episodes", "PPO ahead", "today"
        ]  # fmt: skip
        row.resize(400, 34)
        assert [c.text() for c in cells if c.isVisible()] == ["PPO, Random", "PPO ahead", "today"]
        assert "CartPole-v1" in row.toolTip() and "A sentence." in row.toolTip()

    @pytest.mark.usefixtures("analyzes_here")
    def test_the_verdict_is_kept_until_the_run_changes(
        self, store: Store, run_folder: Path, finish: Callable[[object], object]
    ) -> None:
        async def read() -> list[list[str]]:
            return [[line.verdict for line in lines] async for lines in RecentRuns(store).lines()]

        assert finish(read()) == [[""], ["not decided"]]
        assert finish(read()) == [["not decided"]]
        episodes = run_folder / "operators" / "still" / "episodes.jsonl"
        lines = episodes.read_text().splitlines(keepends=True)
        episodes.write_text("".join(lines[:-1]))
        assert finish(read()) == [[""], ["not decided"]]

    @pytest.mark.usefixtures("analyzes_here")
    def test_a_damaged_run_is_no_trouble(
        self, store: Store, run_folder: Path, finish: Callable[[object], object]
    ) -> None:
        (run_folder / "operators" / "still" / "episodes.jsonl").write_text("{]\n{]\n")

        async def read() -> list[list[str]]:
            return [[line.verdict for line in lines] async for lines in RecentRuns(store).lines()]

        assert finish(read()) == [[""], [""]]


def test_the_ways_to_start_are_commands(context: AppContext, qtbot: QtBot) -> None:
    done: list[str] = []
    context.commands.add(
        Command("file.new", "New comparison", lambda: done.append("new"), "Ctrl+N"),
        Command("view.palette", "Search everything…", lambda: done.append("search")),
        Command("view.theme", "Switch", lambda: done.append("theme")),
    )
    page = HomePage(context)
    qtbot.addWidget(page)
    for name in ("way-file.new", "search-everything"):
        qtbot.mouseClick(page.findChild(QPushButton, name), LEFT)
    qtbot.mouseClick(page.findChild(IconButton, "switch-theme"), LEFT)
    assert done == ["new", "search", "theme"]
    assert page.findChild(QPushButton, "way-go.train") is None
