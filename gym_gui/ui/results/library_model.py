"""What stands in the columns of the list of runs."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import Qt

from gym_gui.analysis.wording import moment
from gym_gui.services.recorder import COMPLETED, FAILED, RUNNING, STOPPED
from gym_gui.services.run_library import CUT_OFF, DAMAGED, RunEntry
from gym_gui.ui.widgets.rows import Column

STATE_TOKENS: Final = {
    RUNNING: "accent",
    COMPLETED: "ok",
    FAILED: "error",
    STOPPED: "warning",
    CUT_OFF: "warning",
    DAMAGED: "error",
}
"""The colour of a status; its word stands beside it."""

KINDS_ROLE: Final = Qt.ItemDataRole.UserRole + 1
STATE_ROLE: Final = Qt.ItemDataRole.UserRole + 2


_STATUS_TIPS: Final = {
    RUNNING: "It is being written now",
    CUT_OFF: "Its process ended before it was done. Go on with it: mosaic run --resume",
    STOPPED: "Somebody stopped it. Go on with it: mosaic run --resume",
}


def episodes_in_words(run: RunEntry) -> str:
    """``40``, or ``12 of 40`` while it is not done."""
    if run.planned is None or run.done == run.planned:
        return f"{run.done:,}"
    return f"{run.done:,} of {run.planned:,}"


def _title(run: RunEntry) -> str:
    return run.title


def _played_by(run: RunEntry) -> str:
    return f"{', '.join(o.name for o in run.operators) or run.title}\n{run.path}"


def _kinds(run: RunEntry) -> tuple[str, ...]:
    return run.kinds


def _environment(run: RunEntry) -> str:
    return run.environment


def _tasks(run: RunEntry) -> str | None:
    return "\n".join(run.tasks) or None


def _done(run: RunEntry) -> int:
    return run.done


def _status(run: RunEntry) -> str:
    return run.status.capitalize()


def _status_tip(run: RunEntry) -> str | None:
    return run.problem or _STATUS_TIPS.get(run.status)


def _status_token(run: RunEntry) -> str:
    return STATE_TOKENS.get(run.status, "muted")


def _started(run: RunEntry) -> str:
    return moment(run.started_at)


def _by_time(run: RunEntry) -> str:
    return run.run_id  # a ULID sorts by time


STARTED: Final = Column("Started", _started, _by_time, width=140)
RUN_COLUMNS: Final = (
    Column("Run", _title, tip=_played_by),
    Column("Agents", key=_kinds, width=150, roles={KINDS_ROLE: _kinds}),
    Column("Environment", _environment, tip=_tasks),
    Column("Episodes", episodes_in_words, _done, figure=True, width=110),
    Column("Status", _status, tip=_status_tip, width=120, roles={STATE_ROLE: _status_token}),
    STARTED,
)
"""A row is a :class:`~gym_gui.services.run_library.RunEntry`."""
