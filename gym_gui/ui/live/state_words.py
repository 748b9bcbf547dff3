"""Texts and colors for the states of a live operator."""

from __future__ import annotations

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.live_play.episode_player import EpisodePlayer
from gym_gui.core.live import Compiling
from gym_gui.ui.numbers import local

_STATE_WORDS = {
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
    """Return the text that a card shows for a state.

    Args:
        state: The state.
        thinking_s: Seconds since the policies received their observations.
        done: Whether all requested episodes have been played.
    """
    if state is OperatorState.THINKING:
        return f"Thinking {local(thinking_s):.1f} s"
    if done and state in (OperatorState.READY, OperatorState.PAUSED):
        return "Done"
    return _STATE_WORDS[state]


def words_of(player: EpisodePlayer) -> str:
    """Return the text of a player's state; for an error or a used-up budget, the reason."""
    if player.state is OperatorState.BROKEN:
        return player.trouble
    if player.state is OperatorState.SPENT:
        return player.budget_message
    if player.state is OperatorState.STARTING and player.compiling is not None:
        return f"Compiling {len(player.compiling.functions)} of {player.compiling.total}…"
    return state_words(player.state, thinking_s=player.waiting_s, done=player.done)


def starting_words(compiling: Compiling | None) -> tuple[str, str]:
    """Return title and text that a card shows before the first frame.

    Args:
        compiling: Progress of compiling the environment's functions; ``None`` if nothing is compiled.
    """
    if compiling is None:
        return "Starting…", ""
    how_far = f"{len(compiling.functions)} of {compiling.total} functions are ready"
    return f"Compiling {compiling.title}…", f"{how_far}. This happens once per machine."


def state_tone(state: OperatorState) -> str:
    """Return the theme color of a state's dot: ``ok``, ``warning``, ``error``, ``accent`` or ``muted``."""
    return _TONES.get(state, "muted")
