"""Describes PettingZoo's card games, and rock, paper, scissors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.value_words import number
from gym_gui.envs.pictures import Picture

SUITS = ("spades", "hearts", "diamonds", "clubs")
RANKS = ("ace", *(str(n) for n in range(2, 11)), "jack", "queen", "king")
_LEDUC_RANKS = ("jack", "queen", "king")
_ROUNDS = ("before the flop", "after the flop", "after the turn", "after the river")
_TEXAS_RULES = (
    "Each player holds two cards of a deck of 52. Bets are made in four rounds: with no card on the "
    "table, with three (the flop), four (the turn) and five (the river). The best poker hand of five "
    "cards, out of one's own two and the table's, takes the pot; who folds is out."
)
_PAID = (
    "At the end of the hand you are paid half the chips that you won, or lose half of those that you put in."
)


class _Game(NamedTuple):
    rules: str
    words: Mapping[str, str]


_GAMES: Mapping[str, _Game] = {
    "leduc_holdem": _Game(
        "The deck has six cards: two jacks, two queens, two kings. Each player gets one. After a first "
        "round of bets a card is laid open on the table, and a second round follows. Who makes a pair "
        "with the open card wins, else who has the higher card (king, queen, jack); who folds loses. The "
        "players begin with 1 and 2 chips in the pot. A raise is 2 chips in the first round, 4 in the "
        f"second, at most two raises a round. {_PAID}",
        {
            "call": "put in as much as the other player has",
            "raise": "put in as much as the other player has, and a raise on top",
            "fold": "give up the hand and what you put in",
            "check": "put in nothing and go on",
        },
    ),
    "texas_holdem": _Game(
        f"{_TEXAS_RULES} The players begin with 1 and 2 chips in the pot. A raise is 2 chips in the first "
        f"two rounds and 4 in the last two, at most four raises a round. {_PAID}",
        {
            "call": "put in as much as the others have",
            "raise": "put in as much as the others have, and a raise on top",
            "fold": "give up the hand and what you put in",
            "check": "put in nothing and go on",
        },
    ),
    "texas_holdem_no_limit": _Game(
        f"{_TEXAS_RULES} Each player has 100 chips; the pot begins with 1 and 2 of them. {_PAID}",
        {
            "fold": "give up the hand and what you put in",
            "check or call": "put in as much as the others have, which may be nothing",
            "raise half the pot": "put in half as much as is in the pot",
            "raise the pot": "put in as much as is in the pot",
            "all in": "put in all your chips",
        },
    ),
}


class _Back:
    """Card face down, with the interface that PettingZoo's rendering of poker needs."""

    def get_index(self) -> str:
        """Return the name of the picture of a card's back."""
        return "Card"


