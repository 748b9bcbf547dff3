"""Converts the text of BALROG's agents to actions, and checks that they can name the actions of a slot."""

from __future__ import annotations

import logging
import re
from typing import Any, Final

from balrog_worker.settings import FEW_SHOT, BalrogSettings
from mosaic_worker.worker import Decision, Invalid, LoadError, Slot

_log = logging.getLogger(__name__)

_KEPT_REPLY: Final = 4_000
_SHOWN_REPLY: Final = 120
_ONLY_LETTERS: Final = frozenset({"naive", "cot", FEW_SHOT})
_NO_LETTER: Final = re.compile(r"[^a-zA-Z\s:]")
"""Characters that these agents remove from a reply."""


def named(slot: Slot, decision: Decision, said: str | None, reply: str) -> Any:
    """Return the action with exactly the name that the agent gave, as BALROG's evaluator requires.

    Args:
        slot: Slot whose actions are named.
        decision: The decision to make.
        said: Name of the action from BALROG's agent.
        reply: The whole reply of the model.

    Returns:
        An action, or :class:`~mosaic_worker.worker.Invalid`.
    """
    raw = reply[:_KEPT_REPLY]
    if slot.action_space.kind == "Text":
        return said if said else Invalid("the reply has no command", raw, "unreadable")
    action = slot.legal_words(decision).get(said or "")
    if action is not None:
        return action
    if said and said in slot.action_meanings:
        return Invalid(f"{said} is not legal now", raw, "illegal")
    return Invalid(f"{_short(said)} is none of the actions", raw, "unreadable")


def refuse_unsayable(slot: Slot, settings: BalrogSettings) -> None:
    """Refuse a slot in which the agent could not name any action.

    Raises:
        LoadError: The agent cannot name the actions; the message says why and, if any, which agents can.
    """
    if slot.action_space.kind not in ("Discrete", "Text"):
        raise LoadError(f"BALROG's agents name an action in words, but {slot.action_space.kind} has no words")
    words = [word for word in slot.action_meanings if word]
    if settings.agent not in _ONLY_LETTERS or not words:
        return
    lost = [word for word in words if _NO_LETTER.search(word)]
    why = f"the agent {settings.agent} reads only letters of a reply, and cannot name"
    if len(lost) == len(words):
        raise LoadError(f"{why} {lost[0]} or any other action: choose robust_naive or robust_cot")
    if lost:
        _log.warning("%s %s", why, ", ".join(lost[:5]))


def _short(said: str | None) -> str:
    if not said:
        return "an empty reply"
    text = " ".join(said.split())
    return repr(text if len(text) <= _SHOWN_REPLY else f"{text[: _SHOWN_REPLY - 1]}…")
