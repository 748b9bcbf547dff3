"""Implements ``mosaic train --seeds``: runs the same training with each seed, one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_gui.analysis.words import wording
from gym_gui.cli.errors import DONE, INTERRUPTED, WORK_FAILED, print_message
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.training.in_foreground import in_words, result_row, shown, trained
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.named_training_groups import group_name
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.trainer import TrainingFailedError, TrainRequest, TrainResult
from gym_gui.services.trainer.foreground import resumed
from gym_gui.services.trainings.training_groups import GroupMember, read_member, setting_difference
from gym_gui.workers.definition import WorkerTypeDefinition


def train_group(requests: Sequence[TrainRequest], *, as_json: bool) -> int:
    """Run the unfinished trainings of a group one after another, resuming stopped ones.

    Args:
        requests: The trainings, which differ only in their seeds.
        as_json: Whether to write progress as JSON lines on stderr and one object on stdout.

    Returns:
        Exit status: 1 if a training failed, 130 if one was stopped. After a failure, the others still run.

    Raises:
        UsageError: The group has trainings with other settings; nothing was trained.
        MosaicError: No training could be started.
    """
    before = {request.seed: standing(request) for request in requests}
    rows: list[Mapping[str, Any]] = []
    failed, stopped = 0, False
    for number, request in enumerate(requests, 1):
        about = f", seed {request.seed} ({number} of {len(requests)})"
        member = before[request.seed]
        if member is not None and member.completed:
            rows.append(done_row(member, request.definition) | {"before": True})
            _tell_unless_json(as_json, f"seed {request.seed} is trained already: {shown(member.folder)}")
            continue
        try:
            result = trained(_resumed_request(request, member), as_json=as_json, note=about)
        except TrainingFailedError as error:
            failed += 1
            print_message(f"seed {request.seed}: {error.message}")
            rows.append(
                {"seed": request.seed, "out": str(request.out), "status": "failed", "reason": str(error)}
            )
            continue
        rows.append({"seed": request.seed, **result_row(result, request.definition)})
        if result.status != "completed":
            stopped = True
            break
        _tell_unless_json(as_json, f"seed {request.seed}: {in_words(result)}")
    first = requests[0]
    name = group_name(first.group, first.env_id)
    print_group(name, first.out.parent, len(requests), rows, as_json=as_json)
    if stopped:
        _tell_unless_json(as_json, "stopped; run the same command again to resume")
        return INTERRUPTED
    return WORK_FAILED if failed else DONE


def standing(request: TrainRequest) -> GroupMember | None:
    """Return the training in a request's folder; ``None`` if there is none or the request replaces it.

    Raises:
        UsageError: The folder contains a training with other settings.
    """
    member = None if request.overwrite else read_member(request.out)
    if member is None:
        return None
    asked = request.train_json
    difference = setting_difference(member.request, asked)
    if not difference and member.seed != asked.seed:
        difference = f"seed {asked.seed} in place of {member.seed}"
    if difference:
        raise UsageError(
            f"{shown(request.out)} was trained with other settings: {difference}",
            fix="Choose another name for the group (--group NAME), or add --overwrite",
        )
    return member


def _resumed_request(request: TrainRequest, member: GroupMember | None) -> TrainRequest:
    """Return a request that resumes the policy of an earlier training, or the request if there is none."""
    if member is None or not member.holds_policy:
        return request
    return resumed(member.folder, {}, bootstrap_default_services().workers.registry)


def done_row(member: GroupMember, definition: WorkerTypeDefinition) -> dict[str, Any]:
    """Return the JSON row of a training that was finished earlier."""
    result = TrainResult(member.folder, member.state, member.step, member.score, 0.0)
    return {"seed": member.seed, **result_row(result, definition)}


def _tell_unless_json(as_json: bool, text: str) -> None:
    if not as_json:
        print_message(text)


def print_group(
    name: str, folder: Path, of: int, rows: Sequence[Mapping[str, Any]], *, as_json: bool
) -> None:
    """Print the results of a group of trainings.

    Args:
        name: Name of the group.
        folder: Folder of its trainings.
        of: Number of trainings in the group.
        rows: JSON row of each training.
        as_json: Whether to print one JSON object.
    """
    done = [row for row in rows if row["status"] == "completed"]
    if as_json:
        write_json({"group": name, "out": str(folder), "trainings": rows})
        return
    write_line(f"Group:   {name}, {len(done)} of {of} trainings done")
    returns = [wording.number(row["mean_return"]) for row in done if row["mean_return"] is not None]
    if returns:
        write_line(f"Returns: {', '.join(returns)}")
    write_line(f"Folder:  {shown(folder)}")
    write_line(f"\nReport:  mosaic report {shown(folder)}")
