"""An operator that names a group of trainings, as one operator for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import ExperimentError
from gym_gui.core.training_of import GROUP_PREFIX, TrainingOf


def members_of(operator: OperatorConfig) -> list[OperatorConfig]:
    """The operators that an operator of an experiment file stands for; itself, where it names no group.

    Raises:
        UnknownNameError: There is no such group.
        UsageError: Its trainings are not of one kind, or not all of them are done.
        ExperimentError: It names several groups.
    """
    players = (*operator.workers.values(), *operator.manager.values())
    named = sorted({name for player in players if (name := _group_of(player))})
    if not named:
        return [operator]
    if len(named) > 1:
        raise ExperimentError(
            f"operator {operator.operator_id!r} names several groups of trainings: {', '.join(named)}",
            fix="Name one, and single policies beside it",
        )
    from gym_gui.services.training_groups import TrainingGroups  # most experiments name none

    group = TrainingGroups().find(named[0])
    waiting = [str(member.seed) for member in group.members if not member.completed]
    if waiting:
        raise ExperimentError(
            f"group {group.name} is not done: seed {', '.join(waiting)}",
            fix=f"mosaic policies show {group.name} says how they stand",
        )
    return [
        _one_of(operator, str(member.folder.absolute()), TrainingOf(operator.display_name, member.seed))
        for member in group.members
    ]


def _one_of(operator: OperatorConfig, checkpoint: str, of: TrainingOf) -> OperatorConfig:
    """The operator with one policy of its group."""

    def seated(players: Mapping[str, WorkerAssignment]) -> dict[str, WorkerAssignment]:
        return {
            agent: replace(player, settings={**player.settings, "checkpoint": checkpoint})
            if _group_of(player)
            else player
            for agent, player in players.items()
        }

    return replace(
        operator,
        operator_id=f"{operator.operator_id}_seed{of.seed}",
        display_name=f"{operator.display_name} (seed {of.seed})",
        workers=seated(operator.workers),
        manager=seated(operator.manager),
        group=of,
    )


def _group_of(player: WorkerAssignment) -> str:
    written = player.settings.get("checkpoint")
    if not isinstance(written, str) or not written.startswith(GROUP_PREFIX):
        return ""
    return written.removeprefix(GROUP_PREFIX)
