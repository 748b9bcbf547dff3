"""Monte Carlo tree search over information sets, which uses no hidden card that the player does not see."""

# OpenSpiel has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUntypedBaseClass=false

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from openspiel_worker.moves import MoveResult


class InformationSetSearch(ISMCTSBot):
    """OpenSpiel's search, started from all states that are possible for a seat.

    OpenSpiel's version in C++ is faster, but iterates over tables in an order that differs between runs, so
    that games would not be reproducible. It also deals hidden cards again in only a few games.

    Args:
        game: OpenSpiel's game.
        states: States that the seat cannot distinguish; each simulation starts in one of them, drawn by its
            probability under the chance moves.
        exploration: UCT's constant.
        rollouts: Random games from each new information set.
        seed: Seed of all random numbers.

    Attributes:
        simulations: Number of simulations so far.
    """

    def __init__(
        self, game: Any, states: Sequence[Any], exploration: float, rollouts: int, seed: int
    ) -> None:
        random = np.random.RandomState(seed)
        super().__init__(game, RandomRolloutEvaluator(rollouts, random), exploration, 0, random_state=random)
        self._random = random
        self._worlds = states
        weights = np.array([_dealt(state) for state in states])
        self._weights = weights / weights.sum()
        self._root: Any = self.create_new_node(states[0])
        self.simulations = 0

    def run(self, simulations: int, seconds: float = 0.0) -> None:
        """Run simulations.

        Args:
            simulations: Number of simulations, if ``seconds`` is 0.
            seconds: Duration of the search.
        """
        until = time.monotonic() + seconds
        legal = len(self._worlds[0].legal_actions())
        # Each move is tried at least once, even in a short time; the first simulation only expands the root.
        while self.simulations <= legal or (
            time.monotonic() < until if seconds else self.simulations < simulations
        ):
            world = self._worlds[int(self._random.choice(len(self._worlds), p=self._weights))]
            self.run_simulation(world.clone())
            self.simulations += 1

    @property
    def shares(self) -> Mapping[int, float]:
        """Share of the simulations that tried each move."""
        tried = self._root.child_info
        return {int(action): tried[action].visits / self._root.total_visits for action in sorted(tried)}

    @property
    def tried(self) -> Mapping[int, MoveResult]:
        """Search results of each move, without the following moves, which depend on hidden cards."""
        known = self._root.child_info
        return {int(a): MoveResult(int(known[a].visits), float(known[a].value())) for a in sorted(known)}

    def ranked(self, best: bool) -> list[int]:
        """Return the moves, the one to play first.

        With ``best`` that is the move tried most often, else one drawn by how often each was tried.
        """
        shares = self.shares
        order = sorted(shares, key=lambda action: (-shares[action], action))
        if best:
            return order
        chosen = int(self._random.choice(list(shares), p=list(shares.values())))
        return [chosen, *(action for action in order if action != chosen)]

    def value(self, action: int) -> float:
        """Return the expected return of a move."""
        return float(self._root.child_info[action].value())


def _dealt(state: Any) -> float:
    """Return the probability of all chance moves on the way to a state."""
    chance, at = 1.0, state.get_game().new_initial_state()
    for action in state.history():
        if at.is_chance_node():
            chance *= dict(at.chance_outcomes())[action]
        at.apply_action(action)
    return chance
