"""Moves that a search finds, and games and settings that it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyspiel
import pytest

from mosaic_worker.worker import Batch, Decision, EpisodeStart, LoadError, Slot
from openspiel_worker.main import OpenSpielWorker
from openspiel_worker.search import Budget, PositionResult, Search
from openspiel_worker.table import Table

NewSlot = Callable[..., Slot]
Look = Callable[..., Decision]


def thought(slot: Slot, state: Any, seed: int = 3) -> PositionResult:
    table = Table(slot)
    return Search(table, Budget.of(slot), slot.deterministic is True).think([state], seed, 0)


def test_it_wins_where_it_can_and_knows_it(new_slot: NewSlot) -> None:
    slot = new_slot("connect_four", simulations=200)
    state = pyspiel.load_game("connect_four").new_initial_state()
    for column in (3, 0, 3, 0, 3, 1):
        state.apply_action(column)
    found = thought(slot, state)
    assert found.ranked[0] == 3
    assert found.value == 1.0


def test_simulations_and_seed_decide_the_move(new_slot: NewSlot) -> None:
    state = pyspiel.load_game("hex").new_initial_state()
    slot = new_slot("hex", simulations=150)
    first, again, other = (thought(slot, state, seed) for seed in (1, 1, 2))
    assert first == again
    assert first.shares != other.shares
    assert first.simulations == 150


def test_seconds_take_the_place_of_simulations(new_slot: NewSlot) -> None:
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    found = thought(new_slot("connect_four", simulations=1, seconds=0.05), connect_four())
    assert found.simulations is not None and found.simulations > 1
    assert Budget.of(new_slot("connect_four", seconds=0.05)).name == "0.05 s"
    assert not state.is_terminal()


def connect_four() -> Any:
    return pyspiel.load_game("connect_four").new_initial_state()


def test_where_cards_are_hidden_the_search_repeats_and_draws_by_what_it_found(new_slot: NewSlot) -> None:
    state = pyspiel.load_game("leduc_poker").new_initial_state()
    for card in (4, 0):
        state.apply_action(card)
    slot = new_slot("leduc_poker", simulations=200)
    first, again = thought(slot, state), thought(slot, state)
    assert first == again
    assert {thought(slot, state, seed).ranked[0] for seed in range(8)} == {1, 2}
    surely = replace(slot, deterministic=True)
    for seed in range(4):
        found = thought(surely, state, seed)
        assert found.shares[found.ranked[0]] == max(found.shares.values())


def test_worlds_are_dealt_as_chance_deals_them(new_slot: NewSlot) -> None:
    """With a queen, and everybody's bets on the table, calling is worth what the other cards say."""
    game = pyspiel.load_game("kuhn_poker")
    states: list[Any] = []
    for other in (0, 2):
        state = game.new_initial_state()
        for action in (1, other, 0, 1):  # the cards, a pass, a bet
            state.apply_action(action)
        states.append(state)
    table = Table(new_slot("kuhn_poker"))
    budget = Budget(simulations=4000, seconds=0.0, exploration=2.0, rollouts=1)
    found = Search(table, budget, True).think(states, 1, 2)
    assert found.ranked[0] == 1
    assert abs(found.value) < 0.25


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        ("2048", {}, "cannot search 2048: Game must have terminal rewards"),
        ("gin_rummy", {}, "has too many possible deals"),
        ("oshi_zumo", {}, "players move simultaneously"),
        ("hex", {"game": "hex(board_size=5)"}, "has other parameters than"),
        ("hex", {"game": "go"}, "open_spiel/hex is hex"),
        ("hex", {"game": "hex(bored_size=5)"}, "cannot load"),
        ("hex", {"simulations": 0}, "simulations is 0, but must be a whole number of at least 1"),
        ("hex", {"seconds": -1}, "seconds is -1"),
        ("hex", {"rollouts": 1.5}, "rollouts is 1.5"),
    ],
)
def test_what_cannot_be_is_refused(name: str, settings: dict[str, Any], says: str, new_slot: NewSlot) -> None:
    with pytest.raises(LoadError, match=says):
        OpenSpielWorker().load(new_slot(name, **settings))


def test_a_game_without_known_rules_is_refused(new_slot: NewSlot) -> None:
    slot = new_slot("hex")
    with pytest.raises(LoadError, match="the rules of CartPole-v1 are unknown"):
        OpenSpielWorker().load(Slot(0, "agent", "CartPole-v1", slot.observation_space, slot.action_space))


def test_time_that_a_slot_does_not_have_is_refused(new_slot: NewSlot) -> None:
    slot = new_slot("hex", seconds=5)
    late = Slot(
        0, "player_0", slot.env_id, slot.observation_space, slot.action_space, slot.settings, deadline_s=2
    )
    with pytest.raises(LoadError, match="must answer within 2 s"):
        OpenSpielWorker().load(late)


def test_the_worker_plays_legal_moves_and_says_what_it_expects(new_slot: NewSlot, look: Look) -> None:
    worker, slot = OpenSpielWorker(), new_slot("connect_four", simulations=60)
    assert worker.load(slot) == "MCTS, 60 simulations"
    worker.reset(slot, [EpisodeStart(0, 5, "player_0")])
    decision = look(connect_four(), 0, 0)
    batch = Batch(
        slot,
        [0],
        [0],
        [0],
        [5],
        decision.observation[None],
        decision.action_mask[None],  # type: ignore[index]
    )
    answer = worker.select_actions(batch)
    assert answer.actions[0] in range(7)
    assert answer.extras is not None
    (told,) = answer.extras
    assert told is not None
    assert -1 <= told["value"] <= 1
    assert told["search"]["simulations"] == 60
    considered = told["considered"]
    assert list(considered) == list(told["scores"]) and len(considered) == 5
    assert all(-1 <= each["value"] <= 1 for each in considered.values())
    visits = [each["visits"] for each in considered.values()]
    assert visits == sorted(visits, reverse=True) and sum(visits) <= 60


def test_a_part_of_the_tree_is_told_from_the_view_of_who_chooses(new_slot: NewSlot, look: Look) -> None:
    worker, slot = OpenSpielWorker(), new_slot("tic_tac_toe", simulations=800)
    worker.load(slot)
    worker.reset(slot, [EpisodeStart(0, 5, "player_0")])
    decision = look(pyspiel.load_game("tic_tac_toe").new_initial_state(), 0, 0)
    assert decision.action_mask is not None
    batch = Batch(slot, [0], [0], [0], [5], decision.observation[None], decision.action_mask[None])
    (told,) = worker.select_actions(batch).extras or ()
    assert told is not None

    def walk(moves: dict[str, Any], depth: int) -> list[tuple[int, float]]:
        found: list[tuple[int, float]] = []
        for move in moves.values():
            replies = move.get("replies", {})
            assert sum(each["visits"] for each in replies.values()) <= move["visits"]
            found += [(depth, move["value"]), *walk(replies, depth + 1)]
        return found

    told_of = walk(told["considered"], 0)
    assert 5 < len(told_of) <= 5 + 24 and max(depth for depth, _ in told_of) <= 3
    # Who begins does not lose: replies are worth to it what its own moves are, not the other's gain.
    assert all(value > -0.5 for depth, value in told_of if depth == 1)
    assert len(str(told)) < 2048
