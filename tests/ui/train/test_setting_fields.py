"""The form of settings: what is typed is read, what cannot be is said beside it."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtWidgets import QCheckBox, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from gym_gui.services.trainer.settings import AlgorithmSchema
from gym_gui.ui.train.setting_fields import FieldError, read_value
from gym_gui.ui.train.settings_list import SettingsList
from gym_gui.ui.train.training_choices import algorithm_reason, setting_problems

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
def form(qtbot: QtBot) -> SettingsList:
    result = SettingsList(PROPERTIES, lambda values: setting_problems(SCHEMA, values))
    qtbot.addWidget(result)
    result.show()
    return result


def line(form: SettingsList, name: str) -> QLineEdit:
    found = form.findChild(QLineEdit, f"train-setting-{name}")
    assert found is not None
    return found


def write(qtbot: QtBot, form: SettingsList, name: str, text: str) -> None:
    line(form, name).clear()
    qtbot.keyClicks(line(form, name), text)


@pytest.mark.parametrize(
    ("text", "kinds", "value"),
    [
        ("500,000", ("integer",), 500_000),
        ("1e6", ("integer",), 1_000_000),
        ("3e-4", ("number",), 3e-4),
        ("none", ("number", "null"), None),
        ("64, 64", ("array",), [64, 64]),
        ("[128]", ("array",), [128]),
        ("", ("array",), []),
        (" relu ", ("string",), "relu"),
    ],
)
def test_what_is_typed_is_read(text: str, kinds: tuple[str, ...], value: object) -> None:
    assert read_value(text, kinds) == value


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("many", ("integer",)),
        ("1.5", ("integer",)),
        ("", ("number",)),
        ("nan", ("number",)),
        ("64, x", ("array",)),
    ],
)
def test_what_cannot_be_read_is_told(text: str, kinds: tuple[str, ...]) -> None:
    with pytest.raises(FieldError, match="like"):
        read_value(text, kinds)


def test_defaults_are_no_settings(form: SettingsList) -> None:
    assert form.values() == {} and not form.problems
    assert form.effective("total_steps") == 500_000


def test_each_field_says_what_is_wrong_with_it(form: SettingsList, qtbot: QtBot) -> None:
    write(qtbot, form, "learning_rate", "5")
    assert form.problems == {"Learning rate": "Must be a number, more than 0 and at most 1."}
    assert line(form, "learning_rate").property("invalid") == "true"
    write(qtbot, form, "learning_rate", "fast")
    assert form.problems == {"Learning rate": "A number, like 0.001 or 3e-4."}
    write(qtbot, form, "learning_rate", "2.5e-4")
    assert form.problems == {} and form.values() == {"learning_rate": 2.5e-4}
    assert line(form, "learning_rate").property("invalid") == "false"


def test_all_settings_are_shown_on_request(form: SettingsList) -> None:
    assert form.findChild(QCheckBox, "train-setting-anneal_lr") is None
    assert form.more.text() == "All 6 settings…"
    form.more.click()
    box = form.findChild(QCheckBox, "train-setting-anneal_lr")
    assert box is not None and box.isVisible() and form.more.text() == "Fewer settings"
    box.click()
    form.more.click()
    assert box.isVisible(), "what was changed stays in sight"
    assert form.values() == {"anneal_lr": False}


def test_values_are_taken_and_given_back(form: SettingsList) -> None:
    values = {"total_steps": 1000, "device": "cpu", "hidden": [32], "target_kl": 0.02}
    form.set_values(values)
    assert form.values() == values
    box = form.findChild(QComboBox, "train-setting-device")
    assert box is not None and box.currentData() == "cpu"
    form.set_values({})
    assert form.values() == {}


def test_a_setting_that_is_not_known_is_named(form: SettingsList) -> None:
    form.set_values({"learning_rat": 1.0})
    assert form.values() == {"learning_rat": 1.0}
    assert "learning_rate" in form.strange.text() and form.problems


def test_a_field_says_default_and_limits(form: SettingsList) -> None:
    tip = line(form, "learning_rate").toolTip()
    assert "Default: 3e-4." in tip and "Above 0 to 1." in tip


def test_an_algorithm_says_why_it_does_not_fit() -> None:
    assert (
        algorithm_reason(SCHEMA, "continuous", "vector") == "for discrete actions; here they are continuous"
    )
    assert algorithm_reason(SCHEMA, "discrete", "vector") == ""
    assert algorithm_reason(SCHEMA, "", "") == ""
