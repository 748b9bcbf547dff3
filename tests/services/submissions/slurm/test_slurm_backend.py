"""What Slurm is told, and what comes of what it says: its commands are stand-ins that keep what they hear."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.submissions.bundle import write_bundle
from gym_gui.services.submissions.slurm.slurm_backend import SlurmBackend
from gym_gui.services.submissions.slurm.slurm_profile import slurm_profile_of
from gym_gui.services.submissions.submission_errors import HostFailedError, HostUnreachableError
from gym_gui.services.submissions.submission_record import SENT, ShardState, Submission
from tests.support.commands import experiment

FIRST = dict.fromkeys(range(1, 8), 1)
REFUSED = "sbatch: error: Batch job submission failed: "
NO_ACCOUNT = "Invalid account or account/partition combination specified"
TOO_MANY = "Job violates accounting/QOS policy (job submit limit)"


class Scheduler:
    """Slurm's commands: what they were told, and what they are to say."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.says("scontrol", "echo 'MaxArraySize            = 4'")
        self.says("squeue", "")
        self.says("scancel", "")
        self.says(
            "sbatch", f'[ "$1" = --test-only ] || {{ echo job >>{folder}/jobs; wc -l <{folder}/jobs; }}'
        )

    def says(self, command: str, script: str) -> None:
        """Have a command do this."""
        file = self.folder / command
        told = f"{{ printf '%s\\n' {command} \"$@\"; echo; }} >>{self.folder}/told"
        file.write_text(f"#!/bin/sh\n{told}\n{script}\n")
        file.chmod(0o755)

    def told(self, command: str) -> list[list[str]]:
        """What a command was told, each time."""
        lines = [each.split("\n") for each in (self.folder / "told").read_text().split("\n\n") if each]
        return [words for name, *words in lines if name == command]


@pytest.fixture
def scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    found = Scheduler(tmp_path / "slurm")
    monkeypatch.setenv("PATH", f"{found.folder}:{os.defpath}")
    return found


@pytest.fixture
def submission(tmp_path: Path) -> Submission:
    found = Submission(tmp_path / "01SUB", "slurm", {}, "run", 7, 28, tmp_path)
    write_bundle(found.bundle, load_experiment(experiment(tmp_path), allow_code=False), [])
    found.states = {number: ShardState(SENT, "slurm", 1) for number in FIRST}
    found.save()
    return found


def site_of(submission: Submission, **asked: object) -> SlurmBackend:
    return SlurmBackend(slurm_profile_of(asked), submission)


def prepare(backend: SlurmBackend) -> None:
    async def checked_first() -> None:
        await backend.check()
        await backend.prepare()

    asyncio.run(checked_first())


def test_what_is_handed_in(scheduler: Scheduler, submission: Submission) -> None:
    asked = {"partition": "short", "account": "lab", "time": "10", "memory": "4G", "cpus": 2, "gpus": 1}
    how = {"mosaic": "apptainer exec mosaic.sif mosaic", "setup": ["module load python"], "shards": 6}
    backend = site_of(submission, **asked, **how)
    prepare(backend)
    asyncio.run(backend.start(FIRST))
    asyncio.run(backend.start(FIRST))  # those that it has are left alone
    options = "--partition=short --account=lab --time=10 --mem=4G --cpus-per-task=2 --gres=gpu:1 --requeue"
    tried, *arrays = scheduler.told("sbatch")
    assert tried == ["--test-only", *options.split(), "--wrap=true"]
    place = submission.folder / "cluster"
    # Its arrays have three tasks at most; all together run six at once.
    assert arrays == [
        [
            "--parsable",
            f"--job-name=mosaic-01SUB-000{i}",
            f"--array=1-{tasks}%2",
            "--output=/dev/null",
            f"--error={place}/arrays/000{i}-%a.err",
            "--open-mode=append",
            "--signal=B:TERM@60",
            *options.split(),
            f"{place}/array.sh",
            f"{place}/arrays/000{i}.list",
            str(place),
        ]
        for i, tasks in ((1, 3), (2, 3), (3, 1))
    ]
    assert (place / "arrays/0002.list").read_text() == "4/1\n5/1\n6/1\n"
    script = (place / "play.sh").read_text()
    assert "module load python\n" in script
    played = (
        'apptainer exec mosaic.sif mosaic run experiment.json --shard "$number/7" --out "$place/runs" --json'
    )
    assert played in script


