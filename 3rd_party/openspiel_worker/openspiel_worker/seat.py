"""Where a game stands, as far as one seat can tell: never more than it has been shown."""

# OpenSpiel has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mosaic_worker.worker import Decision, PolicyFailed
from openspiel_worker.table import Table

MOST_STATES = 50_000
"""Looked at before a position counts as one that cannot be told."""


def can_be_followed(table: Table) -> bool:
    """Whether a seat can keep track of all that the first deal may have been, where anything is hidden."""
    state, ways = table.game.new_initial_state(), 1
    while table.hidden and state.is_chance_node():
        outcomes = state.legal_actions()
        ways *= len(outcomes)
        state.apply_action(outcomes[0])
    return ways <= MOST_STATES


class Seat:
    """Follows one game from one seat.

    What others did since the seat's own last move is found by trying their moves, and all deals and
    dice: whatever leads to what is shown now may be the case. Where the past is unknown, as for one who
    takes over in the middle, the board is set up as it is shown, or the game is tried from its beginning.

    Args:
        table: The game.
        agent: Who sits there.
    """

    def __init__(self, table: Table, agent: str) -> None:
        self._table = table
        self._agent = agent
        self._states: list[Any] = [table.game.new_initial_state()]
        self._step = 0
        self._played: int | None = None

    def see(self, decision: Decision) -> list[Any]:
        """States that the game may be in, at least one; where everything is seen, one.

        Raises:
            PolicyFailed: No way to what is shown was found.
        """
        player = self._table.player(decision, self._agent)
        if player is None:
            raise PolicyFailed(f"what is shown of {self._table.name} does not tell whose turn it is")
        found = self._possible_states(decision, player)
        if not found:
            raise PolicyFailed(
                f"the position of {self._table.name} at step {decision.step} cannot be rebuilt from what the "
                "seat was shown"
            )
        self._states, self._step, self._played = found, decision.step, None
        return found

    def play(self, action: int) -> None:
        """Remember one's own move, in OpenSpiel's numbers."""
        self._played = action

    def _possible_states(self, decision: Decision, player: int) -> list[Any]:
        moves = decision.step - self._step
        if self._played is None or moves == 0:  # the first question, or the same once more
            followed = self._leading(self._states, moves, player, decision)
        else:
            after = [state.child(self._played) for state in self._states]
            followed = self._leading(after, moves - 1, player, decision)
        if followed:
            return followed
        if (state := self._table.set_up(decision)) is not None:
            return [state]
        # Another move was made in its place, as where an answer comes too late.
        if self._step and (replaced := self._leading(self._states, moves, player, decision, own=True)):
            return replaced
        beginning = [self._table.game.new_initial_state()]
        return self._leading(beginning, decision.step, player, decision, own=True)

    def _leading(
        self, roots: Iterable[Any], moves: int, player: int, decision: Decision, *, own: bool = False
    ) -> list[Any]:
        """States that show the seat what it is shown, so many moves after those given.

        Args:
            roots: Those.
            moves: How many.
            player: Who is asked.
            decision: What it is shown.
            own: Whether some of the moves may be the seat's.
        """
        found: list[Any] = []
        looked_at = 0
        known: set[tuple[str, int]] = set()
        open_states = [(state, moves) for state in roots]
        while open_states:
            state, left = open_states.pop()
            if not self._table.hidden:  # one way to a position is enough
                if (key := (str(state), left)) in known:
                    continue
                known.add(key)
            looked_at += 1
            if looked_at > MOST_STATES:
                raise PolicyFailed(
                    f"more than {MOST_STATES} courses of {self._table.name} could have led to step "
                    f"{decision.step}: too many to search among"
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
