"""A card, the transcript and the editor of prompts follow a language player that really plays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QTextEdit, QWidget

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.services.prompt_files import PromptFiles, default_prompts
from gym_gui.ui import theme
from gym_gui.ui.agent_snapshots import AgentSnapshotView
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.player_strip import CallStrip
from gym_gui.ui.language.prompt_editor import PromptEditor
from gym_gui.ui.language.settings_services import PromptsRequest
from gym_gui.ui.language.transcript_view import TranscriptPanel
from gym_gui.ui.language.turn_list import TurnList
from gym_gui.ui.language.turn_view import TurnView
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.card_strips import FactsStrip
from gym_gui.ui.operators.manual import ManualOperators
from gym_gui.ui.operators.transcript_dock import TranscriptDock
from gym_gui.ui.renderers.stage_view import StageView
from gym_gui.ui.replays.replay_view import ReplayView
from gym_gui.ui.replays.transport import Transport
from gym_gui.ui.widgets.message_panels import EmptyHint, InlineMessage
from gym_gui.ui.widgets.segments import SegmentedControl
from gym_gui.workers.definition import WorkerTypeDefinition
from tests.support.fake_model_server import FakeModelServer
from tests.support.named import named
from tests.support.no_processes import local_session

from .conftest import PREVIEW, WAIT, lake


@pytest.fixture
def deck(context: AppContext, finish: Any) -> Iterator[OperatorDeck]:
    result = OperatorDeck(context, seed=42, open_session=local_session)
    yield result
    finish(result.close())
    result.deleteLater()


@pytest.fixture
def manual(context: AppContext, deck: OperatorDeck, qtbot: Any, finish: Any) -> Iterator[ManualOperators]:
    catalog = CatalogCache(context.store)
    result = ManualOperators(context, deck, catalog)
    result.resize(960, 900)
    result.show()
    qtbot.waitExposed(result)
    yield result
    result.release()
    finish(catalog.close())
    result.close()
    result.deleteLater()


@pytest.mark.full
def test_a_language_player_is_followed_from_its_card_to_the_replay(
    manual: ManualOperators,
    deck: OperatorDeck,
    server: FakeModelServer,
    worker: WorkerTypeDefinition,
    context: AppContext,
    qtbot: Any,
    finish: Any,
    tmp_path: Path,
) -> None:
    operator = deck.add(lake(server))
    other = deck.add(OperatorConfig("noop", "", "", "FrozenLake-v1", dict(_noop()), max_steps=3), start=False)
    sizes = its_card_tells_its_calls(manual, deck, qtbot)
    look_and_edit(context, operator, worker, qtbot, finish, tmp_path)
    # It switches between light and dark: in the middle of that nothing has a border, and nothing is painted.
    assert sizes.seen[-1:] in ([], [sizes.first])
    sizes.seen.clear()
    its_transcript_begins_with_the_reply(manual, operator, qtbot)
    its_transcript_grows_while_it_plays(manual, deck, qtbot)
    manual.select(other)
    assert (
        named(manual, EmptyHint, "empty-hint").isVisible()
        and not named(manual, TranscriptPanel, "transcript").isVisible()
    )
    manual.transcript.show(False)
    assert not named(manual, TranscriptDock, "transcript-dock").isVisible()

    run = operator.player.recording
    assert run is not None
    finish(deck.close())
    assert run.folder is not None
    replay(context, run.folder, qtbot, finish)


def its_card_tells_its_calls(manual: ManualOperators, deck: OperatorDeck, qtbot: Any) -> Sizes:
    """Returns what sizes its picture is given, from before its first step on."""
    operator, other = deck.operators
    card = manual.card(operator)
    strip = named(card, CallStrip, "call-strip")
    assert strip is not None and strip.isVisible() and manual.card(other).calls is None
    assert strip.lines == ("No model calls yet",)
    qtbot.waitUntil(lambda: operator.player.last_view is not None, timeout=WAIT)
    sizes = Sizes(named(card, StageView, "operator-stage"))
    deck.play.step_all()  # no model is asked before this
    # The first reply has no action in it: it is asked again.
    qtbot.waitUntil(lambda: strip.lines[1:2] == ("Reply <action>right</action>",), timeout=WAIT)
    assert strip.lines[2].startswith("2 calls · 220 tokens")
    qtbot.waitUntil(lambda: operator.player.last_view.step == 1, timeout=WAIT)  # it is told, then made
    return sizes


def its_transcript_begins_with_the_reply(manual: ManualOperators, operator: LiveOperator, qtbot: Any) -> None:
    strip = named(manual.card(operator), CallStrip, "call-strip")
    assert strip is not None
    strip.opened.emit()
    dock = named(manual, TranscriptDock, "transcript-dock")
    assert dock is not None and dock.isVisible() and manual.current is operator
    panel = named(dock, TranscriptPanel, "transcript")
    assert panel.model.rowCount() == 2 and named(panel, TurnView, "turn-view").turn.step == 0
    assert panel.model.turn(0).refused
    qtbot.wait(1)
    bar = named(panel, QTextEdit, "turn-text").verticalScrollBar()
    assert bar.maximum() > 0 and bar.value() == 0  # the reply comes first, and is seen first


def its_transcript_grows_while_it_plays(manual: ManualOperators, deck: OperatorDeck, qtbot: Any) -> None:
    operator, panel = deck.operators[0], named(manual, TranscriptPanel, "transcript")
    sizes = Sizes(named(manual.card(operator), StageView, "operator-stage"))
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    qtbot.waitUntil(lambda: operator.player.tally.episodes >= 1, timeout=WAIT)
    assert sizes.seen == []  # calls come and go without the picture changing its size
    deck.play.pause()  # where their counts differ now, the message that says so takes some of it
    qtbot.waitUntil(lambda: panel.model.rowCount() >= 4, timeout=WAIT)
    assert panel.model.turn(1).source == "retry"  # what became of it is known once the episode is over
    list_view = named(panel, TurnList, "turn-list")
    list_view.select(0)
    text = named(panel, QTextEdit, "turn-text")
    assert "Unusable reply".upper() in text.toPlainText()
    list_view.select(1)
    assert "PLAYED\nright (after a retry)" in text.toPlainText()


def test_pictures_beside_a_language_players_are_of_the_same_size(
    manual: ManualOperators, deck: OperatorDeck, server: FakeModelServer, qtbot: Any
) -> None:
    noop = OperatorConfig("noop", "", "", "FrozenLake-v1", dict(_noop()), max_steps=3)
    reader, other = (manual.card(deck.add(config, start=False)) for config in (lake(server), noop))
    stage = named(other, StageView, "operator-stage")
    stage_view = named(reader, StageView, "operator-stage")
    qtbot.waitUntil(lambda: stage_view.height() == stage.height() > 0, timeout=WAIT)
    assert reader.has_strip and not other.has_strip
    assert named(reader, FactsStrip, "operator-facts").y() == named(other, FactsStrip, "operator-facts").y()
    low = stage.height()
    manual.remove("reader")
    qtbot.waitUntil(lambda: stage.height() > low, timeout=WAIT)
    deck.undo_stack.undo()
    qtbot.waitUntil(lambda: stage_view.height() == stage.height() == low, timeout=WAIT)


class Sizes(QObject):
    """Sizes that a widget is given from now on."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.seen: list[tuple[int, int]] = []
        self.first = widget.width(), widget.height()
        self._at = widget.height()
        widget.installEventFilter(self)

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        if isinstance(a0, QWidget) and isinstance(a1, QResizeEvent) and a0.height() != self._at:
            self._at = a0.height()
            self.seen.append((a0.width(), a0.height()))
        return False


