"""Columns of the table that lists runs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PyQt6.QtCore import Qt

from gym_gui.analysis.words.wording import moment
from gym_gui.services.runs.recorder import COMPLETED, FAILED, RUNNING, STOPPED
from gym_gui.services.runs.run_library import CUT_OFF, DAMAGED, RunEntry
from gym_gui.ui.numbers import local
from gym_gui.ui.theme import kind_word
from gym_gui.ui.widgets.tables import Column

STATE_TOKENS: Final = {
    RUNNING: "accent",
    COMPLETED: "ok",
    FAILED: "error",
    STOPPED: "warning",
    CUT_OFF: "warning",
    DAMAGED: "error",
}
"""Theme token that colors the dot of each run status."""

KINDS_ROLE: Final = Qt.ItemDataRole.UserRole + 1
BADGE_ROLE: Final = Qt.ItemDataRole.UserRole + 5
"""Item role of a color (``#rrggbb``) that replaces the color of the badge's kind, so that operators of one
kind differ.
"""
STATE_ROLE: Final = Qt.ItemDataRole.UserRole + 2
CHIPS_ROLE: Final = Qt.ItemDataRole.UserRole + 3
"""Item role of the pills after the text: pairs of a text and the theme token of its color."""
STAR_ROLE: Final = Qt.ItemDataRole.UserRole + 4


_STATUS_TIPS: Final = {
    RUNNING: "The run is being written now",
    CUT_OFF: "The process of the run ended before the last episode",
    STOPPED: "The run was stopped on request",
}


def episodes_in_words(run: RunEntry) -> str:
    """Return the number of episodes: ``40``, or ``12 of 40`` if not all are done."""
    if run.planned is None or run.done == run.planned:
        return f"{local(run.done):,}"
    return f"{local(run.done):,} of {local(run.planned):,}"


def _title(run: RunEntry) -> str:
    return run.full_title


def _name(run: RunEntry) -> str:
    return run.labels.name


def _chips(run: RunEntry) -> tuple[tuple[str, str], ...]:
    where = ((Path(run.elsewhere).name, "warning"),) if run.elsewhere else ()
    group = ((run.labels.group, "accent"),) if run.labels.group else ()
    shards = ((run.submission, "accent"),) if run.submission else ()
    return *where, *shards, *group, *((tag, "muted") for tag in run.labels.tags)


def _about(run: RunEntry) -> str:
    """Return the tooltip of a run: its name, operators, labels, problems and folder, one line each."""
    labels = run.labels
    lines = (
        labels.name,
        ", ".join(o.name for o in run.operators) or run.played,
        run.apart,
        f"Group: {labels.group}" if labels.group else "",
        f"Tags: {', '.join(labels.tags)}" if labels.tags else "",
        labels.notes,
        run.labels_problem,
        str(run.path),
    )
    return "\n".join(filter(None, lines))


def _star(run: RunEntry) -> bool:
    return run.labels.star


def _star_tip(run: RunEntry) -> str:
    return f"{'Starred' if run.labels.star else 'No star'}: click to change it (Ctrl+D)"


def _star_spoken(run: RunEntry) -> str:
    return "starred" if run.labels.star else "no star"


def _kinds(run: RunEntry) -> tuple[str, ...]:
    return run.kinds


def _kinds_spoken(run: RunEntry) -> str:
    return ", ".join(map(kind_word, run.kinds))


def _environment(run: RunEntry) -> str:
    return run.environment


def _tasks(run: RunEntry) -> str | None:
    return "\n".join(run.tasks) or None


def _done(run: RunEntry) -> int:
    return run.done


def _status(run: RunEntry) -> str:
    return run.status.capitalize()


def _status_tip(run: RunEntry) -> str | None:
    if run.submission and not run.problem:
        return (
            "This run is played in shards. Open it to see the progress of each shard, to resume it or to "
            "stop it"
        )
    why = run.problem or _STATUS_TIPS.get(run.status)
    if run.can_go_on:
        return f"{why}. Resume plays the remaining episodes"
    return f"{why}. To resume the run: mosaic run --resume" if run.shard is not None and why else why


def _status_token(run: RunEntry) -> str:
    return STATE_TOKENS.get(run.status, "muted")


def _started(run: RunEntry) -> str:
    return moment(run.started_at)


def _by_time(run: RunEntry) -> str:
    return run.run_id  # A ULID sorts by time.


STARTED: Final = Column("Started", _started, _by_time, width=128)
STAR: Final = Column(
    "",
    key=_star,
    tip=_star_tip,
    about="Stars",
    width=34,
    roles={STAR_ROLE: _star},
    called="Star",
    spoken=_star_spoken,
)
_USUAL_NAME: Final = "PPO, Random and 2 more, today 12:34"
RUN: Final = Column("Run", _title, tip=_about, roles={CHIPS_ROLE: _chips}, edit=_name, usual=_USUAL_NAME)
AGENTS: Final = Column(
    "Agents",
    key=_kinds,
    width=150,
    gives=3,
    tip=_kinds_spoken,
    roles={KINDS_ROLE: _kinds},
    spoken=_kinds_spoken,
)
ENVIRONMENT: Final = Column("Environment", _environment, tip=_tasks, width=176, gives=2)
EPISODES: Final = Column("Episodes", episodes_in_words, _done, figure=True, width=100, gives=1)
STATUS: Final = Column("Status", _status, tip=_status_tip, width=116, roles={STATE_ROLE: _status_token})
RUN_COLUMNS: Final = (STAR, RUN, AGENTS, ENVIRONMENT, EPISODES, STATUS, STARTED)
"""Columns of a table of :class:`~gym_gui.services.runs.run_library.RunEntry` rows."""
