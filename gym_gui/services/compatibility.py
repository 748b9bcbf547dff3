"""Who fits where: whether a worker, set as it is, can play a slot; whether it can train in an environment.

Play, Agents, the engine's own check (:func:`gym_gui.controllers.engine.resolved_operator.resolve_operator`)
and trainings ask here.
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
"""Characters of a space in a sentence."""
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
    """Why a worker cannot play a slot as it is set, as far as that is known without starting it.

    Paradigm, number of agents and GPU are not looked at: they limit training. A policy trained
    alone may play one seat of a team. Whether it is installed, and whether its settings are
    right by themselves, is asked elsewhere.

    Args:
        slot: The slot.
        worker: The worker.
        assignment: Its settings, and what happens to observations before it sees them.
        file: The trained policy that the settings name, where it has been read already.

    Returns:
        One sentence without a full stop; empty when it fits.
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
    # What a policy that is still to be chosen sees is decided by its preprocessing.
    missing = any(s.kind == "policy" and not settings.get(s.name) for s in worker.settings_schema)
    return (
        _space_incompatibility(slot, worker, None if missing else shown)
        or _input_incompatibility(worker, slot.offers)
        or _view_incompatibility(slot, worker, settings)
    )


def _environment_incompatibility(
    slot: SlotInfo, worker: WorkerTypeDefinition, settings: Mapping[str, Any]
) -> str:
    """Why a worker, or an option that is chosen, is not for this environment or seat."""
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
    """Why none of a joint policy's parts could play a slot; empty where one could, were it chosen."""
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
    """Why a worker does not understand what it would be shown, or cannot act as it would have to."""
    capabilities = worker.capabilities
    action = action_kind(slot.action_space)
    if not capabilities.acts_in(action):
        return _sentence(worker, "acts in", capabilities.action_spaces, action, to_space(slot.action_space))
    # A worker that gets words or a frame need not understand the raw observation.
    if shown is None or _told_otherwise(worker, slot):
        return ""
    kinds = observation_kinds(shown)
    if capabilities.observes(*kinds):
        return ""
    return _sentence(worker, "observes", capabilities.observation_spaces, kinds[0], shown)


def _told_otherwise(worker: WorkerTypeDefinition, slot: SlotInfo) -> bool:
    """Whether a worker gets words, a frame, facts or a simulator, and need not understand observations."""
    return bool({"text", "image", "facts", "state"} & set(worker.inputs.wanted) & set(slot.offers))


def takes_steps(worker: WorkerTypeDefinition, slot: SlotInfo) -> bool:
    """Whether what happens to a slot's observations concerns a worker: people see the environment itself."""
    return worker.kind != "human" and not _told_otherwise(worker, slot)


def _sentence(worker: WorkerTypeDefinition, verb: str, ours: Collection[str], kind: str, space: Space) -> str:
    shown = short_space(space)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}…"
    return f"{worker.display_name} {verb} {' or '.join(ours)} spaces, this slot's is {kind}: {shown}"


def _input_incompatibility(worker: WorkerTypeDefinition, offers: Collection[str]) -> str:
    """Why a worker lacks what it needs beside the observation."""
    for need in worker.inputs.required:
        if need not in offers:
            other = "; a worker that reads can play it" if need == "image" and "text" in offers else ""
            return f"{worker.display_name} needs {need}, but here {_WITHOUT[need]}{other}"
    return ""


def _view_incompatibility(slot: SlotInfo, worker: WorkerTypeDefinition, settings: Mapping[str, Any]) -> str:
    """Why what its settings want to be shown is not for this seat, and what to write."""
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
    """Why a worker cannot train in an environment; empty where it can, as far as that is known.

    Args:
        worker: The worker.
        spec: The environment.
        known: More of it, as :meth:`WorkerCapabilities.incompatibilities` takes it.
    """
    if worker.train is None:
        return ["it does not train"]
    return worker.capabilities.incompatibilities(**requirements_of(spec), **known)


def known_paradigm(spec: EnvSpec) -> SteppingParadigm | None:
    """How an environment's agents take turns; ``None`` where only making it would tell."""
    return None if spec.traits.get("api_unknown") else spec.paradigm


