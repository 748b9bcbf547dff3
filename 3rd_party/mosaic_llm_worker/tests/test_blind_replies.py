"""Replies by writers who had not seen the parser, and how many are taken for what they mean.

Each file is as it was written before the parser was last changed: a case is ``[meaning, reply]``, the
meaning an action's word or ``"!"`` where a careful reader could not say which single action is meant.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from reply_games import Game, games

GAMES = games()


class Count(NamedTuple):
    """How replies were taken.

    Attributes:
        clear: Replies with one meaning.
        taken: Those that came to it.
        another: Those that came to another action: (game, reply, meaning, action).
        unclear: Replies without one meaning.
        guessed: Those that came to an action nevertheless: (game, reply, action).
        refused: Clear ones that came to none: (game, reply, meaning, reason).
    """

    clear: int
    taken: int
    another: list[tuple[str, ...]]
    unclear: int
    guessed: list[tuple[str, ...]]
    refused: list[tuple[str, ...]]


def means(game: Game, action: Any, meaning: str) -> bool:
    """Whether an action is what a reply means."""
    if isinstance(action, np.ndarray):
        return bool(np.allclose(action, json.loads(meaning)))
    return game.words.get(action) == meaning


def counted(name: str) -> Count:
    """Read all replies of a file."""
    clear = taken = unclear = 0
    another: list[tuple[str, ...]] = []
    guessed: list[tuple[str, ...]] = []
    refused: list[tuple[str, ...]] = []
    for group in tomllib.loads(Path(__file__).with_name(name).read_text())["group"]:
        game = GAMES[group["game"]]
        for meaning, reply in group["cases"]:
            reading = game.read(reply)
            got = game.words.get(reading.action, str(reading.action)) if game.words else str(reading.action)
            if meaning == "!":
                unclear += 1
                if not reading.problem:
                    guessed.append((group["game"], reply, got))
                continue
            clear += 1
            if reading.problem:
                refused.append((group["game"], reply, meaning, reading.problem))
            elif means(game, reading.action, meaning):
                taken += 1
            else:
                another.append((group["game"], reply, meaning, got))
    return Count(clear, taken, another, unclear, guessed, refused)


@pytest.mark.parametrize("name", ["blind_replies_prose.toml", "blind_replies_forms.toml"])
def test_replies_are_taken_for_what_they_mean_or_for_nothing(name: str) -> None:
    count = counted(name)
    assert not count.another
    assert not count.guessed
    assert count.taken >= 0.9 * count.clear, count.refused
