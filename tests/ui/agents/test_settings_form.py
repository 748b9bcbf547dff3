"""A form made from a worker's description gives back what a person sets in it."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QStandardItemModel, QWheelEvent
from PyQt6.QtWidgets import QApplication, QCheckBox, QComboBox, QFileDialog, QLabel, QLineEdit, QToolButton

from gym_gui.ui.agents.setting_controls import NumberBox, NumberControl, TextControl
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.workers.settings.settings_schema import Setting, chosen_policy
from gym_gui.workers.settings.settings_table import settings_from_tables
from tests.support.named import named

MOODS = [
    {"value": "calm", "title": "Calm"},
    {"value": "wild", "title": "Wild", "environments": ["MiniGrid-*"]},
    {"value": "odd", "agents": ["*/goal"]},
]
SCHEMA = settings_from_tables(
    {
        "mood": {
            "type": "choice",
            "title": "Mood",
            "meaning": "How it feels",
            "default": "calm",
            "options": MOODS,
        },
        "taste": {"type": "choice", "options": MOODS},
        "sides": {"type": "whole", "default": 6, "minimum": 2, "maximum": 100},
        "heat": {"type": "number", "minimum": 0, "maximum": 2},
        "loud": {"type": "flag", "default": False},
        "file": {"type": "policy", "title": "Checkpoint", "required": True},
        "script": {"type": "list"},
        "more": {"type": "object", "title": "More"},
        "api_key": {"type": "secret", "title": "API key"},
        "word": {"type": "text", "default": "hello"},
    }
)
FULL: dict[str, Any] = {
    "mood": "wild",
    "taste": "calm",
    "sides": 8,
    "heat": 0.7,
    "loud": True,
    "file": "/a/policy",
    "script": [0, "left", [1, 2]],
    "more": {"top_k": 20, "provider": {"order": ["a"]}},
    "api_key": "env:OUR_KEY",
    "word": "goodbye",
    "unknown": {"kept": [1]},
}


def test_settings_of_another_policy_are_left_out_and_kept(qtbot: Any) -> None:
    schema = settings_from_tables(
        {
            "how": {"type": "choice", "policies": True, "options": [{"value": "pid"}, {"value": "lqr"}]},
            "gain": {"type": "number", "only_with": ["pid"]},
            "cost": {"type": "number", "only_with": ["lqr"]},
            "target": {"type": "number"},
        }
    )
    form = SettingsForm(schema, {"gain": 2.0, "cost": 3.0}, policy="lqr", without=["how"])
    qtbot.addWidget(form)
    form.show()
    shown = [control.setting.name for control in form.findChildren(NumberControl) if control.isVisible()]
    assert shown == ["cost", "target"]
    assert form.values() == {"gain": 2.0, "cost": 3.0}
    assert chosen_policy(schema, {"how": "pid"}) == "pid" and chosen_policy(schema[1:], {}) == ""


def test_a_path_shows_its_end_and_tells_all_of_it(qtbot: Any) -> None:
    form = make(qtbot, {"file": "/a/very/long/way/to/the/folder/of/a/policy"})
    line = form.findChild(QLineEdit, "setting_file")
    assert line is not None and line.cursorPosition() == len(line.text())
    assert line.toolTip().splitlines()[0] == line.text()


def make(qtbot: Any, values: dict[str, Any] | None = None, **more: Any) -> SettingsForm:
    form = SettingsForm(SCHEMA, values, **more)
    qtbot.addWidget(form)
    form.show()
    return form


def child(form: SettingsForm, kind: type, name: str) -> Any:
    found = form.findChild(kind, f"setting_{name}")
    assert found is not None, name
    return found


def test_settings_of_a_group_stand_below_its_heading_while_one_of_them_is_shown(qtbot: Any) -> None:
    schema = settings_from_tables(
        {
            "quiet": {"type": "flag", "default": False, "group": "Sound", "advanced": True},
            "model": {"type": "text"},
            "trace": {"type": "flag", "default": False, "group": "Records", "advanced": True},
            "volume": {"type": "whole", "group": "Sound", "advanced": True},
        }
    )
    form = SettingsForm(schema, {"volume": 3})
    qtbot.addWidget(form)
    form.resize(400, 400)
    form.show()

    def shown() -> list[str]:
        names = ["Model", "Sound", "Quiet", "Volume", "Records", "Trace"]
        found = [label for label in form.findChildren(QLabel) if label.text().capitalize() in names]
        return [w.text().capitalize() for w in sorted(found, key=lambda w: w.y()) if w.isVisible()]

    assert shown() == ["Model", "Sound", "Volume"], "what was set is shown, with its heading"
    form.toggle_all()
    qtbot.waitUntil(lambda: shown() == ["Model", "Sound", "Quiet", "Volume", "Records", "Trace"])


def test_a_list_of_words_is_shown_as_it_is_typed(qtbot: Any) -> None:
    for words in (["busy", "failed"], ["gpt-4o"], ["true", "left"], ["a b", "c"], ["NaN"], [1, "x"]):
        form = make(qtbot, {"script": words})
        assert form.values()["script"] == words
    assert child(make(qtbot, {"script": ["busy", "m/x-1:2"]}), QLineEdit, "script").text() == "busy, m/x-1:2"


def test_an_object_that_is_none_is_said_to_be_none(qtbot: Any) -> None:
    form = make(qtbot)
    line = child(form, QLineEdit, "more")
    for typed in ("{top_k: 20}", "[1]"):
        line.clear()
        qtbot.keyClicks(line, typed)
        problem = form.findChild(QLabel, "setting_more_problem")
        assert problem is not None and problem.text().startswith("More must be a JSON object"), typed
    line.clear()
    qtbot.keyClicks(line, '{"top_k": 20}')
    assert form.values()["more"] == {"top_k": 20}


def test_values_come_back_as_they_went_in(qtbot: Any) -> None:
    form = make(qtbot, FULL)
    assert form.values() == FULL
    form.set_values({"file": "/b"})
    assert form.values() == {"file": "/b"}


def test_a_list_has_room_for_its_words_however_narrow_the_form(qtbot: Any) -> None:
    words = "asks twice more, and then takes any action that is legal"
    options = [{"value": "a", "title": words}]
    form = SettingsForm(settings_from_tables({"then": {"type": "choice", "options": options}}))
    qtbot.addWidget(form)
    form.setFixedWidth(220)
    form.show()
    box: QComboBox = child(form, QComboBox, "then")
    box.showPopup()
    view = box.view()
    assert view is not None
    assert view.width() >= view.fontMetrics().horizontalAdvance(words) > box.width()
    box.hidePopup()


def test_what_nobody_set_is_left_out(qtbot: Any) -> None:
    assert make(qtbot).values() == {}


def test_every_edit_is_told_with_all_values(qtbot: Any) -> None:
    form = make(qtbot, {"file": "/a"})
    with qtbot.waitSignal(form.values_changed) as told:
        child(form, QLineEdit, "word").clear()
        qtbot.keyClicks(child(form, QLineEdit, "word"), "ciao")
    assert told.args[0]["file"] == "/a"
    assert form.values()["word"] == "ciao"
    with qtbot.waitSignal(form.values_changed):
        child(form, QCheckBox, "loud").click()
    box = child(form, QComboBox, "mood")
    with qtbot.waitSignal(form.values_changed):
        box.setFocus()
        qtbot.keyClick(box, Qt.Key.Key_Down)
    spin = child(form, NumberBox, "sides")
    with qtbot.waitSignal(form.values_changed):
        spin.setFocus()
        spin.selectAll()
        qtbot.keyClicks(spin, "12")
    assert form.values() == {"file": "/a", "word": "ciao", "loud": True, "mood": "wild", "sides": 12}


def test_showing_values_tells_nobody(qtbot: Any) -> None:
    form = make(qtbot)
    told: list[object] = []
    form.values_changed.connect(told.append)
    form.set_values(FULL)
    assert told == []


@pytest.mark.parametrize(
    ("written", "read"),
    [("0, 1, 2", [0, 1, 2]), ('[0, "left"]', [0, "left"]), ("left, right", ["left", "right"]), ("", None)],
)
def test_lists_are_written_as_people_write_them(qtbot: Any, written: str, read: object) -> None:
    form = make(qtbot)
    qtbot.keyClicks(child(form, QLineEdit, "script"), written)
    assert form.values().get("script") == read


def test_what_is_wrong_stands_below_its_row(qtbot: Any) -> None:
    form = make(qtbot)
    note = form.findChild(QLabel, "setting_file_problem")
    assert note is not None and note.isVisible() and "Checkpoint is missing" in note.text()
    qtbot.keyClicks(child(form, QLineEdit, "file"), "/a")
    assert not note.isVisible()
    qtbot.keyClicks(child(form, QLineEdit, "api_key"), "sk-123")
    secret = form.findChild(QLabel, "setting_api_key_problem")
    assert secret is not None and secret.isVisible() and "env:NAME" in secret.text()


def test_an_unknown_option_is_shown_not_swapped(qtbot: Any) -> None:
    form = make(qtbot, {"file": "/a", "mood": "grumpy"})
    assert form.values()["mood"] == "grumpy"
    note = form.findChild(QLabel, "setting_mood_problem")
    assert note is not None and note.isVisible()


def test_options_of_other_environments_are_disabled_with_the_reason(qtbot: Any) -> None:
    form = make(qtbot, env_id="CartPole-v1", agent="agent_0")
    model = child(form, QComboBox, "mood").model()
    assert isinstance(model, QStandardItemModel)
    items = [model.item(row) for row in range(model.rowCount())]
    assert [item.isEnabled() for item in items if item] == [True, False, False]
    assert items[1] is not None and "MiniGrid-*" in items[1].toolTip()
    grid = make(qtbot, env_id="MiniGrid-Empty-5x5-v0", agent="agent_0/goal")
    model = child(grid, QComboBox, "mood").model()
    assert all(model.item(row).isEnabled() for row in range(3))


def test_settings_that_mean_nothing_here_or_are_edited_elsewhere_have_no_row(qtbot: Any) -> None:
    tables = {
        "a": {"type": "text", "environments": ["MiniGrid-*"]},
        "b": {"type": "text"},
        "c": {"type": "text"},
    }
    schema = settings_from_tables(tables)
    form = SettingsForm(schema, {"a": "x", "c": "y"}, env_id="CartPole-v1", without=["c"])
    qtbot.addWidget(form)
    assert form.findChild(QLineEdit, "setting_b") is not None
    assert form.findChild(QLineEdit, "setting_a") is None
    assert form.values() == {"a": "x", "c": "y"}
    assert SettingsForm((), {}).empty


def test_the_wheel_scrolls_the_page_not_the_number(qtbot: Any) -> None:
    form = make(qtbot, {"file": "/a", "sides": 8})
    spin, box = child(form, NumberBox, "sides"), child(form, QComboBox, "mood")
    for widget in (spin, box):
        widget.clearFocus()
        event = QWheelEvent(
            QPointF(5, 5),
            QPointF(5, 5),
            QPoint(0, 0),
            QPoint(0, 120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(widget, event)
        assert not event.isAccepted()
    assert form.values() == {"file": "/a", "sides": 8}


def test_every_control_can_be_read_aloud(qtbot: Any) -> None:
    form = make(qtbot, FULL)
    for setting in SCHEMA:
        control = form.control(setting.name).focusProxy()
        assert control is not None
        assert control.accessibleName() == setting.label and control.toolTip()


def test_a_policy_is_chosen_by_its_description_or_file(qtbot: Any, tmp_path: Any) -> None:
    folder = tmp_path / "ppo"
    folder.mkdir()
    (folder / "policy.json").write_text("{}")
    (tmp_path / "joint.pth").write_text("")
    form = make(qtbot, {"file": str(tmp_path)})
    named(form.control("file"), QToolButton, "setting_file_browse").click()  # type: ignore[attr-defined]
    dialog = form.window().findChild(QFileDialog)
    assert dialog is not None and dialog.isVisible()
    dialog.fileSelected.emit(str(folder / "policy.json"))
    assert form.values()["file"] == str(folder)
    dialog.fileSelected.emit(str(tmp_path / "joint.pth"))
    assert form.values()["file"] == str(tmp_path / "joint.pth")
    dialog.close()


def test_fields_say_what_special_values_stand_for(qtbot: Any) -> None:
    limit = {"type": "integer", "description": "Tokens in all; 0: no limit", "default": 0}
    drawn = {"type": "string", "description": "Whose way is drawn; empty: the centre of mass"}
    form = SettingsForm([Setting("limit", limit), Setting("drawn", drawn)])
    qtbot.addWidget(form)
    number, text = form.control("limit"), form.control("drawn")
    assert isinstance(number, TextControl) and isinstance(text, TextControl)
    box = number.focusProxy()
    assert box is not None and number.line.aside == box.accessibleDescription() == "no limit"
    assert text.line.placeholderText() == "the centre of mass"
    number.line.setText("10")
    assert number.line.aside == box.accessibleDescription() == ""
