"""Determines which rows of ``steps.jsonl`` have details of a decision besides the action.

Sessions use this module while they play, so it must not import modules that write reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_gui.analysis.transcripts import bdi_thoughts
from gym_gui.core.record_fields import mapping, number
from gym_gui.core.types import PLANNED

DECISION = "decision"
"""Kind of a transcript's turn: a decision with details, but without a model call."""
SCORES = "scores"
"""Field of a step row: the agent's scores of its actions before it chose."""
CONSIDERED = "considered"
"""Field of a step row: results of a search on some actions (visits, value, continuation)."""
TOLD = (bdi_thoughts.FIELD, SCORES, CONSIDERED, PLANNED)
"""Fields of step rows that contain details of a decision."""


def is_own_turn(row: Mapping[str, Any]) -> bool:
    """Return whether a step row is a separate turn; details of a model's decision are in its call's turn."""
    if bdi_thoughts.thought_of(row.get(bdi_thoughts.FIELD)) is not None:
        return True
    if "agent_id" not in row or row.get("call_ref"):
        return False
    return bool(numbers_of(row.get(SCORES)) or mapping(row.get(PLANNED)))


def numbers_of(given: Any) -> list[tuple[str, float]]:
    """Return the scores in a step row as pairs of action name and number; other values are left out."""
    scores = [(word, number(value)) for word, value in (mapping(given) or {}).items()]
    return [(word, value) for word, value in scores if value is not None]
