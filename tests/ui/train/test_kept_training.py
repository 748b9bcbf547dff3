"""The training that stood on the page the last time: shown as it was, and its file left alone."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from PyQt6.QtCore import QLocale
from pytestqt.qtbot import QtBot

from gym_gui.services.store import Store
from gym_gui.services.trainings.training_presets import TrainingPreset, save_training
from gym_gui.ui.pages.train import TrainPage
from gym_gui.ui.train.new_run import NewRunForm
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

SETTINGS = {"total_steps": 20_000, "learning_rate": 1234.5, "video_every": 50_000, "gamma": 0.99}
"""``gamma`` is the default, written out."""


@pytest.fixture(params=["de_DE", "en_US", "ja_JP", "C"])
def locale(request: pytest.FixtureRequest) -> Iterator[str]:
    before = QLocale()
    QLocale.setDefault(QLocale(request.param))
    yield request.param
    QLocale.setDefault(before)


def test_a_kept_training_is_opened_and_not_rewritten(
    locale: str, trainer: Store, window: MainWindow, qtbot: QtBot
) -> None:
    file = trainer.data / "training.json"
    save_training(TrainingPreset("cleanrl_worker", "ppo", "CartPole-v1", SETTINGS), file)
    text = json.dumps(json.loads(file.read_text()), indent=7)  # as no program here writes it
    file.write_text(text)
    window.go("train")
    page = named(window, TrainPage, "page-train")
    form = named(page, NewRunForm, "train-new-run")
    qtbot.waitUntil(lambda: form.preset() is not None, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: page.link.client is not None, timeout=PATIENCE_MS)
    preset = form.preset()
    assert preset is not None and preset.settings == SETTINGS
    form.check()
    qtbot.wait(500)  # longer than the page waits before it keeps a change
    assert file.read_text() == text
