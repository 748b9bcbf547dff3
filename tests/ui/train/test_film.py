"""Films of policies, shown over and over."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtWidgets import QLabel, QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.services.video import write_video
from gym_gui.ui.context import AppContext
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.train.policy_now import PolicyNow
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """At 30 frames a second."""
    path = tmp_path / "step-000020000.mp4"
    frames = [np.full((64, 48, 3), 20 * n, np.uint8) for n in range(8)]
    write_video(path, frames, 30.0)
    return path


def test_the_card_plays_the_newest_film(context: AppContext, qtbot: QtBot, film: Path) -> None:
    card = PolicyNow(context)
    qtbot.addWidget(card)
    card.resize(400, 300)
    card.show()
    hold = named(card, QToolButton, "policy-now-hold")
    view = named(card, FrameView, "frameView")
    assert view.hint[0] == "No film yet" and not hold.isVisible()
    card.show_run("PPO", film)
    qtbot.waitUntil(lambda: card.film is not None, timeout=PATIENCE_MS)
    assert (
        named(card, QLabel, "policy-now-title").text() == "Policy now, PPO"
        and named(card, QLabel, "policy-now-step").text() == "at step 20,000"
    )
    seen: list[int] = []
    view.painted.connect(seen.append)
    qtbot.waitUntil(lambda: len(seen) > 2, timeout=PATIENCE_MS)
    hold.click()
    assert hold.toolTip() == "Let the film go on"
    assert rests(card, qtbot)
    held = view.image()
    hold.click()
    qtbot.waitUntil(lambda: view.image() != held, timeout=PATIENCE_MS)
    card.hide()
    assert rests(card, qtbot)


def rests(card: PolicyNow, qtbot: QtBot) -> bool:
    """Whether the picture stays while six others could have been shown."""
    view = named(card, FrameView, "frameView")
    before = view.image()
    qtbot.wait(200)
    return view.image() == before