class PokerDescriber(SpaceDescriber):
    """Describes an agent's cards in poker, the cards on the table, and the chips and raises.

    The cards of others are never read. The observation contains own and open cards together, and the
    environment's list of cards on the table distinguishes them.
    """

    def __init__(self, environment: Any, game: str) -> None:
        """Make a describer; ``game`` is part of the environment's name, such as ``"leduc_holdem"``."""
        super().__init__(environment)
        self._game = game
        self._say: Callable[[NDArray[Any]], list[str]] = {
            "leduc_holdem": _leduc,
            "texas_holdem": self._texas,
        }.get(game, self._no_limit)

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        return "\n".join(self._say(np.asarray(observation)))

    def can_draw(self, agent: AgentID) -> bool:
        return True

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        """Return PettingZoo's picture of the table, with the backs of the others' cards."""
        everybody, players = self.environment.adapter.possible_agents, self.environment.env.env.game.players
        others = [player for name, player in zip(everybody, players, strict=True) if name != agent]
        hands = [player.hand for player in others]
        try:
            for player, hand in zip(others, hands, strict=True):
                player.hand = [_Back() for _ in hand] if self._game != "leduc_holdem" else _Back()
            return self.environment.picture()
        finally:
            for player, hand in zip(others, hands, strict=True):
                player.hand = hand

    def legend(self, agent: AgentID) -> str:
        number = self.environment.adapter.possible_agents.index(agent) + 1
        return (
            f'In the picture your cards lie face up at "Player {number}"; of the cards that others hold you '
            "see the backs."
        )

    def game(self, agent: AgentID) -> str:
        others = [each for each in self.environment.adapter.possible_agents if each != agent]
        title = self.environment.title
        return f"The game is {title}, a kind of poker; you play {agent} against {', '.join(others)}. " + (
            _GAMES[self._game].rules
        )

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        meanings = _GAMES[self._game].words
        return [ActionWord(word, meanings.get(word, "")) for word in self.environment.action_meanings(agent)]

    def _texas(self, seen: NDArray[Any]) -> list[str]:
        raises = np.argmax(seen[52:72].reshape(4, 5), axis=1)
        on_table = len(self._table())
        so_far = {0: 1, 3: 2, 4: 3}.get(on_table, 4)
        said = ", ".join(f"{name} {int(n)}" for name, n in zip(_ROUNDS[:so_far], raises, strict=False))
        return [*self._cards(seen), f"Raises so far: {said} (at most 4 in each round)"]

    def _no_limit(self, seen: NDArray[Any]) -> list[str]:
        own, most = float(seen[52]), float(seen[53])
        missing = f", {number(most - own)} more than you" if most > own else ", as many as you"
        return [
            *self._cards(seen),
            f"Chips that you have put in: {number(own)} of 100; the most that a player has put in: "
            f"{number(most)}{missing}",
        ]

    def _cards(self, seen: NDArray[Any]) -> list[str]:
        table = self._table()
        own = [i for i in np.flatnonzero(seen[:52]).tolist() if i not in table]
        return [f"Your cards: {_cards(own)}", f"On the table: {_cards(table) or 'no card yet'}"]

    def _table(self) -> list[int]:
        """Return the numbers of the open cards in poker, in the order in which they were laid."""
        game = self.environment.env.env.game
        return [
            _SUIT_LETTERS.index(card.suit) * 13 + _RANK_LETTERS.index(card.rank) for card in game.public_cards
        ]


_SUIT_LETTERS, _RANK_LETTERS = "SHDC", "A23456789TJQK"


def _cards(cards: Sequence[int]) -> str:
    return ", ".join(f"{RANKS[card % 13]} of {SUITS[card // 13]}" for card in cards)


def _leduc(seen: NDArray[Any]) -> list[str]:
    own, table = np.flatnonzero(seen[:3]), np.flatnonzero(seen[3:6])
    mine, theirs = int(np.argmax(seen[6:21])), int(np.argmax(seen[21:36]))
    return [
        f"Your card: {_LEDUC_RANKS[int(own[0])] if own.size else 'none'}",
        f"On the table: {_LEDUC_RANKS[int(table[0])] if table.size else 'no card yet'}",
        f"Chips in the pot: {mine} yours, {theirs} your opponent's",
    ]


class RockPaperScissorsDescriber(SpaceDescriber):
    """Describes the opponent's last choice and, with more than three actions, which action beats which."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        words = self.environment.action_meanings(agent)
        last = int(observation)
        if last >= len(words):
            return "No player has chosen yet: this is the first round."
        return f"In the round before, your opponent chose {words[last]}."

    def can_draw(self, agent: AgentID) -> bool:
        return True

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        """Return a picture of the finished rounds, without the others' choices in the current round."""
        env: Any = self.environment.env
        chosen = env.state
        env.state = dict.fromkeys(env.possible_agents, env._none)
        try:
            return self.environment.picture()
        finally:
            env.state = chosen

    def legend(self, agent: AgentID) -> str:
        side = ("left", "right")[self.environment.adapter.possible_agents.index(agent)]
        return f"In the picture your earlier choices are on the {side}, the latest on top."

    def game(self, agent: AgentID) -> str:
        words = self.environment.action_meanings(agent)
        beats = "; ".join(
            f"{word} beats {' and '.join(words[j] for j in range(len(words)) if beaten(i, j))}"
            for i, word in enumerate(words)
        )
        return (
            f"Two players choose at once, without seeing each other's choice: {beats}. "
            "The winner of a round gets 1 point, the loser loses 1; equal choices are worth nothing."
        )

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self.environment.env.max_cycles), "rounds")


def beaten(first: int, second: int) -> bool:
    """Return whether the first action beats the second in rock, paper, scissors with any number of words.

    If both are even or both odd, the lower one wins, otherwise the higher one.
    """
    if first == second:
        return False
    return first < second if (first + second) % 2 == 0 else first > second
