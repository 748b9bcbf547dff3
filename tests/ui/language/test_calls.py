"""Calls are counted, kept within bounds, listed lazily, searched and shown as text alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QGuiApplication, QTextCursor
from PyQt6.QtWidgets import QCheckBox, QLabel, QLineEdit, QPushButton, QTextEdit

from gym_gui.analysis.transcripts.turn import Turn, turn_of
from gym_gui.controllers.live_play import call_log
from gym_gui.controllers.live_play.call_log import CallLog, Spending, dollars
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.player_strip import CallStrip
from gym_gui.ui.language.transcript_view import TranscriptPanel
from gym_gui.ui.language.turn_list import TurnList
from gym_gui.ui.language.turn_view import MOST, TurnView, sections, write_sections
from tests.support.named import named

from .conftest import WAIT, call_line


def turn(step: int, agent: str = "agent_0", **more: Any) -> Turn:
    return turn_of(orjson.loads(call_line(step, agent, **more)))


@pytest.fixture
def panel(context: AppContext, qtbot: Any) -> Iterator[TranscriptPanel]:
    result = TranscriptPanel(context.spawn)
    result.resize(900, 400)
    result.show()
    qtbot.waitExposed(result)
    yield result
    result.close()
    result.deleteLater()


def test_what_was_spent_is_said_with_what_is_not_known() -> None:
    log = CallLog()
    for step in range(12):
        log.add(call_line(step))
    assert log.spending.words == "12 calls · $0.012 · 1,320 tokens"
    log.add(call_line(12, usd=None))
    assert log.spending.words.startswith("13 calls · at least $0.012")
    log.add(call_line(13, replayed=True, usd=5.0))
    assert "1 replayed" in log.spending.words and log.spending.usd == pytest.approx(0.012)
    free = Spending()
    free.add(turn(0, usd=None))
    assert free.words == "1 call · 110 tokens · price not known"
    assert [dollars(v) for v in (0, 0.00003, 0.0042, 0.42, 1234.5)] == [
        "$0",
        "under $0.0001",
        "$0.0042",
        "$0.420",
        "$1,234.50",
    ]


def test_the_head_of_a_turn_stays_one_line_and_says_the_rest_in_its_tooltip(panel: TranscriptPanel) -> None:
    facts = named(panel, QLabel, "turn-facts")
    low = facts.height()
    panel.show_turns([turn(0, model="a-model-with-a-very-long-name-" * 6)])
    assert facts.height() == low and facts.toolTip() == facts.text()
    assert facts.text().startswith("Episode 1, step 0")
    panel.show_turns([turn(0), turn(0, "agent_1")])
    assert "agent_0" in facts.text()


def test_a_turn_says_which_model_answered_where_another_was_asked(panel: TranscriptPanel) -> None:
    def told(**more: Any) -> str:
        named(panel, TurnView, "turn-view").show_turn(turn(0, **more))
        return named(panel, QLabel, "turn-facts").text()

    assert "m-1, answered by m-1-mini" in told(model="m-1", model_reported="m-1-mini")
    assert "answered by" not in told(model="m-1", model_reported="m-1")
    assert "60 tokens cached" in told(tokens={"input": 100, "output": 10, "cached": 60})


def test_columns_of_a_board_in_words_stand_below_each_other(qtbot: Any) -> None:
    text = "You are X.\n . O .\n 1 2 3\n8 r n b\nAn X, then: a 3"
    where = QTextEdit()
    qtbot.addWidget(where)
    write_sections(where, [("Asked", text, "text")])
    assert where.toPlainText() == f"ASKED\n{text}"
    document = where.document()
    assert document is not None
    fixed = theme.mono_font().family()
    looks = list[bool]()
    for number in range(1, document.blockCount()):
        cursor = QTextCursor(document.findBlockByNumber(number))
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        looks.append(cursor.charFormat().fontFamilies() == [fixed])
    assert looks == [False, True, True, True, False]


def test_a_reply_after_which_was_asked_again_is_unusable_and_so_is_one_that_was_replaced() -> None:
    log = CallLog()
    log.add(call_line(0))
    assert not log.turn(0).refused
    log.add(call_line(0, attempt=1))
    assert log.turn(0).refused and not log.turn(1).refused
    row = {"episode_index": 0, "step_index": 0, "agent_id": "seat", "action": 2, "action_source": "noop"}
    log.played(orjson.dumps(row) + b"\n", {"seat": "agent_0"})
    last = log.turn(1)
    assert last.refused and last.action == 2 and last.source == "noop"
    assert log.all_refused == {0, 1}


def test_what_is_kept_is_bounded_and_numbers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "MOST_CALLS", 10)
    log = CallLog()
    for step in range(25):
        log.add(call_line(step))
    assert (log.first, len(log)) == (15, 25) and log.turn(15).step == 15
    with pytest.raises(IndexError):
        log.turn(3)
    assert log.spending.calls == 25
    assert log.add(b"no json") is None and log.add(b'{"kind": "other"}') is None


def test_ten_thousand_calls_are_read_only_where_they_are_seen(
    panel: TranscriptPanel, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CallLog()
    for step in range(10_000):
        log.add(call_line(step, "left" if step % 2 else "right"))
    read = list[object]()
    monkeypatch.setattr(call_log, "turn_of", lambda line: (read.append(line), turn_of(line))[1])
    panel.follow(log)
    count = named(panel, QLabel, "transcript-count")
    assert panel.model.rowCount() == 10_000 and count.text() == "10,000 calls"
    # The newest is looked at first, and what was read beside it are the rows on the screen.
    view = named(panel, TurnView, "turn-view")
    assert view.turn is not None and view.turn.step == 9999
    assert len(read) <= 400
    panel.choose_agent("left")
    assert panel.model.rowCount() == 5000 and count.text() == "5,000 of 10,000 calls"
    step_line = named(panel, QLineEdit, "transcript-step")
    step_line.setText("4000")
    qtbot.keyClick(step_line, Qt.Key.Key_Return)
    assert view.turn.step == 3999 and view.turn.agent == "left"


def test_words_are_found_in_prompts_and_replies_and_marked(panel: TranscriptPanel, qtbot: Any) -> None:
    log = CallLog()
    for step in range(300):
        log.add(
            call_line(step, reply="<action>OPEN the gate</action>" if step == 123 else "<action>go</action>")
        )
    log.add(call_line(300, reply="Öffne das Tor"))
    panel.follow(log)
    search = named(panel, QLineEdit, "transcript-search")
    qtbot.keyClicks(search, "open The")
    qtbot.waitUntil(lambda: panel.model.rowCount() == 1, timeout=WAIT)
    view = named(panel, TurnView, "turn-view")
    assert view.turn is not None and view.turn.step == 123
    marks = named(panel, QTextEdit, "turn-text").extraSelections()
    assert [mark.cursor.selectedText() for mark in marks] == ["OPEN the"]
    log.add(call_line(301, reply="open the box"))
    log.add(call_line(302, reply="nothing of the kind"))
    panel.on_grown()
    qtbot.waitUntil(lambda: panel.model.rowCount() == 2, timeout=WAIT)
    search.setText("öffne")
    qtbot.waitUntil(lambda: panel.model.rowCount() == 1 and view.turn.step == 300, timeout=WAIT)
    search.clear()
    qtbot.waitUntil(lambda: panel.model.rowCount() == 303, timeout=WAIT)
    log.add(call_line(5, attempt=1))
    named(panel, QCheckBox, "transcript-failed").setChecked(True)
    qtbot.waitUntil(lambda: panel.model.rowCount() == 1 and view.turn.step == 5, timeout=WAIT)
    assert "Unusable" in named(panel, TurnList, "turn-list").model().index(0, 0).data() or view.turn.refused


def test_the_newest_call_stays_in_sight_until_somebody_reads_another(
    panel: TranscriptPanel, qtbot: Any
) -> None:
    log = CallLog()
    for step in range(50):
        log.add(call_line(step))
    panel.follow(log)
    chosen: list[tuple[int, int]] = []
    panel.step_chosen.connect(lambda *where: chosen.append(where))
    log.add(call_line(50))
    panel.on_grown()
    view = named(panel, TurnView, "turn-view")
    qtbot.waitUntil(lambda: view.turn.step == 50, timeout=WAIT)
    assert chosen == []  # the user has chosen nothing
    named(panel, TurnList, "turn-list").select(7)
    assert chosen == [(0, 7)]
    log.add(call_line(51))
    panel.on_grown()
    qtbot.waitUntil(lambda: panel.model.rowCount() == 52, timeout=WAIT)
    assert view.turn.step == 7


def test_hostile_replies_stay_text_and_long_ones_are_cut_but_copied_whole(
    panel: TranscriptPanel, qtbot: Any
) -> None:
    evil = "<img src='http://127.0.0.1:9/x'><b>bold</b>\u202e" + "x" * (MOST + 1000)
    panel.show_turns([turn(0, reply=evil, thinking="hm", error="")])
    shown = named(panel, QTextEdit, "turn-text").toPlainText()
    assert "<b>bold</b>" in shown and "more characters" in shown and len(shown) < MOST + 2000
    assert "<img src=" in shown  # told, not fetched
    named(panel, QPushButton, "turn-copy").click()
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None and evil in clipboard.text().replace("\u2029", "\n")
    heads = [heading for heading, _, _ in sections(turn(0, error="no answer within 60 s", reply=""))]
    assert heads[0] == "No reply" and "Reply" not in heads


def test_messages_that_stood_in_the_call_before_are_shown_on_request(
    panel: TranscriptPanel, qtbot: Any
) -> None:
    panel.show_turns([turn(0), turn(1)])
    named(panel, TurnList, "turn-list").select(1)
    text = named(panel, QTextEdit, "turn-text")
    assert "You are agent_0" not in text.toPlainText()
    whole = named(panel, QPushButton, "turn-whole")
    assert whole.isVisible() and whole.text() == "1 earlier message"
    whole.click()
    assert "You are agent_0" in text.toPlainText()


def test_a_strip_says_the_last_call_in_three_lines(qtbot: Any) -> None:
    strip = CallStrip()
    qtbot.addWidget(strip)
    strip.resize(400, 62)
    strip.show()
    log = CallLog()
    log.add(call_line(4))
    assert log.last is not None
    strip.show_call(log.last, log.spending)
    assert strip.lines == (
        "Prompt Step 4. You see a door.",
        "Reply <action>move 4</action>",
        "1 call · $0.0010 · 110 tokens · at step 4",
    )
    with qtbot.waitSignal(strip.opened):
        qtbot.mouseClick(strip, Qt.MouseButton.LeftButton)
    log.add(call_line(5, error="the server is busy", reply=""))
    strip.show_call(log.last, log.spending)
    assert strip.lines[1] == "No reply the server is busy"
    assert not strip.grab().isNull()
