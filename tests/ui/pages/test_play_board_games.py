"""Board games on the Play page: sides, clocks, moves, positions before, the other side, moves taken back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QComboBox, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.analysis.compute.collect import collect_episodes
from gym_gui.analysis.records.reader import open_run
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.execution import TimeControl
from gym_gui.services.chess_evaluation import find_stockfish
from gym_gui.ui.context import AppContext
from gym_gui.ui.pages.play import PlayPage
from gym_gui.ui.play.score_sheet import MoveList, ScoreSheet, clock_words
from gym_gui.ui.play.time_rows import TimeRows
from gym_gui.ui.play.who_plays import YOU, PlayerList
from gym_gui.ui.renderers.board_view import BoardView
from gym_gui.ui.renderers.stage_view import EvaluationBar
from gym_gui.ui.widgets.badges import StatusDot
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

FOOLS_MATE = ("f2f3", "e7e5", "g2g4", "d8h4")


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, finish: Callable[[object], object]) -> Iterator[PlayPage]:
    result = PlayPage(context)
    result.resize(1208, 740)
    result.show()
    qtbot.waitExposed(result)
    yield result
    finish(result.closed())
    result.close()
    result.deleteLater()


def words(moves: MoveList) -> list[list[str]]:
    """What its cells say, row by row."""
    cells = [[moves.item(row, column) for column in range(2)] for row in range(moves.rowCount())]
    return [[cell.text() if cell is not None else "" for cell in row] for row in cells]


def rows_of(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_chess_for_two_with_a_move_taken_back(page: PlayPage, qtbot: QtBot) -> None:
    def wait(ready: Callable[[], object]) -> None:
        qtbot.waitUntil(lambda: bool(ready()), timeout=PATIENCE_MS)

    def play(label: str) -> None:
        wait(lambda: page.input.questions and page.view is not None and page.view.board is not None)
        view = page.view
        assert view is not None and view.board is not None
        step = view.step
        helped.append(evaluate.isEnabled())
        move = next(move for move in view.board.moves if move.label == label)
        board.move_chosen.emit(move.action)
        wait(lambda: page.view is not None and page.view.step == step + 1)

    page.opened(task="chess_v6", seed=3)
    wait(lambda: page.env_info is not None and page.input.questions)
    board, sheet = named(page, BoardView, "boardView"), named(page, ScoreSheet, "score-sheet")
    evaluate, helped = named(page, QPushButton, "evaluate"), list[bool]()
    who = named(page, PlayerList, "who-plays")
    who.chosen.emit("player_1", YOU)
    wait(lambda: page.game.people == ("player_0", "player_1"))
    wait(lambda: named(page, StatusDot, "prompt").text.startswith("Your move: White."))

    play("f2f3")
    play("e7e5")
    play("g2g4")
    assert words(sheet.moves) == [["1. f3", "e5"], ["2. g4", ""]]
    sides = [label.text() for label in sheet.findChildren(QLabel, "side-name")]
    assert sides == ["White · you", "Black · you, to move"]
    view = page.view
    assert view is not None
    white = view.agents[0].used_ms / 1000
    assert white > 0 and sheet.findChildren(QLabel, "side-clock")[0].text() == clock_words(
        white
    )  # black's goes on

    # An earlier position is looked at, takes no moves, and the game is where it was.
    now = board.board
    sheet.moves.cellClicked.emit(0, 0)
    assert board.board is not None and board.board != now and not board.interactive
    assert board.board.cells[5 * 8 + 5] == "P" and board.board.cells[4 * 8 + 6] == ""
    sheet.moves.cellClicked.emit(1, 0)
    assert board.board == now and board.interactive

    far = board.square_rect((0, 0))
    qtbot.mouseClick(named(page, QPushButton, "flip-board"), Qt.MouseButton.LeftButton)
    assert board.square_rect((7, 7)) == far and board.flipped

    # g4 is taken back: the same two moves, then another way.
    qtbot.mouseClick(named(page, QPushButton, "take-back"), Qt.MouseButton.LeftButton)
    wait(lambda: page.view is not None and page.view.step == 2 and page.input.questions)
    assert words(sheet.moves) == [["1. f3", "e5"]]
    play("g2g4")
    play("d8h4")
    wait(lambda: page.game.is_over)
    assert named(page, QLabel, "result-headline").text() == "Black wins by checkmate."
    assert words(sheet.moves) == [["1. f3", "e5"], ["2. g4", "Qh4#"]]

    # Now that it is over, an engine may look at it; position by position.
    assert helped == [False] * 5
    bar = named(page, EvaluationBar, "evaluation-bar")
    if find_stockfish():
        qtbot.mouseClick(evaluate, Qt.MouseButton.LeftButton)
        wait(lambda: bar.isVisible() and bar.words == "mate")
        sheet.moves.cellClicked.emit(0, 1)
        wait(lambda: bar.words.startswith(("\N{MINUS SIGN}", "+")))
        qtbot.mouseClick(evaluate, Qt.MouseButton.LeftButton)
        assert not bar.isVisible()
    else:
        assert not evaluate.isEnabled() and "apt-get install stockfish" in evaluate.toolTip()

    run = page.game.run
    assert run is not None
    wait(lambda: run.folder is not None and run.saved == 2)
    assert run.folder is not None
    folder = run.folder / "operators" / "play"
    first, second = rows_of(folder / "episodes.jsonl")
    assert (first["status"], first["length"], "taken_back" in first) == ("aborted", 3, False)
    assert (second["result"], second["taken_back"]) == ("Black wins by checkmate", {"episode": 0, "step": 2})
    sources = [row["action_source"] for row in rows_of(folder / "steps.jsonl") if row["episode_index"] == 1]
    assert sources == ["opening", "opening", "human", "human"]
    # It counts nowhere.
    data = collect_episodes(open_run(run.folder).operators["play"])
    assert (data.played, data.taken_back, [e.episode for e in data.unfinished]) == ([], 1, [0])


def test_clocks_in_words() -> None:
    assert [clock_words(s) for s in (0.4, 7, 61, 3723)] == ["0:00", "0:07", "1:01", "1:02:03"]


def test_a_pass_ends_nowhere_also_for_a_session_in_a_process_of_its_own(page: PlayPage, qtbot: QtBot) -> None:
    page.opened(task="open_spiel/go", seed=3)
    qtbot.waitUntil(lambda: bool(page.env_info is not None and page.input.questions), timeout=PATIENCE_MS)
    button = named(page, QPushButton, "move_361")
    qtbot.waitUntil(button.isVisible, timeout=PATIENCE_MS)
    assert button.text() == "Pass"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    sheet = named(page, ScoreSheet, "score-sheet")
    qtbot.waitUntil(lambda: words(sheet.moves)[:1] != [] and "pass" in words(sheet.moves)[0][0])


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_who_plays_black_has_black_below(page: PlayPage, qtbot: QtBot) -> None:
    def at_move() -> bool:
        return bool(page.view is not None and page.view.board is not None and page.input.questions)

    random, person = (
        WorkerAssignment("operators_worker", "baseline", {"behavior": "random"}),
        WorkerAssignment("human_worker", "human"),
    )
    view = named(page, BoardView, "boardView")

    def shown_turned() -> bool:
        return at_move() and view.flipped

    def shown_plainly() -> bool:
        return at_move() and not view.flipped

    for white, black, shown in ((person, random, shown_plainly), (random, person, shown_turned)):
        page.opened(
            operator=OperatorConfig.multi_agent(
                operator_id="you",
                display_name="You",
                task="classic/chess_v6",
                player_workers={"player_0": white, "player_1": black},
            )
        )
        qtbot.waitUntil(shown, timeout=PATIENCE_MS)


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_a_game_on_the_clock_is_lost_by_who_runs_out_of_time(page: PlayPage, qtbot: QtBot) -> None:
    def wait(ready: Callable[[], object]) -> None:
        qtbot.waitUntil(lambda: bool(ready()), timeout=PATIENCE_MS)

    def play(step: int) -> None:
        wait(lambda: page.input.questions and page.view is not None and page.view.step == step)
        board.move_chosen.emit(3)
        wait(lambda: page.view is not None and page.view.step == step + 1)

    page.opened(task="connect_four_v3", seed=3)
    wait(lambda: page.env_info is not None and page.input.questions)
    board, time = named(page, BoardView, "boardView"), named(page, TimeRows, "time-rows")
    sheet = named(page, ScoreSheet, "score-sheet")
    named(page, PlayerList, "who-plays").chosen.emit("player_1", YOU)
    wait(lambda: page.game.people == ("player_0", "player_1"))
    choice, note = named(time, QComboBox, "time-control"), named(time, QLabel, "time-note")
    assert time.isVisible() and time.value is None
    choice.setCurrentIndex(choice.findText("3+2", Qt.MatchFlag.MatchStartsWith))
    choice.activated.emit(choice.currentIndex())
    # No player has moved: the game begins anew, on the clock.
    clocks = sheet.findChildren(QLabel, "side-clock")
    wait(lambda: [clock.text() for clock in clocks] == ["3:00", "3:00"])
    for step in range(3):
        play(step)
    # The first moves were free, the third one has brought two seconds.
    wait(lambda: page.view is not None and page.view.agents[1].clock_runs)
    minutes, seconds = map(int, clocks[0].text().split(":"))
    assert 60 < 60 * minutes + seconds <= 182  # a busy machine takes its time between two moves
    assert not note.isVisible()
    choice.setCurrentIndex(choice.findText("1+0", Qt.MatchFlag.MatchStartsWith))
    choice.activated.emit(choice.currentIndex())
    assert note.isVisible() and page.view is not None and page.view.step == 3  # the game goes on as it began

    page.game.set_time_control(TimeControl(0.2))
    qtbot.mouseClick(named(page, QPushButton, "restart"), Qt.MouseButton.LeftButton)
    for step in range(2):
        play(step)
    wait(lambda: page.game.is_over)
    assert named(page, QLabel, "result-headline").text() == "Yellow wins on time."
    assert named(page, QLabel, "stage-facts").text() == "step 2", "it waits for no player any more"
    assert clocks[0].text().endswith("out of time") and sheet.findChildren(QLabel, "side-low")[0].isVisible()
    run = page.game.run
    assert run is not None
    wait(lambda: run.folder is not None and run.saved == 2)
    assert run.folder is not None
    data = collect_episodes(open_run(run.folder).operators["play"])
    assert (data.played, data.out_of_time, data.taken_back) == ([], 1, 0)
