"""Finds out which rows of ``steps.jsonl`` have details of a decision beside its action.

Sessions use this module while they play, so it must not import anything that writes reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_gui.analysis.transcripts import bdi_thoughts
from gym_gui.core.record_fields import mapping, number
from gym_gui.core.types import PLANNED

DECISION = "decision"
"""Kind of turn: a decision whose row has more than the action."""
SCORES = "scores"
"""Field of a row: the agent's scores of its actions before it chose."""
CONSIDERED = "considered"
"""Field of a row: a search's results on some of these actions: number of tries, value, continuation."""
TOLD = (bdi_thoughts.FIELD, SCORES, CONSIDERED, PLANNED)
"""Fields of rows with details of a decision."""


def tells_more(row: Mapping[str, Any]) -> bool:
    """Return whether a row of ``steps.jsonl`` is a turn; details of a model's decision belong to its call."""
    if bdi_thoughts.thought_of(row.get(bdi_thoughts.FIELD)) is not None:
        return True
    if "agent_id" not in row or row.get("call_ref"):
        return False
    return bool(numbers_of(row.get(SCORES)) or mapping(row.get(PLANNED)))


def numbers_of(given: Any) -> list[tuple[str, float]]:
    """Return the numbers in a row's :data:`SCORES`, by word; other values are left out."""
    told = [(word, number(value)) for word, value in (mapping(given) or {}).items()]
    return [(word, value) for word, value in told if value is not None]
