"""OpenSpiel's games in the words of their own states."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID, Choice, Mask
from gym_gui.envs.describers.boards import FROM_CHOICES, longest
from gym_gui.envs.describers.describer import Limit
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.openspiel_rules import RULES, Rules

_HANDS = re.compile(r"^Cards \(public(?: player_\d+)+\): (?P<cards>-?\d+(?: -?\d+)+)", re.MULTILINE)
"""Repeated poker prints everybody's cards when a hand is over, folded ones too."""


class OpenSpielDescriber(SpaceDescriber):
    """What a state shows one player, and its actions by the game's own names.

    Of a game with hidden cards a state prints for each player what that one may know.
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
        """A printed state without what others alone may know."""
        rules = self._rules

        def instead(found: re.Match[str]) -> str:
            return found.group() if int(found["player"]) == player else found.expand(rules.instead)

        kept = re.sub(rules.betrays, instead, words) if rules.betrays else words
        return _HANDS.sub(lambda hands: _own_hand(hands, player), kept)

    def can_say(self, agent: AgentID) -> bool:
        # Asked before the first state is there; only the game says what its states can print.
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
        """Of this game, empty where nobody has written them down."""
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
    """The open card and the player's own."""
    public, *held = hands["cards"].split()
    return f"Cards (public player_{player}): {public} {held[player]}"
