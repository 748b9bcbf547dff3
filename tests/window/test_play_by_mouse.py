"""A person plays connect four against a policy, with the mouse."""

from __future__ import annotations

from typing import Any

import pytest

from tests.window.program import Program

ROWS, COLUMNS = 6, 7
MINE, THEIRS = "X", "O"


def board(window: Program, column: int = 0) -> dict[str, Any]:
    """The position, and where a column's lowest square is."""
    answer: dict[str, Any] = window.ask("square", row=ROWS - 1, column=column)
    return answer


def discs(position: dict[str, Any]) -> int:
    """How many lie on the board."""
    return sum(bool(cell) for cell in position["cells"])


def my_turn(window: Program) -> bool:
    """Whether the board takes a move."""
    return bool(board(window).get("interactive"))


def landing(cells: list[str], column: int) -> int | None:
    """The row a disc would come to lie in; ``None`` where the column is full."""
    return next((row for row in reversed(range(ROWS)) if not cells[row * COLUMNS + column]), None)


def wins(cells: list[str], column: int, disc: str) -> bool:
    """Whether a disc in this column makes four in a row."""
    row = landing(cells, column)
    if row is None:
        return False

    def run(down: int, right: int) -> int:
        length, r, c = 0, row + down, column + right
        while 0 <= r < ROWS and 0 <= c < COLUMNS and cells[r * COLUMNS + c] == disc:
            length, r, c = length + 1, r + down, c + right
        return length

    return any(run(d, r) + run(-d, -r) >= 3 for d, r in ((0, 1), (1, 0), (1, 1), (1, -1)))


def choice(position: dict[str, Any]) -> int:
    """Keeps the other side from winning at once; else the leftmost column with room, and no four."""
    cells = position["cells"]
    room = [column for column in range(COLUMNS) if landing(cells, column) is not None]
    forced = [column for column in room if wins(cells, column, THEIRS)]
    quiet = [column for column in room if not wins(cells, column, MINE)]
    return (forced or quiet or room)[0]


def drop(window: Program, column: int) -> None:
    """Drop a disc, and wait until the other side has answered or the game is over."""
    before = discs(board(window))
    window.click_at(board(window, column)["rect"])
    window.wait(
        lambda: window.text("result-headline") or (my_turn(window) and discs(board(window)) == before + 2),
        f"a disc falls into column {column}, and one is dropped in return",
    )


@pytest.mark.full
def test_connect_four_from_the_card_on_home(window: Program) -> None:
    window.click("start-connect_four")
    window.until_page("play")
    window.wait(lambda: my_turn(window), "the person is to move")
    assert discs(board(window)) == 0

    while landing(board(window)["cells"], 0) is not None:
        drop(window, choice(board(window)))
        assert not window.text("result-headline"), "it is over before the first column is full"

    # A full column: nothing happens but a sentence on the board.
    before = board(window)
    window.click_at(board(window, 0)["rect"])
    window.wait(lambda: board(window)["note"], "the board says why not")
    assert board(window)["cells"] == before["cells"]
    assert my_turn(window)

    # The rest is played in a window of its own.
    window.press("ctrl+F11")
    window.ready("boardView", within="own-window")
    while not window.text("result-headline"):
        position = board(window)
        four = (column for column in range(COLUMNS) if wins(position["cells"], column, MINE))
        drop(window, next(four, choice(position)))

    (episode,) = window.until_recorded()
    steps = window.steps()
    mine = [step for step in steps if step["agent_id"] == "player_0"]
    theirs = [step for step in steps if step["agent_id"] == "player_1"]
    assert episode["status"] == "completed"
    assert set(episode["outcome"].values()) <= {"win", "loss", "draw"}
    assert episode["agents"]["player_0"]["worker_type"] == "human"
    assert episode["agents"]["player_1"]["policy"] == "connect_four_one_ply"
    assert episode["invalid_actions"] == {"player_0": 0, "player_1": 0}
    assert {step["action_source"] for step in mine} == {"human"}
    assert {step["action_source"] for step in theirs} == {"policy"}
    assert mine[0]["action"] == 0
    word = {"win": "won", "loss": "lost", "draw": "draw"}[episode["outcome"]["player_0"]]
    assert word in window.text("result-headline")


@pytest.mark.full
def test_a_click_at_the_first_moment_plays_the_column_under_the_pointer(window: Program) -> None:
    """The board stays where it was drawn while the page beside it is filled."""
    column = 3
    window.click("start-connect_four")
    window.until_page("play")
    drawn = window.wait(lambda: board(window, column).get("rect"), "the board is drawn")
    window.wait(lambda: my_turn(window), "the person is to move")
    window.click_at(drawn)
    window.wait(lambda: discs(board(window)) > 1, "a disc has fallen, and one in return")
    position = board(window, column)
    assert [at for at, disc in enumerate(position["cells"]) if disc == MINE] == [
        (ROWS - 1) * COLUMNS + column
    ]
    window.ready("inspector")
    assert board(window, column)["rect"] == drawn
