"""``MultiOperatorService`` starts and stops the operators of the window."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from gym_gui.ui.context import AppContext
from gym_gui.ui.live.operator_deck import OperatorDeck
from tests.support.no_processes import local_session
from tests.support.started import Starts
from tests.ui.conftest import PATIENCE_MS

from .conftest import baseline


def test_each_operator_of_the_deck_is_started_and_stopped_by_the_service(
    context: AppContext, qtbot: Any, finish: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, opened = Starts(monkeypatch), list[str]()

    async def open_session(config: Any, *how: Any) -> Any:
        opened.append(config.operator_id)
        return await local_session(config, *how)

    deck = OperatorDeck(context, seed=42, open_session=open_session)
    both = [deck.add(baseline(name)).player for name in ("a", "b")]
    names = [player.config.operator_id for player in both]
    qtbot.waitUntil(lambda: all(player.last_view is not None for player in both), timeout=PATIENCE_MS)
    assert starts.log == [f"start {name}" for name in names] and opened == names
    assert [player.last_view.seed for player in both if player.last_view is not None] == [42, 42]
    deck.stop_all()
    qtbot.waitUntil(lambda: not deck.operators.active, timeout=PATIENCE_MS)
    assert Counter(starts.log[2:]) == Counter(f"stop {name}" for name in names)
    deck.play.run()
    # Their old sessions may still be ending: those are kept then, and none is opened.
    assert starts.log[4:] == [f"start {name}" for name in names]
    qtbot.waitUntil(lambda: deck.operators.active, timeout=PATIENCE_MS)
    finish(deck.close())
    assert Counter(starts.log[6:]) == Counter(f"stop {name}" for name in names)
    deck.deleteLater()
