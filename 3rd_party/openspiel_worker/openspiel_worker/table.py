"""Maps a slot's game, players, observations and actions to OpenSpiel."""

# OpenSpiel has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyspiel

from mosaic_worker.worker import Decision, LoadError, Slot
from openspiel_worker.boards import VisiblePosition, board_of

_OPEN_SPIEL = "open_spiel/"
_CLASSIC = {"chess": "chess", "connect_four": "connect_four", "go": "go", "tictactoe": "tic_tac_toe"}
"""OpenSpiel's names of PettingZoo's games."""
_KOMI = re.compile(r"White gets (-?\d+(?:\.\d+)?) points more")


class Table:
    """The game of a slot in OpenSpiel.

    Attributes:
        game: OpenSpiel's game.
        name: Name of the game.

    Args:
        slot: The slot.

    Raises:
        LoadError: OpenSpiel does not have the game, or its rules differ.
    """

    def __init__(self, slot: Slot) -> None:
        area, _, env_name = slot.env_id.rpartition("/")
        self._native = slot.env_id.startswith(_OPEN_SPIEL)
        name = env_name if self._native else _CLASSIC.get(env_name.rpartition("_v")[0])
        if name is None or not (self._native or area in ("classic", "")):
            raise LoadError(
                f"the rules of {slot.env_id} are unknown: use games of OpenSpiel (open_spiel/…), or chess, "
                "connect four, go or tic-tac-toe of PettingZoo (classic/…)"
            )
        self.name = name
        self._slot = slot
        self.game: Any = self._load(str(slot.settings.get("game") or ""))
        self._board = board_of(self.game)
        self._check()

    def _load(self, written: str) -> Any:
        if written and written.partition("(")[0].strip() != self.name:
            raise LoadError(f"the setting game is {written!r}, but {self._slot.env_id} is {self.name}")
        try:
            return pyspiel.load_game(written or self._usual())
        except (pyspiel.SpielError, RuntimeError, ValueError) as error:
            raise LoadError(f"OpenSpiel cannot load {written or self.name}: {_first_line(error)}") from None

    def _usual(self) -> str:
        """Return the game's name with the parameters that the slot reveals."""
        if self.name != "go":
            return self.name
        number = self._slot.action_space.n
        parameters: list[str] = []
        parameters.append(
            f"board_size={round((number - 1) ** 0.5)}"
        )  # one action for each point and one for a pass
        if komi := _KOMI.search(self._slot.briefing):
            parameters.append(f"komi={float(komi[1])}")
        return f"go({','.join(parameters)})"

    def _check(self) -> None:
        """Check the game against the slot's spaces."""
        kind = self.game.get_type()
        if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
            raise LoadError(f"in {self.name} players move simultaneously, but search needs turns")
        if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
            raise LoadError(
                f"{self.name} does not define the probabilities of its chance moves, which search needs"
            )
        space, actions = self._slot.observation_space, self._slot.action_space.n
        same = actions == self.game.num_distinct_actions() or self.name == "chess"
        if self._native and same and space.kind == "Box":
            shape = (
                self.game.observation_tensor_shape()
                if kind.provides_observation_tensor
                else self.game.information_state_tensor_shape()
            )
            same = int(np.prod(shape)) == int(np.prod(space.shape or ()))
        if not same:
            raise LoadError(
                f"{self._slot.env_id} has other parameters than {self.game}: set the setting game "
                f"to {self.name}(…) with its parameters"
            )

    @property
    def hidden(self) -> bool:
        """Whether the game hides information from players."""
        return self.game.get_type().information != pyspiel.GameType.Information.PERFECT_INFORMATION

    def player(self, decision: Decision, agent: str) -> int | None:
        """Return OpenSpiel's number of the deciding player; ``None`` if the observation does not show it."""
        if self._native:
            return int(agent.rpartition("_")[2])
        return None if self._board is None else self._board.mover(_shown(decision))

    def shows(self, state: Any, player: int, decision: Decision) -> bool:
        """Return whether a state gives the seat its observation; only the seat's observation is compared."""
        if not self._native:
            return self._board is not None and self._board.shows(state, _shown(decision))
        legal = decision.legal_actions
        if legal is not None and legal != state.legal_actions(player):
            return False
        seen, kind = decision.observation, self.game.get_type()
        if isinstance(seen, str):
            told = (
                state.observation_string
                if kind.provides_observation_string
                else state.information_state_string
            )
            return str(told(player)) == seen
        tensor = (
            state.observation_tensor if kind.provides_observation_tensor else state.information_state_tensor
        )
        return np.array_equal(np.asarray(tensor(player)), np.asarray(seen).reshape(-1))

    def set_up(self, decision: Decision) -> Any | None:
        """Return a state that shows the decision's board, with an invented past, or ``None``."""
        return None if self._board is None else self._board.set_up(_shown(decision))

    def action(self, state: Any, action: int, decision: Decision) -> int | None:
        """Return the environment's number of an action; ``None`` if it is not legal there."""
        if self._native:
            legal = decision.legal_actions
            return action if legal is None or action in legal else None
        word = self.word(state, action)
        choices: Iterable[tuple[int, str]] = decision.choices or enumerate(self._slot.action_meanings)
        number = next((number for number, each in choices if each == word), None)
        mask = decision.action_mask
        return number if number is None or mask is None or bool(mask[number]) else None

    def notation(self, state: Any, action: int) -> str:
        """Return an action in the game's own notation if there is one, else in words."""
        if self._board is not None:
            return self._board.notation(state, action)
        named = self._slot.action_meanings if self._native else ()
        return named[action] if action < len(named) else self.word(state, action)

    def word(self, state: Any, action: int) -> str:
        """Return an action in the words of the environment."""
        if self._board is not None:
            return self._board.word(state, action)
        return str(state.action_to_string(state.current_player(), action))


def _shown(decision: Decision) -> VisiblePosition:
    return VisiblePosition(decision.facts, decision.text)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
