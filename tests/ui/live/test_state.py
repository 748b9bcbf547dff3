"""What cards say of a state."""

from __future__ import annotations

import pytest

from gym_gui.ui.live.state import OperatorState, state_tone, state_words, trouble_sentence


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
