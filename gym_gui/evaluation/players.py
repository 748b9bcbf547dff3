"""Converts policies that are passed to ``gym_gui.evaluate`` into slots of an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from gym_gui.core.config import GOAL_SUFFIX, SINGLE_AGENT, WorkerAssignment
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.named_training_groups import GROUP_PREFIX
from gym_gui.core.protocols import check_policy
from gym_gui.services.policies.policy_library import PolicyLibrary
from gym_gui.services.policy_files import read_policy_file

Policy = Callable[..., Any] | WorkerAssignment | Mapping[str, Any] | str | Path | object
"""A policy in one of these forms: a function from observation to action; an Operator, Actor or controller
object, or a class of such objects (each episode gets a new object); a checkpoint's path or
``library:NAME``; a slot as in an experiment file; ``group:NAME``, which means each policy of a group of
trainings."""

_SHORT = {"agent": SINGLE_AGENT, "agent" + GOAL_SUFFIX: SINGLE_AGENT + GOAL_SUFFIX}


@dataclass(frozen=True)
class Players:
    """Policies of one operator, sorted by how they run.

    Attributes:
        slots: Workers by slot.
        objects: Policy objects in this process, by slot.
        managers: Workers that set goals, by agent.
        names: Names of all policies, joined by commas.
    """

    slots: Mapping[str, WorkerAssignment]
    objects: Mapping[str, Policy]
    managers: Mapping[str, WorkerAssignment]
    names: str

    @classmethod
    def of(cls, agents: Mapping[str, Policy] | Callable[..., Any]) -> Players:
        """Sort the policies that were passed to :func:`gym_gui.evaluate`.

        Raises:
            UsageError: An object is no policy, or a policy is not found.
        """
        by_agent = cast("Mapping[str, Policy]", agents) if isinstance(agents, Mapping) else _seats(agents)
        given = {_SHORT.get(agent, agent): policy for agent, policy in by_agent.items()}
        slots = {a: as_assignment(p) for a, p in given.items() if is_configured(p)}
        objects = {a: p for a, p in given.items() if a not in slots}
        for policy in objects.values():
            check_policy(policy)
        # A manager's slot exists only if the operator names a manager; an object replaces that worker.
        managers = {
            a.removesuffix(GOAL_SUFFIX): slots.pop(a, None) or WorkerAssignment(worker_type="random")
            for a in given
            if a.endswith(GOAL_SUFFIX)
        }
        return cls(slots, objects, managers, ", ".join(dict.fromkeys(map(_name, given.values()))))


def is_configured(policy: Policy) -> bool:
    """Return whether the policy is a slot of an experiment file or a checkpoint, not a Python object."""
    return isinstance(policy, (WorkerAssignment, Mapping, str, Path))


def as_assignment(policy: Policy) -> WorkerAssignment:
    """Return the worker assignment for a policy that is a path, a name or a slot of an experiment file."""
    if isinstance(policy, WorkerAssignment):
        return policy
    if isinstance(policy, Mapping):
        slot = dict(cast("Mapping[str, Any]", policy))
    elif str(policy).startswith(GROUP_PREFIX):
        from gym_gui.services.trainings.training_groups import TrainingGroups  # most name no group

        worker = TrainingGroups().find(str(policy)).about.worker
        slot = {"type": "rl", "checkpoint": str(policy), "worker_id": worker}
    else:
        path = PolicyLibrary().path_of(str(policy))
        file = read_policy_file(Path(path))
        slot = {"type": "rl", "checkpoint": path, **({"worker_id": file.worker_id} if file else {})}
    data = {"operators": [{"id": "evaluation", "task": "any", "workers": {SINGLE_AGENT: slot}}]}
    return experiment_from_data(data, complete=False).operators[0].workers[SINGLE_AGENT]


def _seats(policy: Policy) -> dict[str, Policy]:
    """Return the policy by agent; a joint policy plays all of its agents, any other policy the only agent."""
    if isinstance(policy, (str, Path)) and not str(policy).startswith(GROUP_PREFIX):
        file = read_policy_file(Path(PolicyLibrary().path_of(str(policy))))
        if file is not None and len(file.agents) > 1:
            return dict.fromkeys(file.agents, policy)
    return {"agent": policy}


def _name(policy: Policy) -> str:
    if isinstance(policy, WorkerAssignment):
        return str(policy.settings.get("behavior", policy.worker_id))
    if isinstance(policy, Mapping):
        slot = cast("Mapping[str, Any]", policy)
        return str(slot.get("behavior") or slot.get("worker_id") or slot.get("type", "worker"))
    if isinstance(policy, (str, Path)):
        group = str(policy).startswith(GROUP_PREFIX)
        return str(policy).removeprefix(GROUP_PREFIX) if group else Path(policy).stem
    return str(getattr(policy, "name", getattr(policy, "__name__", type(policy).__name__)))
