"""Films of policies, shown over and over."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.services.policy_files import read_policy_file
from gym_gui.services.video import write_video
from gym_gui.ui.context import AppContext
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.train.policy_live import WatchablePolicy
from gym_gui.ui.train.policy_now import CurrentPolicyCard
from mosaic_worker.checkpoint import DESCRIPTION
from tests.support.named import named
from tests.support.policies import PPO
from tests.ui.conftest import PATIENCE_MS


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """At 30 frames a second."""
    path = tmp_path / "step-000020000.mp4"
    frames = [np.full((64, 48, 3), 20 * n, np.uint8) for n in range(8)]
    write_video(path, frames, 30.0)
    return path


def test_the_card_plays_the_newest_film(context: AppContext, qtbot: QtBot, film: Path) -> None:
    card = CurrentPolicyCard(context)
    qtbot.addWidget(card)
    card.resize(400, 300)
    card.show()
    hold = named(card, QToolButton, "policy-now-hold")
    view = named(card, FrameView, "frameView")
    assert view.hint[0] == "No video yet" and not hold.isVisible()
    card.show_run("PPO", film)
    qtbot.waitUntil(lambda: card.film is not None, timeout=PATIENCE_MS)
    assert (
        named(card, QLabel, "policy-now-title").text() == "Current policy, PPO"
        and named(card, QLabel, "policy-now-step").text() == "at step 20,000"
    )
    seen: list[int] = []
    view.painted.connect(seen.append)
    qtbot.waitUntil(lambda: len(seen) > 2, timeout=PATIENCE_MS)
    hold.click()
    assert hold.toolTip() == "Continue the video"
    assert rests(card, qtbot)
    held = view.image()
    hold.click()
    qtbot.waitUntil(lambda: view.image() != held, timeout=PATIENCE_MS)
    card.hide()
    assert rests(card, qtbot)


def test_the_heading_gives_up_the_runs_name_alone(context: AppContext, qtbot: QtBot) -> None:
    card = CurrentPolicyCard(context)
    qtbot.addWidget(card)
    card.show_run("PPO, lr 2.5e-4", None)
    title = named(card, QLabel, "policy-now-title")
    shown = title.fontMetrics().elidedText(title.text(), Qt.TextElideMode.ElideRight, title.minimumWidth())
    assert shown.startswith("Current policy") and shown != title.text()


def rests(card: CurrentPolicyCard, qtbot: QtBot) -> bool:
    """Whether the picture stays while six others could have been shown."""
    view = named(card, FrameView, "frameView")
    before = view.image()
    qtbot.wait(200)
    return view.image() == before


def hosts() -> list[int]:
    """Session hosts of this process."""
    children = psutil.Process().children(recursive=True)
    return [c.pid for c in children if c.status() != psutil.STATUS_ZOMBIE and "gym_gui.host" in c.cmdline()]


def test_the_newest_policy_plays_live_where_a_person_asks_and_rests_unseen(
    context: AppContext, qtbot: QtBot, film: Path, finish: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "policy"
    shutil.copytree(PPO, folder)
    card = CurrentPolicyCard(context)
    qtbot.addWidget(card)
    card.resize(500, 400)
    card.show()
    card.show_run("PPO", film)
    eye, note = named(card, QToolButton, "policy-now-live"), named(card, QLabel, "policy-now-step")
    assert not eye.isVisible()
    card.offer(WatchablePolicy(folder, "cleanrl_worker", "CartPole-v1", "PPO"))
    assert eye.isVisible() and hosts() == []
    eye.click()
    qtbot.waitUntil(lambda: "frame" in card.stage.ways, timeout=PATIENCE_MS)
    steps = read_policy_file(folder).steps
    assert note.text() == f"live, at step {steps:,}" and "Return" in note.toolTip() and hosts()
    live = card.live
    assert live is not None
    told = json.loads((folder / DESCRIPTION).read_text())
    (folder / DESCRIPTION).write_text(json.dumps({**told, "total_steps": steps + 1000}))
    live.load_newest()
    qtbot.waitUntil(lambda: note.text() == f"live, at step {steps + 1000:,}", timeout=PATIENCE_MS)
    told: list[object] = []
    context.noticed.connect(told.append)
    card.hide()  # as when the page is left
    qtbot.waitUntil(lambda: hosts() == [] and not context.busy, timeout=PATIENCE_MS)
    assert not told
    card.show()
    assert eye.isChecked() and card.live is not None
    eye.click()
    assert card.live is None and note.text() == "at step 20,000"
    finish(card.closed())
