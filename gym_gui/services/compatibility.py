"""Checks whether a worker with its settings can play a slot and whether it can train in an environment.

The Play and Agents pages, the engine's own check
(:func:`gym_gui.controllers.engine.resolved_operator.resolve_operator`) and trainings use these checks.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UsageError, without_capital
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.spaces import Space, short_space, to_space
from gym_gui.envs import EnvSpec
from gym_gui.envs.environment_registry import family_of
from gym_gui.services.backends import SlotInfo
from gym_gui.services.policy_files import PolicyFile, preprocessing_problem, read_policy_file
from gym_gui.workers.capabilities import action_kind, observation_kinds
from gym_gui.workers.registry import WorkerTypeDefinition
from gym_gui.workers.settings.settings_schema import problems
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.preprocessing import Pipeline, PreprocessingError, describe_steps
from mosaic_worker.worker import LoadError

_LONGEST: Final = 100
"""Largest length in characters of a space's description in a message."""
_WITHOUT: Final = {
    "text": "nothing describes its observation in words",
    "image": "there is no picture of what this seat may see",
    "messages": "its team exchanges no messages",
    "facts": "nothing states its observation as facts",
    "state": "the environment has no simulator whose state can be handed out",
    "legal_actions": "its actions cannot be listed",
}


def fit(
    slot: SlotInfo,
    worker: WorkerTypeDefinition,
    assignment: WorkerAssignment,
    file: PolicyFile | None = None,
) -> str:
    """Return why a worker with its settings cannot play a slot, without starting the worker.

    Paradigm, number of agents and GPU are not checked, because they limit only training. A policy that was
    trained alone may play one agent of a team. Other functions check whether the worker is installed and
    whether its settings are valid by themselves.

    Args:
        slot: The slot.
        worker: The worker.
        assignment: The worker's settings and the preprocessing of its observations.
        file: The trained policy that the settings name, if it has been read already.

    Returns:
        One sentence without a full stop; empty if no reason is known.
    """
    settings = worker.with_defaults(assignment.settings)
    path = policy_path(assignment, worker)
    if file is None and path is not None:
        file = read_policy_file(path)
    reason = _environment_incompatibility(slot, worker, settings)
    if not reason and file is not None:
        try:
            file = file.played_by(slot.agent_id, assignment.checkpoint_agent)
        except LoadError as error:
            return _no_part(slot, worker, assignment, file) or (
                f"{file.title} does not fit: {str(error).removesuffix('.')}"
            )
        reason = _file_incompatibility(slot, worker, file, assignment.preprocess)
    if reason:
        return reason
    try:
        shown = shown_space(_steps(assignment, worker, file), slot.observation_space)
    except PreprocessingError as error:
        return str(error)
    # The preprocessing of a policy that is not chosen yet decides what that policy observes.
    missing = any(s.kind == "policy" and not settings.get(s.name) for s in worker.settings_schema)
    return (
        _space_incompatibility(slot, worker, None if missing else shown)
        or _input_incompatibility(worker, slot.offers)
        or _view_incompatibility(slot, worker, settings)
    )


def _environment_incompatibility(
    slot: SlotInfo, worker: WorkerTypeDefinition, settings: Mapping[str, Any]
) -> str:
    """Return why a worker or one of its chosen options does not support this environment or slot."""
    if others := worker.capabilities.made_for_others(slot.env_id):
        return f"{worker.display_name} is {others}"
    for setting in worker.settings_schema:
        option = setting.option(settings.get(setting.name))
        if option is not None and (reason := option.incompatibility(slot.env_id, slot.agent_id, slot.offers)):
            return reason
    return ""


def _no_part(
    slot: SlotInfo, worker: WorkerTypeDefinition, assignment: WorkerAssignment, file: PolicyFile
) -> str:
    """Return why no part of a joint policy can play a slot; empty if choosing a part would help."""
    if assignment.checkpoint_agent:
        return ""
    parts = (file.played_by(agent) for agent in file.agents)
    reasons = [_file_incompatibility(slot, worker, part, assignment.preprocess) for part in parts]
    return reasons[0] if all(reasons) else ""


def _file_incompatibility(
    slot: SlotInfo, worker: WorkerTypeDefinition, file: PolicyFile, steps: Sequence[Any]
) -> str:
    if other := other_worker(file, worker):
        return other
    reason = incompatibility(file, slot.observation_space, slot.action_space, steps)
    return f"{file.title} does not fit: {without_capital(reason)}" if reason else ""


def _space_incompatibility(slot: SlotInfo, worker: WorkerTypeDefinition, shown: Space | None) -> str:
    """Return why a worker does not support a slot's actions or its observations after preprocessing."""
    capabilities = worker.capabilities
    action = action_kind(slot.action_space)
    if not capabilities.acts_in(action):
        return _sentence(worker, "acts in", capabilities.action_spaces, action, to_space(slot.action_space))
    # A worker that gets text or an image need not support the raw observation.
    if shown is None or _has_other_inputs(worker, slot):
        return ""
    kinds = observation_kinds(shown)
    if capabilities.observes(*kinds):
        return ""
    return _sentence(worker, "observes", capabilities.observation_spaces, kinds[0], shown)


