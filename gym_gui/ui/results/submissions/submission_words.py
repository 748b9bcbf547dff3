"""Texts that describe the state of a submission."""

from __future__ import annotations

from datetime import UTC, datetime

from gym_gui.analysis.words.wording import dollars, duration, moment
from gym_gui.services.submissions.overview import LOST, PLAYING, QUEUED, Overview, PlaceRow, SpentBudget
from gym_gui.services.submissions.submission_record import COLLECTED, FAILED, SENT, WAITING
from gym_gui.ui.numbers import count, local, screen


def state_words(seen: Overview) -> str:
    """Return the state of the submission, and what the user can do if no process follows it."""
    sub, part = seen.submission, seen.part
    here = (
        f"{local(seen.count(COLLECTED)):,} of {count(len(seen.shards), part)} {_be(len(seen.shards))} "
        "on this machine"
    )
    if sub.run:
        if seen.run is None:
            return f"The merged run is no longer in {sub.run}."
        return f"All parts are merged: {seen.run}"
    failed = seen.count(FAILED)
    if seen.followed is not None:
        running, waiting = seen.count(PLAYING), seen.count(QUEUED, WAITING, LOST)
        counted = (
            (running, "running"),
            (waiting, "waiting"),
            (failed, "failed"),
        )
        doing = [f"{local(n):,} {word}" for n, word in counted if n]
        return f"{', '.join([here, *doing])}."
    if failed:
        return (
            f"{here}, {local(failed):,} failed, and no process follows the submission. Press Retry failed "
            "shards to restart them."
        )
    if sub.numbers(SENT):
        return (
            f"{here}, and no process follows the submission: running shards continue. Press Resume to "
            "collect them."
        )
    return f"{here}, and none is running. Press Resume to play the others."


def progress_words(seen: Overview) -> str:
    """Return the progress of the submission: finished and failed work, speed and time left."""
    sub = seen.submission
    most = "at most " if sub.due is not None else ""
    of = f" of {most}{count(sub.total, seen.unit)}" if sub.total else f" {seen.unit}s"
    words = [f"{local(seen.done):,}{of}"]
    if seen.failed:
        words.append(f"{local(seen.failed):,} of them failed")
    if seen.rate is not None:
        words.append(f"{rate_words(seen.rate)} a second")
    if seen.left_s is not None:
        words.append(f"about {duration(seen.left_s, screen(), rough=True)} left")
    return " · ".join(words)


def origin_words(seen: Overview) -> str:
    """Return the submission's executor, its start time and the process that follows it."""
    sub = seen.submission
    words = [f"Executor: {sub.executor}"]
    began = _moment(sub.began_at)
    if began is not None:
        words.append(f"begun {moment(began)}")
    follower = seen.followed
    if follower is not None and follower.is_here:
        words.append(f"followed by process {follower.pid}")
    elif follower is not None:
        words.append(f"followed{f' from {follower.machine}' if follower.machine else ''}")
    elif not sub.run:
        words.append("followed by no process")
    return " · ".join(words)


def budget_words(seen: Overview) -> str:
    """Return one line per shared budget with the amount spent by shards or allotted to shards."""
    return "\n".join(filter(None, map(_spent_words, seen.budgets)))


def _spent_words(spent: SpentBudget) -> str:
    parts: list[str] = []
    if spent.tokens[1]:
        parts.append(f"{local(spent.tokens[0]):,} of {local(spent.tokens[1]):,} tokens")
    if spent.usd[1]:
        parts.append(f"{dollars(spent.usd[0], screen())} of {dollars(spent.usd[1], screen())}")
    return f"Budget of {spent.account}: {' and '.join(parts)} spent or allotted to shards" if parts else ""


def rate_words(rate: float | None) -> str:
    """Return a speed in episodes (or steps) per second as text; ``""`` if it is unknown."""
    if rate is None:
        return ""
    return f"{local(rate):,.0f}" if rate >= 10 else f"{local(rate):.1f}"


def answer_words(row: PlaceRow) -> str:
    """Return how long ago a host last answered, or that the host does not answer or is no longer used."""
    if row.given_up:
        return "No longer used"
    if row.problem:
        return "Does not answer"
    if row.heard_at is None:
        return ""
    passed = (datetime.now(UTC) - row.heard_at).total_seconds()
    if passed < 20:
        return "just now"
    return f"{duration(max(0.0, passed), screen(), rough=True)} ago"


def _be(n: int) -> str:
    return "is" if n == 1 else "are"


def _moment(written: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        return None