@pytest.mark.parametrize("said", [NO_ACCOUNT, "Invalid partition name specified"])
def test_what_the_site_does_not_have_is_told_before_anything_is_handed_in(
    scheduler: Scheduler, submission: Submission, said: str
) -> None:
    scheduler.says("sbatch", f"echo '{REFUSED}{said}' >&2; exit 1")
    with pytest.raises(UsageError, match=f"sbatch: .*{said}") as refused:
        asyncio.run(site_of(submission, account="nobody").check())
    assert refused.value.fix == "Correct the profile"
    assert not (submission.folder / "cluster").exists()


def test_a_machine_without_slurm_is_named(submission: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="sbatch is not installed here"):
        asyncio.run(site_of(submission).check())


@pytest.mark.parametrize(
    "said",
    [
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying",
        "slurm_submit_batch_job error: Slurm backup controller in standby mode",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
    ],
)
def test_a_controller_that_has_no_time_is_waited_for(
    scheduler: Scheduler, submission: Submission, said: str
) -> None:
    scheduler.says("sbatch", f"echo '{said}' >&2; exit 1")
    with pytest.raises(HostUnreachableError):
        asyncio.run(site_of(submission).check())


def test_what_a_person_may_not_have_more_of_waits_here(
    scheduler: Scheduler,
    submission: Submission,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = [0.0]
    monkeypatch.setattr(
        "gym_gui.services.submissions.slurm.slurm_backend.time", SimpleNamespace(monotonic=lambda: clock[0])
    )
    backend = site_of(submission)
    prepare(backend)
    no = f"echo '{REFUSED}{TOO_MANY}' >&2; exit 1"
    taken = f"[ $1 = --test-only ] && exit; mkdir {scheduler.folder}/one 2>/dev/null && echo 1 && exit; {no}"
    scheduler.says("sbatch", taken)
    scheduler.says("squeue", "for i in 1 2 3; do echo 1 $i PD mosaic-01SUB-0001 Priority; done")
    with caplog.at_level(logging.WARNING):
        asyncio.run(backend.start(FIRST))
        looks = asyncio.run(backend.status(FIRST))
    assert caplog.messages == [
        f"sbatch: {REFUSED[15:]}{TOO_MANY}. The other jobs wait until Slurm accepts them."
    ]
    assert [seen.begun or not seen.running for seen in looks.values()] == [False] * 7, "all of them wait"
    before = len(scheduler.told("sbatch"))
    clock[0] += 31.0
    asyncio.run(backend.status(FIRST))
    assert len(scheduler.told("sbatch")) == before + 1, "it is asked again, seldom"
    (scheduler.folder / "one").rmdir()
    clock[0] += 31.0
    asyncio.run(backend.status(FIRST))
    assert sorted(file.read_text() for file in submission.folder.glob("cluster/arrays/*.list")) == [
        "1/1\n2/1\n3/1\n",
        "4/1\n5/1\n6/1\n",
    ]
    # Who stops it has nothing more handed in, and waits for nothing that was not.
    asyncio.run(backend.stop(FIRST, at_once=False))
    clock[0] += 31.0
    assert not asyncio.run(backend.status(FIRST))[7].running
    # And where none of its jobs is there any more, that is a fault.
    again = site_of(submission)
    prepare(again)
    scheduler.says("squeue", "")
    clock[0] += 31.0
    asyncio.run(again.status(FIRST))
    clock[0] += 31.0
    with pytest.raises(HostFailedError, match="job submit limit"):
        asyncio.run(again.status(FIRST))


def test_a_first_refusal_is_told_at_once(scheduler: Scheduler, submission: Submission) -> None:
    backend = site_of(submission)
    prepare(backend)
    scheduler.says("sbatch", f"echo '{REFUSED}{TOO_MANY}' >&2; exit 1")
    with pytest.raises(UsageError, match="job submit limit"):
        asyncio.run(backend.start(FIRST))


def test_memory_that_is_used_up_is_told_in_the_schedulers_words(
    scheduler: Scheduler, submission: Submission
) -> None:
    backend = site_of(submission)
    prepare(backend)
    asyncio.run(backend.start(FIRST))
    place = submission.folder / "cluster"
    for number in (1, 2, 3):
        (place / f"work/{number}/1/out").write_text("")
        (place / f"work/{number}/1/err").write_text("Killed\n")
        (place / f"work/{number}/1/code").write_text("137\n")
    event = "Detected 1 oom_kill event in StepId=1.batch. Some of the step tasks have been OOM Killed."
    (place / "arrays/0001-1.err").write_text(f"slurmstepd: error: {event}\n")
    state = "[ $4 = 1_2 ] && echo JobId=1 JobState=OUT_OF_MEMORY || echo JobId=1 JobState=COMPLETED"
    scheduler.says("scontrol", state)
    looks = asyncio.run(backend.status(dict.fromkeys((1, 2, 3), 1)))
    assert [(looks[n].code, looks[n].said) for n in (1, 2, 3)] == [
        (None, event),
        (None, "its job ended: out of memory"),
        (137, "Killed"),
    ]


def test_what_has_ended_meanwhile_is_stopped(scheduler: Scheduler, submission: Submission) -> None:
    backend = site_of(submission)
    prepare(backend)
    asyncio.run(backend.start(FIRST))
    scheduler.says(
        "scancel", "echo 'scancel: error: Kill job error on job id 1_3: Invalid job id specified' >&2; exit 1"
    )
    asyncio.run(backend.stop(FIRST, at_once=False))
    jobs = ["1_[1,2,3]", "2_[1,2,3]", "3_[1]"]
    assert scheduler.told("scancel") == [
        ["--state=PENDING", *jobs],
        ["--batch", "--signal=TERM", "--state=RUNNING", *jobs],
    ]
    scheduler.says(
        "scancel", "echo 'scancel: error: Kill job error on job id 1_3: Access denied' >&2; exit 1"
    )
    with pytest.raises(HostFailedError, match="Access denied"):
        asyncio.run(backend.stop(FIRST, at_once=True))


_opened: list[str] | None = None


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if _opened is not None and event in ("open", "os.listdir", "os.scandir"):
        _opened.append(str(arguments[0]))


def test_a_look_reads_each_file_once_and_lists_no_folder(
    scheduler: Scheduler, submission: Submission
) -> None:
    global _opened
    backend = site_of(submission)
    prepare(backend)
    three = {1: 1, 2: 1, 3: 1}
    asyncio.run(backend.start(three))
    place = submission.folder / "cluster"
    jobs = "echo 1 1 R mosaic-01SUB-0001 None; echo 1 2 R mosaic-01SUB-0001 None"
    scheduler.says("squeue", f"{jobs}; echo 1 3 PD mosaic-01SUB-0001 Priority")
    for number in (1, 2):
        for name in ("out", "err"):
            (place / f"work/{number}/1" / name).write_text("")
    asyncio.run(backend.status(three))
    sys.addaudithook(_hear)
    _opened = []
    asyncio.run(backend.status(three))
    opened, _opened = [path for path in _opened if path.startswith(str(place))], None
    files = {str(place / f"work/{n}/1" / name) for n in (1, 2) for name in ("out", "err")}
    assert files <= set(opened) and len(opened) == len(set(opened))
    waiting = {path for path in opened if not path.startswith((f"{place}/work/1/", f"{place}/work/2/"))}
    assert {Path(path).name for path in waiting} == {"code"}, "of what waits only whether it has ended"


def test_what_another_person_put_there_is_not_played(scheduler: Scheduler, submission: Submission) -> None:
    place = submission.folder / "cluster"
    place.mkdir()
    (place / "play.sh").write_text("touch stolen")
    with pytest.raises(UsageError, match="did not create it"):
        asyncio.run(site_of(submission).check())
    assert (place / "play.sh").read_text() == "touch stolen"


@pytest.mark.parametrize("below", ["", "runs", "runs/01RUN", "submissions/01SUB"])
def test_no_place_is_where_the_submission_or_its_results_are(
    scheduler: Scheduler, tmp_path: Path, below: str
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "here").symlink_to(tmp_path / "there")
    submission = Submission(
        tmp_path / "here" / "submissions" / "01SUB", "slurm", {}, "run", 7, 28, tmp_path / "here" / "runs"
    )
    folder = tmp_path / "there" / (below or "submissions")
    with pytest.raises(UsageError, match="lies inside the submission or its results"):
        asyncio.run(site_of(submission, folder=str(folder)).check())
