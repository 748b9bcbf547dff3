"""Translates action names in recorded decisions from the words that agents were offered to game notation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gym_gui.analysis.transcripts.decision_rows import CONSIDERED, SCORES
from gym_gui.core.record_fields import mapping
from gym_gui.core.types import Decision
from gym_gui.envs import Environment

WORDED: Final = frozenset({SCORES, CONSIDERED})
"""Row fields that are mappings with actions as keys."""


def in_notation(extras: Mapping[str, Any], decision: Decision, environment: Environment) -> dict[str, Any]:
    """Return an answer's extra fields with their actions in the game's own notation.

    Args:
        extras: Fields from the agent, which names actions by the offered words or already in notation.
        decision: The question.
        environment: The environment, in the state in which the question is asked.
    """
    said, agent = environment.legal_words(), decision.agent_id
    offered = decision.shown.choices if decision.shown is not None else ()
    named = [(choice.action, choice.word) for choice in offered]
    named += list(enumerate(environment.action_meanings(agent)))
    words = {word: said[action] for action, word in named if action in said}

    def told(value: Any) -> Any:
        table = mapping(value)
        return value if table is None else {words.get(word, word): each for word, each in table.items()}

    return {name: told(value) if name in WORDED else value for name, value in extras.items()}
