"""Words for Pgx's games: their actions, and observations as text."""

from __future__ import annotations

from typing import Any, Callable, List, Mapping, Optional, Sequence

import numpy as np

_FILES = "abcdefghijklmnopqrstuvwxyz"
_GO_FILES = "ABCDEFGHJKLMNOPQRST"
_CARDS = ("jack", "queen", "king")
_MINATAR = ("noop", "left", "up", "right", "down", "fire")
_TILES = (*(f"bamboo {i}" for i in range(1, 10)), "green dragon", "red dragon")
_SQUARES = tuple(f"column {i % 3 + 1} row {i // 3 + 1}" for i in range(9))
_REVERSI = (*(f"{_FILES[i % 8]}{i // 8 + 1}" for i in range(64)), "pass")
_POINTS = tuple(f"from point {point} with" for point in range(24, 0, -1))
_THINGS: Mapping[str, Sequence[str]] = {
    "asterix": ("You", "Enemies", "Trails, each behind what moves", "Gold"),
    "breakout": ("Your paddle", "The ball", "Where the ball was", "Bricks"),
    "freeway": (
        "You",
        "Cars",
        *(f"Behind cars that move every {pace}" for pace in ("step", "2nd step", "3rd", "4th", "5th")),
    ),
    "seaquest": (
        "You",
        "Your stern",
        "Your bullets",
        "Trails, each behind what moves",
        "Enemy bullets",
        "Fish",
        "Enemy submarines",
        "Oxygen left, a bar",
        "Divers on board, a bar",
        "Divers to be saved",
    ),
    "space_invaders": (
        "You",
        "Aliens",
        "Aliens that move left",
        "Aliens that move right",
        "Your bullets",
        "Enemy bullets",
    ),
}
"""Names of the observation's channels of MinAtar's games, by game."""
_LONGEST_LIST = 24


def action_words(name: str, game: Any, count: int) -> List[str]:
    """Return a word for each action; empty if the meaning of an action depends on the position.

    Args:
        name: Name of the game in Pgx.
        game: Game object of Pgx.
        count: Number of actions.
    """
    words = _action_words(name, game, count)
    return list(words) if len(words) == count else []


def _action_words(name: str, game: Any, count: int) -> Sequence[str]:
    if name.startswith("minatar"):
        chosen = game.minimal_action_set if game.use_minimal_action_set else range(len(_MINATAR))
        return [_MINATAR[int(i)] for i in chosen]
    if name.startswith("go"):
        return _points(_GO_FILES, round((count - 1) ** 0.5), "pass", from_below=True)
    if name == "hex":
        return _points(_FILES, round((count - 1) ** 0.5), "swap", from_below=False)
    if name == "backgammon":
        sources = ("pass, whatever the die:", "from the bar with", *_POINTS)
        return [f"{source} {die}" for source in sources for die in range(1, 7)]
    return {
        "2048": ("left", "up", "right", "down"),
        "connect_four": tuple(f"column {i + 1}" for i in range(7)),
        "kuhn_poker": ("bet", "pass"),
        "leduc_holdem": ("call", "raise", "fold"),
        "othello": _REVERSI,
        "sparrow_mahjong": tuple(f"discard {tile}" for tile in _TILES),
        "tic_tac_toe": _SQUARES,
    }.get(name, ())


def _points(files: str, size: int, last: str, *, from_below: bool) -> Sequence[str]:
    if size > len(files):
        return ()
    rows = range(size, 0, -1) if from_below else range(1, size + 1)
    return [*(f"{files[column]}{row}" for row in rows for column in range(size)), last]


def text(name: str) -> Optional[Callable[[Any], str]]:
    """Return a function that describes an observation of a game as text, or ``None`` if the game has none."""
    if name.startswith("minatar-"):
        things = _THINGS[name.partition("-")[2]]
        return lambda seen: _screen(things, seen)
    return _SAY.get("go" if name.startswith("go_") else name)


def _tic_tac_toe(seen: Any) -> str:
    return _board(seen, [str(i + 1) for i in range(3)], "123", "Columns are numbered from the left.")


def _connect_four(seen: Any) -> str:
    return _board(seen, [""] * 6, "1234567", "The lowest line is the bottom; columns are numbered.")


def _othello(seen: Any) -> str:
    counts = f"Discs: {int(seen[..., 0].sum())} yours, {int(seen[..., 1].sum())} theirs."
    return _board(seen, [str(i + 1) for i in range(8)], _FILES[:8], counts)


def _go(seen: Any) -> str:
    size = seen.shape[0]
    color = "white" if seen[0, 0, -1] else "black"
    names = [str(size - i) for i in range(size)]
    return _board(seen, names, _GO_FILES[:size], f"You play {color}.")