def _has_other_inputs(worker: WorkerTypeDefinition, slot: SlotInfo) -> bool:
    """Return whether a worker gets text, images, facts or the simulator state instead of raw observations."""
    return bool({"text", "image", "facts", "state"} & set(worker.inputs.wanted) & set(slot.offers))


def takes_steps(worker: WorkerTypeDefinition, slot: SlotInfo) -> bool:
    """Return whether a worker sees preprocessed observations. People see the environment instead."""
    return worker.kind != "human" and not _has_other_inputs(worker, slot)


def _sentence(worker: WorkerTypeDefinition, verb: str, ours: Collection[str], kind: str, space: Space) -> str:
    shown = short_space(space)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}…"
    return f"{worker.display_name} {verb} {' or '.join(ours)} spaces, this slot's is {kind}: {shown}"


def _input_incompatibility(worker: WorkerTypeDefinition, offers: Collection[str]) -> str:
    """Return why a worker lacks an input that it needs besides the observation."""
    for need in worker.inputs.required:
        if need not in offers:
            other = "; a worker that takes text can play it" if need == "image" and "text" in offers else ""
            return f"{worker.display_name} needs {need}, but here {_WITHOUT[need]}{other}"
    return ""


def _view_incompatibility(slot: SlotInfo, worker: WorkerTypeDefinition, settings: Mapping[str, Any]) -> str:
    """Return why a slot cannot offer the inputs that the settings ask for, and what to write instead."""
    if problems(worker.settings_schema, settings):
        return ""  # the check of settings reports these problems
    try:
        view = PromptInputs.of(worker.inputs.wanted, settings)
    except UsageError as error:
        return str(error)
    if view is None:
        return ""
    refused = ". ".join(filter(None, view.refused(slot.agent_id, slot.pictures)))
    return refused or view.cannot_be_retold(slot.offers, slot.env_id)


def training_incompatibilities(worker: WorkerTypeDefinition, spec: EnvSpec, **known: Any) -> list[str]:
    """Return the reasons why a worker cannot train in an environment; empty if none is known.

    Args:
        worker: The worker.
        spec: The environment.
        known: More requirements, as keyword arguments of :meth:`WorkerCapabilities.incompatibilities`.
    """
    if worker.train is None:
        return ["it does not train"]
    return worker.capabilities.incompatibilities(**requirements_of(spec), **known)


def known_paradigm(spec: EnvSpec) -> SteppingParadigm | None:
    """Return how an environment's agents take turns, or ``None`` if that is unknown before its creation."""
    return None if spec.traits.get("api_unknown") else spec.paradigm


def requirements_of(spec: EnvSpec) -> dict[str, Any]:
    """Return an environment's requirements for training, for :meth:`WorkerTypeRegistry.find_compatible`."""
    env_id = family_of(spec).pattern_id(spec)
    return {"paradigm": spec.paradigm, "env_type": spec.env_type, "env_id": env_id}


def policy_path(assignment: WorkerAssignment, definition: WorkerTypeDefinition) -> Path | None:
    """Return the path of the policy that an assignment names, or ``None`` if it names none."""
    setting = next((s.name for s in definition.settings_schema if s.kind == "policy"), "checkpoint")
    written = assignment.settings.get(setting)
    return Path(written).expanduser() if isinstance(written, str) and written else None


def pipeline_of(
    assignment: WorkerAssignment, definition: WorkerTypeDefinition, slot: SlotInfo
) -> Pipeline | None:
    """Return the preprocessing of a slot's observations.

    The slot's own ``preprocess`` takes precedence over the steps in the policy's ``policy.json``.

    Args:
        assignment: The worker that plays the slot, with its settings.
        definition: Type of that worker.
        slot: The slot.

    Returns:
        The pipeline, or ``None`` if there are no steps.

    Raises:
        PreprocessingError: The steps are invalid or do not fit the slot.
    """
    path = policy_path(assignment, definition)
    file = read_policy_file(path) if path is not None else None
    part = assignment.checkpoint_agent
    if file is None or not file.description.parts or part or assignment.preprocess:
        steps = _steps(assignment, definition, file and file.played_by(slot.agent_id, part))
        return Pipeline(steps, slot.observation_space) if steps else None
    return JointPipeline(file.description, slot.agent_id, slot.observation_space)


