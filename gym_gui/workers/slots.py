"""Whether a worker can fill a slot: the slot's own spaces and inputs decide, nothing else."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gym_gui.core.spaces import Space, short_space
from gym_gui.workers.capabilities import ANY, action_kind, observation_kinds
from gym_gui.workers.registry import WorkerTypeDefinition

_WITHOUT = {
    "text": "nothing describes its observation in words",
    "image": "there is no picture of what this seat may see",
    "messages": "its team exchanges no messages",
    "legal_actions": "its actions cannot be listed",
}


def check_slot(
    definition: WorkerTypeDefinition,
    observation_space: Any,
    action_space: Any,
    *,
    inputs: Collection[str] = ("legal_actions",),
) -> list[str]:
    """Say why a worker cannot fill a slot.

    Paradigm, number of agents and GPU are not looked at: they limit training. A policy
    trained alone may play one seat of a team.

    Args:
        definition: The worker.
        observation_space: Gymnasium space of what it would see; ``None`` where a policy that is
            still to be chosen decides that, by its preprocessing.
        action_space: Gymnasium space of what it may do.
        inputs: What the slot can give beside the observation: ``text``, ``image``,
            ``messages``, ``legal_actions``.

    Returns:
        Sentences without a full stop; empty when the worker fits.
    """
    name = definition.display_name
    capabilities = definition.capabilities
    reasons: list[str] = []
    action = action_kind(action_space)
    if action not in capabilities.action_spaces and ANY not in capabilities.action_spaces:
        reasons.append(_sentence(name, "acts in", capabilities.action_spaces, action, action_space))
    if observation_space is not None:
        reasons += _cannot_see(definition, observation_space, inputs)
    for need in definition.inputs.required:
        if need not in inputs:
            other = "; a worker that reads can play it" if need == "image" and "text" in inputs else ""
            reasons.append(f"{name} needs {need}, but here {_WITHOUT[need]}{other}")
    return reasons


def _cannot_see(
    definition: WorkerTypeDefinition, observation_space: Any, inputs: Collection[str]
) -> list[str]:
    kinds, ours = observation_kinds(observation_space), definition.capabilities.observation_spaces
    # A worker that gets words or a frame need not understand the raw observation.
    described = {"text", "image"} & set(definition.inputs.wanted) & set(inputs)
    if ANY in ours or described or set(kinds) & set(ours):
        return []
    return [_sentence(definition.display_name, "observes", ours, kinds[0], observation_space)]


def _sentence(name: str, verb: str, ours: Collection[str], kind: str, space: Any) -> str:
    shown = short_space(space) if isinstance(space, Space) else str(space)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}…"
    return f"{name} {verb} {' or '.join(ours)} spaces, this slot's is {kind}: {shown}"
