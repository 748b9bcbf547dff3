"""A program is written in the window: its mistakes are told by line, and nothing that was typed is lost."""

from __future__ import annotations

import cProfile
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QTextCharFormat
from PyQt6.QtWidgets import QFileDialog

pytest.importorskip("agentspeak")

from PyQt6.QtWidgets import QLabel, QListWidget, QMenu, QPushButton

from gym_gui.ui import theme
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.checks import WorkerCheck, for_setting
from gym_gui.ui.editor.code_edit import CodeEdit
from gym_gui.ui.editor.file_editor import FileEditor
from gym_gui.ui.editor.file_request import FileRequest, Problem
from gym_gui.ui.editor.lexing import spans_of
from gym_gui.ui.language.settings_services import SettingsServices
from gym_gui.ui.widgets.message_panels import InlineMessage
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.manifest import read_manifest
from tests.support.commands import ROOT
from tests.support.jason import installed_jason
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS as WAIT

MANIFEST = ROOT / "3rd_party/spade_bdi_worker/worker.toml"
ACTIONS = ("turn left", "right", "forward")


@pytest.fixture(scope="module")
def bdi() -> WorkerTypeDefinition:
    return read_manifest(MANIFEST)


@pytest.fixture
def chosen() -> list[str]:
    return []


@pytest.fixture
def opened_for(
    context: AppContext, chosen: list[str], tmp_path: Path, qtbot: Any, finish: Any
) -> Iterator[Callable[[WorkerTypeDefinition], FileEditor]]:
    """Opens the editor for a worker's program; it is closed at the end."""
    made: list[FileEditor] = []

    def open_for(worker: WorkerTypeDefinition) -> FileEditor:
        setting = next(s for s in worker.settings_schema if s.name == "program")
        file = tmp_path / "mind.asl"
        file.write_text("!go.\n+!go <- forward; !go.\n")
        result = FileEditor(context, for_setting(worker, setting, str(file), ACTIONS, chosen.append))
        made.append(result)
        result.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        result.show()
        qtbot.waitExposed(result)
        return result

    yield open_for
    for result in made:
        if result.dirty:
            named(result, QPushButton, "message-action").click()
        result.done(0)
        result.deleteLater()
    qtbot.waitUntil(lambda: not checking("program_check", "mosaic.jason.Check"), timeout=WAIT)


def checking(*words: str) -> list[int]:
    """Processes that check a file."""
    found: list[int] = []
    for process in psutil.Process().children(recursive=True):
        try:
            found += (
                [process.pid] if any(word in part for part in process.cmdline() for word in words) else []
            )
        except psutil.Error:
            continue
    return found


@pytest.fixture
def editor(bdi: WorkerTypeDefinition, opened_for: Callable[[WorkerTypeDefinition], FileEditor]) -> FileEditor:
    return opened_for(bdi)


def test_mistakes_are_told_by_line_and_gone_when_they_are_mended(editor: FileEditor, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: named(editor, QLabel, "file-state").text() == "No errors found", timeout=WAIT)
    editor_view = named(editor, CodeEdit, "file-text")
    editor_view.setPlainText("!go.\n+!go <- forward\n+!stay <- right.\n")
    qtbot.waitUntil(lambda: 3 in editor_view.problems, timeout=WAIT)
    assert "expected" in editor_view.problems[3].text
    wrong = named(editor, QListWidget, "file-problems")
    assert wrong.isVisible() and wrong.item(0).text().startswith("Line 3: ")
    wrong.itemClicked.emit(wrong.item(0))
    assert editor_view.textCursor().blockNumber() == 2
    editor_view.setPlainText("!go.\n+!go <- turn_left; forwrd; .fly; !go.\n")
    qtbot.waitUntil(lambda: set(editor_view.problems) == {2}, timeout=WAIT)
    told = [wrong.item(i).text() for i in range(wrong.count())]
    assert any("no action 'forwrd' (did you mean forward?)" in each for each in told)
    assert any(".fly" in each for each in told)
    words = {mark.cursor.selectedText() for mark in editor_view.extraSelections()}
    assert "forwrd" in words
    editor_view.setPlainText("!go.\n+!go <- turn_left; !go.\n")
    qtbot.waitUntil(lambda: not wrong.isVisible(), timeout=WAIT)
    assert editor_view.extraSelections() == []


