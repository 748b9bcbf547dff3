"""Runs shards as Slurm job arrays, on a disk that this machine and all nodes share."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shutil
import stat
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from gym_gui.core.errors import UsageError
from gym_gui.services.shards.lease_files import CLAIM, LEASE, MOST_BYTES
from gym_gui.services.submissions.bundle import allowed_on
from gym_gui.services.submissions.collect_parts import move_part
from gym_gui.services.submissions.host_check import version_first
from gym_gui.services.submissions.shard_status import KILLED, ShardStatus, status_from
from gym_gui.services.submissions.shell import ALLOWED, PLAY, TOKEN, play_script, unfinished
from gym_gui.services.submissions.slurm.slurm_commands import (
    PLAY_ARRAY,
    Task,
    ask,
    cancel,
    job_called,
    most_tasks,
    queued,
    state_of,
    submit,
)
from gym_gui.services.submissions.slurm.slurm_profile import SlurmProfile
from gym_gui.services.submissions.submission_errors import HostFailedError, HostUnreachableError, not_ours
from gym_gui.services.submissions.submission_record import Submission
from gym_gui.services.submissions.training_files import FileGrowth, ReceivedFiles, grown_in
from mosaic_worker.plain_files import read_file, replace_file

ARRAY: Final = "array.sh"
_ARRAYS: Final = "arrays"
_MOST_TOKEN: Final = 100
_MOST_TASKS: Final = 1000
"""Number of tasks per array if Slurm does not report its limit."""
_JOBS_EACH: Final = 4
"""Number of jobs for each shard that may run at once, so that a lost or slow job delays few shards."""
_LAG_S: Final = 30.0
"""Seconds until a file of a job is visible on this machine if the shared disk is slow."""
_LAG_WHEN_STOPPED_S: Final = 2.0
"""As :data:`_LAG_S`, while the submission is stopped. Files that appear later are found on resume."""
_HELD_S: Final = 15.0
"""Seconds that a job may stay in the queue after its shard has ended."""
_AGAIN_S: Final = 30.0
"""Seconds until a refused submission is tried again. A user may have too many jobs at present."""
_TAIL_BYTES: Final = 1 << 15
_HOPELESS: Final = re.compile(
    r"(Invalid|Bad)(Account|QOS|Constraints)|(Account|QOS)NotAllowed|Partition(TimeLimit|NodeLimit)"
    r"|(Assoc|QOS)Max\w+PerJobLimit|DependencyNeverSatisfied|launch_failed_requeued_held"
)
"""Slurm's reasons for jobs that can never start."""
_TELLS_NOTHING: Final = ("", "running", "completing", "completed")
"""Job states that do not explain why a shard was lost."""
_USUAL: Final = frozenset({"None", "Resources", "Priority", "BeginTime", "JobArrayTaskLimit", "Cleaning"})
_log = logging.getLogger(__name__)


