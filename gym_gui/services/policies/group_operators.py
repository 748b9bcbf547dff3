"""Expands players that name a group of trainings into one player for each training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.named_training_groups import GROUP_PREFIX, TrainingOf
from gym_gui.core.experiment.tournament_pool import Player, Pool, altered, assignments_of


def members_of(operator: OperatorConfig) -> list[OperatorConfig]:
    """Return one operator per training if an operator names a group; else the operator itself.

    Raises:
        UnknownNameError: There is no such group.
        UsageError: The group's trainings differ, or not all of them are done.
        ExperimentError: The operator names several groups.
    """
    players = (*operator.workers.values(), *operator.manager.values())
    return [
        replace(
            operator,
            operator_id=f"{operator.operator_id}_seed{seed}",
            display_name=f"{operator.display_name} (seed {seed})",
            workers={agent: _trained(player, path) for agent, player in operator.workers.items()},
            manager={agent: _trained(player, path) for agent, player in operator.manager.items()},
            group=TrainingOf(operator.display_name, seed),
        )
        for seed, path in _policies(f"operator {operator.operator_id!r}", players)
    ] or [operator]


def pool_of(policies: Mapping[str, Player]) -> Pool:
    """Return a pool in which each training of a group is a policy of its own.

    Raises:
        UnknownNameError: There is no such group.
        UsageError: The group's trainings differ, or not all of them are done.
        ExperimentError: A policy has the name of another policy in the pool.
    """
    found: dict[str, Player] = {}
    trainings: dict[str, TrainingOf] = {}
    for name, player in policies.items():
        trained = _policies(f"policy {name!r}", list(assignments_of(player)))
        if not trained:
            found[name] = player
        for seed, path in trained:
            called = f"{name}_seed{seed}"
            if called in policies:
                raise ExperimentError(
                    f"policy {called!r} has the name of a training of {name!r}", fix="Give it another name"
                )
            found[called] = altered(player, partial(_trained, checkpoint=path))
            trainings[called] = TrainingOf(name, seed)
    return Pool(found, trainings)


def _policies(who: str, players: Sequence[WorkerAssignment]) -> list[tuple[int, str]]:
    """Return seed and folder of each training of the group that the players name; empty if they name none."""
    named = sorted({name for player in players if (name := _group_of(player))})
    if not named:
        return []
    if len(named) > 1:
        raise ExperimentError(
            f"{who} names several groups of trainings: {', '.join(named)}",
            fix="Name one group only; other policies must be single ones",
        )
    from gym_gui.services.trainings.training_groups import TrainingGroups  # rarely needed

    group = TrainingGroups().find(named[0])
    waiting = [str(member.seed) for member in group.members if not member.completed]
    if waiting:
        raise ExperimentError(
            f"group {group.name} is not complete: seed {', '.join(waiting)}",
            fix=f"Run `mosaic policies show {group.name}` to see its progress",
        )
    lost = [str(member.seed) for member in group.members if not member.holds_policy]
    if lost:
        raise ExperimentError(
            f"group {group.name}: seed {', '.join(lost)} no longer has a policy",
            fix="Restore its folder, or train the group again",
        )
    return [(member.seed, str(member.folder.absolute())) for member in group.members]


def _trained(player: WorkerAssignment, checkpoint: str) -> WorkerAssignment:
    """Return a player whose group is replaced by one policy of the group."""
    if not _group_of(player):
        return player
    return replace(player, settings={**player.settings, "checkpoint": checkpoint})


def _group_of(player: WorkerAssignment) -> str:
    written = player.settings.get("checkpoint")
    if not isinstance(written, str) or not written.startswith(GROUP_PREFIX):
        return ""
    return written.removeprefix(GROUP_PREFIX)
