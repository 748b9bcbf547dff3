"""Words for Jumanji's environments: actions, some observations as text, and whether a task is solved."""

from __future__ import annotations

from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple

import numpy as np

_COMPASS = ("up", "right", "down", "left")
_WORDS: Mapping[str, Sequence[str]] = {
    "Cleaner": _COMPASS,
    "Connector": ("noop", *_COMPASS),
    "Game2048": _COMPASS,
    "LevelBasedForaging": ("noop", "up", "down", "left", "right", "load"),
    "Maze": _COMPASS,
    # The order in which the environment uses them; Jumanji's documentation exchanges two of them.
    "PacMan": ("up", "left", "down", "right", "stay where you are"),
    "RobotWarehouse": ("noop", "forward", "turn left", "turn right", "toggle load"),
    # The direction in which the gap moves.
    "SlidingTilePuzzle": _COMPASS,
    "Snake": _COMPASS,
}
_FACES = ("up", "front", "right", "back", "left", "down")
_TURNS = ("clockwise", "anticlockwise", "half a turn")


def action_words(name: str, values: Tuple[int, ...]) -> List[str]:
    """Return a word for each action; empty if the environment has no words for its actions.

    Args:
        name: Id of the environment.
        values: Number of values of each component of an action.
    """
    game = name.partition("-")[0]
    if game == "RubiksCube" and values[1] == 1:
        return [f"{face} face {turn}" for face in _FACES for turn in _TURNS]
    if game == "Minesweeper":
        return [
            f"row {row + 1} column {column + 1}" for row in range(values[0]) for column in range(values[1])
        ]
    if game == "Tetris":
        return [f"turned {90 * turn}, column {c + 1}" for turn in range(values[0]) for c in range(values[1])]
    if game == "Sudoku":
        rows, columns, digits = map(range, values)
        return [f"row {r + 1} column {c + 1}: {d + 1}" for r in rows for c in columns for d in digits]
    return list(_WORDS.get(game, ()))


def text(name: str) -> Optional[Callable[[Mapping[str, Any]], str]]:
    """Return a function that describes an observation as text, or ``None`` if the environment has none."""
    return _SAY.get(name.partition("-")[0])


def _table(rows: Sequence[Sequence[str]]) -> str:
    width = max(len(cell) for row in rows for cell in row)
    return "\n".join(" ".join(cell.rjust(width) for cell in row) for row in rows)


def _twenty_forty_eight(seen: Mapping[str, Any]) -> str:
    return _table([[str(1 << int(power)) if power else "." for power in row] for row in seen["board"]])


def _maze(seen: Mapping[str, Any]) -> str:
    marks = np.where(seen["walls"], "#", ".").astype(object)
    for name, mark in (("target_position", "T"), ("agent_position", "A")):
        marks[int(seen[name]["row"]), int(seen[name]["col"])] = mark
    return "A is you, T the target, # walls.\n" + _table(marks.tolist())


def _minesweeper(seen: Mapping[str, Any]) -> str:
    cells = [["?" if number < 0 else str(int(number)) for number in row] for row in seen["board"]]
    head = f"There are {int(seen['num_mines'])} mines. ? is unknown, numbers count the mines around a place."
    return f"{head}\n{_table(cells)}"


def _sudoku(seen: Mapping[str, Any]) -> str:
    return _table([["." if digit < 0 else str(int(digit) + 1) for digit in row] for row in seen["board"]])


def _sliding(seen: Mapping[str, Any]) -> str:
    return _table([[str(int(tile)) if tile else "." for tile in row] for row in seen["puzzle"]])


def _snake(seen: Mapping[str, Any]) -> str:
    body, head, tail, fruit = (seen["grid"][..., i] > 0 for i in range(4))
    marks = np.where(head, "H", np.where(fruit, "F", np.where(tail, "t", np.where(body, "o", "."))))
    return "H is your head, o your body, t its end, F the fruit.\n" + _table(marks.tolist())


_SAY: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "Game2048": _twenty_forty_eight,
    "Maze": _maze,
    "Minesweeper": _minesweeper,
    "SlidingTilePuzzle": _sliding,
    "Snake": _snake,
    "Sudoku": _sudoku,
}


def solved(name: str) -> Optional[Callable[[Any], bool]]:
    """Return a function that says, from the last step, whether the task is solved; ``None`` if there is no
    such measure.
    """
    return _SOLVED.get(name.partition("-")[0])


def _paid_at_the_end(step: Any) -> bool:
    return bool(step.last()) and float(step.reward) > 0


_SOLVED: Mapping[str, Callable[[Any], bool]] = {
    "Cleaner": lambda step: step.extras["num_dirty_tiles"] == 0,
    "Connector": lambda step: step.extras["ratio_connections"] == 1,
    "LevelBasedForaging": lambda step: step.extras["percent_eaten"] >= 100,
    "Maze": _paid_at_the_end,
    "Minesweeper": _paid_at_the_end,
    "RubiksCube": _paid_at_the_end,
    "SlidingTilePuzzle": lambda step: step.extras["prop_correctly_placed"] == 1,
    "Sudoku": _paid_at_the_end,
}
