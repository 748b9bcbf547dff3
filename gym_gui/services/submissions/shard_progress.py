"""Progress of a submission, computed from its record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gym_gui.services.submissions.submission_record import COLLECTED, SENT, Submission


@dataclass(frozen=True)
class ShardProgress:
    """Progress of a submission.

    Attributes:
        shards: Number of collected shards.
        of: Number of all shards, as far as it is known.
        done: Episodes or training steps finished on all hosts.
        failed: Finished episodes or steps that failed, included in ``done``.
        playing: Number of processes that each host runs.
    """

    shards: int
    of: int
    done: int
    failed: int
    playing: Mapping[str, int]


OnShardProgress = Callable[[ShardProgress], None]


def progress_of(submission: Submission) -> ShardProgress:
    """Return the progress of a submission from its record."""
    states = submission.states.values()
    return ShardProgress(
        shards=sum(state.status == COLLECTED for state in states),
        of=submission.of if submission.due is None else len(submission.due),
        done=sum(state.done for state in states),
        failed=sum(state.failed for state in states),
        playing=Counter(
            host
            for host, _ in {
                (state.host, state.batch or number)
                for number, state in submission.states.items()
                if state.status == SENT
            }
        ),
    )
