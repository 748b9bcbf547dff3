"""Converts the league of a training to a tournament of its members and the trained policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gym_gui.core.errors import ExperimentError
from gym_gui.core.record_fields import items, mapping, text
from gym_gui.services.policy_files import read_policy_file

LEARNER: Final = "learner"
"""Name of the training's own policy in the tournament."""


def tournament_of_league(league: Mapping[str, object], file: Path) -> dict[str, object]:
    """Return a tournament file's content with all members and the training's policy as ``learner``.

    Args:
        league: Content of the league's file.
        file: The league's file, which lies beside the policies of past selves.

    Raises:
        ExperimentError: The league has no environment or members, or the training has no policy yet.
    """
    members, task, trained = items(league.get("members")), text(league.get("env_id")), None
    if members and task:
        trained = read_policy_file(file.parent)
    if not members or not task or trained is None:
        raise ExperimentError(
            f"{file} is not a league whose members can play",
            fix="The file needs env_id and members, and the training's policy beside it",
        )
    worker = trained.worker_id

    def policy_in(folder: str) -> dict[str, object]:
        return {"type": "rl", "worker_id": worker, "checkpoint": str(file.parent.absolute() / folder)}

    policies: dict[str, object] = {}
    for each in members:
        member = mapping(each) or {}
        name, folder = text(member.get("name")) or "", text(member.get("folder")) or ""
        policies[name] = mapping(member.get("player")) or policy_in(folder)
    return {"task": task, "policies": {**policies, LEARNER: policy_in("")}}
