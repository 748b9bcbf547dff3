"""Computes the columns of exported tables that show which options managers chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gym_gui.analysis.records.reader import OperatorRun
from gym_gui.core.config import GOAL_SUFFIX
from gym_gui.core.record_fields import count, mapping, text
from gym_gui.core.records import StepRecord

_CHOICE = "option_arguments"
"""Key that only the rows of managers have."""


def options_by_episode(operator: OperatorRun) -> Mapping[int, Counter[str]]:
    """Return the number of choices of each option, by episode; only for episodes with managers.

    Raises:
        RunFormatError: A row is damaged.
    """
    found: dict[int, Counter[str]] = {}
    for line in operator.row_lines([GOAL_SUFFIX]):
        if any(map(_manages, mapping(line.value.get("agents")) or {})):
            found[count(line.value.get("episode_index")) or 0] = Counter()
    for line in operator.step_lines(having=[_CHOICE]) if found else ():
        options = found.get(count(line.value.get("episode_index")) or 0)
        if options is not None and _CHOICE in line.value:
            options[str(line.value.get("option"))] += 1
    return found


def option_counts(options: Counter[str] | None) -> dict[str, int]:
    """Return an episode's columns ``manager_decisions`` and ``options`` (number of different options)."""
    if options is None:
        return {}
    return {"manager_decisions": options.total(), "options": len(options)}


def _manages(seat: str) -> bool:
    return seat.endswith(GOAL_SUFFIX)


@dataclass(slots=True)
class _CurrentOption:
    """Current option of an agent, chosen by its manager.

    Attributes:
        moves: Number of moves of the option; ``None`` if unknown.
        ended_by: Reason for the option's end; ``None`` if unknown.
        done: Moves so far.
    """

    moves: int | None
    ended_by: str | None
    done: int = 0


class OptionMoves:
    """Numbers the moves of each option, for step rows in the order of the file."""

    def __init__(self) -> None:
        self._current: dict[tuple[int, str], _CurrentOption] = {}

    def of(self, step: StepRecord) -> dict[str, Any]:
        """Return the option columns of a decision; their values are ``None`` if no option is involved."""
        option = text(step.option)
        if _manages(step.agent_id):
            current = _CurrentOption(
                count(step.extra.get("option_moves")), text(step.extra.get("option_ended_by"))
            )
            self._current[step.episode_index, step.agent_id.removesuffix(GOAL_SUFFIX)] = current
            return _columns(option, None, current.moves, current.ended_by)
        current = self._current.get((step.episode_index, step.agent_id))
        if option is None or current is None:
            return _columns(option, None, None, None)
        current.done += 1
        return _columns(
            option, current.done, None, current.ended_by if current.done == current.moves else None
        )


def _columns(option: str | None, move: int | None, moves: int | None, ended_by: str | None) -> dict[str, Any]:
    return {"option": option, "option_move": move, "option_moves": moves, "option_ended_by": ended_by}
