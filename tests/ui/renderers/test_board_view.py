"""Boards: real games, played by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QMouseEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.envs import Environment, make
from gym_gui.ui.renderers import BoardView
from gym_gui.ui.renderers.move_chooser import MoveChooser
from gym_gui.ui.theme import Theme

Show = Callable[..., None]
GAMES = ["chess_v6", "connect_four_v3", "tictactoe_v3", "go_v5", "open_spiel/checkers"]
LEFT = Qt.MouseButton.LeftButton


def chess(name: str) -> tuple[int, int]:
    return 8 - int(name[1]), "abcdefgh".index(name[0])


def choices(view: BoardView) -> list[QToolButton]:
    """From left to right."""
    return [each for each in chooser_of(view).findChildren(QToolButton) if each.isVisible()]


def chooser_of(view: BoardView) -> MoveChooser:
    found = view.findChild(MoveChooser)
    assert found is not None
    return found


class Game:
    """A real environment under a board; each chosen move is played."""

    def __init__(self, view: BoardView, task: str, **settings: object) -> None:
        self.view = view
        self.environment: Environment = make(task, env_kwargs=settings or None)
        self.environment.adapter.reset(seed=0)
        self.chosen: list[int] = []
        self.flipped = False
        view.move_chosen.connect(self._on_move_chosen)
        self.show()

    def show(self) -> None:
        board = self.environment.board()
        assert board is not None
        self.view.show_board(replace(board, flipped=self.flipped))
        self.view.set_interactive(True)
        self.view.repaint()  # people click on what they see

    def flip(self, flipped: bool) -> None:
        self.flipped = flipped
        self.show()

    def _on_move_chosen(self, action: int) -> None:
        board = self.environment.board()
        assert board is not None
        assert action in [move.action for move in board.moves]
        self.chosen.append(action)
        self.environment.adapter.step({board.turn: action})
        self.show()

    def piece(self, square: tuple[int, int]) -> str:
        board = self.environment.board()
        assert board is not None
        return board.cells[square[0] * board.columns + square[1]]

    def click(self, square: tuple[int, int]) -> None:
        QTest.mouseClick(self.view, LEFT, pos=self.view.square_rect(square).center())

    def drag(self, source: tuple[int, int], target: QPoint) -> None:
        start = self.view.square_rect(source).center()
        QTest.mousePress(self.view, LEFT, pos=start)
        for share in (0.3, 0.7, 1.0):
            point = QPointF(start) + (QPointF(target) - QPointF(start)) * share
            move = QMouseEvent(
                QMouseEvent.Type.MouseMove,
                point,
                self.view.mapToGlobal(point),
                Qt.MouseButton.NoButton,
                LEFT,
                Qt.KeyboardModifier.NoModifier,
            )
            QApplication.sendEvent(self.view, move)
        QTest.mouseRelease(self.view, LEFT, pos=target)


@pytest.fixture
def view(theme: Theme, shown: Show) -> BoardView:
    result = BoardView(theme)
    shown(result, 480, 480)
    return result


@pytest.fixture
def game(view: BoardView) -> Iterator[Callable[..., Game]]:
    games: list[Game] = []

    def begin(task: str, **settings: object) -> Game:
        games.append(Game(view, task, **settings))
        return games[-1]

    yield begin
    for each in games:
        each.environment.close()


def test_chess_by_clicks(view: BoardView, game: Callable[..., Game]) -> None:
    play = game("chess_v6")
    play.click(chess("e2"))
    assert view.selected == chess("e2")
    play.click(chess("e4"))
    assert play.piece(chess("e4")) == "P"
    assert len(play.chosen) == 1
    play.click(chess("e7"))
    play.click(chess("d7"))  # Another own piece instead.
    assert view.selected == chess("d7")
    play.click(chess("d5"))
    play.click(chess("e4"))
    play.click(chess("d5"))  # A capture.
    assert play.piece(chess("d5")) == "P"
    assert len(play.chosen) == 3


def test_chess_by_dragging(view: BoardView, game: Callable[..., Game]) -> None:
    play = game("chess_v6")
    play.drag(chess("g1"), view.square_rect(chess("f3")).center())
    assert play.piece(chess("f3")) == "N"
    play.drag(chess("b8"), view.square_rect(chess("b5")).center())
    assert len(play.chosen) == 1
    assert "knight cannot go there" in view.note
    assert view.selected == chess("b8")
    play.drag(chess("b8"), QPoint(2, 2))  # Beside the board: back to its square.
    assert len(play.chosen) == 1
    play.drag(chess("b8"), view.square_rect(chess("c6")).center())
    assert play.piece(chess("c6")) == "n"


def test_promotion_is_asked_on_the_board(view: BoardView, game: Callable[..., Game], qtbot: QtBot) -> None:
    play = game("chess_v6")
    for move in ("h2h4", "g7g5", "h4g5", "h7h6", "g5h6", "a7a6", "h6h7", "b7b6"):
        play.click(chess(move[:2]))
        play.click(chess(move[2:]))
    before = len(play.chosen)
    play.click(chess("h7"))
    play.click(chess("g8"))
    assert len(play.chosen) == before
    assert chooser_of(view).isVisible()
    words = [button.accessibleName() for button in choices(view)]
    assert sorted(words) == ["Bishop", "Knight", "Queen", "Rook"]
    assert view.rect().contains(chooser_of(view).geometry())
    focused = choices(view)[0]
    QTest.keyClick(focused, Qt.Key.Key_Escape)
    assert not chooser_of(view).isVisible()
    assert view.selected == chess("h7")
    play.click(chess("g8"))
    knight = next(b for b in choices(view) if b.accessibleName() == "Knight")
    for _ in range(choices(view).index(knight)):
        QTest.keyClick(choices(view)[0], Qt.Key.Key_Right)
    QTest.keyClick(knight, Qt.Key.Key_Return)
    assert play.piece(chess("g8")) == "N"
    assert not chooser_of(view).isVisible()


def test_chess_by_keyboard_alone(view: BoardView, game: Callable[..., Game]) -> None:
    play = game("chess_v6")
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert view.cursor_square == chess("e1")
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert "e2, white pawn" in view.accessibleDescription()
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert "selected: e2, white pawn" in view.accessibleDescription()
    QTest.keyClick(view, Qt.Key.Key_Up)
    QTest.keyClick(view, Qt.Key.Key_Up)
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert play.piece(chess("e4")) == "P"


def test_what_cannot_be_done_says_so_and_changes_nothing(view: BoardView, game: Callable[..., Game]) -> None:
    play = game("chess_v6")
    hints: list[str] = []
    view.hinted.connect(hints.append)
    play.click(chess("e5"))
    assert hints == ["Choose one of your pieces first."]
    play.click(chess("a1"))
    assert hints[-1] == "This white rook has no legal move: choose another piece."
    play.click(chess("g1"))
    play.click(chess("g5"))
    assert "cannot go there" in hints[-1]
    assert view.selected == chess("g1")
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert (view.selected, view.note) == (None, "")
    view.set_interactive(False)
    play.click(chess("e2"))
    assert hints[-1] == "It is not your move yet."
    assert play.chosen == []


def test_after_a_move_none_is_taken_until_asked_again(view: BoardView, qtbot: QtBot) -> None:
    environment = make("tictactoe_v3")
    environment.adapter.reset(seed=0)
    chosen: list[int] = []
    view.move_chosen.connect(chosen.append)
    view.show_board(environment.board())
    view.set_interactive(True)
    for square in ((0, 0), (1, 1)):
        QTest.mouseClick(view, LEFT, pos=view.square_rect(square).center())
    assert chosen == [0]
    assert not view.interactive
    view.set_interactive(True)
    QTest.mouseClick(view, LEFT, pos=view.square_rect((1, 1)).center())
    assert chosen == [0, 4]
    environment.close()


@pytest.mark.parametrize("task", ["connect_four_v3", "open_spiel/connect_four"])
def test_connect_four_drops_wherever_the_column_is_clicked(
    view: BoardView, game: Callable[..., Game], task: str
) -> None:
    play = game(task)
    play.click((0, 3))
    play.click((5, 3))
    assert (play.piece((5, 3)), play.piece((4, 3))) == ("X", "O")
    for _ in range(4):
        play.click((2, 3))
    board = view.board
    assert board is not None
    if board.turn:
        before = len(play.chosen)
        play.click((3, 3))
        assert len(play.chosen) == before
        assert view.note == "This column is full: choose another one."


def test_connect_four_shows_where_a_disc_would_land(view: BoardView, game: Callable[..., Game]) -> None:
    play = game("connect_four_v3")
    play.click((0, 3))
    before = view.grab(view.square_rect((4, 3))).toImage()
    QTest.mouseMove(view, view.square_rect((0, 2)).center())
    QTest.mouseMove(view, view.square_rect((1, 3)).center())
    assert view.grab(view.square_rect((4, 3))).toImage() != before


def test_go_has_a_button_for_the_pass(view: BoardView, game: Callable[..., Game]) -> None:
    play = game("go_v5", board_size=9)
    play.click((2, 2))
    assert play.piece((2, 2)) == "X"
    play.click((2, 2))
    assert view.note == "This place is taken: choose an empty one."
    button = view.findChild(QPushButton, "move_81")
    assert button is not None and button.text() == "Pass"
    assert view.rect().contains(button.geometry())
    QTest.mouseClick(button, LEFT)
    assert play.chosen[-1] == 81
    play.click((6, 6))
    assert play.piece((6, 6)) == "X"


def test_checkers_moves_a_man(view: BoardView, game: Callable[..., Game]) -> None:
    play = game("open_spiel/checkers")
    board = view.board
    assert board is not None
    move = board.moves[0]
    assert move.source is not None
    play.click(move.source)
    play.click(move.target)
    assert play.chosen == [move.action]


@pytest.mark.parametrize(
    "task", ["chess_v6", "connect_four_v3", "tictactoe_v3", "go_v5", "open_spiel/checkers"]
)
@pytest.mark.parametrize("flipped", [False, True])
def test_every_square_is_where_it_is_drawn(
    view: BoardView, game: Callable[..., Game], task: str, flipped: bool
) -> None:
    game(task).flip(flipped)
    board = view.board
    assert board is not None
    seen: set[tuple[int, int]] = set()
    for row in range(board.rows):
        for column in range(board.columns):
            area = view.square_rect((row, column))
            assert view.rect().contains(area)
            seen.add((area.left(), area.top()))
    assert len(seen) == board.rows * board.columns
    first, last = view.square_rect((0, 0)), view.square_rect((board.rows - 1, board.columns - 1))
    assert (first.top() > last.top()) == flipped


def test_black_plays_from_below_when_flipped(view: BoardView, game: Callable[..., Game]) -> None:
    play = game("chess_v6")
    play.flip(True)
    play.click(chess("d2"))
    play.click(chess("d4"))
    assert play.piece(chess("d4")) == "P"
    assert view.square_rect(chess("d4")).top() < view.square_rect(chess("d7")).top()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    here = view.square_rect(view.cursor_square or (0, 0))
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.square_rect(view.cursor_square or (0, 0)).top() > here.top()


def test_the_same_position_again_keeps_the_piece_in_the_hand(
    view: BoardView, game: Callable[..., Game]
) -> None:
    play = game("chess_v6")
    play.click(chess("e2"))
    view.show_board(play.environment.board())
    assert view.selected == chess("e2")


def test_where_nobody_plays_a_click_belongs_to_the_card(theme: Theme, shown: Show) -> None:
    class Card(QWidget):
        clicks = 0

        def mousePressEvent(self, a0: QMouseEvent | None) -> None:
            self.clicks += 1

    card = Card()
    board = BoardView(theme, card)
    board.resize(300, 300)
    shown(card, 300, 300)
    environment = make("tictactoe_v3")
    environment.adapter.reset(seed=0)
    board.show_board(environment.board())
    QTest.mouseClick(board, LEFT, pos=board.square_rect((1, 1)).center())
    assert (card.clicks, board.note) == (1, "")
    board.set_interactive(True)
    board.set_interactive(False)
    QTest.mouseClick(board, LEFT, pos=board.square_rect((1, 1)).center())
    assert (card.clicks, board.note) == (1, "It is not your move yet.")
    environment.close()


def test_saying_again_that_it_is_ones_move_disturbs_nothing(
    view: BoardView, game: Callable[..., Game]
) -> None:
    play = game("chess_v6")
    play.click(chess("e2"))
    view.set_interactive(True)
    assert view.selected == chess("e2")


def test_the_opponents_position_takes_no_move(view: BoardView, game: Callable[..., Game]) -> None:
    play = game("chess_v6")
    view.move_chosen.disconnect()
    moves: list[int] = []
    view.move_chosen.connect(moves.append)
    play.click(chess("e2"))
    play.click(chess("e4"))
    play.environment.adapter.step({"player_0": moves[0]})
    view.show_board(play.environment.board())
    play.click(chess("e7"))
    play.click(chess("e5"))
    assert len(moves) == 1
    assert view.note == "It is not your move yet."


def test_a_finished_game_says_so(view: BoardView, game: Callable[..., Game]) -> None:
    play = game("tictactoe_v3")
    for square in ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2)):
        play.click(square)
    assert len(play.chosen) == 5
    play.click((2, 2))
    assert view.note == "The game is over: restart it to play again."


def test_a_click_is_for_the_square_that_was_drawn_under_it(theme: Theme, shown: Show) -> None:
    """Whatever the layout has become since: a column at the right makes the board narrower and moves it."""
    window = QWidget()
    board = BoardView(theme, window)
    board.setGeometry(40, 0, 600, 500)
    shown(window, 700, 500)
    chosen: list[int] = []
    board.move_chosen.connect(chosen.append)
    environment = make("classic/connect_four_v3")
    environment.adapter.reset(seed=0)
    board.show_board(environment.board())
    board.set_interactive(True)
    board.repaint()
    QApplication.processEvents()  # the window is on the screen
    seen = board.mapToGlobal(board.square_rect((5, 4)).center())
    board.setGeometry(0, 0, 300, 500)  # not painted yet
    assert not board.square_rect((5, 4)).contains(board.mapFromGlobal(seen))
    QTest.mouseClick(board, LEFT, pos=board.mapFromGlobal(seen))
    assert chosen == [4]
    board.set_interactive(True)
    board.repaint()
    QTest.mousePress(board, LEFT, pos=board.square_rect((5, 2)).center())
    pressed = board.mapToGlobal(board.square_rect((5, 2)).center())
    board.setGeometry(100, 0, 500, 500)
    board.repaint()  # moved between press and release
    QTest.mouseRelease(board, LEFT, pos=board.mapFromGlobal(pressed))
    assert chosen == [4, 2]
    environment.close()
