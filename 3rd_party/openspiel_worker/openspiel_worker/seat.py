"""Tracks the possible states of a game for one seat, only from that seat's observations."""

# OpenSpiel has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mosaic_worker.worker import Decision, PolicyFailed
from openspiel_worker.table import Table

MOST_STATES = 50_000
"""Largest number of states that are examined to reconstruct a position."""


def can_be_followed(table: Table) -> bool:
    """Return whether a seat can track all possible first deals, if the game has hidden information."""
    state, ways = table.game.new_initial_state(), 1
    while table.hidden and state.is_chance_node():
        outcomes = state.legal_actions()
        ways *= len(outcomes)
        state.apply_action(outcomes[0])
    return ways <= MOST_STATES


class Seat:
    """Tracks the possible states of one game for one seat.

    Moves of others since the seat's own last move are found by trying all of them, with all deals and dice:
    every state that leads to the current observation is possible. If the past is unknown, for example because
    a seat was taken over during a game, the shown board is set up, or the game is tried from its beginning.

    Args:
        table: The game.
        agent: Name of the seat's agent.
    """

    def __init__(self, table: Table, agent: str) -> None:
        self._table = table
        self._agent = agent
        self._states: list[Any] = [table.game.new_initial_state()]
        self._step = 0
        self._played: int | None = None

    def see(self, decision: Decision) -> list[Any]:
        """Return the possible states of the game, at least one; without hidden information, exactly one.

        Raises:
            PolicyFailed: No course of the game leads to the observation.
        """
        player = self._table.player(decision, self._agent)
        if player is None:
            raise PolicyFailed(f"the observation of {self._table.name} does not show whose turn it is")
        found = self._possible_states(decision, player)
        if not found:
            raise PolicyFailed(
                f"the position of {self._table.name} at step {decision.step} cannot be reconstructed from "
                "the seat's observations"
            )
        self._states, self._step, self._played = found, decision.step, None
        return found

    def play(self, action: int) -> None:
        """Record the seat's own move, as OpenSpiel's action."""
        self._played = action

    def _possible_states(self, decision: Decision, player: int) -> list[Any]:
        moves = decision.step - self._step
        if self._played is None or moves == 0:  # the first decision, or a repeated one
            followed = self._leading(self._states, moves, player, decision)
        else:
            after = [state.child(self._played) for state in self._states]
            followed = self._leading(after, moves - 1, player, decision)
        if followed:
            return followed
        if (state := self._table.set_up(decision)) is not None:
            return [state]
        # Another move was played instead, for example because the answer came too late.
        if self._step and (replaced := self._leading(self._states, moves, player, decision, own=True)):
            return replaced
        beginning = [self._table.game.new_initial_state()]
        return self._leading(beginning, decision.step, player, decision, own=True)

    def _leading(
        self, roots: Iterable[Any], moves: int, player: int, decision: Decision, *, own: bool = False
    ) -> list[Any]:
        """Return states that fit the seat's observation, a number of moves after the given ones.

        Args:
            roots: Given states.
            moves: Number of moves.
            player: Player of the seat.
            decision: Decision with the seat's observation.
            own: Whether some of the moves may be the seat's.
        """
        found: list[Any] = []
        looked_at = 0
        known: set[tuple[str, int]] = set()
        open_states = [(state, moves) for state in roots]
        while open_states:
            state, left = open_states.pop()
            if not self._table.hidden:  # one course to a position is enough
                if (key := (str(state), left)) in known:
                    continue
                known.add(key)
            looked_at += 1
            if looked_at > MOST_STATES:
                raise PolicyFailed(
                    f"more than {MOST_STATES} courses of {self._table.name} could have led to step "
                    f"{decision.step}: too many to search"
                )
            if state.is_terminal():
                continue
            if state.is_chance_node():
                open_states += [(state.child(action), left) for action, _ in state.chance_outcomes()]
            elif left > 0 and (own or state.current_player() != player):
                open_states += [(state.child(action), left - 1) for action in state.legal_actions()]
            elif not left and state.current_player() == player and self._table.shows(state, player, decision):
                found.append(state)
                if not self._table.hidden:
                    break
        return found
