"""Shows the progress of a submission with the progress bars of runs and of trainings."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from gym_gui.analysis.words import wording
from gym_gui.services.submissions.shard_progress import OnShardProgress, ShardProgress
from gym_gui.services.submissions.submission_record import Submission
from gym_gui.services.trainer import TrainProgress

if TYPE_CHECKING:
    from gym_gui.cli.progress import OnTrainProgress
    from gym_gui.controllers.runs.script_execution import OnProgress

_MAX_HOSTS: Final = 3
"""Largest number of hosts that are named; for more, their number is shown."""
_RATE_WINDOW_S: Final = 30.0
"""Seconds over which the speed of trainings is averaged."""


def shown_by(show: OnProgress, total: int) -> OnShardProgress:
    """Return a function that shows the progress of a submission of shards.

    Args:
        show: Shows the progress of operators; gets one row for all shards.
        total: Number of episodes of all shards.
    """

    from gym_gui.controllers.runs.operator_execution import OperatorProgress

    def tell(progress: ShardProgress) -> None:
        playing = progress.playing
        live = sum(playing.values())
        places = ", ".join(f"{name} plays {count}" for name, count in sorted(playing.items()))
        if len(playing) > _MAX_HOSTS:
            places = f"{len(playing)} hosts play {live}"
        name = f"{progress.shards} of {progress.of} shards" + (f" ({places})" if places else "")
        show([OperatorProgress("shards", name, progress.done, total, progress.failed, live, 0)])

    return tell


def shown_trainings(show: OnTrainProgress, now: Callable[[], Submission]) -> OnShardProgress:
    """Return a function that shows the joint progress of a submission's trainings.

    Args:
        show: Shows the progress of one training; gets the sum of all.
        now: Returns the current state of the submission.
    """
    seen: list[tuple[float, int]] = []

    def print_submission_progress(progress: ShardProgress) -> None:
        submission, at = now(), time.monotonic()
        while len(seen) > 1 and at - seen[0][0] > _RATE_WINDOW_S:
            del seen[0]
        seen.append((at, progress.done))
        (then, before), passed = seen[0], at - seen[0][0]
        rate = max(0.0, (progress.done - before) / passed) if passed > 0 else 0.0
        scores = [state.score for state in submission.states.values() if state.score is not None]
        mean = sum(scores) / len(scores) if scores else None
        left = (submission.total - progress.done) / rate if rate and submission.total else None
        show(TrainProgress(progress.done, submission.total, mean, 0, rate, at - then, left))

    return print_submission_progress


def title_of(submission: Submission) -> str:
    """Return the title of the progress bar for a submission of trainings, such as ``5 trainings``."""
    return wording.count(submission.of, "training")
