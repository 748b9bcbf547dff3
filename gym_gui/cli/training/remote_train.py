"""Implements ``mosaic train --executor``: trains on other machines, with run folders on this one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gym_gui.analysis.words import wording
from gym_gui.cli.errors import DONE, INTERRUPTED, WORK_FAILED, print_message
from gym_gui.cli.output import write_json
from gym_gui.cli.progress import train_progress
from gym_gui.cli.running.executor_commands import (
    ExecutorOptions,
    begun,
    clear,
    coordinate,
    detach,
    detach_resumed,
    new_folder,
    print_missing,
    reopened,
)
from gym_gui.cli.running.submission_plan import print_hosts
from gym_gui.cli.running.submission_progress import shown_trainings, title_of
from gym_gui.cli.training.in_foreground import print_result, shown
from gym_gui.cli.training.train_group import done_row, print_group, standing
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment.named_training_groups import group_name
from gym_gui.core.paths import runs_dir
from gym_gui.envs import needs_of, resolve
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.submissions.bundle import write_training_bundle
from gym_gui.services.submissions.coordinator import Coordinator
from gym_gui.services.submissions.executors import load_profile
from gym_gui.services.submissions.own_submissions import remember_submission
from gym_gui.services.submissions.submission_record import COLLECTED, STOPPED, Submission
from gym_gui.services.submissions.submitted_trainings import TRAIN, Training, Trainings
from gym_gui.services.trainer import TrainRequest, TrainResult
from gym_gui.services.trainer.remote_training import RemoteTraining as Place
from gym_gui.services.trainer.remote_training import announce, read_remote_training, write_remote_training
from gym_gui.services.trainer.training_folder import REQUEST, RunFolder
from gym_gui.services.trainings.training_groups import GroupMember, read_member

_MAX_WARNINGS: Final = 5
"""Largest number of warnings about trainings with different versions."""


def submit_trainings(
    requests: Sequence[TrainRequest], where: ExecutorOptions, given: Sequence[str], *, as_json: bool
) -> int:
    """Train on other machines, with one shard per training, and print the result.

    Args:
        requests: The trainings, which differ only in their seeds.
        where: The executor and its profile.
        given: Settings of the trainings, as arguments of ``mosaic train``.
        as_json: Whether to print JSON.

    Returns:
        Exit status.

    Raises:
        UsageError: The user can fix the problem.
    """
    profile = load_profile(where.executor or "", where.profile)
    requests = [request for request in requests if not _is_done(request, as_json=as_json)]
    if not requests:
        print_message("nothing is left to train")
        return DONE
    first = requests[0]
    arguments = ("--worker", first.definition.type_id, "--algo", first.algo, "--env", first.env_id)
    group = ("--group", first.group) if first.group else ()
    parts = tuple(Training(each.seed, each.out, each.run_id) for each in requests)
    trainings = Trainings((*arguments, *group, *given), bool(first.group), parts)
    submission = Submission(
        new_folder(runs_dir()),
        where.executor or "",
        profile.to_record(),
        TRAIN,
        len(parts),
        _steps(first) * len(parts),
        first.out.parent if first.group else first.out,
        trainings=trainings,
    )
    needs = needs_of(resolve(first.env_id), {})
    if where.dry_run:
        return print_hosts(
            submission, lambda bundle: write_training_bundle(bundle, trainings, needs), as_json=as_json
        )
    write_training_bundle(submission.bundle, trainings, needs)
    submission.needs = tuple(dict.fromkeys(need.subject for need in needs))
    remember_submission(submission)
    with begun(submission):
        _make_folders(submission, requests)
        if not where.detach:
            return _follow(submission, as_json)
    return detach(submission, as_json=as_json)


def go_on_training(where: ExecutorOptions, *, as_json: bool) -> int:
    """Resume a submission of trainings, print the result, and return the exit status."""
    if where.detach:
        return detach_resumed(where, TRAIN, as_json=as_json)
    with reopened(where, TRAIN) as submission:
        if not submission.run:
            _announce(submission)  # the daemon may have recorded trainings without process as ended
        return _follow(submission, as_json)


# -- inside ------------------------------------------------------------------------------


def _steps(request: TrainRequest) -> int:
    steps = {**request.defaults, **request.settings}.get("total_steps")
    return steps if isinstance(steps, int) else 0


def _is_done(request: TrainRequest, *, as_json: bool) -> bool:
    """Return whether a training of a group is finished already.

    Raises:
        UsageError: The training was begun on this machine or elsewhere, and is not finished.
    """
    place = read_remote_training(request.out)
    if place is not None and (place.followed or not request.overwrite):
        raise UsageError(
            f"seed {request.seed} is already trained on another machine ({place.place})",
            fix=f"Resume it with {place.resume_command}; or, if no process follows it, "
            "start anew with --overwrite",
        )
    member = None if place is not None else standing(request)
    if member is not None and member.completed and request.group:
        if not as_json:
            print_message(f"seed {request.seed} is trained already: {shown(member.folder)}")
        return True
    if member is not None and (member.holds_policy or member.state in ("running", "waiting")):
        raise UsageError(
            f"the training in {shown(request.out)} began on this machine and cannot continue on another",
            fix="Leave out --executor, or add --overwrite to start the training again",
        )
    return False


def _make_folders(submission: Submission, requests: Sequence[TrainRequest]) -> None:
    """Create run folders on this machine that record which submission trains them."""
    try:
        for request in requests:
            folder = RunFolder(request.out)
            folder.clear()
            request.out.mkdir(parents=True, exist_ok=True)
            folder.write(REQUEST, request.row())
            write_remote_training(request.out, Place(submission.folder, submission.executor))
    except OSError as error:
        raise UsageError(f"{error.filename or 'the run folder'} cannot be used: {error.strerror}") from error
    _announce(submission)


def _announce(submission: Submission) -> None:
    """Register the trainings with the trainer daemon, so that the Train page shows them."""
    assert submission.trainings is not None
    known = bootstrap_default_services().store.data_dir("training")
    try:
        for each in submission.trainings.parts:
            announce(known, each.run_id, each.folder)
    except OSError as error:
        print_message(
            f"the Train page omits these trainings: {error.filename} cannot be written: {error.strerror}"
        )


def _follow(submission: Submission, as_json: bool) -> int:
    coordinator: Coordinator | None = None
    if not submission.run:
        with train_progress(title_of(submission), as_json=as_json) as show:
            coordinator = coordinate(submission, shown_trainings(show, lambda: submission))
        if (status := _missing(submission, coordinator)) is not None:
            return status
        submission.run = str(submission.out)
        submission.save()
    clear(submission, coordinator)
    return _conclude(submission, as_json)


def _missing(submission: Submission, coordinator: Coordinator) -> int | None:
    """Print which trainings are missing and return the exit status; return ``None`` if none is missing."""

    def trained(more: int) -> str:
        rest = f"{more} further trainings have failed; " if more else ""
        return f"{rest}finished trainings are in {shown(submission.out)}; resume the others with"

    return print_missing(submission, coordinator, "has failed", trained, "checkpoints are kept")


def _conclude(submission: Submission, as_json: bool) -> int:
    """Print the result of trainings whose run folders have been collected; return the exit status."""
    trainings = submission.trainings
    assert trainings is not None
    stopped = submission.numbers(STOPPED)
    members = [read_member(each.folder) for each in trainings.parts]
    there = [member for member in members if member is not None]
    if not there:
        raise MosaicError(f"the trainings are not in {submission.out} any more")
    for difference in _differences(there):
        print_message(f"warning: {difference}")
    definition = bootstrap_default_services().workers.registry.require(there[0].request.worker)
    if trainings.is_group:
        about = there[0].request
        rows = [done_row(member, definition) for member in there]
        name = group_name(about.group, about.env_id)
        print_group(name, submission.out, submission.of, rows, as_json=as_json)
    else:
        one = there[0]
        result = TrainResult(one.folder, one.state, one.step, one.score, 0.0)
        if as_json:
            row = done_row(one, definition)
            write_json({key: value for key, value in row.items() if key != "seed"})
        else:
            print_result(result, one.request.algorithm, one.request.env_id, definition)
    if stopped:
        named = wording.names([str(trainings.part(number).seed) for number in stopped])
        print_message(
            f"stopped on request: seed {named}; resume one on this machine with mosaic train --resume FOLDER"
        )
        return INTERRUPTED
    return DONE if submission.numbers(COLLECTED) else WORK_FAILED


def _differences(members: Sequence[GroupMember]) -> list[str]:
    """Return sentences on trainings that used other package versions than the first training."""
    versions = {member.seed: _versions(member) for member in members}
    first_seed, first = next(iter(versions.items()))
    found: list[str] = []
    for seed, each in versions.items():
        for name in sorted(each.keys() | first.keys()):
            if each.get(name) != first.get(name):
                one, other = (f"{name} {there.get(name)}" for there in (each, first))
                found.append(f"seed {seed} was trained with {one}, and seed {first_seed} with {other}")
    return found[:_MAX_WARNINGS]


def _versions(member: GroupMember) -> Mapping[str, Any]:
    found = (RunFolder(member.folder).read(REQUEST) or {}).get("versions")
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]