def requirements_of(spec: EnvSpec) -> dict[str, Any]:
    """What an environment asks of who trains in it, for :meth:`WorkerTypeRegistry.find_compatible`."""
    env_id = family_of(spec).pattern_id(spec)
    return {"paradigm": spec.paradigm, "env_type": spec.env_type, "env_id": env_id}


def policy_path(assignment: WorkerAssignment, definition: WorkerTypeDefinition) -> Path | None:
    """Where the policy is that an assignment names, or ``None`` where it names none."""
    setting = next((s.name for s in definition.settings_schema if s.kind == "policy"), "checkpoint")
    written = assignment.settings.get(setting)
    return Path(written).expanduser() if isinstance(written, str) and written else None


def pipeline_of(
    assignment: WorkerAssignment, definition: WorkerTypeDefinition, slot: SlotInfo
) -> Pipeline | None:
    """What happens to a slot's observations before its worker sees them.

    The slot's own ``preprocess`` wins over what the policy's ``policy.json`` says.

    Args:
        assignment: Who plays the slot.
        definition: Its worker.
        slot: The slot.

    Returns:
        ``None`` where nothing happens to them.

    Raises:
        PreprocessingError: The steps are none, or do not fit the slot.
    """
    path = policy_path(assignment, definition)
    file = read_policy_file(path) if path is not None else None
    part = assignment.checkpoint_agent
    if file is None or not file.description.parts or part or assignment.preprocess:
        steps = _steps(assignment, definition, file and file.played_by(slot.agent_id, part))
        return Pipeline(steps, slot.observation_space) if steps else None
    return JointPipeline(file.description, slot.agent_id, slot.observation_space)


class JointPipeline(Pipeline):
    """What happens to observations before a joint policy sees them, whichever agent its slot plays.

    Args:
        description: What its ``policy.json`` says.
        agent: The slot's own agent.
        observation_space: What the slot sees.

    Raises:
        LoadError: Nothing of it plays the slot's own agent.
        PreprocessingError: Its steps do not fit.
    """

    def __init__(self, description: PolicyDescription, agent: str, observation_space: Any) -> None:
        super().__init__(description.played_by(agent).preprocessing, observation_space)
        self._description, self._own, self._given = description, agent, observation_space
        self._by_agent: dict[str, Pipeline] = {agent: self}

    def of(self, agent: str) -> Pipeline:
        """What applies while the slot plays an agent."""
        found = self._by_agent.get(agent)
        if found is None:
            steps = self._description.played_instead(agent, self._own).preprocessing
            found = self._by_agent[agent] = Pipeline(steps, self._given)
        return found


def _steps(
    assignment: WorkerAssignment, definition: WorkerTypeDefinition, file: PolicyFile | None
) -> Sequence[Any]:
    """The slot's own steps, else those of its policy; raises as :func:`pipeline_of`."""
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
    """Why a worker cannot play a policy that another one plays, as a sentence; empty where it is its own."""
    if file.worker_id in (definition.type_id, *definition.aliases):
        return ""
    return f"{file.title} is played by {file.worker_id}, not by {definition.type_id}: choose that worker"


def incompatibility(
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
    there, here = space_words(file.action_space), space_words(action_space)
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


def seen_after(steps: Sequence[Any], observation_space: Any) -> tuple[list[str], str]:
    """What an observation is after each of some steps.

    Args:
        steps: See :func:`mosaic_worker.preprocessing.check_steps`.
        observation_space: What the slot sees.

    Returns:
        A space in words for each step, as far as they can be applied, and why the next one cannot: a sentence
        without a full stop, or nothing.
    """
    spaces: list[str] = []
    for count in range(1, len(steps) + 1):
        try:
            spaces.append(short_space(shown_space(steps[:count], observation_space)))
        except PreprocessingError as error:
            return spaces, str(error)
    return spaces, ""


def own_steps(assignment: WorkerAssignment, definition: WorkerTypeDefinition, agent: str) -> Sequence[Any]:
    """The steps that a slot's policy brings, which hold where the slot has none of its own."""
    path = policy_path(assignment, definition)
    file = read_policy_file(path) if path is not None else None
    try:
        return () if file is None else file.played_by(agent, assignment.checkpoint_agent).preprocessing
    except LoadError:
        return ()


def space_words(space: Any) -> str:
    """What must agree between a policy and a slot, in words: bounds and element types need not."""
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