def least_contrast(shown: QTextEdit) -> float:
    """Of all that is written, against the ground that is painted."""
    document, ground = shown.document(), shown.grab().toImage().pixelColor(shown.width() // 2, 4)
    assert document is not None
    found: list[float] = []
    block = document.begin()
    while block.isValid():
        found += [
            theme.contrast(span.format.foreground().color(), ground)
            for span in block.textFormats()
            if span.length
        ]
        block = block.next()
    assert len(found) > 5
    return min(found)


def look_and_edit(
    context: AppContext,
    operator: LiveOperator,
    worker: WorkerTypeDefinition,
    qtbot: Any,
    finish: Any,
    folder: Path,
) -> None:
    """What the agent sees now is what its prompts are previewed with."""
    moment = finish(operator.player.present("agent_0"))
    assert moment["slot"]["action_meanings"] == ["left", "down", "right", "up"]
    assert moment["decision"]["step"] == 1 and moment["decision"]["text"]
    chosen: list[str] = []
    setting = next(s for s in worker.settings_schema if s.kind == "prompts")
    given = dict(operator.player.config.workers["agent_0"].settings)
    request = PromptsRequest(worker, setting, given, "agent_0", chosen.append)
    files = PromptFiles(default_prompts(worker, PREVIEW), folder / "mine")

    async def look() -> Any:
        return await operator.player.present("agent_0")

    editor = PromptEditor(context, request, files, look)
    editor.show()
    try:
        state = named(editor, QLabel, "prompt-state")
        qtbot.waitUntil(lambda: "tokens" in state.text(), timeout=WAIT)
        seen = moment["decision"]["text"].splitlines()[0]
        shown = named(editor, QTextEdit, "prompt-preview")
        assert seen in shown.toPlainText()
        for mode in ("dark", "light"):
            context.theme.set_mode(mode)
            assert least_contrast(shown) >= 4.5
            named(editor, QPushButton, "prompt-look").click()
            assert state.text() == "Updating…" and shown.isEnabled()
            assert least_contrast(shown) >= 4.5  # what was there stays to be read meanwhile
            qtbot.waitUntil(lambda: "tokens" in state.text(), timeout=WAIT)
            assert least_contrast(shown) >= 4.5
        prompts_are_edited(editor, chosen, folder, qtbot)
    finally:
        editor.close()


def prompts_are_edited(editor: PromptEditor, chosen: list[str], folder: Path, qtbot: Any) -> None:
    state, shown = named(editor, QLabel, "prompt-state"), named(editor, QTextEdit, "prompt-preview")
    text = named(editor, QPlainTextEdit, "prompt-text")
    text.setPlainText("You are $agent, a penguin.\n$briefing\n$strategy")
    qtbot.waitUntil(lambda: "a penguin" in shown.toPlainText(), timeout=WAIT)
    assert not (folder / "mine").exists() and chosen == []  # nothing is kept until it is saved
    editor.save_to_user_folder()
    assert "penguin" in (folder / "mine/system.txt").read_text()
    assert chosen == [str(folder / "mine")] and not named(editor, QPushButton, "prompt-save").isEnabled()
    text.setPlainText("You are $agent. $nonsense")
    trouble = named(editor, InlineMessage, "message-warning")
    qtbot.waitUntil(lambda: "$nonsense" in trouble.text, timeout=WAIT)
    assert "mosaic-prompts-" not in trouble.text
    named(editor, QPushButton, "prompt-back").click()
    assert not (folder / "mine/system.txt").exists() and "penguin" not in text.toPlainText()
    qtbot.waitUntil(lambda: not trouble.isVisible() and "tokens" in state.text(), timeout=WAIT)
    text.setPlainText("You are $agent, a seal.\n$briefing\n$strategy")
    qtbot.keyClick(text, Qt.Key.Key_Escape)
    assert not editor.isVisible() and "a seal" in (folder / "mine/system.txt").read_text()


def replay(context: AppContext, run: Path, qtbot: Any, finish: Any) -> None:
    """The same calls beside the replay of the episode."""
    view = ReplayView(context)
    for picker in view.pickers.buttons:
        picker.setParent(view)  # They belong into the bar of a page.
    view.resize(1200, 740)
    view.show()
    try:
        view.show_episode(run, "reader", 0)
        aside = named(view, SegmentedControl, "replay-aside")
        offered = named(aside, QPushButton, "replay-aside-transcript")
        qtbot.waitUntil(offered.isVisible, timeout=WAIT)
        qtbot.waitUntil(lambda: all(p.at_end for p in view.players), timeout=WAIT)
        offered.click()
        panel = named(view, TranscriptPanel, "transcript")
        assert panel.isVisible() and panel.model.rowCount() == 4
        transport = named(view, Transport, "replay-transport")
        transport.go(2)
        turn_view = named(panel, TurnView, "turn-view")
        assert turn_view.turn.step == 1 and "episode" not in named(panel, QLabel, "turn-facts").text()
        list_view = named(panel, TurnList, "turn-list")
        list_view.select(3)
        assert transport.position == 3
        list_view.select(0)
        assert transport.position == 1 and turn_view.turn.refused
        assert turn_view.turn.attempt == 0
        named(aside, QPushButton, "replay-aside-mind").click()
        mind = named(view, AgentSnapshotView, "mind").text
        qtbot.waitUntil(lambda: "OBSERVES AT STEP 1" in mind.toPlainText(), timeout=WAIT)
        assert (
            "REPLY\nIt looks <b>free</b> there." in mind.toPlainText() and "\nASKED\n" in mind.toPlainText()
        )
    finally:
        finish(view.close_players())
        view.close()
        view.deleteLater()


def test_a_session_of_its_own_tells_what_a_slot_is_shown(
    context: AppContext, server: FakeModelServer, qtbot: Any, finish: Any
) -> None:
    operator = LiveOperator(context, lake(server))
    try:
        with pytest.raises(UsageError, match="nothing is playing"):
            finish(operator.player.present("agent_0"))
        operator.player.start(7, episodes=1, render="none", paused=True)
        qtbot.waitUntil(
            lambda: operator.player.last_view is not None and not operator.player.busy, timeout=WAIT
        )
        assert not operator.player.trouble and not server.requests  # what it will be asked can be looked at
        moment = finish(operator.player.present("agent_0"))
        assert moment["slot"]["briefing"] and moment["decision"]["text"]
        assert finish(operator.player.see("agent_0")).text == moment["decision"]["text"]
        with pytest.raises(UsageError, match="reads no text"):
            finish(operator.player.present("agent_7"))
    finally:
        finish(operator.player.close())
        operator.deleteLater()


def _noop() -> Any:
    from .conftest import WorkerAssignment

    return {"agent_0": WorkerAssignment("operators_worker", "baseline", {"behavior": "noop"})}


def test_files_of_prompts_stand_in_the_place_of_the_workers(tmp_path: Path) -> None:
    defaults = tmp_path / "defaults"
    (defaults / "games").mkdir(parents=True)
    (defaults / "system.txt").write_text("theirs")
    (defaults / "games/chess.toml").write_text("hints = 'x'")
    files = PromptFiles(defaults, tmp_path / "own")
    assert files.names() == ["system.txt", "games/chess.toml"]
    files.save("system.txt", "mine")
    assert files.is_own("system.txt") and files.text("system.txt") == "mine"
    draft = files.with_draft(tmp_path / "draft", "games/chess.toml", "hints = 'y'")
    assert (draft / "system.txt").read_text() == "mine" and not files.is_own("games/chess.toml")
    files.save("system.txt", "theirs")  # like the worker's: no file of one's own is needed
    assert not files.is_own("system.txt") and files.text("system.txt") == "theirs"
    assert (defaults / "system.txt").read_text() == "theirs"
