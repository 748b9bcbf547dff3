"""Policies as people choose them: a worker together with what makes it play one way.

A worker that reads trained policies stands for one policy per file that it can read; one
whose behaviors are a choice for one per behavior; any other is a policy by itself.
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
"""So many who decide together are named."""


@dataclass(frozen=True)
class Policy:
    """Something that may decide for a slot.

    Attributes:
        policy_id: Its name, stable from start to start.
        title: As people read it.
        worker_id: Who plays it.
        kind: Its worker's kind.
        settings: What makes it this policy.
        meaning: A sentence.
        option: The option of its worker that it is, or ``None``.
        file: The trained policy that it is, or ``None``.
        takes: Name of the setting that a person has to fill with a path, or empty.
        model: Name of the setting that says which model is asked, or empty.
        environments: Patterns of the environments it is made for; empty: all.
        part: Whose part of a joint file it is; empty: that of the slot it plays.
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
        """Whether it can play as it is; otherwise a file or a model must be chosen first."""
        return not (self.takes or self.model)

    def knows(self, env_id: str) -> bool:
        """Whether it is made for an environment, not merely for any."""
        return bool(self.environments) and matches(env_id, self.environments)

    def assignment(self, before: WorkerAssignment | None = None) -> WorkerAssignment:
        """This policy for a slot.

        Args:
            before: Who played the slot: the rules for unusable answers and time stay.
        """
        rules: dict[str, Any] = {}
        if before is not None:
            rules = {"on_invalid": before.on_invalid, "deadline_s": before.deadline_s}
        part = self.part or None
        return WorkerAssignment(self.worker_id, self.kind, self.settings, checkpoint_agent=part, **rules)


def policies_of(
    workers: Sequence[WorkerTypeDefinition], files: Sequence[PolicyFile] = ()
) -> tuple[Policy, ...]:
    """Everything that may decide for some slot, worker by worker."""
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
    # The worker that a type means by itself gives its behaviors their bare names: "random".
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
    """The policy that an assignment is, or ``None`` where none of ``policies`` is it.

    Args:
        assignment: Who plays a slot.
        policies: Those to look among.
        worker: Its worker: a setting that is left out has its default.
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
    """What people call who plays a slot: a policy's title, a model's or a file's name.

    Args:
        assignment: As for :func:`policy_of`.
        policies: As there.
        worker: As there.
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
    """Who decide together, each once: ``Soccer chaser and Random``."""
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
