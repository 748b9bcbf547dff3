"""Catalog of the policies that people can choose: a worker together with settings that define its play.

A worker that reads trained policies gives one policy per readable file. A worker with a choice of behaviors
gives one policy per behavior. Any other worker is one policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gym_gui.core.experiment.aliases import DEFAULT_WORKERS
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.policy_files import PolicyFile, find_policy_files, read_policy_file
from gym_gui.services.trainings.training_choices import algorithm_word
from gym_gui.workers.patterns import matches
from gym_gui.workers.registry import WorkerTypeDefinition
from gym_gui.workers.settings.settings_schema import Setting, SettingOption

__all__ = [
    "Policy",
    "PolicyFile",
    "find_policy_files",
    "names_in_words",
    "policies_of",
    "policy_of",
    "read_policy_file",
    "title_of",
]

_MOST_NAMES = 3
"""Largest number of players that are named together."""


@dataclass(frozen=True)
class Policy:
    """A policy that can be chosen for a slot.

    Attributes:
        policy_id: Id, the same after each start.
        title: Name shown to people.
        worker_id: Worker that plays it.
        kind: Kind of the worker.
        settings: Settings that define the policy.
        meaning: Description in one sentence.
        option: The worker's option that the policy stands for, or ``None``.
        file: The trained policy, or ``None``.
        takes: Name of the setting for which a person must choose a path, or empty.
        model: Name of the setting for which a person must choose a model, or empty.
        environments: Patterns of the environments that it is made for; empty for all.
        part: Agent whose part of a joint file it plays; empty for the agent of its slot.
    """

    policy_id: str
    title: str
    worker_id: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    meaning: str = ""
    option: SettingOption | None = None
    file: PolicyFile | None = None
    takes: str = ""
    model: str = ""
    environments: tuple[str, ...] = ()
    part: str = ""

    @property
    def complete(self) -> bool:
        """Whether the policy can play without further choices, such as a file or a model."""
        return not (self.takes or self.model)

    def is_made_for(self, env_id: str) -> bool:
        """Return whether the policy is made for this environment in particular."""
        return bool(self.environments) and matches(env_id, self.environments)

    def assignment(self, before: WorkerAssignment | None = None) -> WorkerAssignment:
        """Return the assignment of this policy to a slot.

        Args:
            before: Earlier assignment of the slot, whose rules for invalid answers and time are kept.
        """
        rules: dict[str, Any] = {}
        if before is not None:
            rules = {"on_invalid": before.on_invalid, "deadline_s": before.deadline_s}
        part = self.part or None
        return WorkerAssignment(self.worker_id, self.kind, self.settings, checkpoint_agent=part, **rules)


def policies_of(
    workers: Sequence[WorkerTypeDefinition], files: Sequence[PolicyFile] = ()
) -> tuple[Policy, ...]:
    """Return all policies that can be chosen, worker by worker."""
    return tuple(policy for worker in workers for policy in _of_worker(worker, files))


def _of_worker(worker: WorkerTypeDefinition, files: Sequence[PolicyFile]) -> list[Policy]:
    choice = next((s for s in worker.settings_schema if s.policies), None)
    takes = next((s for s in worker.settings_schema if s.kind == "policy"), None)
    if choice is not None:
        return [_of_option(worker, choice, option) for option in choice.options]
    base, kind = worker.default_policy_id or worker.type_id, worker.kind.value
    if takes is None:
        model = next((s.name for s in worker.settings_schema if s.kind == "model"), "")
        meaning, patterns = worker.description, tuple(worker.capabilities.environments)
        title = _title(worker)
        return [
            Policy(base, title, worker.type_id, kind, meaning=meaning, model=model, environments=patterns)
        ]
    trained = [_of_file(worker, base, takes.name, file) for file in files if _reads(worker, file)]
    asking = f"{worker.display_name}, from a file…"
    meaning = f"{worker.description}; choose the policy's folder or file"
    return [*trained, Policy(base, asking, worker.type_id, kind, meaning=meaning, takes=takes.name)]


def _title(worker: WorkerTypeDefinition) -> str:
    return "You" if worker.kind == "human" else worker.display_name


def _of_option(worker: WorkerTypeDefinition, choice: Setting, option: SettingOption) -> Policy:
    # The behaviors of a type's default worker have bare names, such as "random".
    usual = DEFAULT_WORKERS.get(worker.kind.value) == worker.type_id
    policy_id = option.value if usual else f"{worker.type_id}:{option.value}"
    settings = {choice.name: option.value}
    return Policy(
        policy_id,
        option.label,
        worker.type_id,
        worker.kind.value,
        settings,
        option.meaning,
        option,
        environments=option.environments,
    )


def _of_file(worker: WorkerTypeDefinition, base: str, setting: str, file: PolicyFile) -> Policy:
    algorithm = algorithm_word(file.algorithm) or worker.display_name
    steps = f", {file.steps:,} steps" if file.steps else ""
    return Policy(
        f"{base}:{file.name or file.path.name}",
        file.title,
        worker.type_id,
        worker.kind.value,
        {setting: str(file.path)},
        f"{algorithm} trained in {file.env_id}{steps}",
        file=file,
    )


def _reads(worker: WorkerTypeDefinition, file: PolicyFile) -> bool:
    return file.worker_id in (worker.type_id, *worker.aliases)


def policy_of(
    assignment: WorkerAssignment, policies: Sequence[Policy], worker: WorkerTypeDefinition | None
) -> Policy | None:
    """Return the policy that an assignment stands for, or ``None`` if it is none of ``policies``.

    Args:
        assignment: Assignment of a slot.
        policies: Policies to search.
        worker: Type of the assignment's worker, which provides defaults of missing settings.
    """
    settings = assignment.settings if worker is None else worker.with_defaults(assignment.settings)
    mine = [policy for policy in policies if policy.worker_id == assignment.worker_id]
    exact = [
        p
        for p in mine
        if p.settings and all(_same_setting(settings.get(k), v) for k, v in p.settings.items())
    ]
    if exact:
        return exact[0]
    return next((policy for policy in mine if not policy.settings), None)


def title_of(
    assignment: WorkerAssignment, policies: Sequence[Policy], worker: WorkerTypeDefinition | None
) -> str:
    """Return a name for the player of a slot: a policy's title, or the name of a model or file.

    Args:
        assignment: As for :func:`policy_of`.
        policies: As for :func:`policy_of`.
        worker: As for :func:`policy_of`.
    """
    if worker is None:
        return assignment.worker_id
    settings = worker.with_defaults(assignment.settings)
    model = next((settings.get(s.name) for s in worker.settings_schema if s.kind == "model"), None)
    if model:
        return str(model)
    policy = policy_of(assignment, policies, worker)
    if policy is None:
        return worker.display_name
    if policy.takes:
        file = settings.get(policy.takes)
        return Path(str(file)).name if file else worker.display_name
    return policy.title


def names_in_words(titles: Sequence[str]) -> str:
    """Return the names of players that decide together, each once: ``Soccer chaser and Random``."""
    names = list(dict.fromkeys(titles))
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} others"]
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _same_setting(one: object, other: object) -> bool:
    if one == other:
        return True
    if not isinstance(one, str) or not isinstance(other, str) or "/" not in one + other:
        return False
    return Path(one).expanduser().absolute() == Path(other).expanduser().absolute()
