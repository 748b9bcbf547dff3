"""Columns of the table of training runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PyQt6.QtCore import Qt

from gym_gui.analysis.words.wording import duration
from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.ui.numbers import local
from gym_gui.ui.training_numbers import NONE
from gym_gui.ui.training_words import (
    STATE_WORDS,
    left_in_words,
    progress_in_words,
    return_sentence,
    run_return,
    short_environment,
)
from gym_gui.ui.widgets.tables import Column

RUN_ROLE: Final = Qt.ItemDataRole.UserRole + 1
DRAWN_ROLE: Final = Qt.ItemDataRole.UserRole + 2
ACTIONS_ROLE: Final = Qt.ItemDataRole.UserRole + 3
TOKEN_ROLE: Final = Qt.ItemDataRole.UserRole + 4


@dataclass(frozen=True, slots=True)
class RunRow:
    """Table row with a training's record and title, and whether its curves are drawn."""

    record: TrainingRecord
    title: str
    drawn: bool


def id_of_run(row: RunRow) -> str:
    """Return the id of a row's training."""
    return row.record.run_id


def row_actions(record: TrainingRecord) -> tuple[str, ...]:
    """Return the names of the actions in a run's row, in order: ``pause``, ``resume``, ``stop``, ``use``."""
    if record.state in ("running", "starting"):
        return ("pause", "stop")
    if record.state == "paused":
        return ("resume", "stop")
    if record.state == "queued":
        return ("stop",)
    return ("use",) if record.has_ended and record.policy else ()


def _actions(row: RunRow) -> tuple[str, ...]:
    return row_actions(row.record)


def _actions_spoken(row: RunRow) -> str:
    return ", ".join(row_actions(row.record))


def _drawn(row: RunRow) -> bool:
    return row.drawn


def _drawn_spoken(row: RunRow) -> str:
    return "drawn" if row.drawn else "not drawn"


def _drawn_tip(row: RunRow) -> str:
    return f"{_drawn_spoken(row).capitalize()} in the curves. Click or press Space to change this"


def _title(row: RunRow) -> str:
    return f"{row.title} · {row.record.place}" if row.record.place else row.title


def _about(row: RunRow) -> str:
    record = row.record
    place = f"trained on {record.place}\n" if record.place else ""
    return f"{row.title}\n{record.worker_id}, seed {record.seed}\n{place}{record.folder}"


def _environment(row: RunRow) -> str:
    return short_environment(row.record.env_id)


def _whole_environment(row: RunRow) -> str:
    return row.record.env_id


def _steps(row: RunRow) -> str:
    return progress_in_words(row.record)


def _return(row: RunRow) -> str:
    return run_return(row.record)


def _return_tip(row: RunRow) -> str | None:
    return return_sentence(row.record) or None


def _speed(row: RunRow) -> str:
    return f"{local(row.record.steps_per_s):,.0f}" if row.record.state == "running" else NONE


def _left(row: RunRow) -> str:
    return left_in_words(row.record)


def _left_tip(row: RunRow) -> str:
    record = row.record
    took = f" after {duration(record.elapsed_s)}" if record.has_ended and record.elapsed_s else ""
    return record.reason or f"{STATE_WORDS.get(record.state, record.state)}{took}"


def _left_token(row: RunRow) -> str | None:
    return {"failed": "error", "paused": "warning"}.get(row.record.state)


_OF_RETURN: Final = (
    "Mean return of the evaluation after the training; until then, of the last 100 training episodes"
)
DOT: Final = Column(
    "", tip=_drawn_tip, width=32, roles={DRAWN_ROLE: _drawn}, called="Drawn", spoken=_drawn_spoken
)
RUN: Final = Column("Run", _title, tip=_about, usual="PPO, seed 12")
ENVIRONMENT: Final = Column("Environment", _environment, tip=_whole_environment, usual="CartPole-v1", gives=3)
STEPS: Final = Column(
    "Steps", _steps, about="Environment steps so far, of the total", figure=True, width=112, gives=1
)
RETURN: Final = Column(
    "Return", _return, tip=_return_tip, about=_OF_RETURN, figure=True, widest="-1,234, evaluated"
)
SPEED: Final = Column(
    "Steps/s", _speed, about="Current environment steps per second", figure=True, width=76, gives=4
)
LEFT: Final = Column(
    "Left",
    _left,
    tip=_left_tip,
    about="Estimated time until the training ends",
    figure=True,
    width=104,
    gives=2,
    roles={TOKEN_ROLE: _left_token},
)
ACTIONS: Final = Column(
    "", width=76, roles={ACTIONS_ROLE: _actions}, called="Actions", spoken=_actions_spoken
)
TRAINING_COLUMNS: Final = (DOT, RUN, ENVIRONMENT, STEPS, RETURN, SPEED, LEFT, ACTIONS)
"""Columns of a table of :class:`RunRow` rows; :data:`RUN_ROLE` is the run's id in every column."""
