"""Where a live operator stands, and the words for it."""

from __future__ import annotations

from enum import StrEnum

from gym_gui.core.errors import with_capital
from gym_gui.core.live import Compiling


class OperatorState(StrEnum):
    """Where a live operator stands."""

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
"""States in which there is a session that answers."""

_WORDS = {
    OperatorState.IDLE: "Not started",
    OperatorState.STARTING: "Starting…",
    OperatorState.READY: "Ready",
    OperatorState.RUNNING: "Running",
    OperatorState.PAUSED: "Paused",
    OperatorState.YOUR_MOVE: "Your move",
    OperatorState.STOPPING: "Stopping…",
    OperatorState.SPENT: "Budget used up",
    OperatorState.BROKEN: "Stopped",
    OperatorState.CLOSED: "Closed",
}

_TONES = {
    OperatorState.RUNNING: "ok",
    OperatorState.THINKING: "warning",
    OperatorState.YOUR_MOVE: "accent",
    OperatorState.SPENT: "warning",
    OperatorState.BROKEN: "error",
}


def state_words(state: OperatorState, *, thinking_s: float = 0.0, done: bool = False) -> str:
    """What a card says of a state.

    Args:
        state: The state.
        thinking_s: How long the policies have been thinking.
        done: Every episode that was asked for has been played.
    """
    if state is OperatorState.THINKING:
        return f"Thinking {thinking_s:.1f} s"
    if done and state in (OperatorState.READY, OperatorState.PAUSED):
        return "Done"
    return _WORDS[state]


def starting_words(compiling: Compiling | None) -> tuple[str, str]:
    """What stands where the first picture will be, and below that.

    Args:
        compiling: How far the compiling is of what the environment needs, if something is compiled.
    """
    if compiling is None:
        return "Starting…", ""
    how_far = f"{len(compiling.functions)} of {compiling.total} functions are ready"
    return f"Compiling {compiling.title}…", f"{how_far}. This is done once on a machine."


def state_tone(state: OperatorState) -> str:
    """Which token colours the dot: ``ok``, ``warning``, ``error``, ``accent`` or ``muted``."""
    return _TONES.get(state, "muted")


def trouble_sentence(reason: str) -> str:
    """What a card says of a session that ended by itself.

    Args:
        reason: How it ended, for example ``was killed (signal 9, SIGKILL)`` or a sentence.
    """
    words = " ".join(reason.split()) or "it ended without a word"
    if words.startswith("was killed (signal "):
        number = words.removeprefix("was killed (signal ").partition(",")[0].rstrip(")")
        return f"Session ended: killed (signal {number})"
    for verb in ("was ", "ended ", "did not ", "closed "):
        if words.startswith(verb):
            return f"The session {words}"
    return with_capital(words)