class SlurmBackend:
    """Plays the shards of one submission as Slurm jobs.

    All jobs are submitted to the scheduler at once and wait in its queue.

    Args:
        profile: Resources that the jobs request.
        submission: The submission to play.
    """

    name = "slurm"
    patience_s = 1800.0
    deals = True

    def __init__(self, profile: SlurmProfile, submission: Submission) -> None:
        self.capacity = min(submission.of, _JOBS_EACH * profile.shards)
        self._profile, self._submission = profile, submission
        folder = Path.home() / profile.folder / submission.folder.name if profile.folder else None
        self._place = (folder or submission.folder / "cluster").absolute()
        self._tasks: dict[tuple[int, int], Task] = {}
        self._gone: dict[Task, float] = {}
        self._nodes: dict[tuple[int, int], str] = {}
        self._held: dict[Task, float] = {}
        self._logged: set[str] = set()
        self._most, self._unsure, self._is_ending = _MOST_TASKS, False, False
        self._refused_at, self._has_jobs = -_AGAIN_S, False

    async def check(self) -> None:
        """Check that the scheduler accepts jobs with the resources of the profile.

        Raises:
            HostAwayError: The scheduler does not answer.
            UsageError: The scheduler refuses the jobs, or this machine has no ``sbatch``.
        """
        if shutil.which("sbatch") is None:
            raise UsageError(
                "sbatch is not installed here",
                fix="Run this on a machine of the cluster from which jobs are submitted",
            )
        self._check_keys()
        self._check_place()
        self._most = await most_tasks() or _MOST_TASKS
        try:
            await ask("sbatch", "--test-only", *self._profile.asked, "--wrap=true")
        except HostFailedError as error:
            raise UsageError(str(error), fix="Correct the profile") from None

    async def prepare(self) -> None:
        """Copy the submission's files to a folder that the nodes can read.

        Raises:
            HostAwayError: The scheduler does not answer.
            HereError: The files cannot be written.
        """
        await asyncio.to_thread(self._copy_files)
        await self._recover_jobs()

    async def start(self, tries: Mapping[int, int]) -> None:
        """Submit attempts of shards to the scheduler as arrays. Submitted attempts are skipped.

        If the scheduler refuses more jobs while it has others, the rest is submitted later.

        Raises:
            HostAwayError: The scheduler does not answer.
            HostFailedError: The scheduler refuses the jobs, and none of the earlier jobs is left.
            UsageError: The scheduler refuses the first jobs.
        """
        if self._unsure and any(key not in self._tasks for key in tries.items()):
            await self._recover_jobs()  # the scheduler may have accepted a submission without an answer
        new = [key for key in tries.items() if key not in self._tasks]
        if not new or self._is_ending or time.monotonic() - self._refused_at < _AGAIN_S:
            return
        await asyncio.to_thread(self._make_folders, new)
        batches = self._submission.batches(dict(new))
        lists = [batches[i : i + self._most] for i in range(0, len(batches), self._most)]
        for each in lists:
            at_once = max(1, self._profile.shards // len(lists))
            try:
                await self._submit_batches(each, at_once)
            except HostFailedError as error:
                self._handle_refusal(error)
                return

    def _handle_refusal(self, refused: HostFailedError) -> None:
        if not self._tasks:
            raise UsageError(str(refused), fix="Correct the profile") from None
        if not self._has_jobs:
            raise refused
        self._refused_at = time.monotonic()
        if refused.message not in self._logged:
            self._logged.add(refused.message)
            _log.warning("%s. The other jobs wait until Slurm accepts them.", refused.message)

    async def status(self, tries: Mapping[int, int]) -> dict[int, ShardStatus]:
        """Return the status of shards, from their jobs and from the files that the jobs have written.

        Raises:
            HostAwayError: The scheduler does not answer.
            HostFailedError: The scheduler refuses again the jobs that it refused before.
            UsageError: The scheduler has accepted jobs that can never start.
        """
        await self.start(tries)  # submit what the scheduler refused before
        there = await queued(self._job_name(""))
        for each in there:
            self._check_reason(each.reason)
        states = {each.task: each.state for each in there}
        self._has_jobs = bool(states)
        await self._cancel_idle(tries, states)
        looks = await asyncio.to_thread(self._looks, tries, states)
        for number, seen in looks.items():
            lost, killed = seen.code is None and not seen.said, (seen.code or 0) > KILLED
            if seen.begun and not seen.running and (lost or killed):
                said = await self._why_ended(self._tasks[number, tries[number]])
                looks[number] = replace(seen, said=said, code=None) if said else seen
        return looks

    async def cancel_waiting(self, tries: Mapping[int, int]) -> Sequence[int]:
        """Return no shards, because the scheduler itself assigns waiting shards to free nodes."""
        return []

    async def exchange(self, known: Mapping[int, ReceivedFiles]) -> dict[int, FileGrowth]:
        """Pass the user's requests to trainings, and return the new bytes of their files.

        Raises:
            HostAwayError: The disk does not answer.
        """
        try:
            return await asyncio.to_thread(self._grown, known)
        except OSError as error:
            raise HostUnreachableError(f"{error.filename or self._place}: {error.strerror}") from error

    async def write_leases(self, tries: Mapping[int, int], words: Mapping[int, str]) -> None:
        """Write a budget lease to the folder of each attempt.

        Raises:
            HostFailedError: A file cannot be written.
        """
        await asyncio.to_thread(self._write_leases, tries, words)

    def _write_leases(self, tries: Mapping[int, int], words: Mapping[int, str]) -> None:
        for number, attempt in tries.items():
            file = self._place / "work" / str(number) / str(attempt) / LEASE
            try:
                replace_file(file, f"{words[number]}\n".encode(), mode=0o600, sync=False)
            except OSError as error:
                raise HostFailedError(f"{file} cannot be written: {error.strerror}") from error

    async def fetch(self, number: int) -> None:
        """Move the run folders of a shard into the submission.

        Raises:
            HostFailedError: The shard's run folder is missing or incomplete.
            HereError: There is no space for it here.
        """
        runs = self._place / "work" / str(number) / "runs"
        await asyncio.to_thread(move_part, runs, self._submission, number)

    async def stop(self, tries: Mapping[int, int], *, at_once: bool) -> None:
        """Cancel waiting shards, and ask the running ones to end, or end them at once."""
        self._is_ending = True
        tasks = defaultdict[str, list[int]](list)
        for key in tries.items():
            if key in self._tasks:
                job, index = self._tasks[key]
                tasks[job].append(index)
        jobs = [f"{job}_[{','.join(map(str, sorted(set(each))))}]" for job, each in sorted(tasks.items())]
        if not jobs:
            return
        if at_once:
            await cancel(jobs)
            return
        await cancel(jobs, "--state=PENDING")
        await cancel(jobs, "--batch", "--signal=TERM", "--state=RUNNING")

    async def clear(self) -> None:
        """Remove the files that were copied for the nodes."""
        for place in (self._unfinished, self._place):
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    async def close(self) -> None:
        """Do nothing, because nothing is kept open."""

    # -- inside --------------------------------------------------------------------------

    @property
    def _play(self) -> str:
        submission = self._submission
        return play_script(
            submission.command,
            submission.of,
            self._profile.command,
            submission.trainings,
            at_once=submission.at_once,
            first=version_first(self._profile.command),
        )

    @property
    def _script(self) -> str:
        return str(self._place / ARRAY)

    def _job_name(self, array: str) -> str:
        return f"mosaic-{self._submission.folder.name[-10:]}-{array}"

    def _check_keys(self) -> None:
        keys = self._profile.command.keys
        if not keys:
            return
        try:
            mode = (Path.home() / keys).stat().st_mode
        except OSError:
            mode = 0
        if not stat.S_ISREG(mode) or mode & 0o077:
            raise UsageError(
                f"the file of keys {keys} is missing, or readable by other users",
                fix=f"Check it, then run: chmod 600 {keys}",
            )

    @property
    def _unfinished(self) -> Path:
        """Temporary folder for the nodes' files, renamed when the copy is complete."""
        return Path(unfinished(str(self._place)))

    def _check_place(self) -> None:
        """Refuse a folder with other files or another submission, as the folder is removed at the end."""
        submission, place = self._submission, self._place.resolve()
        kept = (submission.folder.resolve(), submission.out.resolve())
        if self._profile.folder and any(place.is_relative_to(each) for each in kept):
            raise UsageError(
                f"the profile's folder {self._profile.folder} lies inside the submission or its results",
                fix="Name another folder on a disk that all nodes share: folder: …",
            )
        if not os.path.lexists(self._place):
            return
        try:
            token = read_file(self._place / TOKEN, limit=_MOST_TOKEN, inside=self._place)
        except FileNotFoundError:
            token = b""
        except OSError as error:
            raise UsageError(f"{error.filename or self._place} cannot be read: {error.strerror}") from error
        if token.decode("utf-8", "replace").strip() != self._submission.token:
            raise not_ours(str(self._place))

    def _copy_files(self) -> None:
        submission = self._submission
        new = self._unfinished
        try:
            if os.path.lexists(self._place):
                # The user who resumes the submission may have corrected its start command.
                replace_file(self._place / PLAY, self._play.encode(), mode=0o600, sync=False)
                replace_file(self._place / ARRAY, PLAY_ARRAY.encode(), mode=0o600, sync=False)
                self._write_allowed(self._place)
                return
            shutil.rmtree(new, ignore_errors=True)
            shutil.copytree(submission.bundle, new)
            new.chmod(0o700)
            self._write_allowed(new)
            (new / PLAY).write_text(self._play)
            (new / ARRAY).write_text(PLAY_ARRAY)
            (new / TOKEN).write_text(f"{submission.token}\n")
            (new / _ARRAYS).mkdir()
            new.rename(self._place)
        except OSError as error:
            raise UsageError(
                f"{error.filename or self._place} cannot be written: {error.strerror}",
                fix="Name a folder on a disk that all nodes share in the profile: folder: …",
            ) from error

    def _write_allowed(self, folder: Path) -> None:
        allowed = allowed_on(self._submission.needs, str(self._place))
        replace_file(folder / ALLOWED, allowed.encode(), mode=0o600, sync=False)

    def _make_folders(self, tries: Sequence[tuple[int, int]]) -> None:
        for number, attempt in tries:
            (self._place / "work" / str(number) / "runs").mkdir(parents=True, exist_ok=True)
            (self._place / "work" / str(number) / str(attempt)).mkdir(exist_ok=True)

    async def _submit_batches(self, batches: Sequence[Sequence[tuple[int, int]]], at_once: int) -> None:
        """Submit one array. Its list is written first, so that a later coordinator can find the array."""
        array = f"{len(list((self._place / _ARRAYS).glob('*.list'))) + 1:04}"
        listed = self._place / _ARRAYS / f"{array}.list"
        lines = "".join(" ".join(f"{number}/{t}" for number, t in batch) + "\n" for batch in batches)
        # Written whole or not at all, because a full disk would otherwise leave half a file.
        await asyncio.to_thread(replace_file, listed, lines.encode(), mode=0o600, sync=False)
        self._unsure = True
        try:
            job = await submit(
                self._job_name(array),
                listed,
                len(batches),
                at_once,
                self._place,
                self._script,
                self._profile.asked,
            )
        except HostFailedError:
            listed.unlink()
            self._unsure = False
            raise
        replace_file(listed.with_suffix(".job"), job.encode(), mode=0o600, sync=False)
        self._unsure, self._has_jobs = False, True
        self._tasks |= {key: (job, i) for i, batch in enumerate(batches, 1) for key in batch}

    async def _recover_jobs(self) -> None:
        """Find the jobs that an earlier coordinator submitted, even if a kill interrupted the submission."""
        for listed in sorted((self._place / _ARRAYS).glob("*.list")):
            job = listed.with_suffix(".job")
            lines = listed.read_text().splitlines()
            batches = [[tuple(map(int, each.split("/"))) for each in line.split()] for line in lines]
            if not job.exists() or not job.stat().st_size:
                found = await job_called(self._job_name(listed.stem))
                begun = any((self._place / "work" / f"{n}/{t}" / "run").exists() for [(n, t), *_] in batches)
                if not found and not begun:
                    continue  # the array was not submitted before the kill
                replace_file(job, (found or "0").encode(), mode=0o600, sync=False)
            number = job.read_text()
            if not number.isdecimal():
                raise UsageError(f"{job} contains no job number", fix=f"Check it, then remove {listed}")
            self._tasks |= {(n, t): (number, i) for i, batch in enumerate(batches, 1) for n, t in batch}
        self._has_jobs = bool(self._tasks)  # a guess until the first look

    def _check_reason(self, reason: str) -> None:
        """Log why a job waits.

        Raises:
            UsageError: A job waits for something that never happens.
        """
        if found := _HOPELESS.search(reason):
            raise UsageError(
                f"slurm: the jobs can never start ({found[0]})",
                fix="Correct the profile: its partition, account, qos, time or memory",
            )
        if reason and reason not in _USUAL | self._logged:
            _log.warning("Shards wait in Slurm's queue: %s.", reason)
            self._logged.add(reason)

    async def _cancel_idle(self, tries: Mapping[int, int], queued: Mapping[Task, str]) -> None:
        """Cancel jobs that are still in the queue some time after their shards were collected."""
        now = time.monotonic()
        wanted = {self._tasks[key] for key in tries.items() if key in self._tasks}
        held = [task for task in {*self._tasks.values()} if task in queued and task not in wanted]
        self._held = {task: self._held.get(task, now) for task in held}
        if idle := [f"{job}_{index}" for (job, index), at in self._held.items() if now - at > _HELD_S]:
            await cancel(idle)

    def _looks(self, tries: Mapping[int, int], queued: Mapping[Task, str]) -> dict[int, ShardStatus]:
        """Return the status of shards. No files are read for waiting jobs and for shards later in a batch."""
        found: dict[int, ShardStatus] = {}
        at: set[Task] = set()
        for number, attempt in sorted(tries.items()):
            task = self._tasks.get((number, attempt))
            if task is None:  # not submitted yet, because the scheduler refused it
                found[number] = ShardStatus(not self._is_ending, None, {}, (), "", begun=False)
                continue
            if task in at:
                found[number] = ShardStatus(True, None, {}, (), "", begun=False)
                continue
            seen = self._read_status(number, attempt, queued.get(task))
            node = self._node(number, attempt) if seen.running and seen.begun else ""
            seen = found[number] = replace(seen, node=node, job="_".join(map(str, task)))
            if seen.running:
                at.add(task)
        return found

    def _node(self, number: int, attempt: int) -> str:
        """Return the name of the machine that plays an attempt; empty before the attempt starts."""
        if (number, attempt) not in self._nodes:
            said = " ".join(_tail(self._place / "work" / str(number) / str(attempt) / "host"))
            if not said:
                return ""
            self._nodes[number, attempt] = said.partition(" ")[0]
        return self._nodes[number, attempt]

    def _read_status(self, number: int, attempt: int, state: str | None) -> ShardStatus:
        place = self._place / "work" / str(number) / str(attempt)
        code = _tail(place / "code")
        if state == "PD" and not code:
            return ShardStatus(True, None, {}, (), "", begun=False)
        out, err, claim = _tail(place / "out"), _tail(place / "err"), _tail(place / CLAIM, MOST_BYTES)
        seen = status_from(False, int(code[0]) if code and code[0].isdigit() else None, out, err, claim)
        # A coordinator that was killed may still count this shard as running or waiting.
        if code and seen.is_complete:
            return seen
        # The scheduler may start a job in the queue again, whatever the job has written.
        if state is not None or (not code and self._may_be_late(self._tasks[number, attempt])):
            return status_from(True, None, out, err, claim)
        # Without an exit status, only the scheduler says that the job ended. Its node may be cut off.
        return replace(seen, begun=(place / "out").exists(), is_over=bool(code))

    def _grown(self, known: Mapping[int, ReceivedFiles]) -> dict[int, FileGrowth]:
        found = {number: grown_in(self._place / "work" / str(number), each) for number, each in known.items()}
        return {number: each for number, each in found.items() if each is not None}

    def _may_be_late(self, task: Task) -> bool:
        """Return whether a job that has left the queue may have files that are not visible on this machine
        yet."""
        now = time.monotonic()
        lag_s = _LAG_WHEN_STOPPED_S if self._is_ending else _LAG_S
        return now - self._gone.setdefault(task, now) < lag_s

    async def _why_ended(self, task: Task) -> str:
        """Return Slurm's reason for the end of a job that did not end by itself."""
        job, index = task
        for written in (self._place / _ARRAYS).glob("*.job"):
            if written.read_text() == job:
                for line in reversed(_tail(written.with_name(f"{written.stem}-{index}.err"))):
                    # slurmstepd-node: error: Exceeded job memory limit
                    if (said := line.partition(" error: ")[2]) and "***" not in said:
                        return said.strip()
        state = await state_of(task)
        return f"its job ended: {state}" if state not in _TELLS_NOTHING else ""


def _tail(path: Path, most: int = _TAIL_BYTES) -> list[str]:
    """Return the last lines of a file, or none if the file does not exist."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most))
            return file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
