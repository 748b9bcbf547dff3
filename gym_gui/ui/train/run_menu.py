"""Actions that a training run allows in its current state."""

from __future__ import annotations

from gym_gui.services.trainer.training_records import TrainingRecord


def run_actions(record: TrainingRecord) -> tuple[str, ...]:
    """Return the names of the actions that a run allows in its current state."""
    running, paused = record.state in ("running", "starting"), record.state == "paused"
    allowed = {
        "use": bool(record.policy),
        "pause": running,
        "resume": paused,
        "checkpoint": running or paused,
        "stop": not record.has_ended and record.state != "stopping",
        "continue": record.state in ("stopped", "failed") and record.step > 0,
        "longer": record.state == "completed" and record.total_steps > 0,
        "clone": True,
        "log": True,
        "folder": True,
        "remove": record.has_ended,
    }
    return tuple(action for action, may in allowed.items() if may)


def menu_entries(record: TrainingRecord, *, drawn: bool) -> list[tuple[str, str]]:
    """Return the actions that a run allows, each with its text for a menu."""
    words = {
        "use": "Use in a slot…",
        "pause": "Pause",
        "resume": "Resume",
        "checkpoint": "Checkpoint now",
        "stop": "Stop and keep the policy",
        "continue": "Resume from the last checkpoint",
        "longer": "Train longer…",
        "clone": "Clone…",
        "log": "Log",
        "folder": "Open folder",
        "remove": "Remove…",
    }
    draw = ("draw", "Hide its curves" if drawn else "Plot its curves")
    return [draw, *((action, words[action]) for action in run_actions(record))]
