"""What is told of OpenSpiel's printed states is what they are, by the games' own moves."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

from gym_gui import envs
from gym_gui.envs.describers.openspiel import RULES


def states(name: str, games: int) -> Iterator[Any]:
    """Decisions of random games, with the dealt cards in the history."""
    import pyspiel

    rng, game = random.Random(0), pyspiel.load_game(name)
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                yield state
            state.apply_action(rng.choice(state.legal_actions()))


def test_kuhn_poker_prints_ones_card_and_the_chips() -> None:
    for state in states("kuhn_poker", 40):
        player, history = state.current_player(), state.history()
        chips = [1 + sum(history[2 + i] for i in range(len(history) - 2) if i % 2 == who) for who in (0, 1)]
        assert state.observation_string(player) == f"{history[player]}{chips[0]}{chips[1]}"


def test_leduc_poker_prints_cards_by_two_of_a_rank() -> None:
    won: set[bool] = set()
    for state in states("leduc_poker", 200):
        player = state.current_player()
        private = re.search(r"\[Private: (\d)\]", state.observation_string(player))
        assert private and int(private[1]) == state.history()[player]
        other = state.history()[1 - player]
        public = re.search(r"\[Public: (\d)\]", state.observation_string(player))
        if public and state.legal_actions() == [1, 2]:
            # Both call to the end: a pair with the open card wins, else the higher rank.
            ranks = int(private[1]) // 2, other // 2
            table = int(public[1]) // 2
            strength = [10 if rank == table else rank for rank in ranks]
            end = state.clone()
            while not end.is_terminal():
                end.apply_action(1)
            if strength[0] != strength[1]:
                assert (end.returns()[player] > 0) is (strength[0] > strength[1])
                won.add(strength[0] > strength[1])
    assert won == {True, False}


def test_liars_dice_prints_ones_die_and_counts_six_as_any() -> None:
    seen = 0
    for state in states("liars_dice", 60):
        player, history = state.current_player(), state.history()
        words = state.information_state_string(player).split()
        assert int(words[0]) == history[player] + 1
        if len(words) > 1:
            count, face = map(int, words[-1].split("-"))
            end = state.clone()
            end.apply_action(state.legal_actions()[-1])
            assert state.action_to_string(player, state.legal_actions()[-1]) == "Liar"
            true = sum(rolled + 1 in (face, 6) for rolled in history[:2]) >= count
            assert (end.returns()[1 - player] > 0) is true
            seen += 1
    assert seen > 50


def test_players_are_told_rules_and_how_to_read() -> None:
    for name, rules in RULES.items():
        environment = envs.make(f"open_spiel/{name}")
        try:
            agent = environment.adapter.possible_agents[0]
            briefing = environment.describer(agent).briefing(agent)
            assert rules.game in briefing and rules.reading in briefing
        finally:
            environment.close()
