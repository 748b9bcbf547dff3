"""Worker that plays games by OpenSpiel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mosaic_worker.worker import (
    Actions,
    Batch,
    Decision,
    EpisodeEnd,
    EpisodeStart,
    LoadError,
    PolicyFailed,
    Slot,
    Worker,
)
from openspiel_worker.cfr import CfrPlayer
from openspiel_worker.moves import MOST_TOLD, MoveResult, Player, PositionResult
from openspiel_worker.search import Budget, Search
from openspiel_worker.seat import Seat
from openspiel_worker.table import Table

_DIGITS = 3
"""Decimal places of a move's value in the record."""


class _Slot:
    """A slot with its game, its player and its seats in the episodes."""

    def __init__(self, slot: Slot) -> None:
        self._table = Table(slot)
        self._player: Player = self._made(slot)
        self._seats: dict[int, Seat] = {}
        self.name = self._player.name

    def _made(self, slot: Slot) -> Player:
        algorithm = slot.settings.get("algorithm", "mcts")
        if algorithm == "mcts":
            return Search(self._table, Budget.of(slot), slot.deterministic is True)
        if algorithm in ("cfr", "cfr_plus"):
            return CfrPlayer(self._table, slot)
        raise LoadError(f"algorithm is {algorithm!r}, but must be mcts, cfr or cfr_plus")

    def begin(self, episode: int, agent: str) -> None:
        self._seats[episode] = Seat(self._table, agent)

    def forget(self, episode: int) -> None:
        self._seats.pop(episode, None)

    def decide(self, decision: Decision) -> tuple[int, dict[str, Any]]:
        """Return the environment's action and the data to record."""
        seat = self._seats[decision.episode]
        states = seat.see(decision)
        found = self._player.think(states, decision.seed, decision.step)
        for action in found.ranked:
            number = self._table.action(states[0], action, decision)
            if number is not None:
                seat.play(action)
                return number, self._told(states[0], found)
        raise PolicyFailed(
            f"no legal move of {self._table.name} is allowed by OpenSpiel's rules in this position"
        )

    def _told(self, state: Any, found: PositionResult) -> dict[str, Any]:
        most = sorted(found.shares, key=lambda each: (-found.shares[each], each))[:MOST_TOLD]
        shares = {self._table.notation(state, action): round(found.shares[action], 4) for action in most}
        searched = {"search": {"simulations": found.simulations}} if found.simulations else {}
        value = {} if found.value is None else {"value": found.value}
        tried = {
            self._table.notation(state, action): self._considered(state, action, found.tried[action])
            for action in most
            if action in found.tried
        }
        considered = {"considered": tried} if tried else {}
        return {**value, **searched, "scores": shares, **considered}

    def _considered(self, state: Any, action: int, tried: MoveResult) -> dict[str, Any]:
        told: dict[str, Any] = {"visits": tried.visits}
        if tried.value is not None:
            told["value"] = round(tried.value, _DIGITS)
        if not tried.line and not tried.replies:
            return told
        after, at, words = state.child(action), state.clone(), list[str]()
        for follows in tried.line:
            at.apply_action(action)
            words.append(self._table.notation(at, follows))
            action = follows
        if words:
            told["line"] = words
        if tried.replies:
            told["replies"] = {
                self._table.notation(after, follows): self._considered(after, follows, reply)
                for follows, reply in tried.replies.items()
            }
        return told


class OpenSpielWorker(Worker):
    """Worker that plays games by search or CFR over their rules, from the observations of its seats."""

    inputs = ("text", "facts")
    in_flight = 2
    """One decision is computed while another waits, so that a slow decision is answered as soon as it is
    finished.
    """

    def __init__(self) -> None:
        self._slots: dict[int, _Slot] = {}

    def load(self, slot: Slot) -> str:
        """Find the game and prepare the player.

        Returns:
            Name of the player.

        Raises:
            LoadError: The game is unknown, cannot be searched or solved, or a setting is not valid.
        """
        made = self._slots[slot.index] = _Slot(slot)
        return made.name

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        for start in starts:
            self._slots[slot.index].begin(start.episode, start.agent_id or slot.agent_id)

    def select_actions(self, batch: Batch) -> Actions:
        slot = self._slots[batch.slot.index]
        answers = [slot.decide(decision) for decision in batch]
        return Actions([action for action, _ in answers], extras=[told for _, told in answers])

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        for end in ends:
            self._slots[slot.index].forget(end.episode)