class JointPipeline(Pipeline):
    """Preprocessing for a joint policy, with separate steps for each agent that the slot may play.

    Args:
        description: Contents of the policy's ``policy.json``.
        agent: The slot's own agent.
        observation_space: Observation space of the slot.

    Raises:
        LoadError: No part of the policy plays the slot's own agent.
        PreprocessingError: The policy's steps do not fit the observation space.
    """

    def __init__(self, description: PolicyDescription, agent: str, observation_space: Any) -> None:
        super().__init__(description.played_by(agent).preprocessing, observation_space)
        self._description, self._own, self._given = description, agent, observation_space
        self._by_agent: dict[str, Pipeline] = {agent: self}

    def of(self, agent: str) -> Pipeline:
        """Return the pipeline to use while the slot plays an agent."""
        found = self._by_agent.get(agent)
        if found is None:
            steps = self._description.played_instead(agent, self._own).preprocessing
            found = self._by_agent[agent] = Pipeline(steps, self._given)
        return found


def _steps(
    assignment: WorkerAssignment, definition: WorkerTypeDefinition, file: PolicyFile | None
) -> Sequence[Any]:
    """Return the slot's own preprocessing steps, else its policy's. Raises like :func:`pipeline_of`."""
    if assignment.preprocess:
        if definition.kind == "human":
            raise PreprocessingError("a person sees the environment itself; leave 'preprocess' out")
        return assignment.preprocess
    if file is not None:
        return file.preprocessing
    path = policy_path(assignment, definition)
    if path is not None and (problem := preprocessing_problem(path)):
        raise PreprocessingError(f"{path}: {problem}")
    return ()


def other_worker(file: PolicyFile, definition: WorkerTypeDefinition) -> str:
    """Return a sentence that names the worker that plays a policy; empty if it is the given worker."""
    if file.worker_id in (definition.type_id, *definition.aliases):
        return ""
    return f"{file.title} is played by {file.worker_id}, not by {definition.type_id}: choose that worker"


def incompatibility(
    file: PolicyFile, observation_space: Any, action_space: Any, preprocess: Sequence[Any] = ()
) -> str:
    """Return why a trained policy cannot play a slot, judged by the policy's description.

    Args:
        file: The policy.
        observation_space: Observation space of the slot, or its description.
        action_space: Action space of the slot, or its description.
        preprocess: The slot's own steps, which replace those of the policy.

    Returns:
        A sentence without a full stop; empty if the policy fits.
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
    there, here = space_words(file.action_space), space_words(action_space)
    if there != here:
        return f"Trained in {file.env_id} for actions of {there}, this slot has {here}"
    return ""


def shown_space(steps: Sequence[Any], observation_space: Any) -> Space:
    """Return the description of the observation space after some preprocessing steps.

    Raises:
        PreprocessingError: The steps do not fit the space.
    """
    described = to_space(observation_space)
    if not steps:
        return described
    return _shown_space(json.dumps(list(steps)), json.dumps(described.to_json()))


@functools.lru_cache(maxsize=512)
def _shown_space(steps: str, space: str) -> Space:
    # Cached, because the same few policies are checked against the same few slots whenever a row changes.
    return to_space(Pipeline(json.loads(steps), Space.from_json(json.loads(space))).input_space)


def seen_after(steps: Sequence[Any], observation_space: Any) -> tuple[list[str], str]:
    """Return the observation space after each of some preprocessing steps.

    Args:
        steps: See :func:`mosaic_worker.preprocessing.check_steps`.
        observation_space: Observation space of the slot.

    Returns:
        The space as text after each step that can be applied, and the reason why the next step cannot:
        a sentence without a full stop, or an empty string.
    """
    spaces: list[str] = []
    for count in range(1, len(steps) + 1):
        try:
            spaces.append(short_space(shown_space(steps[:count], observation_space)))
        except PreprocessingError as error:
            return spaces, str(error)
    return spaces, ""


def own_steps(assignment: WorkerAssignment, definition: WorkerTypeDefinition, agent: str) -> Sequence[Any]:
    """Return the preprocessing steps of a slot's policy, which apply if the slot has no steps of its own."""
    path = policy_path(assignment, definition)
    file = read_policy_file(path) if path is not None else None
    try:
        return () if file is None else file.played_by(agent, assignment.checkpoint_agent).preprocessing
    except LoadError:
        return ()


def space_words(space: Any) -> str:
    """Return the properties of a space that policy and slot must share, as text without bounds and dtypes."""
    words = _space_words(to_space(space))
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def _space_words(space: Space) -> str:
    children: Mapping[str, Space] = space.spaces
    if space.kind == "Dict":
        return f"Dict({', '.join(f'{key}: {_space_words(child)}' for key, child in children.items())})"
    if children:
        return f"{space.kind}({', '.join(_space_words(child) for child in children.values())})"
    if space.kind == "Discrete" and space.start:
        return f"Discrete({space.n}, start={space.start})"
    if space.kind == "MultiDiscrete" and space.nvec is not None:
        return f"MultiDiscrete({space.nvec.tolist()})"
    return short_space(space)
