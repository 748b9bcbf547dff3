"""Implements ``--executor … --dry-run``: prints shards, files to send, and whether each host can play."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from gym_gui.analysis.words import wording
from gym_gui.cli.errors import DONE, USAGE
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import MosaicError
from gym_gui.services.submissions.executor_backend import ExecutorBackend
from gym_gui.services.submissions.executors import backends_of
from gym_gui.services.submissions.submission_record import Submission


def print_hosts(submission: Submission, write: Callable[[Path], object], *, as_json: bool) -> int:
    """Check each host of a submission and print how many shards the host would play at once.

    Args:
        submission: The planned submission; it is not saved.
        write: Writes the files to send into a folder.
        as_json: Whether to print JSON.

    Returns:
        Exit status: 0 if at least one host can be used, else 2.
    """
    with tempfile.TemporaryDirectory(prefix="mosaic-") as aside:
        write(Path(aside) / "bundle")
        sizes = [path.stat().st_size for path in Path(aside).rglob("*") if path.is_file()]
    files, size = len(sizes), sum(sizes)
    backends = backends_of(submission)
    problems = asyncio.run(_problems(backends))
    if as_json:
        places = [
            {"name": backend.name, "shards": backend.capacity, "problem": problem}
            for backend, problem in zip(backends, problems, strict=True)
        ]
        parts, work = ("trainings", "steps") if submission.trainings else ("shards", "episodes")
        about = {parts: submission.of, work: submission.total}
        write_json({**about, "files": files, "bytes": size, "places": places})
    else:
        most = "" if submission.due is None else "At most "  # the comparisons may be decided earlier
        part, work = ("training", "steps") if submission.trainings else ("shard", "episodes")
        write_line(f"{most}{submission.total:,} {work} in {wording.count(submission.of, part)}.")
        write_line(f"Sent to each host: {wording.count(files, 'file')}, {wording.size(size)}.")
        width = max(len(backend.name) for backend in backends)
        for backend, problem in zip(backends, problems, strict=True):
            at_once = f"plays {wording.count(backend.capacity, part)} at once"
            write_line(f"  {backend.name:{width}}  {problem or at_once}")
    return DONE if None in problems else USAGE


async def _problems(backends: Sequence[ExecutorBackend]) -> list[str | None]:
    """Return why each host cannot be used, in the same order; ``None`` for a host that can."""
    return list(await asyncio.gather(*(_problem(backend) for backend in backends)))


async def _problem(backend: ExecutorBackend) -> str | None:
    try:
        await backend.check()
    except MosaicError as error:
        return f"{error.message.removeprefix(f'{backend.name}: ')}{f'. {error.fix}' if error.fix else ''}"
    finally:
        await backend.close()
    return None
