"""Pills that tell kinds apart."""

from __future__ import annotations

import pytest
from PyQt6.QtWidgets import QApplication

from gym_gui.ui.widgets.badges import badges_in, badges_width

KINDS = ("rl", "bdi", "human", "baseline", "llm")


def test_all_that_have_room_are_shown(qapp: QApplication) -> None:
    assert badges_in(badges_width(KINDS), KINDS) == (KINDS, 0)
    assert badges_in(0, ()) == ((), 0)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_those_without_room_are_counted(qapp: QApplication, share: float) -> None:
    shown, rest = badges_in(share * badges_width(KINDS), KINDS)
    assert tuple(shown) == KINDS[: len(shown)] and rest == len(KINDS) - len(shown) > 0
    assert badges_width(shown) <= share * badges_width(KINDS)
