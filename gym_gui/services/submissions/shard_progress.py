"""How far a submission is, by its record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gym_gui.services.submissions.submission_record import COLLECTED, SENT, Submission


@dataclass(frozen=True)
class ShardProgress:
    """How far a submission is.

    Attributes:
        shards: Shards that are here.
        of: Of how many, as far as that is known.
        done: Work that is done, anywhere, in the submission's units.
        failed: Of these, failed ones.
        playing: How many shards each place is playing.
    """

    shards: int
    of: int
    done: int
    failed: int
    playing: Mapping[str, int]


OnShardProgress = Callable[[ShardProgress], None]


def progress_of(submission: Submission) -> ShardProgress:
    """How far a submission is, by its record."""
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
