"""Texts of moves and results for OpenSpiel games that have no board reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

HEARD: Final = frozenset({"gin_rummy", "hanabi", "kuhn_poker", "leduc_poker", "liars_dice"})
"""OpenSpiel games whose moves are public. In other card games a move may be secret."""
_UNITS: Final = {"gin_rummy": "point", "kuhn_poker": "chip", "leduc_poker": "chip"}
"""Unit of the payoff of some OpenSpiel games."""
_PLAYER: Final = re.compile(r"^Player: \d+ Action: ")
_COLORS: Final = {"R": "red", "Y": "yellow", "G": "green", "W": "white", "B": "blue"}
_HINT: Final = re.compile(r"^\(Reveal player \+(\d+) (color|rank) (\w)\)$")
_CARD: Final = re.compile(r"^\((Play|Discard) (\d+)\)$")
_LIVES: Final = re.compile(r"^Life tokens: (\d+)$", re.MULTILINE)


def moves_since(state: Any, names: Sequence[str], since: int) -> tuple[str, ...]:
    """Return the moves of an OpenSpiel game as texts, without the first ``since`` moves.

    Args:
        state: OpenSpiel's state.
        names: Names of the players, in their order.
        since: Number of first moves to leave out.
    """
    before, words, moves = state.get_game().new_initial_state(), list[str](), 0
    spoken = _is_spoken(state)
    for each in state.full_history():
        if each.player >= 0:
            moves += 1
            if moves > since:
                said = str(before.action_to_string(each.player, each.action))
                words.append(_word(said, each.player, names) if spoken else said)
        before.apply_action(each.action)
    return tuple(words)


def may_be_said(state: Any, names: Sequence[str]) -> dict[int, str]:
    """Return the legal actions of the player on turn with texts like those of :func:`moves_since`.

    Args:
        state: OpenSpiel's state.
        names: Names of the players, in their order.
    """
    player, spoken = int(state.current_player()), _is_spoken(state)
    legal = state.legal_actions() if player >= 0 else ()
    said = {int(action): str(state.action_to_string(player, action)) for action in legal}
    return {action: _word(word, player, names) if spoken else word for action, word in said.items()}


def _is_spoken(state: Any) -> bool:
    """Return whether the game is in :data:`HEARD`, so that its moves get MOSAIC's wording."""
    return str(state.get_game().get_type().short_name) in HEARD


def _word(said: str, player: int, names: Sequence[str]) -> str:
    if (hint := _HINT.match(said)) is not None:
        whom = names[(player + int(hint[1])) % len(names)]
        return f"tells {whom}: {_COLORS.get(hint[3], hint[3]) if hint[2] == 'color' else hint[3]}"
    if (card := _CARD.match(said)) is not None:
        return f"{card[1].lower()}s card {card[2]}"
    bare = _PLAYER.sub("", said)
    return bare if bare[:1].isdigit() or len(bare) == 2 else bare[:1].lower() + bare[1:]


def fireworks(state: Any) -> str:
    """Return the result of a game of Hanabi, such as ``17 of 25 points``, with a note for 0 and for all."""
    parameters = state.get_game().get_parameters()
    most = int(parameters.get("colors", 5)) * int(parameters.get("ranks", 5))
    lives = _LIVES.search(str(state))
    if lives is not None and int(lives[1]) == 0:
        return f"0 of {most} points: all lives are lost"
    points = int(max(state.returns()))
    return f"{points} of {most} points" + (": every firework is complete" if points == most else "")


def stakes(state: Any, game: str, names: Sequence[str]) -> str:
    """Return the margin of a game for chips or points, such as ``by 3 chips``; ``""`` for other games.

    For Leduc poker it names the player who folded, if the last move is a fold.
    """
    if game not in _UNITS:
        return ""
    won = max(state.returns())
    folded = game == "leduc_poker" and _last_word(state) == "Fold"
    unit = _UNITS[game]
    by = f"by {won:g} {unit}{'' if won == 1 else 's'}"
    loser = names[min(range(len(names)), key=state.returns().__getitem__)]
    return f"{by}: {loser} folds" if folded else by


def _last_word(state: Any) -> str:
    history = list(state.full_history())
    last = max((i for i, each in enumerate(history) if each.player >= 0), default=None)
    if last is None:
        return ""
    before = state.get_game().new_initial_state()
    for each in history[:last]:
        before.apply_action(each.action)
    return str(before.action_to_string(history[last].player, history[last].action))
