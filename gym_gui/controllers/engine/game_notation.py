"""Decisions in games, told in the games' own notation instead of the words in which choices were offered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gym_gui.analysis.transcripts.decision_rows import CONSIDERED, SCORES
from gym_gui.core.record_fields import mapping
from gym_gui.core.types import Decision
from gym_gui.envs import Environment

WORDED: Final = frozenset({SCORES, CONSIDERED})
"""Fields of rows whose keys are actions."""


def in_notation(extras: Mapping[str, Any], decision: Decision, environment: Environment) -> dict[str, Any]:
    """What is recorded beside an action, with its actions in the game's own notation.

    Args:
        extras: As the agent told it: of actions by the words it was offered, or by the notation already.
        decision: What it was asked.
        environment: At the moment at which it is asked.
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
