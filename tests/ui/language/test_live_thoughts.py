"""A card and the transcript follow a program that really plays, from its first step to the replay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from PyQt6.QtCore import Qt

pytest.importorskip("agentspeak")

from PyQt6.QtWidgets import QLabel, QLineEdit, QPushButton, QTextEdit

from gym_gui.controllers.live_play.call_log import CallLog
from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.experiment.assignment import OnInvalid
from gym_gui.ui.agent_snapshots import AgentSnapshotView
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.player_strip import CallStrip
from gym_gui.ui.language.transcript_view import TranscriptPanel
from gym_gui.ui.language.turn_view import TurnView
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.manual import ManualOperators
from gym_gui.ui.operators.transcript_dock import TranscriptDock
from gym_gui.ui.replays.replay_view import ReplayView
from gym_gui.ui.replays.transport import Transport
from gym_gui.ui.widgets.segments import SegmentedControl
from tests.support.commands import ROOT
from tests.support.named import named
from tests.support.no_processes import local_session

from .conftest import WAIT

DOORKEY = ROOT / "docs/examples/bdi/doorkey.asl"


def door_key(program: str, steps: int = 40) -> OperatorConfig:
    """A program that looks for the key."""
    who = WorkerAssignment("spade_bdi_worker", "bdi", {"program": program}, on_invalid=OnInvalid(0, "noop"))
    return OperatorConfig("mind", "Mind", "", "MiniGrid-DoorKey-5x5-v0", {"agent": who}, max_steps=steps)


def thought_line(step: int, **bdi: Any) -> bytes:
    """A row as it is told live."""
    row = {
        "kind": "decision",
        "agent_id": "agent_0",
        "episode_index": 0,
        "step_index": step,
        "action": 2,
        "word": "forward",
        "action_source": "policy",
        "latency_ms": 1.2,
        "bdi": {"goals": ["solve", f"approach({step}, 1)"], "plan": "line 15: +!approach(A, R)", **bdi},
    }
    return orjson.dumps(row)


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


@pytest.mark.full
def test_a_program_is_followed_from_its_card_to_the_replay(
    manual: Any, context: AppContext, qtbot: Any, finish: Any
) -> None:
    operator = manual.deck.add(door_key(str(DOORKEY)))
    its_card_tells_its_thoughts(manual, operator, qtbot)
    its_transcript_tells_more(manual, operator)
    its_beliefs_stand_beside_the_whole(manual, qtbot)
    length = every_decision_is_told(manual.deck, operator, qtbot)
    run = operator.player.recording
    finish(manual.deck.close())
    assert run is not None and run.folder is not None
    its_replay_tells_them_again(context, run.folder, length, qtbot, finish)


def its_card_tells_its_thoughts(manual: Any, operator: LiveOperator, qtbot: Any) -> None:
    strip = named(manual.card(operator), CallStrip, "call-strip")
    assert strip is not None and strip.lines == ("The program has not decided yet",)
    qtbot.waitUntil(lambda: operator.player.last_view is not None, timeout=WAIT)
    manual.deck.play.step_all()
    qtbot.waitUntil(lambda: strip.lines[0].startswith("Goal solve"), timeout=WAIT)
    assert strip.lines[1].startswith("Plan +!") and "beliefs added" in strip.lines[2]


def its_transcript_tells_more(manual: Any, operator: LiveOperator) -> None:
    named(manual.card(operator), CallStrip, "call-strip").opened.emit()
    dock = named(manual, TranscriptDock, "transcript-dock")
    assert dock is not None and dock.isVisible()
    panel = named(dock, TranscriptPanel, "transcript")
    assert (
        named(panel, QLabel, "transcript-count").text() == "1 decision"
        and named(panel, TurnView, "turn-view").turn.step == 0
    )
    told = named(panel, QTextEdit, "turn-text").toPlainText()
    assert told.index("PLAYED") < told.index("INTENTION\nsolve") < told.index("PLAN\nline ")
    assert "BELIEVES NOW\nmission(" in told and "tokens" not in named(panel, QLabel, "turn-facts").text()


def its_beliefs_stand_beside_the_whole(manual: Any, qtbot: Any) -> None:
    """All of them, not only how they changed; with what it sees and means to do, and the plan that acted."""
    manual.transcript.toggle_agent()
    mind = named(manual, AgentSnapshotView, "mind")
    qtbot.waitUntil(lambda: "OBSERVES AT STEP 1" in mind.text.toPlainText(), timeout=WAIT)
    told = mind.text.toPlainText()
    assert told.index("INTENTION\nsolve") < told.index("PLAN\nline ") < told.index("BELIEVES\n")
    believed = told[told.index("BELIEVES\n") :].split("\n\n")[0].splitlines()[1:]
    assert believed == sorted(believed) and any(each.startswith("mission(") for each in believed)
    assert mind.picture.image() is not None
    manual.transcript.toggle_agent()
    assert not mind.isVisible()


def every_decision_is_told(deck: OperatorDeck, operator: LiveOperator, qtbot: Any) -> int:
    """However fast it plays; returns how many there are in its first episode."""
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    qtbot.waitUntil(lambda: operator.player.tally.episodes >= 1, timeout=WAIT)
    deck.play.pause()
    length = operator.player.tally.episodes_done[0]["length"]
    calls = operator.player.tally.calls
    assert length > 3
    assert [calls.turn(i).step for i in range(length)] == list(range(length))
    return length


def its_replay_tells_them_again(context: AppContext, run: Path, length: int, qtbot: Any, finish: Any) -> None:
    view = ReplayView(context)
    view.resize(1200, 740)
    view.show()
    try:
        view.show_episode(run, "mind", 0)
        aside = named(view, SegmentedControl, "replay-aside")
        offered = named(aside, QPushButton, "replay-aside-transcript")
        qtbot.waitUntil(offered.isVisible, timeout=WAIT)
        qtbot.waitUntil(lambda: all(p.at_end for p in view.players), timeout=WAIT)
        offered.click()
        panel = named(view, TranscriptPanel, "transcript")
        assert named(panel, QLabel, "transcript-count").text() == f"{length} decisions"
        named(view, Transport, "replay-transport").go(3)
        view_view = named(panel, TurnView, "turn-view")
        assert view_view.turn.step == 2 and view_view.turn.thought.goals[0] == "solve"
        named(aside, QPushButton, "replay-aside-mind").click()
        mind = named(view, AgentSnapshotView, "mind").text
        qtbot.waitUntil(lambda: "OBSERVES AT STEP 3" in mind.toPlainText(), timeout=WAIT)
        assert "BELIEVES\n" in mind.toPlainText() and "INTENTION\nsolve" in mind.toPlainText()
    finally:
        finish(view.close_players())
        view.close()
        view.deleteLater()


def test_a_card_says_that_a_program_chose_nothing_and_why(manual: Any, tmp_path: Any, qtbot: Any) -> None:
    (tmp_path / "stuck.asl").write_text("!solve.\n+!solve <- !fly.\n")
    deck = manual.deck
    operator = deck.add(door_key(str(tmp_path / "stuck.asl")))
    strip = named(manual.card(operator), CallStrip, "call-strip")
    qtbot.waitUntil(lambda: operator.player.last_view is not None, timeout=WAIT)
    deck.play.step_all()
    qtbot.waitUntil(lambda: len(strip.lines) == 3, timeout=WAIT)
    assert strip.lines[1].startswith("Idle ") and "no applicable plan for +!fly" in strip.lines[1]
    turn = operator.player.tally.calls.last
    assert turn.refused and turn.failed


def test_what_was_asked_for_holds_until_something_else_is(context: AppContext) -> None:
    log, panel = CallLog(), TranscriptPanel(context.spawn)
    try:
        for step in (1, 4, 9):
            log.add(thought_line(step))
        panel.follow(log)
        found = [
            panel.go_to(step) and named(panel, TurnView, "turn-view").turn.step
            for step in (0, 1, 3, 4, 7, 20)
        ]
        assert found == [1, 1, 1, 4, 4, 9]
    finally:
        panel.close()
        panel.deleteLater()


def test_thoughts_and_calls_of_one_operator_are_one_list(context: AppContext, qtbot: Any) -> None:
    from .conftest import call_line

    log = CallLog()
    panel = TranscriptPanel(context.spawn)
    strip = CallStrip()
    try:
        for step in range(3):
            log.add(thought_line(step, added=[f"key(yellow, {step}, 0)"]))
        panel.follow(log)
        count = named(panel, QLabel, "transcript-count")
        assert count.text() == "3 decisions" and log.spending.calls == 0
        log.add(call_line(3, "other"))
        panel.on_grown()
        qtbot.waitUntil(lambda: count.text() == "4 turns", timeout=WAIT)
        strip.show_call(log.turn(2), log.spending, several=True)
        assert strip.lines[0] == "Goal solve \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} approach(2, 1)"
        assert strip.lines[2].startswith("agent_0 · 1 belief added · 1 call") and strip.lines[2].endswith(
            "step 2"
        )
        qtbot.keyClicks(named(panel, QLineEdit, "transcript-search"), "key(yellow, 1")
        qtbot.waitUntil(lambda: panel.model.rowCount() == 1, timeout=WAIT)
        assert named(panel, TurnView, "turn-view").turn.step == 1
        assert panel.model.data(panel.model.index(0, 0), Qt.ItemDataRole.DisplayRole).endswith("→ forward")  # pyright: ignore[reportAttributeAccessIssue]
    finally:
        for widget in (panel, strip):
            widget.close()
            widget.deleteLater()
