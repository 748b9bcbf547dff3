"""What a row of ``steps.jsonl`` tells of a decision beside its action.

Sessions ask it while they play: so nothing that writes reports is imported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_gui.analysis.transcripts import bdi_thoughts
from gym_gui.core.record_fields import mapping, number
from gym_gui.core.types import PLANNED

DECISION = "decision"
"""Kind of turn: a decision of which its row tells more than the action."""
SCORES = "scores"
"""Field of a row: how the agent scored its actions before it chose."""
CONSIDERED = "considered"
"""Field of a row: what a search found out of some of these actions: how often tried, how good, what next."""
TOLD = (bdi_thoughts.FIELD, SCORES, CONSIDERED, PLANNED)
"""Fields of rows that tell more of a decision."""


def tells_more(row: Mapping[str, Any]) -> bool:
    """Whether a row of ``steps.jsonl`` is a turn: what it tells of a call belongs to the call's own."""
    if bdi_thoughts.thought_of(row.get(bdi_thoughts.FIELD)) is not None:
        return True
    if "agent_id" not in row or row.get("call_ref"):
        return False
    return bool(numbers_of(row.get(SCORES)) or mapping(row.get(PLANNED)))


def numbers_of(given: Any) -> list[tuple[str, float]]:
    """What a row has under :data:`SCORES`; what is no number is left out."""
    told = [(word, number(value)) for word, value in (mapping(given) or {}).items()]
    return [(word, value) for word, value in told if value is not None]
