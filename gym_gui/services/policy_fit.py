"""Whether a trained policy fits a slot, once its preprocessing is applied to what the slot sees."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.spaces import Space, short_space, to_space
from gym_gui.services.policy_files import PolicyFile, preprocessing_problem, read_policy_file
from gym_gui.workers.registry import WorkerTypeDefinition
from mosaic_worker.preprocessing import Pipeline, PreprocessingError, describe_steps

_LONGEST: Final = 100
"""Characters of a space in a sentence."""


def policy_path(assignment: WorkerAssignment, definition: WorkerTypeDefinition) -> Path | None:
    """Where the policy is that an assignment names, or ``None`` where it names none."""
    setting = next((s.name for s in definition.settings_schema if s.type == "policy"), "checkpoint")
    written = assignment.settings.get(setting)
    return Path(written).expanduser() if isinstance(written, str) and written else None


def pipeline_of(
    assignment: WorkerAssignment, definition: WorkerTypeDefinition, observation_space: Any
) -> Pipeline | None:
    """What happens to a slot's observations before its worker sees them.

    The slot's own ``preprocess`` wins over what the policy's ``policy.json`` says.

    Args:
        assignment: Who plays the slot.
        definition: Its worker.
        observation_space: Gymnasium space, or description, of what the slot sees.

    Returns:
        ``None`` where nothing happens to them.

    Raises:
        PreprocessingError: The steps are none, or do not fit the slot.
    """
    steps: Sequence[Any] = assignment.preprocess
    if steps and definition.kind == "human":
        raise PreprocessingError("a person sees the environment itself; leave 'preprocess' out")
    if not steps:
        path = policy_path(assignment, definition)
        file = read_policy_file(path) if path is not None else None
        if file is None and path is not None and (problem := preprocessing_problem(path)):
            raise PreprocessingError(f"{path}: {problem}")
        steps = file.preprocessing if file is not None else ()
    return Pipeline(steps, observation_space) if steps else None


def other_worker(file: PolicyFile, definition: WorkerTypeDefinition) -> str:
    """Why a worker cannot play a policy that another one plays, as a sentence; empty where it is its own."""
    if file.worker_id in (definition.type_id, *definition.aliases):
        return ""
    return f"{file.title} is played by {file.worker_id}, not by {definition.type_id}"


def misfit(
    file: PolicyFile, observation_space: Any, action_space: Any, preprocess: Sequence[Any] = ()
) -> str:
    """Why a trained policy cannot play a slot, as far as its description tells.

    Args:
        file: The policy.
        observation_space: Space, or description, of what the slot sees.
        action_space: The same of what it does.
        preprocess: The slot's own steps, in place of the policy's.

    Returns:
        A sentence without a full stop; empty when it fits.
    """
    trained, given = space_words(file.shown), ""
    steps = list(preprocess or file.preprocessing)
    try:
        given = space_words(shown_space(steps, observation_space))
    except PreprocessingError as error:
        return f"Trained in {file.env_id}: {error}"
    if trained != given:
        after = f" after {describe_steps(steps)}" if steps else ""
        return f"Trained in {file.env_id} for observations of {trained}, this slot has {given}{after}"
    there, here = space_words(file.does), space_words(action_space)
    if there != here:
        return f"Trained in {file.env_id} for actions of {there}, this slot has {here}"
    return ""


def shown_space(steps: Sequence[Any], observation_space: Any) -> Space:
    """Description of what comes out of steps.

    Raises:
        PreprocessingError: They do not fit the space.
    """
    described = to_space(observation_space)
    if not steps:
        return described
    return _shown_space(json.dumps(list(steps)), json.dumps(described.to_json()))


@functools.lru_cache(maxsize=512)
def _shown_space(steps: str, space: str) -> Space:
    # The same few policies are held against the same few slots whenever a row changes.
    return to_space(Pipeline(json.loads(steps), Space.from_json(json.loads(space))).input_space)


def space_words(space: Any) -> str:
    """What must agree between a policy and a slot, in words: bounds and element types need not."""
    words = _words(to_space(space))
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def _words(space: Space) -> str:
    children: Mapping[str, Space] = space.spaces
    if space.kind == "Dict":
        return f"Dict({', '.join(f'{key}: {_words(child)}' for key, child in children.items())})"
    if children:
        return f"{space.kind}({', '.join(_words(child) for child in children.values())})"
    if space.kind == "Discrete" and space.start:
        return f"Discrete({space.n}, start={space.start})"
    if space.kind == "MultiDiscrete" and space.nvec is not None:
        return f"MultiDiscrete({space.nvec.tolist()})"
    return short_space(space)
