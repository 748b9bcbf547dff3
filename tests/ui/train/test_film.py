"""Films of policies, shown over and over."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from gym_gui.services.video import write_video
from gym_gui.ui.context import AppContext
from gym_gui.ui.train.policy_now import PolicyNow
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
    assert card.view.hint[0] == "No film yet" and not card.hold.isVisible()
    card.show_run("PPO", film)
    qtbot.waitUntil(lambda: card.film is not None, timeout=PATIENCE_MS)
    assert card.title.text() == "Policy now, PPO" and card.note.text() == "at step 20,000"
    seen: list[int] = []
    card.view.painted.connect(seen.append)
    qtbot.waitUntil(lambda: len(seen) > 2, timeout=PATIENCE_MS)
    card.hold.click()
    assert card.hold.toolTip() == "Let the film go on"
    assert rests(card, qtbot)
    held = card.view.image()
    card.hold.click()
    qtbot.waitUntil(lambda: card.view.image() != held, timeout=PATIENCE_MS)
    card.hide()
    assert rests(card, qtbot)


def rests(card: PolicyNow, qtbot: QtBot) -> bool:
    """Whether the picture stays while six others could have been shown."""
    before = card.view.image()
    qtbot.wait(200)
    return card.view.image() == before
