"""Describes OpenSpiel's games with the text that their states print."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID, Choice, Mask
from gym_gui.envs.describers.boards import FROM_CHOICES, longest
from gym_gui.envs.describers.describer import Limit
from gym_gui.envs.describers.generic import SpaceDescriber

_HANDS = re.compile(r"^Cards \(public(?: player_\d+)+\): (?P<cards>-?\d+(?: -?\d+)+)", re.MULTILINE)
"""Pattern of hands in repeated poker, which prints all cards at the end of a hand, even folded cards."""


class OpenSpielDescriber(SpaceDescriber):
    """Describes an OpenSpiel state for one player, and actions with the game's own names.

    A state of a game with hidden cards prints, for each player, only information that the player may have.
    """

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        state: Any = self.environment.env.game_state
        player, kind = self._player(agent), state.get_game().get_type()
        if kind.provides_observation_string:
            words = str(state.observation_string(player)).rstrip()
        elif kind.provides_information_state_string:
            words = str(state.information_state_string(player)).rstrip()
        else:
            return super().text(agent, observation, mode)
        told = self._kept(words, player) or super().text(agent, observation, mode)
        counted = (
            f"{what}: {round(float(observation[index]) / one)}" for index, one, what in self._rules.numbers
        )
        return "\n".join([told, *counted])

    def _kept(self, words: str, player: int) -> str:
        """Return a printed state without the parts that only other players may know."""
        rules = self._rules

        def instead(found: re.Match[str]) -> str:
            return found.group() if int(found["player"]) == player else found.expand(rules.instead)

        kept = re.sub(rules.betrays, instead, words) if rules.betrays else words
        return _HANDS.sub(lambda hands: _own_hand(hands, player), kept)

    def can_say(self, agent: AgentID) -> bool:
        # Called before the first state exists; only the game knows what its states can print.
        kind = self.environment.env._env.get_type()
        prints = kind.provides_observation_string or kind.provides_information_state_string
        return bool(prints) or super().can_say(agent)

    def game(self, agent: AgentID) -> str:
        others = [each for each in self.environment.adapter.possible_agents if each != agent]
        company = f" You play {agent}{' with ' if others else ''}{', '.join(others)}."
        rules = f" {self._rules.game}" if self._rules.game else ""
        game: Any = self.environment.env._env
        paid = f" At the end you are paid from {game.min_utility():g} to {game.max_utility():g}."
        return f"{super().game(agent)}{company}{rules}{paid}"

    def limit(self, agent: AgentID) -> Limit:
        return longest(self.environment)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return self._rules.reading

    @property
    def _rules(self) -> Rules:
        """Rules of this OpenSpiel game; empty if :data:`RULES` has none."""
        return RULES.get(self.environment.spec.id.rpartition("/")[2], Rules(""))

    def choices(self, agent: AgentID, observation: Any, mask: Mask | None) -> tuple[Choice, ...]:
        if self.environment.action_meanings(agent) or mask is None:
            return ()
        state: Any = self.environment.env.game_state
        player = self._player(agent)
        legal = (int(action) for action in np.flatnonzero(mask))
        return tuple(Choice(action, str(state.action_to_string(player, action))) for action in legal)

    def can_hide_legal(self, agent: AgentID) -> bool:
        return bool(self.actions(agent))

    def _how_to_act(self, agent: AgentID) -> str:
        return super()._how_to_act(agent) if self.actions(agent) else FROM_CHOICES

    def _player(self, agent: AgentID) -> int:
        return self.environment.adapter.possible_agents.index(agent)


def _own_hand(hands: re.Match[str], player: int) -> str:
    """Return the open card and the player's own card, in the form that repeated poker prints."""
    public, *held = hands["cards"].split()
    return f"Cards (public player_{player}): {public} {held[player]}"


# -- rules of games and formats of printed states ------------------------------------------


class Rules(NamedTuple):
    """Rules of an OpenSpiel game that a player must know, and the format of its printed states.

    Attributes:
        game: Goal and rules.
        reading: Meaning of a printed state.
        betrays: Pattern of parts of a printed state that other players may not know; the group ``player`` is
            the player to whom a part belongs.
        instead: Replacement for such a part, with the pattern's groups.
        numbers: Counts that an observation contains and a printed state lacks: index, value of one unit, and
            what is counted.
    """

    game: str
    reading: str = ""
    betrays: str = ""
    instead: str = ""
    numbers: Sequence[tuple[int, float, str]] = ()


RULES: Mapping[str, Rules] = {
    "kuhn_poker": Rules(
        "There is one card more than players, numbered from 0; the highest wins. Each puts in 1 chip and "
        "gets a card. In turn one bets 1 chip or passes; after a bet, to bet is to call it and to pass is "
        "to fold. Who is left with the highest card takes the chips.",
        "The first digit is your card, 0 the lowest; then stand the chips that each player has put in, "
        "the first player's first.",
    ),
    "leduc_poker": Rules(
        "The deck has two cards each of three ranks (one more than players). Each puts in 1 chip and gets "
        "a card; after a first round of bets a card is laid open, and a second round follows. Who pairs "
        "the open card wins, else the higher card. Raises are 2 chips in the first round and 4 in the "
        "second, two at most.",
        "Private is your card, Public the open one: 0 and 1 are of the lowest rank, 2 and 3 of the next, "
        "4 and 5 of the one above. Ante is what each player has put in, Money what each has left, Pot "
        "their sum.",
    ),
    "liars_dice": Rules(
        "Each player has one die with six sides, seen by no other player. In turn one bids how many dice of "
        "all players show a face, always higher than the bid before, or calls the last bid a lie. A 6 "
        "counts as any face. If at least as many dice show it the bidder wins, else who called it a lie.",
        "The first number is your die; then stand the bids so far, as number of dice and face: 2-3 bids "
        "that two dice show a 3.",
    ),
    "breakthrough": Rules(
        "Pieces go one cell forward, straight or aslant, and take aslant only. Who first gets a piece to "
        "the far row wins. player_0 has b, which move down, player_1 has w, which move up.",
        "Moves are written as from and to cell; a * marks one that takes.",
    ),
    "go_fish": Rules(
        "In turn one asks another player for a rank of which one has a card, and gets all of them; has the "
        "other none, one draws from the stock. Four cards of a rank are a book. Who has the most books "
        "when no card is left wins.",
        "Your cards are a letter for the rank and the number of them. A line says who asked whom for "
        "which rank, counted from 0, how many cards that brought, and the rank of a book.",
        # -3 is the stock.
        r"(?m)^(?P<player>\d+) asked -3 for \d+ recieved \d+",
        r"\g<player> drew a card",
    ),
    "phantom_go": Rules(
        "", numbers=((0, 1.0, "Black stones on the board"), (1, 1.0, "White stones on the board"))
    ),
    "kriegspiel": Rules("", numbers=((5, 0.01, "Moves of both since one took or moved a pawn"),)),
}
