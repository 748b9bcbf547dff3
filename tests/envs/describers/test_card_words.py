"""Card games and rock, paper, scissors in words, against the games' own state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs import Environment
from gym_gui.envs.describers.cards import RANKS, SUITS, beaten
from gym_gui.envs.describers.hanabi_words import COLORS, read

RANK_OF = dict(zip("A23456789TJQK", RANKS, strict=True))
SUIT_OF = {name[0].upper(): name for name in SUITS}


def turns(task: str, games: int, **options: Any) -> Iterator[tuple[Environment, str, Any]]:
    """Who is on turn with what they see, in random games."""
    environment, rng = envs.make(task, env_kwargs=options), np.random.default_rng(0)
    adapter = environment.adapter
    try:
        for seed in range(games):
            seen = adapter.reset(seed=seed)
            while agents := adapter.get_current_agents():
                for agent in agents:
                    yield environment, agent, seen[agent]
                moves: dict[str, int] = {}
                for agent in agents:
                    mask = adapter.action_mask(agent)
                    legal = range(adapter.action_space(agent).n) if mask is None else np.flatnonzero(mask)
                    moves[agent] = int(rng.choice(legal))
                seen = adapter.step(moves).observations
    finally:
        environment.close()


def card_name(card: str) -> str:
    """``"S5"`` as people call it."""
    return f"{RANK_OF[card[1]]} of {SUIT_OF[card[0]]}"


@pytest.mark.parametrize("task", ["texas_holdem_v4", "texas_holdem_no_limit_v6"])
@pytest.mark.parametrize("players", [2, 4])
def test_own_and_open_cards_are_told_and_nobody_elses(task: str, players: int) -> None:
    states = 0
    for environment, agent, seen in turns(task, 60, num_players=players):
        index = environment.adapter.possible_agents.index(agent)
        game = environment.env.env.game
        own = {card_name(card.get_index()) for card in game.players[index].hand}
        table = [card_name(card.get_index()) for card in game.public_cards]
        lines = dict(
            line.split(": ", 1) for line in environment.describer(agent).text(agent, seen).splitlines()
        )
        assert set(lines["Your cards"].split(", ")) == own
        assert lines["On the table"] == (", ".join(table) or "no card yet")
        told = set(re.findall(r"\w+ of (?:spades|hearts|diamonds|clubs)", "\n".join(lines.values())))
        hidden = {
            card_name(card.get_index())
            for i, player in enumerate(game.players)
            if i != index
            for card in player.hand
        }
        assert hidden and not told & hidden
        if "no_limit" in task:
            numbers = [int(n) for n in re.findall(r"\d+", lines["Chips that you have put in"])]
            chips = [int(player.in_chips) for player in game.players]
            assert numbers[0] == chips[index] and numbers[2] == max(chips)
        else:
            raises = [int(n) for n in re.findall(r"(?:flop|turn|river) (\d)", lines["Raises so far"])]
            assert raises == game.history_raise_nums[: len(raises)]
            assert len(raises) == {0: 1, 3: 2, 4: 3, 5: 4}[len(table)]
        states += 1
    assert states >= 150


def test_leduc_tells_one_card_the_open_one_and_the_chips() -> None:
    names = {"J": "jack", "Q": "queen", "K": "king"}
    shown: dict[tuple[str, ...], set[str]] = {}
    states = 0
    for environment, agent, seen in turns("leduc_holdem_v4", 120):
        index = environment.adapter.possible_agents.index(agent)
        game = environment.env.env.game
        mine, other = game.players[index], game.players[1 - index]
        text = environment.describer(agent).text(agent, seen)
        table = names[game.public_card.rank] if game.public_card else "no card yet"
        assert text.splitlines() == [
            f"Your card: {names[mine.hand.rank]}",
            f"On the table: {table}",
            f"Chips in the pot: {mine.in_chips} yours, {other.in_chips} your opponent's",
        ]
        key = (agent, mine.hand.rank, table, str(mine.in_chips), str(other.in_chips))
        shown.setdefault(key, set()).add(text)
        states += 1
    assert states > 200
    # Whatever the other holds, the text is the same.
    assert all(len(texts) == 1 for texts in shown.values())


def test_poker_players_are_told_what_their_actions_do() -> None:
    for task in ("leduc_holdem_v4", "texas_holdem_v4", "texas_holdem_no_limit_v6"):
        environment = envs.make(task)
        try:
            environment.adapter.reset(seed=1)
            words = environment.describer("player_0").actions("player_0")
            assert tuple(each.word for each in words) == environment.action_meanings("player_0")
            assert all(each.meaning for each in words)
        finally:
            environment.close()


@pytest.mark.parametrize("choices", [3, 5, 7])
def test_rock_paper_scissors_tells_the_last_choice_and_what_beats_what(choices: int) -> None:
    last: dict[str, str] = {}
    for environment, agent, seen in turns("rps_v2", 6, num_actions=choices):
        text = environment.describer(agent).text(agent, seen)
        words = environment.action_meanings(agent)
        env = environment.env
        other = next(each for each in environment.adapter.possible_agents if each != agent)
        if env.num_moves == 0:
            assert text.startswith("No player has chosen yet")
        else:
            choice = env.history[environment.adapter.possible_agents.index(other)]
            assert text == f"In the round before, your opponent chose {words[int(choice)]}."
        last[agent] = text
    assert len(last) == 2
    environment = envs.make("rps_v2", env_kwargs={"num_actions": choices})
    adapter = environment.adapter
    try:
        for first in range(choices):
            for second in range(choices):
                adapter.reset(seed=0)
                rewards: dict[str, float] = {}
                for move in (first, second):
                    (agent,) = adapter.get_current_agents()
                    adapter.step({agent: move})
                rewards = dict(environment.env.rewards)
                won = rewards["player_0"] > 0
                assert beaten(first, second) is won
    finally:
        environment.close()


def bits(seen: Any, first: int, size: int) -> list[int]:
    return np.flatnonzero(np.asarray(seen)[first : first + size]).tolist()


def test_hanabi_tells_what_the_observation_holds() -> None:
    """Read from the vector, by the table of PettingZoo's documentation."""
    letters, states = list(COLORS), 0
    for environment, agent, seen in turns("hanabi_v5", 40):
        player = environment.adapter.possible_agents.index(agent)
        position = read(environment.env.hanabi_env.game_state.observation_string(player))
        others = [divmod(bits(seen, 25 * i, 25)[0], 5) for i in range(len(position.hands[1]))]
        assert [held.card for held in position.hands[1]] == [f"{letters[c]}{r + 1}" for c, r in others]
        assert position.counts["Deck size"] == len(bits(seen, 127, 40))
        for i, letter in enumerate(letters):
            assert position.fireworks[letter] == max(bits(seen, 167 + 5 * i, 5), default=-1) + 1
        assert position.counts["Info tokens"] == len(bits(seen, 192, 8))
        assert position.counts["Life tokens"] == len(bits(seen, 200, 3))
        assert len(position.discards) == len(bits(seen, 203, 50))
        for i, held in enumerate(position.hands[0]):
            known = 308 + 35 * i
            color, rank = bits(seen, known + 25, 5), bits(seen, known + 30, 5)
            assert held.told[0] == (letters[color[0]] if color else "X")
            assert held.told[1] == (str(rank[0] + 1) if rank else "X")
            assert held.card == "XX"
        text = environment.describer(agent).text(agent, seen)
        own = text.partition("Your cards")[2].partition("Cards of")[0]
        assert len(re.findall(r"^- \d: (?:nothing told|told )", own, re.M)) == len(position.hands[0])
        assert f"Cards in the deck: {position.counts['Deck size']}." in text
        states += 1
    assert states > 200


def test_hanabi_names_its_moves() -> None:
    count = 0
    for environment, agent, seen in turns("hanabi_v5", 4, players=3, hand_size=3):
        mask = environment.adapter.action_mask(agent)
        assert mask is not None
        describer, state = environment.describer(agent), environment.env.hanabi_env.game_state
        choices = describer.choices(agent, seen, mask)
        assert [choice.action for choice in choices] == state.legal_actions()
        assert len({choice.word for choice in choices}) == len(choices)
        names = environment.adapter.possible_agents
        for choice in choices:
            move = state.action_to_string(state.current_player(), choice.action)
            if match := re.match(r"\(Reveal player \+(\d)", move):
                whom = names[(names.index(agent) + int(match[1])) % len(names)]
                assert choice.word.startswith(f"tell {whom} about ")
            else:
                assert choice.word == re.sub(r"\((\w+) (\d)\)", r"\1 card \2", move).lower()
        count += 1
    assert count > 10
