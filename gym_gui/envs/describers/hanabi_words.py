"""Describes Hanabi: the others' visible hands, and the hints about the player's own hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID, Choice, Mask
from gym_gui.envs.describers.boards import FROM_CHOICES
from gym_gui.envs.describers.generic import SpaceDescriber

COLORS: Mapping[str, str] = {"R": "red", "Y": "yellow", "G": "green", "W": "white", "B": "blue"}
_CARD = re.compile(r"^(?P<card>\w\w) \|\| (?P<told>\w\w)\|(?P<may>\w+)$")
_MOVE = re.compile(r"^\((?:(Play|Discard) (\d)|Reveal player \+(\d) (color|rank) (\w))\)$")


class HandCard(NamedTuple):
    """Card in a hand of Hanabi.

    Attributes:
        card: Color and rank, ``"R1"``; ``"XX"`` for the player's own card.
        told: Color and rank from hints, ``"X"`` for each without a hint.
        may: Colors and ranks that are still possible by the hints.
    """

    card: str
    told: str
    may: str


class Position(NamedTuple):
    """Observation of one player in Hanabi.

    Attributes:
        counts: Numbers of ``Life tokens``, ``Info tokens`` and ``Deck size``.
        fireworks: Rank of the highest card by the color's letter.
        hands: Hands in the order of play, from the own hand on.
        discards: Discarded cards.
    """

    counts: Mapping[str, int]
    fireworks: Mapping[str, int]
    hands: tuple[tuple[HandCard, ...], ...]
    discards: tuple[str, ...]


def read(observation: str) -> Position:
    """Return a Hanabi player's observation, parsed from OpenSpiel's text."""
    counts: dict[str, int] = {}
    fireworks: dict[str, int] = {}
    hands: list[list[HandCard]] = [[]]
    discards: tuple[str, ...] = ()
    for line in observation.splitlines():
        key, colon, value = line.partition(":")
        if match := _CARD.match(line):
            hands[-1].append(HandCard(*match.group("card", "told", "may")))
        elif line.startswith("-"):
            hands.append([])
        elif key == "Fireworks":
            fireworks = {each[0]: int(each[1:]) for each in value.split()}
        elif key == "Discards":
            discards = tuple(value.split())
        elif colon and value.strip().isdigit():
            counts[key] = int(value)
    return Position(counts, fireworks, tuple(map(tuple, hands)), discards)


class HanabiDescriber(SpaceDescriber):
    """Describes Hanabi's position as OpenSpiel prints it for a player, and moves with their cards."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        state = self._state
        return "\n".join(self._lines(agent, read(state.observation_string(self._player(agent)))))

    def can_say(self, agent: AgentID) -> bool:
        # True for any length of the vector, because the text describes the position.
        return True

    def _lines(self, agent: AgentID, seen: Position) -> Iterator[str]:
        yield (
            f"Information tokens: {seen.counts['Info tokens']}. Lives: {seen.counts['Life tokens']}. "
            f"Cards in the deck: {seen.counts['Deck size']}."
        )
        config: Mapping[str, Any] = self._state.get_game().get_parameters()
        every = len(seen.fireworks) + int(config.get("ranks", 5))
        yield f"Fireworks: {', '.join(f'{_color(c)} {n}' for c, n in seen.fireworks.items())}"
        if last := self._last_move(agent):
            yield last
        for name, hand in zip(self._from(agent), seen.hands, strict=False):
            yield "Your cards, by position:" if name == agent else f"Cards of {name}, by position:"
            for i, held in enumerate(hand):
                yield f"- {i}: {_own_card(held, every) if held.card == 'XX' else _others_card(held)}"
        yield f"Discarded: {', '.join(map(_card, seen.discards)) or 'nothing yet'}"

    def _last_move(self, agent: AgentID) -> str:
        """Return a sentence about the last move, which the observation also contains."""
        moves = [each for each in self._state.full_history() if each.player >= 0]
        if not moves:
            return ""
        names = self.environment.adapter.possible_agents
        who = int(moves[-1].player)
        word = self._word(names[who], self._state.action_to_string(who, moves[-1].action))
        return f"Last move: {'you' if names[who] == agent else names[who]}: {word.replace(agent, 'you')}"

    def _from(self, agent: AgentID) -> list[AgentID]:
        """Return the players in the order of play, beginning with ``agent``."""
        names, own = list(self.environment.adapter.possible_agents), self._player(agent)
        return names[own:] + names[:own]

    def _word(self, agent: AgentID, move: str) -> str:
        match = _MOVE.match(move)
        if match is None:
            return move.strip("()").lower()
        what, where, whom, kind, value = match.groups()
        if what:
            return f"{what.lower()} card {where}"
        name = self._from(agent)[int(whom)]
        return f"tell {name} about {f'colour {_color(value)}' if kind == 'color' else f'rank {value}'}"

    def choices(self, agent: AgentID, observation: Any, mask: Mask | None) -> tuple[Choice, ...]:
        if mask is None:
            return ()
        player, state = self._player(agent), self._state
        return tuple(
            Choice(int(action), self._word(agent, state.action_to_string(player, int(action))))
            for action in np.flatnonzero(mask)
        )

    def game(self, agent: AgentID) -> str:
        mates = [each for each in self.environment.adapter.possible_agents if each != agent]
        config: Mapping[str, Any] = self.environment.env.hanabi_env._env.get_parameters()
        ranks, most = config.get("ranks", 5), config.get("max_information_tokens", 8)
        return (
            f"The game is Hanabi: you are {agent} and play together with {', '.join(mates)}. Everybody "
            "sees the others' cards and not their own. Together you build a firework of each colour, from "
            f"1 to {ranks} in order. In turn one plays a card, discards one (which gives an information "
            f"token back, up to {most}), or spends an information token to tell another player which of "
            "their cards have a colour or a rank. A played card that does not continue its firework costs "
            "a life; without lives all points are lost. Each card of a firework is worth one point to "
            "everybody. After the last card is drawn each has one more turn."
        )

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return (
            "Of your own cards you are shown what hints have told, and what they can still be by the hints. "
            "Positions count from 0, the oldest card; a new card comes last. Of the others' cards "
            "you are also shown what they know."
        )

    def can_hide_legal(self, agent: AgentID) -> bool:
        return False

    def _how_to_act(self, agent: AgentID) -> str:
        return FROM_CHOICES

    @property
    def _state(self) -> Any:
        return self.environment.env.hanabi_env.game_state

    def _player(self, agent: AgentID) -> int:
        return self.environment.adapter.possible_agents.index(agent)


def _color(letter: str) -> str:
    return COLORS.get(letter, letter)


def _card(card: str) -> str:
    return f"{_color(card[0])} {card[1]}"


def _hints(held: HandCard) -> str:
    words = [_color(held.told[0])] if held.told[0] != "X" else []
    words += [held.told[1]] if held.told[1] != "X" else []
    return " ".join(words)


def _own_card(held: HandCard, every: int) -> str:
    """Return what hints say about a player's own card; ``every`` is the number of colors plus ranks."""
    told = _hints(held)
    known = f"told {told}" if told else "nothing told"
    if len(held.may) == every:
        return known
    colors = "/".join(_color(each) for each in held.may if not each.isdigit())
    ranks = "/".join(each for each in held.may if each.isdigit())
    return f"{known}; can be {colors} {ranks}"


def _others_card(held: HandCard) -> str:
    told = _hints(held)
    return f"{_card(held.card)} ({f'knows: {told}' if told else 'knows nothing of it'})"
