"""What stands on a page is kept while it changes, not only once it rests."""

from __future__ import annotations

import itertools
from pathlib import Path

from PyQt6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from gym_gui.ui.context import AppContext
from gym_gui.ui.page_state import SavedPageState


def test_what_never_rests_is_written_all_the_same(context: AppContext, qtbot: QtBot) -> None:
    owner, counted, saved = QObject(), itertools.count(1), list[int]()

    def save(value: int, _file: Path) -> None:
        saved.append(value)

    kept = SavedPageState[int](
        context,
        "page.json",
        "The page",
        load=lambda _file: None,
        save=save,
        now=lambda: next(counted),  # another one at each look
        parent=owner,
    )
    kept.restore(lambda _value: None)
    steps = QTimer(owner)
    steps.timeout.connect(kept.save_soon)
    steps.start(5)  # as a game that is played does
    qtbot.waitUntil(lambda: len(saved) >= 3)
    steps.stop()
    assert saved == sorted(saved)
