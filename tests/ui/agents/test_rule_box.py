"""The choice of what follows an answer that cannot be played."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtGui import QImage

from gym_gui.core.experiment.assignment import OnInvalid
from gym_gui.ui.agents.rule_box import RuleBox


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (OnInvalid(), "the episode fails"),
        (OnInvalid(then="noop"), "no-op"),
        (OnInvalid(2, "noop"), "retry 2, no-op"),
        (OnInvalid(1, "error"), "retry 1, the episode fails"),
        (OnInvalid(7, "random_legal"), "retry 7, random legal action"),
    ],
)
def test_every_rule_has_words_and_comes_back_as_it_was(qtbot: Any, rule: OnInvalid, words: str) -> None:
    box = RuleBox("rule")
    qtbot.addWidget(box)
    usual = box.count()
    for _ in range(2):
        box.show_rule(rule)
        assert box.currentText() == words and box.rule == rule
    assert box.count() <= usual + 1


def test_words_without_room_end_in_dots(qtbot: Any) -> None:
    box = RuleBox("rule")
    qtbot.addWidget(box)
    box.show_rule(OnInvalid(2, "random_legal"))
    box.resize(120, 30)
    box.show()
    text, cut = box.currentText(), box.grab().toImage()

    def drawn(words: str) -> QImage:
        box.setItemText(box.currentIndex(), words)
        return box.grab().toImage()

    assert any(drawn(f"{text[:n]}\N{HORIZONTAL ELLIPSIS}") == cut for n in range(5, len(text)))
