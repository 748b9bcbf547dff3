"""The form of a training's settings: what is typed is read, what cannot be is said beside it."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QCheckBox, QComboBox, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.services.trainer.training_settings import AlgorithmSchema
from gym_gui.services.trainings.training_choices import algorithm_reason
from gym_gui.ui.agents.setting_controls import NumberBox
from gym_gui.ui.agents.settings_form import SettingsForm
from tests.support.named import named

PROPERTIES: dict[str, dict[str, Any]] = {
    "total_steps": {"type": "integer", "title": "Steps", "default": 500_000, "minimum": 1, "x-group": "main"},
    "learning_rate": {
        "type": "number",
        "title": "Learning rate",
        "default": 3e-4,
        "exclusiveMinimum": 0,
        "maximum": 1,
        "x-group": "main",
    },
    "device": {"type": "string", "default": "auto", "enum": ["auto", "cpu", "cuda"]},
    "anneal_lr": {"type": "boolean", "default": True},
    "hidden": {"type": "array", "items": {"type": "integer"}, "default": [64, 64]},
    "target_kl": {"type": ["number", "null"], "default": None},
}
SCHEMA = AlgorithmSchema("ppo", "PPO", actions=("discrete",), properties=PROPERTIES)


@pytest.fixture
def form(qtbot: QtBot) -> SettingsForm:
    result = SettingsForm(SCHEMA.settings, unknown=SCHEMA.unknown)
    qtbot.addWidget(result)
    result.show()
    return result


def line(form: SettingsForm, name: str) -> NumberBox:
    found = form.findChild(NumberBox, f"setting_{name}")
    assert found is not None
    return found


def write(qtbot: QtBot, form: SettingsForm, name: str, text: str) -> None:
    line(form, name).clear()
    qtbot.keyClicks(line(form, name), text)


def test_defaults_are_no_settings(form: SettingsForm) -> None:
    assert form.values() == {} and not form.problems
    assert form.effective("total_steps") == 500_000


def test_each_field_says_what_is_wrong_with_it(form: SettingsForm, qtbot: QtBot) -> None:
    write(qtbot, form, "learning_rate", "5")
    wanted = "Learning rate must be a number, more than 0 and at most 1"
    assert form.problems == {"learning_rate": f"{wanted}, not 5"}
    assert line(form, "learning_rate").property("invalid") == "true"
    write(qtbot, form, "learning_rate", "fast")
    assert form.problems == {"learning_rate": f"{wanted}, not 'fast'"}
    write(qtbot, form, "learning_rate", "2.5e-4")
    assert form.problems == {} and form.values() == {"learning_rate": 2.5e-4}
    assert line(form, "learning_rate").property("invalid") == "false"


def test_all_settings_are_shown_on_request(form: SettingsForm) -> None:
    assert form.findChild(QCheckBox, "setting_anneal_lr") is None
    more = named(form, QPushButton, "settings_more")
    assert more.text() == "All 6 settings…"
    more.click()
    box = form.findChild(QCheckBox, "setting_anneal_lr")
    assert box is not None and box.isVisible() and more.text() == "Fewer settings"
    box.click()
    more.click()
    assert box.isVisible(), "what was changed stays in sight"
    assert form.values() == {"anneal_lr": False}


def test_values_are_taken_and_given_back(form: SettingsForm) -> None:
    values = {"total_steps": 1000, "device": "cpu", "hidden": [32], "target_kl": 0.02}
    form.set_values(values)
    assert form.values() == values
    box = form.findChild(QComboBox, "setting_device")
    assert box is not None and box.currentData() == "cpu"
    form.set_values({})
    assert form.values() == {}


def test_a_field_that_is_emptied_takes_the_default(form: SettingsForm, qtbot: QtBot) -> None:
    write(qtbot, form, "total_steps", "1e3")
    assert form.values() == {"total_steps": 1000}
    box = line(form, "total_steps")
    box.selectAll()
    qtbot.keyClick(box, Qt.Key.Key_Delete)
    assert form.values() == {} and form.effective("total_steps") == 500_000
    form.set_values(form.values())
    assert box.text() == "", "what stands there is left alone"
    qtbot.keyClick(box, Qt.Key.Key_Up)
    assert form.values() == {"total_steps": 500_001}


@pytest.mark.parametrize(
    ("begin", "up", "down"),
    [("3e-4", 4e-4, 3e-4), ("1e-4", 2e-4, 1e-4), ("0.95", 1.0, 0.9), ("0.3", 0.4, 0.3)],
)
def test_arrows_count_as_the_number_is_large(
    form: SettingsForm, qtbot: QtBot, begin: str, up: float, down: float
) -> None:
    write(qtbot, form, "learning_rate", begin)
    box = line(form, "learning_rate")
    qtbot.keyClick(box, Qt.Key.Key_Up)
    assert form.effective("learning_rate") == up
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert form.effective("learning_rate") == down


def test_what_is_typed_stays_when_the_field_is_left(form: SettingsForm, qtbot: QtBot) -> None:
    for text in ("2,000", "many"):
        write(qtbot, form, "total_steps", text)
        box = line(form, "total_steps")
        qtbot.keyClick(box, Qt.Key.Key_Return)
        box.clearFocus()
        assert box.text() == text
    assert form.values() == {"total_steps": "many"} and "many" in form.problems["total_steps"]


def test_a_setting_that_is_not_known_is_named(form: SettingsForm) -> None:
    form.set_values({"learning_rat": 1.0})
    assert form.values() == {"learning_rat": 1.0}
    said = form.findChild(QLabel, "settings_unknown")
    assert said is not None and "learning_rate" in said.text() and form.problems


def test_a_field_says_default_and_limits(form: SettingsForm) -> None:
    tip = line(form, "learning_rate").toolTip()
    assert "Default: 3e-4." in tip and "more than 0 and at most 1." in tip and "(learning_rate)" in tip


def test_an_algorithm_says_why_it_does_not_fit() -> None:
    assert (
        algorithm_reason(SCHEMA, "continuous", "vector") == "for discrete actions; here they are continuous"
    )
    assert algorithm_reason(SCHEMA, "discrete", "vector") == ""
    assert algorithm_reason(SCHEMA, "", "") == ""