def test_a_mistake_does_not_name_the_file_that_is_shown(editor: FileEditor) -> None:
    said = (Problem(1, "mind.asl:1: no such plan"), Problem(2, "mine.yaml:4: no such file"))
    editor.show_problems((*said, Problem(2, f"{editor.path}:2:7: no such goal")))
    told = [problem.text for problem in editor.problems]
    assert told[:3] == ["no such plan", "mine.yaml:4: no such file", "no such goal"]


def test_one_process_checks_all_that_is_typed(editor: FileEditor, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: named(editor, QLabel, "file-state").text() == "No errors found", timeout=WAIT)
    before = checking("program_check")
    assert len(before) == 1
    editor_view = named(editor, CodeEdit, "file-text")
    for line in (2, 3):
        editor_view.setPlainText("!go.\n" * (line - 1) + "+!go <- flie.")
        qtbot.waitUntil(lambda: set(editor_view.problems) == {line}, timeout=WAIT)  # noqa: B023
    assert checking("program_check") == before
    psutil.Process(before[0]).kill()
    editor_view.setPlainText("!go.\n+!go <- flie.")
    qtbot.waitUntil(lambda: set(editor_view.problems) == {2}, timeout=WAIT)


@pytest.mark.full
def test_a_program_for_jason_is_read_by_jason(
    opened_for: Callable[[WorkerTypeDefinition], FileEditor],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: Any,
) -> None:
    installed_jason(monkeypatch, tmp_path_factory.getbasetemp())
    editor = opened_for(read_manifest(ROOT / "3rd_party/jason_worker/worker.toml"))
    qtbot.waitUntil(lambda: named(editor, QLabel, "file-state").text() == "No errors found", timeout=WAIT)
    before = checking("mosaic.jason.Check")
    assert len(before) == 1
    assert {"doorkey.asl", "empty.asl", "doors.asl"} <= {
        each.text() for each in named(editor, QMenu, "file-menu").actions()
    }
    editor_view = named(editor, CodeEdit, "file-text")
    editor_view.setPlainText(
        "!go.\n+!go <- turn_left |&| forward; !go.\n+!stay <- .save_agent(x);\n  forwrd."
    )
    qtbot.waitUntil(lambda: set(editor_view.problems) == {3, 4}, timeout=WAIT)
    assert "forwrd" in {mark.cursor.selectedText() for mark in editor_view.extraSelections()}
    editor_view.setPlainText("!go.\n+!go <- forward\n+!stay <- right.\n")
    qtbot.waitUntil(lambda: set(editor_view.problems) == {3}, timeout=WAIT)
    assert "expected" in editor_view.problems[3].text
    assert checking("mosaic.jason.Check") == before


def test_where_jason_is_not_installed_the_editor_says_so_and_goes_on(
    opened_for: Callable[[WorkerTypeDefinition], FileEditor],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: Any,
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "nothing"))
    editor = opened_for(read_manifest(ROOT / "3rd_party/jason_worker/worker.toml"))
    trouble = named(editor, InlineMessage, "message-error")
    qtbot.waitUntil(trouble.isVisible, timeout=WAIT)
    assert "gave no answer" in trouble.text and "\n" not in trouble.text
    named(editor, CodeEdit, "file-text").setPlainText("!mine.")
    editor.keep()
    assert (tmp_path / "mind.asl").read_text() == "!mine."


def test_what_is_not_saved_is_asked_about_and_save_as_is_what_the_setting_names(
    editor: FileEditor, chosen: list[str], tmp_path: Path, qtbot: Any
) -> None:
    qtbot.waitUntil(lambda: named(editor, QPushButton, "file-new").isVisible(), timeout=WAIT)
    save = named(editor, QPushButton, "file-save")
    assert not save.isEnabled()
    menu = named(editor, QMenu, "file-menu")
    names = [action.text() for action in menu.actions()]
    assert {"doorkey.asl", "empty.asl", "doors.asl"} <= set(names)
    menu.actions()[names.index("empty.asl")].trigger()
    editor_widget = named(editor, CodeEdit, "file-text")
    assert editor_widget.toPlainText() == (ROOT / "docs/examples/bdi/empty.asl").read_text()
    assert save.isEnabled()
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    unsaved = named(editor, InlineMessage, "message-warning")
    assert editor.isVisible() and unsaved.isVisible()
    editor_widget.undo()
    assert editor_widget.toPlainText().startswith("!go.") and not unsaved.isVisible()
    editor_widget.redo()
    editor.save_to(str(tmp_path / "deeper" / "mine"))
    written = tmp_path / "deeper" / "mine.asl"
    assert written.read_text() == editor_widget.toPlainText() and chosen == [str(written)]
    assert (tmp_path / "mind.asl").read_text().startswith("!go.")  # the one before is as it was
    editor_widget.setPlainText("!other.")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    named(editor, QPushButton, "message-action").click()
    assert not editor.isVisible() and written.read_text() != "!other."


