"""Pills that tell kinds apart."""

from __future__ import annotations

import pytest
from PyQt6.QtWidgets import QApplication

from gym_gui.ui.widgets.badges import PILL_GAP, pills_width, words_in

KINDS = ("rl", "bdi", "human", "baseline", "llm")


def test_all_that_have_room_are_shown(qapp: QApplication) -> None:
    assert words_in(pills_width(KINDS), KINDS) == (len(KINDS), "")
    assert words_in(0, ()) == (0, "")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_those_without_room_are_counted(qapp: QApplication, share: float) -> None:
    room = share * pills_width(KINDS)
    shown, rest = words_in(room, KINDS)
    assert rest == f"+{len(KINDS) - shown}" and shown < len(KINDS)
    assert not shown or pills_width([*KINDS[:shown], rest]) <= room + PILL_GAP
