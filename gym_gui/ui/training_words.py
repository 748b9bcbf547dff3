"""Texts for name, state, progress and return of training runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gym_gui.analysis.words.wording import duration
from gym_gui.ui.numbers import local, screen
from gym_gui.ui.training_numbers import NONE, return_in_words, steps_in_words

if TYPE_CHECKING:
    from gym_gui.services.trainer.training_records import TrainingRecord

STATE_TOKENS: Final = {
    "queued": "muted",
    "starting": "accent",
    "running": "accent",
    "paused": "warning",
    "stopping": "warning",
    "completed": "ok",
    "stopped": "warning",
    "failed": "error",
}
STATE_WORDS: Final = {
    "queued": "Waiting",
    "starting": "Starting",
    "running": "Running",
    "paused": "Paused",
    "stopping": "Stopping",
    "completed": "Done",
    "stopped": "Stopped",
    "failed": "Failed",
}


def short_environment(env_id: str) -> str:
    """Return an environment's id without its package, such as ``MiniGrid-DoorKey-8x8-v0``."""
    return env_id.rpartition("/")[2]


def left_in_words(record: TrainingRecord) -> str:
    """Return the text of the column "Left": the remaining time of a run, or its state."""
    if record.state == "running":
        return duration(record.remaining_s, screen())
    if record.state == "queued":
        return "next" if record.position == 1 else f"{record.position - 1} ahead" if record.position else NONE
    return STATE_WORDS.get(record.state, record.state).lower()


def progress_in_words(record: TrainingRecord) -> str:
    """Return a run's progress, such as ``212k / 500k``; after the end, the number of steps."""
    if record.state == "queued" and not record.step:
        return "waiting"
    done = steps_in_words(record.step)
    if not record.total_steps or (record.has_ended and record.step >= record.total_steps):
        return done
    return f"{done} / {steps_in_words(record.total_steps)}"


LAST: Final = 100
"""Number of episodes in the mean return of a running training."""


def run_return(record: TrainingRecord) -> str:
    """Return a run's mean return and its source, such as ``471, evaluated`` or ``256, last 100``."""
    number = return_in_words(record.mean_return)
    if number == NONE:
        return number
    last = min(record.episodes, LAST) or LAST
    return f"{number}, evaluated" if record.evaluated else f"{number}, last {last}"


def return_sentence(record: TrainingRecord) -> str:
    """Return a run's mean return and its source as a phrase; ``""`` before the first episode."""
    number = return_in_words(record.mean_return)
    if number == NONE:
        return ""
    if record.evaluated:
        return f"{number}, the mean of its evaluation after the training"
    last = min(record.episodes, LAST) or LAST
    episodes = f"the mean of the last {last} training episodes" if last > 1 else "of one training episode"
    return f"{number}, {episodes}"


def why_no_film(record: TrainingRecord) -> str:
    """Return a sentence that says why a run has no film, or when its first film is made."""
    every = record.settings.get("video_every")
    if not isinstance(every, int) or every <= 0:
        return "This run records no films. Clone it and set “Video every” to record them."
    if record.place and not record.has_ended:
        return f"The run trains on {record.place}; its films are copied here when it ends."
    if record.warning and record.step >= every:
        return record.warning
    if not record.has_ended:
        at = every * (record.step // every + 1)
        late = bool(record.total_steps) and at >= record.total_steps
        return "The first film is recorded " + (
            "at the end of the training." if late else f"at step {local(at):,}."
        )
    if record.step < every:
        return (
            f"The run ended at step {local(record.step):,}, before its "
            f"first film (every {local(every):,} steps)."
        )
    return "The run recorded no film; its log may say why."


def summary(records: Sequence[TrainingRecord]) -> str:
    """Return a summary of runs, such as ``2 running · 1 waiting for a core``; ``""`` if none is active."""
    counts = Counter(record.state for record in records)
    running = counts["running"] + counts["starting"] + counts["stopping"]
    parts = [f"{running} running"] if running else []
    if counts["paused"]:
        parts.append(f"{counts['paused']} paused")
    away = sum(record.state == "queued" and bool(record.place) for record in records)
    if counts["queued"] > away:
        parts.append(f"{counts['queued'] - away} waiting for a core")
    if away:
        parts.append(f"{away} waiting on other machines")
    return " · ".join(parts)
