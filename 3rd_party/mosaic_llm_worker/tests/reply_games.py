"""Action spaces of the corpus, with what a reader gets at each."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any, NamedTuple

import chess
import numpy as np
from numpy.typing import NDArray

from mosaic_llm_worker.parsing import Reader, Reading
from mosaic_worker.spaces import Space

SOCCER = ("noop", "left", "right", "forward", "pickup", "drop", "toggle", "done")
PUSHES = ("noop", "left", "right", "down", "up")
TAXI = ("south", "north", "east", "west", "pickup", "dropoff")
CRAFTER = (
    *("noop", "move_left", "move_right", "move_up", "move_down", "do", "sleep", "place_stone", "place_table"),
    *("place_furnace", "place_plant", "make_wood_pickaxe", "make_stone_pickaxe", "make_iron_pickaxe"),
    *("make_wood_sword", "make_stone_sword", "make_iron_sword"),
)
NETHACK = (
    *("more", "north", "east", "south", "west", "northeast", "southeast", "southwest", "northwest"),
    *("far north", "far east", "far south", "far west", "up", "down", "wait", "apply", "close", "eat"),
    *("kick", "open", "pickup", "quaff", "read", "search", "wear", "wield", "zap"),
)
CHARACTERS = string.ascii_lowercase + " "


class Game(NamedTuple):
    """One action space at one moment.

    Attributes:
        reader: Reads replies.
        words: Of the actions, by action.
        mask: Legal actions.
        choices: Legal actions in words.
        text: What is seen.
    """

    reader: Reader
    words: dict[int, str]
    mask: NDArray[np.bool_] | None = None
    choices: Sequence[tuple[int, str]] = ()
    text: str = ""

    def read(self, reply: str) -> Reading:
        """Read a reply at this moment."""
        return self.reader.read(reply, self.mask, self.choices, self.text)


def named(words: Sequence[str], env_id: str = "", legal: Sequence[int] | None = None) -> Game:
    """A ``Discrete`` space with a word for each action."""
    reader = Reader(space(kind="Discrete", dtype="int64", n=len(words), start=0), words, env_id)
    mask = None if legal is None else np.isin(np.arange(len(words)), legal)
    return Game(reader, dict(enumerate(words)), mask)


def space(**description: Any) -> Space:
    """A space by its JSON form."""
    return Space.from_json(description)


def position(board: chess.Board) -> Game:
    """A position of chess as it is shown: moves in UCI notation, the board by its FEN."""
    choices = [(10 + i, move.uci()) for i, move in enumerate(board.legal_moves)]
    reader = Reader(space(kind="Discrete", dtype="int64", n=4672, start=0))
    return Game(reader, dict(choices), None, choices, f"FEN: {board.fen()}\nLegal moves: …")


def games() -> dict[str, Game]:
    """By the name that the corpus uses."""
    discrete = {"kind": "Discrete", "dtype": "int64"}
    return {
        "soccer": named(SOCCER, "MosaicMultiGrid-S-2v2-IndAgObs-v1"),
        "soccer_masked": named(SOCCER, "MosaicMultiGrid-S-2v2-IndAgObs-v1", legal=(0, 1, 2)),
        "lake": named(("left", "down", "right", "up"), "FrozenLake-v1"),
        "taxi": named(TAXI, "Taxi-v4"),
        "crafter": named(CRAFTER, "CrafterReward-v1"),
        "nethack": named(NETHACK, "NetHackScore-v0"),
        "connect_four": named([f"column {i}" for i in range(1, 8)], legal=range(6)),
        "poker": named(("call", "raise", "fold", "check")),
        "letters": named([f"say {letter}" for letter in "ABC"], "mpe2/simple_speaker_listener_v4"),
        "push_and_say": named(
            [f"{push}, say {letter}" for letter in "ABCDEFGHIJ" for push in PUSHES],
            "mpe2/simple_reference_v3",
        ),
        "acrobot": named(("torque -1", "torque 0", "torque +1"), "Acrobot-v1"),
        "acrobot_v1": named(("torque -1", "noop", "torque +1"), "Acrobot-v1"),
        "five": Game(Reader(space(**discrete, n=5, start=0)), {}),
        "from_minus_one": Game(Reader(space(**discrete, n=3, start=-1)), {}),
        "chess": position(chess.Board()),
        "box": Game(Reader(space(kind="Box", dtype="float32", shape=[2], low=-1, high=1)), {}),
        "torque": Game(Reader(space(kind="Box", dtype="float32", shape=[1], low=-2, high=2)), {}),
        "parts": Game(
            Reader(space(kind="MultiDiscrete", dtype="int64", nvec=[3, 2], start=[0, 0])),
            {},
            np.array([True, True, True, True, False]),
        ),
        "switches": Game(Reader(space(kind="MultiBinary", dtype="int8", shape=[3])), {}),
        "text": Game(Reader(space(kind="Text", charset=CHARACTERS, min_length=1, max_length=20)), {}),
    }
