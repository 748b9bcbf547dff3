"""States of an operator that is played live."""

from __future__ import annotations

from enum import StrEnum

from gym_gui.core.errors import with_capital


class OperatorState(StrEnum):
    """State of an operator that is played live."""

    IDLE = "idle"
    STARTING = "starting"
    READY = "ready"
    RUNNING = "running"
    PAUSED = "paused"
    YOUR_MOVE = "your_move"
    THINKING = "thinking"
    STOPPING = "stopping"
    SPENT = "spent"
    BROKEN = "broken"
    CLOSED = "closed"


ALIVE = frozenset(
    {
        OperatorState.READY,
        OperatorState.RUNNING,
        OperatorState.PAUSED,
        OperatorState.YOUR_MOVE,
        OperatorState.THINKING,
        OperatorState.STOPPING,
        OperatorState.SPENT,
    }
)
"""States in which the operator has a session that answers."""


def trouble_sentence(reason: str) -> str:
    """Return a sentence about a session that ended by itself.

    Args:
        reason: How the session ended, for example ``was killed (signal 9, SIGKILL)``, or a sentence.
    """
    words = " ".join(reason.split()) or "it ended without a word"
    if words.startswith("was killed (signal "):
        number = words.removeprefix("was killed (signal ").partition(",")[0].rstrip(")")
        return f"Session ended: killed (signal {number})"
    for verb in ("was ", "ended ", "did not ", "closed "):
        if words.startswith(verb):
            return f"The session {words}"
    return with_capital(words)
