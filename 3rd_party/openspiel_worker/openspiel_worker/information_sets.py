"""Monte Carlo tree search over information sets: neither a player nor the search sees a hidden card."""

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

from openspiel_worker.moves import Tried


class InformationSetSearch(ISMCTSBot):
    """OpenSpiel's search, begun from all states that a seat takes for possible.

    Its version in C++ is faster, but goes through tables in an order that differs from one run to the
    next, so that games do not repeat; and it deals anew in few games only.

    Args:
        game: OpenSpiel's game.
        states: That the seat cannot tell apart; each simulation begins in one of them, as often as
            chance deals it.
        exploration: UCT's constant.
        rollouts: Random games from each new information set.
        seed: Of all that is random.

    Attributes:
        simulations: How many there were.
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
        """Search.

        Args:
            simulations: How often, where ``seconds`` is 0.
            seconds: How long.
        """
        until = time.monotonic() + seconds
        legal = len(self._worlds[0].legal_actions())
        # Each move is tried once, however short the time; the first simulation only opens the root.
        while self.simulations <= legal or (
            time.monotonic() < until if seconds else self.simulations < simulations
        ):
            world = self._worlds[int(self._random.choice(len(self._worlds), p=self._weights))]
            self.run_simulation(world.clone())
            self.simulations += 1

    @property
    def shares(self) -> Mapping[int, float]:
        """Share of each move among the simulations."""
        tried = self._root.child_info
        return {int(action): tried[action].visits / self._root.total_visits for action in sorted(tried)}

    @property
    def tried(self) -> Mapping[int, Tried]:
        """What was found out of each move; what follows it depends on what is hidden."""
        known = self._root.child_info
        return {int(a): Tried(int(known[a].visits), float(known[a].value())) for a in sorted(known)}

    def ranked(self, best: bool) -> list[int]:
        """Moves, first the one to play: the one tried most often, or one at random by how often each was."""
        shares = self.shares
        order = sorted(shares, key=lambda action: (-shares[action], action))
        if best:
            return order
        chosen = int(self._random.choice(list(shares), p=list(shares.values())))
        return [chosen, *(action for action in order if action != chosen)]

    def value(self, action: int) -> float:
        """The return that is expected of a move."""
        return float(self._root.child_info[action].value())


def _dealt(state: Any) -> float:
    """How likely chance is to do what it has done on the way to a state."""
    chance, at = 1.0, state.get_game().new_initial_state()
    for action in state.history():
        if at.is_chance_node():
            chance *= dict(at.chance_outcomes())[action]
        at.apply_action(action)
    return chance
