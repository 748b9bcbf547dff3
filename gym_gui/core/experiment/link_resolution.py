"""Converts link groups to plain assignments: several agents share one file and one worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gym_gui.core.experiment.aliases import DEFAULT_WORKERS
from gym_gui.core.experiment.assignment import LinkGroup, WorkerAssignment
from gym_gui.core.validation import ConfigError, Plain, shown


def link_slots(
    workers: Mapping[str, WorkerAssignment], groups: Sequence[LinkGroup]
) -> dict[str, WorkerAssignment]:
    """Return the players of all slots with link groups applied.

    Worker, checkpoint and algorithm of a group apply to each of its agents. An agent that is not among
    ``workers`` is played exactly as the primary agent is, except that each agent has its own
    ``checkpoint_agent``.

    Raises:
        ConfigError: An agent contradicts its group, or no file is named.
    """
    slots = dict(workers)
    for i, group in enumerate(groups):
        shared = _shared(group, workers.get(group.primary_agent), f"link_groups[{i}]")
        for agent in group.agents:
            own = workers.get(agent)
            if own is None:
                slots[agent] = replace(shared, checkpoint_agent=None)
            else:
                slots[agent] = _merged(agent, own, shared, group.group_id)
    return slots


def _shared(group: LinkGroup, primary: WorkerAssignment | None, where: str) -> WorkerAssignment:
    """Return the assignment of the group, completed by that of its primary agent."""
    settings: dict[str, Plain] = dict(primary.settings) if primary else {}
    if group.policy_path:
        settings["checkpoint"] = group.policy_path
    if group.algorithm:
        settings["algorithm"] = group.algorithm
    if "checkpoint" not in settings:
        raise ConfigError(
            f"names no policy_path, and neither does its primary agent {shown(group.primary_agent)}",
            where=where,
        )
    if primary is not None:
        return replace(primary, settings=settings)
    if group.worker_type not in DEFAULT_WORKERS:
        raise ConfigError(
            f"type {group.worker_type!r} has no default worker",
            where=where,
            fix=f"Name the worker of {shown(group.primary_agent)} in workers",
        )
    return WorkerAssignment("", group.worker_type, settings)


def _merged(agent: str, own: WorkerAssignment, shared: WorkerAssignment, group_id: str) -> WorkerAssignment:
    """Return the agent's own assignment with checkpoint and algorithm of the group."""
    pairs: dict[str, tuple[Plain, Plain]] = {
        "worker_id": (own.worker_id, shared.worker_id),
        "worker_type": (own.worker_type, shared.worker_type),
    }
    common = ("checkpoint", "algorithm")
    for key in common:
        if key in own.settings:
            pairs[key] = (own.settings[key], shared.settings.get(key))
    for key, (mine, theirs) in pairs.items():
        if mine != theirs and not (key == "algorithm" and str(mine).casefold() == str(theirs).casefold()):
            raise ConfigError(
                f"{key} is {shown(mine)}, but link group {shown(group_id)} says {shown(theirs)}",
                where=f"workers.{agent}",
                fix="Remove one of the two, or take the agent out of the group",
            )
    taken = {key: shared.settings[key] for key in common if key in shared.settings}
    return replace(own, settings={**own.settings, **taken})
