"""What cards say of a state."""

from __future__ import annotations

import pytest

from gym_gui.controllers.engine.operator_state import OperatorState, trouble_sentence
from gym_gui.core.live import Compiling
from gym_gui.ui.live.state_words import starting_words, state_tone, state_words


def test_every_state_has_words_and_a_tone():
    for state in OperatorState:
        assert state_words(state, thinking_s=1.84)
        assert state_tone(state) in ("ok", "warning", "error", "accent", "muted")
    assert state_words(OperatorState.THINKING, thinking_s=1.84) == "Thinking 1.8 s"
    assert state_words(OperatorState.PAUSED, done=True) == "Done"


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("was killed (signal 9, SIGKILL)", "Session ended: killed (signal 9)"),
        ("ended with exit status 3", "The session ended with exit status 3"),
        ("unknown environment 'X'. Did you mean 'Y'?", "Unknown environment 'X'. Did you mean 'Y'?"),
        ("", "It ended without a word"),
    ],
)
def test_reasons_become_sentences(reason: str, sentence: str):
    assert trouble_sentence(reason) == sentence


def test_what_is_compiled_is_said_with_how_far_it_is() -> None:
    assert starting_words(None)[0] == "Starting…"
    title, text = starting_words(Compiling("MOSAIC MultiGrid", ("see_behind",), 6))
    assert "MOSAIC MultiGrid" in title and "1 of 6" in text and "once" in text
