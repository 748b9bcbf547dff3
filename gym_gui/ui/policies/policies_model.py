"""Rows and columns of the table of trained policies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gym_gui.analysis.words.wording import moment
from gym_gui.services.trainings.training_choices import algorithm_word
from gym_gui.ui.training_numbers import NONE, return_in_words, steps_in_words
from gym_gui.ui.training_words import short_environment
from gym_gui.ui.widgets.tables import Column

if TYPE_CHECKING:
    from gym_gui.services.policies.policy_library import PolicyEntry


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """Table row of one policy of the library."""

    entry: PolicyEntry

    @property
    def title(self) -> str:
        """Title of the policy."""
        return self.entry.file.title

    @property
    def path(self) -> Path:
        """Folder of the policy."""
        return self.entry.file.path


def has_words(words: tuple[str, ...], row: PolicyRow) -> bool:
    """Return whether every word occurs in a policy's title, name, algorithm, environment or worker."""
    about = row.entry.file.description
    text = f"{row.title} {row.entry.name} {about.algorithm} {about.env_id} {about.worker}".casefold()
    return all(word in text for word in words)


def moment_of(policy: PolicyEntry) -> datetime | None:
    """Return the time at which a policy was trained; ``None`` if its file does not contain it."""
    try:
        return datetime.fromisoformat(policy.file.description.trained_at)
    except ValueError:
        return None


def return_of(policy: PolicyEntry) -> float | None:
    """Return the mean return on the standard seeds if measured, else in the evaluation after training,
    else ``None``.
    """
    return policy.score.mean if policy.score is not None else policy.file.description.mean_return


def score_words(policy: PolicyEntry) -> str:
    """Return the mean return on the standard seeds as text, or ``not measured``."""
    score = policy.score
    if score is None:
        return "not measured"
    spread = return_in_words(score.deviation)
    return f"{return_in_words(score.mean)} ± {spread} on {len(score.seeds)} standard seeds"


def evaluated_words(policy: PolicyEntry) -> str:
    """Return the mean return of the evaluation after training as text; ``""`` without an evaluation."""
    about = policy.file.description
    if about.mean_return is None:
        return ""
    seeds = len(about.evaluation_seeds)
    over = f", mean of {seeds} seeds" if seeds > 1 else ""
    return f"{return_in_words(about.mean_return)} after training{over}"


def _title(row: PolicyRow) -> str:
    return row.title


def _folder(row: PolicyRow) -> str:
    return str(row.path)


def _algorithm(row: PolicyRow) -> str:
    return algorithm_word(row.entry.file.description.algorithm)


def _environment(row: PolicyRow) -> str:
    return short_environment(row.entry.file.description.env_id)


def _whole_environment(row: PolicyRow) -> str:
    return row.entry.file.env_id


def _total_steps(row: PolicyRow) -> int:
    return row.entry.file.description.total_steps


def _steps(row: PolicyRow) -> str:
    return steps_in_words(_total_steps(row)) if _total_steps(row) else NONE


def _return(row: PolicyRow) -> str:
    return return_in_words(return_of(row.entry))


def _by_return(row: PolicyRow) -> tuple[bool, float]:
    value = return_of(row.entry)
    return value is not None, value or 0.0


def _return_tip(row: PolicyRow) -> str | None:
    policy = row.entry
    return score_words(policy) if policy.score is not None else evaluated_words(policy) or None


def _trained(row: PolicyRow) -> str:
    return moment(moment_of(row.entry)) or NONE


def _by_moment(row: PolicyRow) -> tuple[bool, float]:
    moment = moment_of(row.entry)
    return moment is not None, 0.0 if moment is None else moment.timestamp()


_MEASURED: Final = "Mean return on the standard seeds if measured, else in the evaluation after training"
TRAINED: Final = Column("Trained", _trained, _by_moment, _whole_environment, width=130)
POLICY_COLUMNS: Final = (
    Column("Policy", _title, tip=_folder, usual="past_000000000"),
    Column("Algorithm", _algorithm, tip=_whole_environment, width=96, gives=2),
    Column("Environment", _environment, tip=_whole_environment, usual="connect_four_v3"),
    Column("Steps", _steps, _total_steps, _whole_environment, figure=True, width=74, gives=1),
    Column("Return", _return, _by_return, _return_tip, _MEASURED, figure=True, width=78),
    TRAINED,
)
"""Columns of the table of policies; each row is a :class:`PolicyRow`."""
