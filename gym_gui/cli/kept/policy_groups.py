"""Groups of trainings among the policies: each as a whole, and its policies by their names."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from gym_gui.analysis.words.wording import count, number
from gym_gui.cli.output import cell, write_json, write_line
from gym_gui.core.experiment.training_of import GROUP_PREFIX
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.trainings.training_groups import TrainingGroup


def group_row(group: TrainingGroup) -> tuple[Sequence[Text], Sequence[str]]:
    """Short cells of a group, and its details."""
    cells = [cell(group.name, style="bold"), cell(group.about.algorithm), cell(group.env_id), cell("")]
    done = ", ".join(number(member.score) for member in group.completed if member.score is not None)
    about = f"group of {count(len(group.members), 'training')}, {len(group.completed)} done"
    return cells, [f"{about}: mean return {done}" if done else about]


def show_group(group: TrainingGroup, *, as_json: bool) -> None:
    """Print what a group is, and each of its trainings."""
    known = bootstrap_default_services().policies.entries()
    names = {entry.file.path.resolve(): entry.name for entry in known}
    about = group.about
    policies = {member.seed: names.get(member.folder.resolve()) for member in group.members}
    if as_json:
        rows = [
            {
                "seed": member.seed,
                "policy": policies[member.seed],
                "state": member.state,
                "reason": member.reason,
                "steps": member.step,
                "mean_return": member.score,
                "path": str(member.folder),
            }
            for member in group.members
        ]
        facts = {"group": group.name, "worker": about.worker, "algorithm": about.algorithm}
        write_json({**facts, "env_id": group.env_id, "given": dict(about.given), "trainings": rows})
        return
    write_line(group.name)
    settings = ", ".join(f"{name} {value}" for name, value in about.given.items())
    for heading, text in (
        ("worker", about.worker),
        ("algorithm", about.algorithm),
        ("environment", group.env_id),
        ("settings", settings),
        ("in a file", f'{{worker_id: {about.worker}, checkpoint: "{GROUP_PREFIX}{group.name}"}}'),
    ):
        if text:
            write_line(f"  {heading + ':':<15}{text}")
    for member in group.members:
        mean = "" if member.score is None else f", mean return {number(member.score)}"
        why = f" ({member.reason})" if member.reason else ""
        where = policies[member.seed] or member.folder
        write_line(f"  seed {member.seed}: {member.state}{why}{mean}: {where}")
