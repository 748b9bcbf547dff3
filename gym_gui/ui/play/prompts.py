"""What the line below the frame says: whose move, what to press, why it stands still."""

from __future__ import annotations

from dataclasses import dataclass

from gym_gui.controllers.engine.operator_state import OperatorState


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is known of a game when the line is written.

    Attributes:
        state: Of the session.
        over: The episode is over.
        waits_for_key: Time begins with the first key.
        waits_for_go: A language model would be asked now, had somebody said go.
        paused: Somebody paused it.
        paused_by_focus: It was paused because the keyboard went elsewhere.
        realtime: Time runs.
        listening: Keys count now.
        asked: Agents that people are asked for.
        agents: How many agents there are.
        turn: Agents that others are asked for.
        refusal: Why the last key did nothing.
        typed: Digits typed so far.
        people: How many people play, as far as is known who has which keys.
        watched: It is known that policies play all slots.
        hands: What the first of them plays with.
        caught: The mouse plays, and Escape gives it back.
    """

    state: OperatorState
    over: bool = False
    waits_for_key: bool = False
    waits_for_go: bool = False
    paused: bool = False
    paused_by_focus: bool = False
    realtime: bool = False
    listening: bool = True
    asked: tuple[str, ...] = ()
    agents: int = 1
    turn: tuple[str, ...] = ()
    refusal: str = ""
    typed: str = ""
    people: int = 1
    watched: bool = False
    hands: str = ""
    caught: bool = False


def prompt_for(p: Prompt) -> tuple[str, str] | None:
    """Tone and sentence; ``None`` leaves what is said, so that it does not flicker between moves."""
    if p.state is OperatorState.BROKEN or p.over:
        return "muted", ""
    if p.state in (OperatorState.STARTING, OperatorState.IDLE, OperatorState.CLOSED):
        return "muted", "Starting…"
    if p.waits_for_key:
        # Before somebody sits at the keys, one that is pressed would be lost.
        return _to_begin(p) if p.people else ("muted", "Starting…")
    if p.waits_for_go:
        return "accent", "Press Start: a language model is asked first."
    if p.paused_by_focus:
        return "warning", "Paused, because the keys go elsewhere. Click the picture to go on."
    if p.paused:
        return "muted", "Paused."
    if p.refusal:
        return "warning", p.refusal
    if not p.people:
        # A person plays, but the page has not yet read with which keys.
        return ("ok", "Policies play; you watch.") if p.watched else ("muted", "Starting…")
    if p.realtime:
        if p.caught:
            return "ok", "Running. The mouse plays: Esc gives it back."
        return ("ok", "Running.") if p.listening else ("muted", "Click the picture: then your keys count.")
    return _turn_based(p)


def _to_begin(p: Prompt) -> tuple[str, str]:
    if not p.listening:
        return "accent", "Click the picture, then press a key to begin."
    keys = p.hands if p.hands and p.hands != "mouse" else "a key"
    keys = f"the {keys}" if keys.startswith("arrow") else keys
    return "accent", f"Press {keys} to begin: time runs from then on."


def _turn_based(p: Prompt) -> tuple[str, str] | None:
    if p.asked:
        if p.typed:
            return "accent", f"Action {p.typed}: Enter plays it, Backspace takes a digit back."
        who = f": {', '.join(p.asked)}" if p.agents > 1 and p.people > 1 else ""
        way = "" if p.listening or p.hands == "mouse" else " Click the picture to use your keys."
        return "accent", f"Your move{who}.{way}"
    if p.state is OperatorState.THINKING:
        # Of several asked at once some have answered: who is not known here.
        return "warning", f"{p.turn[0]} is thinking…" if len(p.turn) == 1 else "The others are thinking…"
    return None
