"""A card and the transcript show how a search scored its moves, from its first step to the replay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pyspiel")

from PyQt6.QtWidgets import QTextEdit

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.ui.agent_snapshots import AgentSnapshotView
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.player_strip import CallStrip
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.manual import ManualOperators
from gym_gui.ui.operators.transcript_dock import TranscriptDock
from tests.support.named import named
from tests.support.no_processes import local_session

from .conftest import WAIT


def against_itself() -> OperatorConfig:
    """A search in both seats of tic-tac-toe."""
    who = WorkerAssignment("openspiel_worker", "planner", {"simulations": 20})
    seats = {"player_1": who, "player_2": who}
    return OperatorConfig("search", "Search", "", "classic/tictactoe_v3", seats)


@pytest.fixture
def manual(context: AppContext, qtbot: Any, finish: Any) -> Iterator[Any]:
    deck = OperatorDeck(context, seed=3, open_session=local_session)
    catalog = CatalogCache(context.store)
    result: Any = ManualOperators(context, deck, catalog)
    result.resize(960, 900)
    result.show()
    qtbot.waitExposed(result)
    result.deck = deck
    yield result
    result.release()
    finish(catalog.close())
    finish(deck.close())
    result.close()
    result.deleteLater()
    deck.deleteLater()


def test_a_search_shows_what_its_moves_were_worth(manual: Any, qtbot: Any) -> None:
    deck = manual.deck
    operator = deck.add(against_itself())
    card = manual.card(operator)
    qtbot.waitUntil(lambda: operator.player.last_view is not None, timeout=WAIT)
    deck.play.step_all()
    qtbot.waitUntil(lambda: card.has_strip, timeout=WAIT)
    turn = operator.player.tally.calls.last
    assert turn.scores and turn.scores[0].value >= turn.scores[-1].value
    strip = named(card, CallStrip, "call-strip")
    assert strip is not None
    # What was played comes first, then the best of the others.
    assert strip.lines[0].startswith(f"{turn.word} 0.")
    assert strip.lines[2].endswith("5 actions · at step 0")
    strip.opened.emit()
    dock = named(manual, TranscriptDock, "transcript-dock")
    assert dock is not None
    told = named(dock, QTextEdit, "turn-text").toPlainText()
    assert told.index("PLAYED") < told.index("SCORES\n0.")
    assert "▇" in told and turn.scores[0].word in told
    # How often each was tried, what it is worth, and what is expected to follow.
    assert " times, value " in turn.scores[0].more and turn.scores[0].more in told
    manual.show_mind(turn.agent)
    view = named(dock, AgentSnapshotView, "mind")
    mind, tree = view.text, view.tree
    qtbot.waitUntil(lambda: tree.isVisible() and tree.moves.rowCount() == 5, timeout=WAIT)
    moves = {move.word: move for move in tree.moves.moves}
    assert moves[turn.word].chosen and set(moves) == {score.word for score in turn.scores}
    for step in (2, 3):
        qtbot.waitUntil(lambda: not operator.player.stepping, timeout=WAIT)
        deck.play.step_all()
        qtbot.waitUntil(lambda step=step: operator.player.last_view.step == step, timeout=WAIT)
    manual.show_mind("player_2")
    qtbot.waitUntil(lambda: "LEGAL: 6 ACTIONS" in mind.toPlainText(), timeout=WAIT)
    assert "PLAYED (STEP 1)" in mind.toPlainText() and "SCORES\n" not in mind.toPlainText()
