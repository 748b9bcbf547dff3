"""Describes a slot and its open question as plain data, for the user who edits the slot's prompt.

The slot's worker gets the same data (``load`` and a question of the worker protocol): ``{"slot": {...},
"decision": {...}}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_gui.controllers.engine.episode import Episode
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.sessions.example_turns import SETTING, most_turns, turns_by_seat
from gym_gui.core.errors import UsageError
from gym_gui.core.plain_data import to_plain
from gym_gui.core.spaces import space_to_spec
from gym_gui.core.types import AgentID, Decision, Shown


def examples_for(resolved: ResolvedOperator, agent: AgentID) -> Mapping[str, Any]:
    """Play episodes and return example turns for a slot; an empty mapping if its worker uses none."""
    count = most_turns(resolved, agent) if agent in resolved.views else 0
    return {SETTING: turns_by_seat(resolved, agent, count)} if count else {}


def slot_inputs(
    resolved: ResolvedOperator,
    agent: AgentID,
    asked: tuple[Episode, Decision] | None,
    examples: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the data of a slot and its open question, as its worker gets them.

    Args:
        resolved: The operator.
        agent: The slot.
        asked: The episode and the slot's open question in it; ``None`` if the slot has none.
        examples: Result of :func:`examples_for`.

    Raises:
        UsageError: The slot has no prompt inputs, or is not asked now.
    """
    if agent not in resolved.views:
        raise UsageError(f"the policy of {agent} reads no text", fix=f"Choose a language model for {agent}")
    if asked is None:
        raise UsageError(f"{agent} has no open question", fix=f"Step until it is the turn of {agent}")
    episode, decision = asked
    slot, seat, team_context = resolved.slots[agent], agent, resolved.team_context(agent)
    if (known := episode.joined.get(decision.agent_id)) is not None:
        seat, team_context = decision.agent_id, episode.joining(decision.agent_id).told or team_context
        examples = {name: {seat: turns.get(known, [])} for name, turns in examples.items()}
    shown = decision.shown or Shown()
    names = resolved.names_for(agent)
    mask = decision.action_mask
    return {
        "slot": {
            "agent": seat,
            "env": resolved.env_id,
            "action_meanings": list(resolved.worker_action_names(agent)),
            "action_space": space_to_spec(slot.action_space),
            "briefing": team_context.briefing,
            "team": team_context.team,
            "teammates": list(team_context.teammates),
            "opponents": list(team_context.opponents),
            **({"names": names.to_json()} if names else {}),
            **examples,
        },
        "decision": {
            "step": decision.step,
            "attempt": decision.attempt,
            "reason": decision.reason,
            "text": shown.text,
            "messages": list(shown.messages),
            "choices": [[choice.action, choice.word] for choice in shown.choices],
            "mask": None if mask is None else to_plain(mask),
        },
    }
