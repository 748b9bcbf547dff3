"""Chooses moves by Monte Carlo tree search, over states or over information sets."""

# OpenSpiel has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Any

import pyspiel

from mosaic_worker.rng import bits_of
from mosaic_worker.worker import LoadError, Slot
from openspiel_worker.information_sets import InformationSetSearch
from openspiel_worker.moves import MOST_TOLD, MoveResult, PositionResult, number
from openspiel_worker.seat import can_be_followed
from openspiel_worker.table import Table

_TREE_MB = 256
_NO_LIMIT = -1.0
_WITHOUT_COUNT = 2**31 - 1
"""Number of simulations if the search is limited by time."""
_SEED_BITS = 31
_DEEP, _SEEN = 3, 4
"""Largest depth of recorded following moves, and the least number of visits of each."""
_MOST_REPLIES = 24
"""Largest number of recorded moves below those of the position itself: those tried most often."""


@dataclass(frozen=True)
class Budget:
    """Search budget of one move.

    Attributes:
        simulations: Number of simulations, if ``seconds`` is 0.
        seconds: Duration of the search; replaces the number of simulations.
        exploration: UCT's constant for returns between -1 and 1.
        rollouts: Random games from each new position.
    """

    simulations: int
    seconds: float
    exploration: float
    rollouts: int

    @classmethod
    def of(cls, slot: Slot) -> Budget:
        """Read the budget from a slot's settings.

        Raises:
            LoadError: A setting is no number, out of its range, or longer than the slot's deadline.
        """
        simulations = number(slot, "simulations", 1000, 1, whole=True)
        seconds = number(slot, "seconds", 0.0, 0)
        if slot.deadline_s is not None and seconds >= slot.deadline_s:
            raise LoadError(
                f"seconds is {seconds:g}, but the slot must answer within {slot.deadline_s:g} s: set fewer"
            )
        exploration = number(slot, "exploration", 2.0, 0)
        return cls(int(simulations), seconds, exploration, int(number(slot, "rollouts", 1, 1, whole=True)))

    @property
    def name(self) -> str:
        """Name for tables: ``1000 simulations``."""
        return f"{self.seconds:g} s" if self.seconds else f"{self.simulations} simulations"


class Search:
    """Searches one game; a move depends only on position, budget, seed and step, unless time limits it.

    Args:
        table: The game.
        budget: Search budget of a move.
        best: Whether, with hidden information, the move tried most often is taken instead of one drawn by how
            often each was tried.

    Raises:
        LoadError: The game cannot be searched.
    """

    def __init__(self, table: Table, budget: Budget, best: bool) -> None:
        self._table, self._budget, self._best = table, budget, best
        game = table.game
        kind = game.get_type()
        self._against = kind.utility == pyspiel.GameType.Utility.ZERO_SUM and game.num_players() == 2
        self._exploration = budget.exploration * max((game.max_utility() - game.min_utility()) / 2, 1e-9)
        if not can_be_followed(table):
            raise LoadError(f"the hidden information of {table.name} has too many possible deals")
        try:
            self._bot(0)
        except pyspiel.SpielError as error:
            raise LoadError(f"OpenSpiel cannot search {table.name}: {error}") from None

    @property
    def name(self) -> str:
        """Name for tables: ``MCTS, 1000 simulations``."""
        return f"{'information-set ' if self._table.hidden else ''}MCTS, {self._budget.name}"

    def _bot(self, seed: int) -> Any:
        budget = self._budget
        return pyspiel.MCTSBot(
            self._table.game,
            pyspiel.RandomRolloutEvaluator(budget.rollouts, seed),
            self._exploration,
            _WITHOUT_COUNT if budget.seconds else budget.simulations,
            _TREE_MB,
            True,
            seed,
            False,
            max_wall_clock_time=budget.seconds or _NO_LIMIT,
        )

    def think(self, states: Sequence[Any], seed: int, step: int) -> PositionResult:
        """Search and choose a move.

        Args:
            states: Possible states of the game.
            seed: Seed of the episode.
            step: Step of the environment.
        """
        drawn = bits_of(seed, step) >> (64 - _SEED_BITS)
        return self._over_worlds(states, drawn) if self._table.hidden else self._over_states(states[0], drawn)

    def _over_worlds(self, states: Sequence[Any], seed: int) -> PositionResult:
        budget = self._budget
        search = InformationSetSearch(self._table.game, states, self._exploration, budget.rollouts, seed)
        search.run(budget.simulations, budget.seconds)
        ranked = search.ranked(self._best)
        return PositionResult(
            ranked, search.shares, search.simulations, search.value(ranked[0]), search.tried
        )

    def _over_states(self, state: Any, seed: int) -> PositionResult:
        root = self._bot(seed).mcts_search(state)
        best = root.best_child()
        children = sorted(root.children, key=lambda child: (-child.explore_count, child.action))
        ranked = [best.action, *(child.action for child in children if child.action != best.action)]
        total = max(1, sum(child.explore_count for child in children))
        value = _worth(best)
        replies = self._replies(children[:MOST_TOLD], state.current_player())
        shares = {child.action: child.explore_count / total for child in children}
        tried = {
            child.action: MoveResult(
                int(child.explore_count), _worth(child), _line(child), replies.get(child.action, {})
            )
            for child in children
        }
        return PositionResult(ranked, shares, int(root.explore_count), value, tried)

    def _replies(self, moves: Sequence[Any], player: int) -> dict[int, dict[int, MoveResult]]:
        """Return, for each move, the part of the tree below it that was tried most often."""
        found: dict[int, dict[int, MoveResult]] = {}
        waiting: list[tuple[int, int, int, Any, dict[int, MoveResult]]] = []
        numbers = count()

        def wait(node: Any, depth: int, below: dict[int, MoveResult]) -> None:
            if depth > _DEEP:
                return
            for child in node.children:
                if child.explore_count >= _SEEN and child.player >= 0:  # skips chance moves
                    heappush(waiting, (-int(child.explore_count), next(numbers), depth, child, below))

        for move in moves:
            found[move.action] = {}
            wait(move, 1, found[move.action])
        for _ in range(_MOST_REPLIES):
            if not waiting:
                break
            _, _, depth, node, below = heappop(waiting)
            replies: dict[int, MoveResult] = {}
            below[int(node.action)] = MoveResult(
                int(node.explore_count), self._worth_to(player, node), replies=replies
            )
            wait(node, depth + 1, replies)
        return found

    def _worth_to(self, player: int, node: Any) -> float | None:
        """Return a player's expected return of a move; ``None`` if only the mover's is known."""
        solved = list(node.outcome)
        if solved:
            return float(solved[player])
        own = _worth(node)
        if node.player == player:
            return own
        return -own if self._against else None


def _worth(node: Any) -> float:
    """Return the mover's expected return of a move; it is exact if the move's subtree is solved."""
    solved = list(node.outcome)
    return float(solved[node.player] if solved else node.total_reward / max(1, node.explore_count))


def _line(node: Any) -> list[int]:
    """Return the moves expected after a move: in each position, the one tried most often."""
    line: list[int] = []
    while node.children and len(line) < _DEEP:
        node = max(node.children, key=lambda child: (child.explore_count, -child.action))
        if node.explore_count < _SEEN or node.player < 0:
            break  # visited too rarely to be informative, or a chance move
        line.append(int(node.action))
    return line
