"""The window's operators play by ``PolicyMappingService`` too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_gui.ui.context import AppContext
from gym_gui.ui.live.operator_deck import OperatorDeck
from tests.support.asked import Questions, recorded
from tests.ui.conftest import PATIENCE_MS

from .conftest import baseline


def test_every_recorded_step_of_an_operator_in_the_window_was_asked(
    context: AppContext, qtbot: Any, finish: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    note = tmp_path / "asked"
    note.mkdir()
    questions = Questions(note, monkeypatch)
    deck = OperatorDeck(context, seed=42)
    operator = deck.add(baseline(max_steps=5))
    deck.play.set_pace(None, lock_step=True)
    qtbot.waitUntil(lambda: operator.player.last_view is not None, timeout=PATIENCE_MS)
    deck.play.run()
    qtbot.waitUntil(lambda: len(operator.player.tally.episodes_done) >= 2, timeout=PATIENCE_MS)
    run = deck.recording
    deck.stop_all()
    qtbot.waitUntil(lambda: not deck.operators.active, timeout=PATIENCE_MS)
    finish(deck.close())
    deck.deleteLater()
    assert run is not None and run.folder is not None
    rows, asked = recorded(run.folder), questions.asked()
    assert len(rows) >= 10 and {each: asked[each] for each in rows} == dict(rows)
