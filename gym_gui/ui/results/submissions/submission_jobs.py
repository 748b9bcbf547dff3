"""Jobs that resume, stop or merge a submission; each runs a ``mosaic`` command in its own process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.available_executors import REACHES
from gym_gui.services.submissions.overview import run_of
from gym_gui.services.submissions.submission_record import open_submission
from gym_gui.services.subprocess_job import run_subprocess_job
from gym_gui.ui.numbers import count, local
from gym_gui.ui.results.jobs import Job, JobResult, ProgressCallback


def go_on_job(folder: Path, command: str) -> Job:
    """Return a job that resumes a submission and its failed shards in a process that outlives the window.

    Args:
        folder: Folder of the submission.
        command: Subcommand of ``mosaic`` that resumes it, such as ``run``.
    """

    async def job(_share: ProgressCallback) -> JobResult:
        asked = (command, "--resume", str(folder), "--detach", "--json")
        await run_subprocess_job("gym_gui", *asked, named=REACHES)
        return JobResult("The submission continues in its own process: you can close the window.", "info")

    return job


def stop_job(folder: Path) -> Job:
    """Return a job that stops the running shards of a submission."""

    async def job(_share: ProgressCallback) -> JobResult:
        finished = await run_subprocess_job("gym_gui", "runs", "stop", str(folder), "--json", named=REACHES)
        told = finished.json()
        if told["run"]:
            return JobResult("The submission had already ended.", "info")
        if left := int(told["may_go_on"]):
            return JobResult(f"{count(left, 'shard')} may still run: the hosts did not answer.", "warning")
        return JobResult("Stopped. Finished episodes are kept; Resume plays the others.", "info")

    return job


def merge_job(folder: Path, out: Path, show: Callable[[Path], object]) -> Job:
    """Return a job that merges the shards of a submission that are on this machine; the shards stay
    unchanged.

    Args:
        folder: Folder of the submission.
        out: Folder in which the run folder is created.
        show: Shows the run in a folder.
    """

    async def job(share: ProgressCallback) -> JobResult:
        parts = await asyncio.to_thread(_parts_here, folder)
        return await merge_parts_job(parts, out, show, partly=True)(share)

    return job


def merge_parts_job(
    parts: Sequence[Path],
    out: Path,
    show: Callable[[Path], object],
    *,
    partly: bool = False,
    again: Callable[[], object] | None = None,
) -> Job:
    """Return a job that merges parts of an experiment into one run; the parts stay unchanged.

    Args:
        parts: Run folders of the parts.
        out: Folder in which the run folder is created.
        show: Shows the run in a folder.
        partly: Whether to merge even if parts are missing or incomplete.
        again: Called if the user chooses to merge despite missing parts; ``None`` hides that choice.
    """

    async def job(share: ProgressCallback) -> JobResult:
        def tell(progress: object) -> None:
            if isinstance(progress, dict) and progress.get("total_bytes"):
                total = int(progress["total_bytes"])
                share("", round(1000 * int(progress["bytes"]) / total), 1000)

        more = ("--partial",) if partly else ()
        asked = ("runs", "merge", *map(str, parts), "--out", str(out), *more, "--json")
        try:
            finished = await run_subprocess_job("gym_gui", *asked, on_progress=tell)
        except UsageError as error:
            missing = again is not None and "--partial" in str(error)
            return JobResult(
                error.sentence, "warning", ("Merge available parts", again) if missing and again else None
            )
        return _merged_words(finished.json(), show)

    return job


def _merged_words(told: dict[str, Any], show: Callable[[Path], object]) -> JobResult:
    run, missing = Path(told["run"]), len(told["missing"])
    shards, episodes = count(int(told["shards"]), "shard"), count(int(told["episodes"]), "episode")
    words = f"{shards}, {episodes} are now one run"
    words += ", which is marked as incomplete." if missing else "."
    if told["differences"]:
        words += f" {local(len(told['differences'])):,} package versions differ; the report lists them."
    return JobResult(words, "warning" if missing else "ok", ("Open the run", partial(show, run)))


def _parts_here(folder: Path) -> list[Path]:
    """Return the run folders of the shards that are on this machine, complete or not.

    Raises:
        UsageError: No shard is on this machine.
    """
    submission = open_submission(folder)
    found = [run_of(submission, number) for number, state in submission.states.items() if state.tries]
    if not (runs := [run for run in found if run is not None]):
        raise UsageError(
            "no shard is on this machine yet", fix="Wait for the first shard, or resume the submission"
        )
    return runs