def test_a_file_that_cannot_be_written_loses_nothing(
    editor: FileEditor, tmp_path: Path, chosen: list[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    editor_widget = named(editor, CodeEdit, "file-text")
    editor_widget.setPlainText("!mine.")
    editor.save_to(str(tmp_path / "file" / "mine.asl"))
    trouble = named(editor, InlineMessage, "message-error")
    assert trouble.isVisible() and "cannot be written" in trouble.text
    assert editor.dirty and editor_widget.toPlainText() == "!mine." and chosen == []


def test_a_form_offers_to_edit_a_file_whose_worker_can_check_it(
    context: AppContext, bdi: WorkerTypeDefinition, tmp_path: Path, qtbot: Any
) -> None:
    asked: list[FileRequest] = []
    context.edit_asked.connect(asked.append)
    services = SettingsServices(context)
    form = SettingsForm(bdi.settings_schema, {"program": "old.asl"}, worker=bdi, services=services)
    told: list[dict[str, Any]] = []
    form.values_changed.connect(told.append)
    form.show()
    try:
        control = form.control("program")
        edit = named(control, QPushButton, "setting_program_edit")
        assert edit.isVisible()
        form.action_words = ACTIONS
        edit.click()
        check = asked[0].check
        assert isinstance(check, WorkerCheck)
        assert (asked[0].path, check.actions) == ("old.asl", ACTIONS)
        assert asked[0].choose is not None
        asked[0].choose(str(tmp_path / "new.asl"))
        assert told[-1]["program"] == str(tmp_path / "new.asl")
    finally:
        form.close()
        form.deleteLater()


def test_words_are_colored_readably_in_both_themes(context: AppContext, qtbot: Any) -> None:
    edit = CodeEdit()
    edit.setPlainText("// why\n+!go : key(C) <- forward.\n")
    edit.coloring.set_rules(
        [(r"//.*$", "comment"), (r"\\b[A-Z]\\w*", "variable"), ("(", "text"), ("go", "strange")]
    )
    edit.show_problems([Problem(2, "no", "forward"), Problem(9, "beyond"), Problem(0, "all of it")])
    try:
        for mode in ("dark", "light"):
            context.theme.set_mode(mode)
            ground = theme.current().tokens.raised
            block = edit.document().firstBlock()
            colors = [each.format.foreground().color() for each in block.layout().formats()]
            assert colors and all(theme.contrast(color, ground) >= 4.5 for color in colors)
        (mark,) = (each for each in edit.extraSelections() if each.cursor.selectedText() == "forward")
        assert mark.format.underlineStyle() == QTextCharFormat.UnderlineStyle.WaveUnderline
    finally:
        edit.close()
        edit.deleteLater()


def test_readable_colors_are_found_once_and_not_for_each_word(context: AppContext, qtbot: Any) -> None:
    view = CodeEdit()
    qtbot.addWidget(view)
    lines = [f'{{"id": "a{i}", "max_steps": {i}}},' for i in range(100)]
    view.setPlainText("\n".join(lines))
    profile = cProfile.Profile()
    profile.runcall(view.coloring.set_spans, spans_of(".py", view.text))
    calls = {getattr(entry.code, "co_name", ""): entry.callcount for entry in profile.getstats()}
    assert calls["highlightBlock"] >= len(lines)
    assert calls.get("text_on", 0) == 0


def test_the_window_reads_no_program_itself() -> None:
    code = (
        "import sys, gym_gui.ui.editor.file_editor\n"
        "print([name for name in sys.modules if 'agentspeak' in name or 'bdi_worker' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"


@pytest.fixture
def opened(
    context: AppContext, bdi: WorkerTypeDefinition, chosen: list[str], qtbot: Any, finish: Any
) -> Iterator[Callable[[Path], FileEditor]]:
    """Editors of files."""
    editors: list[FileEditor] = []

    def opened(file: Path) -> FileEditor:
        setting = next(s for s in bdi.settings_schema if s.name == "program")
        editor = FileEditor(context, for_setting(bdi, setting, str(file), ACTIONS, chosen.append))
        editor.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        editors.append(editor)
        return editor

    yield opened
    for editor in editors:
        if editor.dirty:
            named(named(editor, InlineMessage, "message-warning"), QPushButton, "message-action").click()
        editor.done(0)
        editor.deleteLater()


def test_a_relative_path_is_shown_where_it_leads_and_stays_as_it_was_written(
    opened: Callable[[Path], FileEditor], chosen: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mind.asl").write_text("!go.\n")
    editor = opened(Path("mind.asl"))
    assert named(editor, QLabel, "file-where").text() == str(tmp_path)
    named(editor, CodeEdit, "file-text").setPlainText("!mine.\n")
    monkeypatch.chdir("/")
    editor.keep()
    assert (tmp_path / "mind.asl").read_text() == "!mine.\n"
    editor.save_to(str(tmp_path / "other.asl"))
    assert chosen == ["mind.asl", str(tmp_path / "other.asl")]


@pytest.mark.parametrize(
    "content",
    [b"!go.\r\n+!go <- forward.\r\n", '!go.\n// a\u00a0space, "\u2028"\n'.encode(), "\ufeff!go.\n".encode()],
    ids=["lines of another system", "spaces that do not break", "byte order mark"],
)
def test_what_is_not_typed_over_stays_byte_for_byte(
    opened: Callable[[Path], FileEditor], content: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "mind.asl"
    file.write_bytes(content)
    editor = opened(file)
    assert not editor.dirty
    named(editor, CodeEdit, "file-text").appendPlainText("// more")
    assert editor.dirty
    editor.keep()
    assert file.read_bytes().startswith(content.rstrip()) and b"// more" in file.read_bytes()
    assert file.read_bytes().count(b"\r\n") == file.read_bytes().count(b"\n") * (b"\r" in content)


def test_a_file_that_somebody_else_changed_is_not_written_over_unasked(
    opened: Callable[[Path], FileEditor], tmp_path: Path
) -> None:
    file = tmp_path / "mind.asl"
    file.write_text("!one.")
    editor = opened(file)
    named(editor, CodeEdit, "file-text").setPlainText("!two.")
    file.write_text("!other.")
    editor.keep()
    assert file.read_text() == "!other." and editor.dirty
    assert "was changed by another program" in named(editor, InlineMessage, "message-error").text
    editor.keep()
    assert file.read_text() == "!two." and not editor.dirty


def test_a_link_and_who_may_read_a_file_outlive_its_edit(
    opened: Callable[[Path], FileEditor], tmp_path: Path
) -> None:
    file, link = tmp_path / "kept" / "mind.asl", tmp_path / "mind.asl"
    file.parent.mkdir()
    file.write_text("!one.")
    file.chmod(0o600)
    link.symlink_to(file)
    editor = opened(link)
    named(editor, CodeEdit, "file-text").setPlainText("!two.")
    editor.keep()
    assert link.is_symlink() and file.read_text() == "!two."
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("path", ["~nobody-of-that-name/mind.asl", "x" * 300, "/dev/null/mind.asl"])
def test_a_path_that_cannot_be_is_told_or_new(opened: Callable[[Path], FileEditor], path: str) -> None:
    editor = opened(Path(path))
    assert named(editor, CodeEdit, "file-text").text == "" and not editor.dirty


def test_saving_under_another_name_asks_about_the_file_that_would_be_written_over(
    opened: Callable[[Path], FileEditor], tmp_path: Path, qtbot: Any
) -> None:
    editor = opened(tmp_path / "mind.asl")
    qtbot.waitUntil(lambda: bool(named(editor, QMenu, "file-menu").actions()), timeout=WAIT)
    named(editor, QPushButton, "file-save-as").click()
    dialog = editor.findChild(QFileDialog)
    assert dialog is not None and dialog.defaultSuffix() == "asl"
    dialog.reject()