def _hex(seen: Any) -> str:
    size = seen.shape[0]
    mine, theirs = ("top and bottom", "left and right")[:: -1 if seen[0, 0, 2] else 1]
    said = f"You connect {mine}, your opponent {theirs}."
    if seen[0, 0, 3]:
        said += ' With "swap" the stone that was played becomes yours, mirrored.'
    return _board(seen, [str(i + 1) for i in range(size)], _FILES[:size], said, slanted=True)


def _board(seen: Any, rows: Sequence[str], files: str, said: str, *, slanted: bool = False) -> str:
    """Return a board as text; its first two channels are the player's and the opponent's pieces."""
    marks = np.where(seen[..., 0], "X", np.where(seen[..., 1], "O", "."))
    width = max(map(len, rows))
    lines = [
        (f"{row:>{width}} " if width else "") + " " * (i * slanted) + " ".join(marks[i])
        for i, row in enumerate(rows)
    ]
    head = " " * (width + 1 if width else 0) + " ".join(files)
    return "\n".join(["X is yours, O your opponent's. " + said, head, *lines])


def _kuhn(seen: Any) -> str:
    card = _CARDS[int(np.argmax(seen[:3]))]
    mine, theirs = ("bet" if seen[place] else "not bet" for place in (4, 6))
    return f"You hold the {card}. You have {mine}, your opponent has {theirs}."


def _leduc(seen: Any) -> str:
    public = f"The public card is the {_CARDS[int(np.argmax(seen[3:6]))]}." if seen[3:6].any() else ""
    chips = int(np.argmax(seen[6:20])), int(np.argmax(seen[20:34]))
    said = f"You hold a {_CARDS[int(np.argmax(seen[:3]))]}."
    pot = f"You have put in {chips[0]} chips, your opponent {chips[1]}."
    return " ".join(filter(None, (said, public or "There is no public card yet.", pot)))


def _sparrow(seen: Any) -> str:
    count = seen[:4].sum(axis=0)
    hand = ", ".join(f"{int(n)} x {tile}" for n, tile in zip(count, _TILES) if n)
    rows = [f"Your hand: {hand}."]
    named = (
        (4, "Red ones in your hand"),
        (5, "Dora"),
        (6, "You have discarded"),
        (7, "The next player has discarded"),
        (8, "The one after that has discarded"),
    )
    for row, head in named:
        tiles = [tile for tile, there in zip(_TILES, seen[row]) if there]
        rows.append(f"{head}: {', '.join(tiles) or 'nothing'}.")
    return "\n".join(rows)


def _backgammon(seen: Any) -> str:
    """Describe a backgammon position; points are counted from the player's home: men move from 24 to 1, then
    off.
    """
    mine = [f"{int(n)} on {24 - i}" for i, n in enumerate(seen[:24]) if n > 0]
    theirs = [f"{int(-n)} on {24 - i}" for i, n in enumerate(seen[:24]) if n < 0]
    bar, their_bar, off, their_off = (abs(int(n)) for n in seen[24:28])
    dice = [str(i + 1) for i, n in enumerate(seen[28:34]) for _ in range(int(n))]
    return "\n".join(
        [
            f"Your men (point 24 towards 1): {', '.join(mine) or 'none'}; on the bar {bar}, off {off}.",
            f"Your opponent's: {', '.join(theirs) or 'none'}; on the bar {their_bar}, off {their_off}.",
            f"Dice to play: {', '.join(dice) or 'none'}.",
        ]
    )


def _twenty_forty_eight(seen: Any) -> str:
    powers = np.argmax(seen, axis=-1)
    rows = [[str(1 << int(power)) if power else "." for power in row] for row in powers]
    width = max(len(cell) for row in rows for cell in row)
    return "\n".join(" ".join(cell.rjust(width) for cell in row) for row in rows)


def _screen(things: Sequence[str], seen: Any) -> str:
    """List the positions of all objects on a MinAtar screen."""
    lines = ["Places are column,row; 0,0 is the upper left corner."]
    for channel, thing in enumerate(things):
        places = [f"{column},{row}" for row, column in zip(*np.nonzero(seen[..., channel]))]
        more = f" and {len(places) - _LONGEST_LIST} more" if len(places) > _LONGEST_LIST else ""
        if places:
            lines.append(f"{thing}: {' '.join(places[:_LONGEST_LIST])}{more}.")
    return "\n".join(lines)


_SAY: Mapping[str, Callable[[Any], str]] = {
    "2048": _twenty_forty_eight,
    "backgammon": _backgammon,
    "connect_four": _connect_four,
    "go": _go,
    "hex": _hex,
    "kuhn_poker": _kuhn,
    "leduc_holdem": _leduc,
    "othello": _othello,
    "sparrow_mahjong": _sparrow,
    "tic_tac_toe": _tic_tac_toe,
}
