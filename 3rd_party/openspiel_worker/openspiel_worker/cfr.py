"""Solves small two-player games with hidden cards before play, by counterfactual regret minimization."""

# OpenSpiel has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pyspiel

from mosaic_worker.plain_files import read_file, replace_file
from mosaic_worker.rng import uniform
from mosaic_worker.worker import LoadError, Slot
from openspiel_worker.moves import PositionResult, number
from openspiel_worker.table import Table

_SOLVERS: Final = {"cfr": pyspiel.CFRSolver, "cfr_plus": pyspiel.CFRPlusSolver}
_NAMES: Final = {"cfr": "CFR", "cfr_plus": "CFR+"}
MOST_POSITIONS = 500_000
"""Largest number of positions of a game that is solved."""
_LARGEST = 256 * 2**20
"""Largest size of a stored policy's file, in bytes."""

Probabilities = Mapping[str, Sequence[tuple[int, float]]]
"""By information set: each action with its probability."""


class CfrPlayer:
    """Plays the average policy of CFR or CFR+, which is computed once and stored in the worker's cache
    folder.

    Attributes:
        exploitability: Average amount that an opponent who knows the policy wins, over both seats in turn; 0
            in an equilibrium. OpenSpiel computes it for the policy that is played.
        name: Name for tables.

    Args:
        table: The game of the slot.
        slot: The slot.

    Raises:
        LoadError: The game cannot be solved, or a setting is not valid.
    """

    def __init__(self, table: Table, slot: Slot) -> None:
        self._table, self._best = table, slot.deterministic is True
        self._algorithm = str(slot.settings["algorithm"])
        self._iterations = int(number(slot, "iterations", 200, 1, whole=True))
        self._check()
        solved = self._stored()
        if solved is None:
            solved = self._solved()
        self._policy, self.exploitability = solved
        self.name = (
            f"{_NAMES[self._algorithm]}, {self._iterations} iterations, "
            f"exploitability {self.exploitability:.3g}"
        )

    def think(self, states: Sequence[Any], seed: int, step: int) -> PositionResult:
        """Draw a move by the policy's probabilities; if the slot is deterministic, take the likeliest."""
        shares = dict(self._policy[states[0].information_state_string()])
        ranked = sorted(shares, key=lambda action: (-shares[action], action))
        if not self._best:
            left = float(uniform(seed, step)[0])
            for action in sorted(shares):
                left -= shares[action]
                if left < 0:
                    ranked = [action, *(each for each in ranked if each != action)]
                    break
        return PositionResult(ranked, shares)

    def _check(self) -> None:
        game, kind = self._table.game, self._table.game.get_type()
        name = self._table.name
        if game.num_players() != 2 or kind.utility != pyspiel.GameType.Utility.ZERO_SUM:
            raise LoadError(f"CFR solves zero-sum games of two players; {game} is no such game")
        if not self._table.hidden:
            raise LoadError(f"{name} has no hidden information, for which CFR is made: use mcts")
        if not kind.provides_information_state_string:
            raise LoadError(f"OpenSpiel does not distinguish information sets of {name}, which CFR needs")
        positions, open_states = 0, [game.new_initial_state()]
        while open_states:
            state = open_states.pop()
            positions += 1
            if positions > MOST_POSITIONS:
                raise LoadError(
                    f"{name} has more than {MOST_POSITIONS:,} courses, too many for CFR: use mcts"
                )
            if not state.is_terminal():
                open_states += [state.child(action) for action in state.legal_actions()]

    def _solved(self) -> tuple[Probabilities, float]:
        solver = _SOLVERS[self._algorithm](self._table.game)
        for _ in range(self._iterations):
            solver.evaluate_and_update_policy()
        policy: Probabilities = solver.tabular_average_policy().policy_table()
        file = self._file()
        if file is not None:
            with contextlib.suppress(OSError):  # if the policy cannot be stored, it is computed each time
                file.parent.mkdir(parents=True, exist_ok=True)
                replace_file(file, json.dumps(policy).encode())
        return policy, self._judged(policy)

    def _stored(self) -> tuple[Probabilities, float] | None:
        """Read a policy that was solved before; return ``None`` if there is none or it is damaged."""
        file = self._file()
        if file is None:
            return None
        try:
            told = json.loads(read_file(file, limit=_LARGEST))
            policy = {str(key): [(int(a), float(p)) for a, p in moves] for key, moves in told.items()}
            return policy, self._judged(policy)
        except (OSError, ValueError, TypeError, AttributeError, RuntimeError):
            return None

    def _judged(self, policy: Probabilities) -> float:
        return float(pyspiel.exploitability(self._table.game, pyspiel.TabularPolicy(dict(policy))))

    def _file(self) -> Path | None:
        folder = os.environ.get("MOSAIC_WORKER_CACHE")
        if not folder:
            return None
        key = f"{self._table.game} {self._algorithm} {self._iterations} {version('open_spiel')}"
        return Path(folder) / "cfr" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
