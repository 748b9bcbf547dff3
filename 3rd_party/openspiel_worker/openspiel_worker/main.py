"""The worker class that the SDK runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mosaic_worker.worker import (
    Actions,
    Batch,
    Decision,
    EpisodeEnd,
    EpisodeStart,
    PolicyFailed,
    Slot,
    Worker,
)
from openspiel_worker.search import Budget, Found, Search
from openspiel_worker.seat import Seat
from openspiel_worker.table import Table

_MOST_TOLD = 5
"""Moves whose shares are recorded."""


class _Player:
    """A slot: its game, how it is played, and its seats in the episodes."""

    def __init__(self, slot: Slot) -> None:
        self._table = Table(slot)
        self._search = Search(self._table, Budget.of(slot), slot.deterministic is True)
        self._seats: dict[int, Seat] = {}
        self.name = self._search.name

    def begin(self, episode: int, agent: str) -> None:
        self._seats[episode] = Seat(self._table, agent)

    def forget(self, episode: int) -> None:
        self._seats.pop(episode, None)

    def decide(self, decision: Decision) -> tuple[int, float, dict[str, Any]]:
        """The environment's action, the return that is expected, and what is recorded."""
        seat = self._seats[decision.episode]
        states = seat.see(decision)
        found = self._search.think(states, decision.seed, decision.step)
        for action in found.ranked:
            number = self._table.action(states[0], action, decision)
            if number is not None:
                seat.play(action)
                return number, found.value, {"search": self._told(states[0], found)}
        raise PolicyFailed(f"no legal move of {self._table.name} is one that its rules allow here")

    def _told(self, state: Any, found: Found) -> dict[str, Any]:
        most = sorted(found.shares, key=lambda each: (-found.shares[each], each))[:_MOST_TOLD]
        shares = {self._table.word(state, action): round(found.shares[action], 4) for action in most}
        return {"simulations": found.simulations, "shares": shares}


class OpenSpielWorker(Worker):
    """Plays games by search over their rules, from what its seats are shown."""

    inputs = ("text", "facts")
    in_flight = 2
    """One to think about, one waiting: what is thought about for long is answered as soon as it is done."""

    def __init__(self) -> None:
        self._players: dict[int, _Player] = {}

    def load(self, slot: Slot) -> str:
        """Find the game and make ready to search it.

        Returns:
            How it plays.

        Raises:
            LoadError: No rules of the game are known, it cannot be searched, or a setting cannot be.
        """
        player = self._players[slot.index] = _Player(slot)
        return player.name

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        for start in starts:
            self._players[slot.index].begin(start.episode, start.agent_id or slot.agent_id)

    def select_actions(self, batch: Batch) -> Actions:
        player = self._players[batch.slot.index]
        answers = [player.decide(decision) for decision in batch]
        return Actions(
            [action for action, _, _ in answers],
            values=[value for _, value, _ in answers],
            extras=[told for _, _, told in answers],
        )

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        for end in ends:
            self._players[slot.index].forget(end.episode)
