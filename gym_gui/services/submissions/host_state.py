"""Updates a submission's records of its hosts: last answers, logs of lost attempts, former hosts."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from gym_gui.core.record_fields import items, mapping, text
from gym_gui.services.submissions.submission_record import FormerPlace, PlaceState, Submission
from mosaic_worker.plain_files import replace_file

_EACH: Final = timedelta(seconds=10)
"""Precision of the recorded time of an answer, so that the record is not written every second."""
_log = logging.getLogger(__name__)


def note_answer(place: PlaceState) -> None:
    """Record that a host or cluster has answered."""
    now = datetime.now(UTC)
    place.problem = ""
    if not place.heard_at or abs(now - datetime.fromisoformat(place.heard_at)) >= _EACH:
        place.heard_at = now.isoformat(timespec="seconds")


def save_log_tail(file: Path, lines: Sequence[str]) -> None:
    """Save the last output of an attempt, as its host may be cleared or unreachable later."""
    if not lines:
        return
    try:
        file.parent.mkdir(exist_ok=True)
        replace_file(file, "".join(f"{line}\n" for line in lines).encode(), sync=False)
    except OSError as error:
        _log.debug("%s cannot be written: %s", file, error)


def name_other_places(submission: Submission, profile: Mapping[str, Any]) -> None:
    """Replace the profile of a submission, so that its shards are played on other hosts.

    Hosts of the old profile that were sent files are kept with their entries if the new profile does not
    name them with the same folder, because their files are still to be removed.

    Args:
        submission: The submission, which is not saved.
        profile: Contents of the new profile's file.
    """
    named = _entries(submission.executor, profile)

    def is_named(place: FormerPlace) -> bool:
        there = named.get(place.name)
        return there is not None and there.get("folder") == place.entry.get("folder")

    left = submission.places_used - submission.emptied
    old = [FormerPlace(*each) for each in _entries(submission.executor, submission.profile).items()]
    old = [place for place in old if place.name in left and not is_named(place)]
    submission.emptied -= {place.name for place in submission.former if is_named(place)}
    kept = [place for place in submission.former if not is_named(place)]
    submission.former = kept + [place for place in old if place not in kept]
    submission.profile = profile


def not_named(submission: Submission, names: Sequence[str]) -> list[str]:
    """Return a sentence for each host with leftover files that the profile no longer names.

    Args:
        submission: The submission.
        names: Names of the places in its profile.
    """
    then = (
        "Write a profile with that entry, and pass it: "
        f"mosaic {submission.command} --resume {submission.folder} --profile FILE"
    )
    unknown = submission.places_used - submission.emptied - set(names)
    unknown -= {place.name for place in submission.former}
    return [
        f"{name}, which the profile no longer names. Its entry was {entry}. {then}"
        for name, entry in [
            *((place.name, json.dumps(dict(place.entry))) for place in submission.former),
            *((name, "in a profile that is not on record") for name in sorted(unknown)),
        ]
    ]


def _entries(executor: str, profile: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the profile's entries by name of host or cluster, without empty values."""
    hosts = items(profile.get("hosts"))
    rows = [(text(row.get("host")) or "", row) for each in hosts or () if (row := mapping(each))]
    return {
        name: {key: value for key, value in row.items() if value not in ([], "")}
        for name, row in (rows or [(executor, profile)])
    }
