"""Every number of every form reads back as it was written, in four locales; opening a form changes none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from PyQt6.QtCore import QLocale, Qt
from PyQt6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

import gym_gui.ui
from gym_gui.controllers.setup.play_setup import Clock
from gym_gui.core.experiment.execution import TimeControl
from gym_gui.services.trainings.training_choices import find_trainers
from gym_gui.ui import window_settings as declared
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.numbers import read, written
from gym_gui.ui.play.side_panel import ClockRows
from gym_gui.ui.play.time_rows import TimeRows
from gym_gui.ui.train.run_numbers import RunNumbers
from gym_gui.ui.widgets import SeedBox
from gym_gui.ui.widgets.number_fields import IntegerField, NumberField
from gym_gui.workers.discovery import known_workers
from gym_gui.workers.settings.settings_schema import Setting
from tests.support.named import named

OTHERS = ("en_US", "ja_JP", "C")
LOCALES = ("de_DE", *(pytest.param(name, marks=pytest.mark.full) for name in OTHERS))
"""A comma for the point, and points between thousands: the one that differs most is tried by every run."""
INTEGERS = (0, 1, -1, 999, 1000, 20_000, 1_234_567, 2**31 - 1, 2**53 + 1)
FLOATS = (
    0.5,
    3e-4,
    0.1 + 0.2,
    20_000.0,
    1_234_567.5,
    12_345.678,
    -0.001,
    1e-300,
    -1.5e300,
    1e22,
    123_456_789_012.0,
)


@pytest.fixture(params=LOCALES)
def locale(request: pytest.FixtureRequest) -> Iterator[str]:
    before = QLocale()
    QLocale.setDefault(QLocale(request.param))
    yield request.param
    QLocale.setDefault(before)


@cache
def schemas() -> dict[str, tuple[Setting, ...]]:
    """The settings of every bundled worker, those of its policies and of each of its algorithms."""
    found = {worker.type_id: tuple(worker.settings_schema) for worker in known_workers()}
    for name, trainer in find_trainers().items():
        for algorithm, schema in trainer.algorithms.items():
            found[f"{name} {algorithm}"] = tuple(schema.settings)
    return found


def numbers_of(setting: Setting) -> tuple[object, ...]:
    """Values of every size that a numeric setting could have, its default and its limits among them."""
    limits = (setting.default, setting.schema.get("minimum"), setting.schema.get("maximum"))
    known = tuple(value for value in limits if value is not None)
    items = setting.schema.get("items", {}).get("type", "")
    return known + {
        "integer": INTEGERS,
        "number": INTEGERS + FLOATS,
        "array": {"integer": ([64, 64], [20_000]), "number": ([0.5, 3e-4], [20_000, 1_234.5])}.get(items, ()),
    }.get(setting.kind, ())


def test_there_are_settings_of_every_bundled_worker() -> None:
    assert len(schemas()) > 40
    kinds = {setting.kind for schema in schemas().values() for setting in schema}
    assert {"integer", "number", "array"} <= kinds


def test_every_number_of_every_worker_reads_back(locale: str) -> None:
    seen = 0
    for worker, schema in schemas().items():
        for setting in schema:
            for value in numbers_of(setting):
                text = written(value)
                assert read(text, setting.schema) == value, (worker, setting.name, text)
                seen += 1
    assert seen > 5000


def test_the_form_of_a_kept_configuration_gives_it_back(locale: str, qtbot: QtBot) -> None:
    """One value of each size in turn, defaults written out among them."""
    for worker, schema in schemas().items():
        numeric = [setting for setting in schema if len(numbers_of(setting)) > 1]
        for turn in range(0, 12, 5):
            values = {s.name: numbers_of(s)[turn % len(numbers_of(s))] for s in numeric}
            form = SettingsForm(schema, values)
            qtbot.addWidget(form)
            assert form.values() == values, worker
            assert {name: type(value) for name, value in form.values().items()} == {
                name: type(value) for name, value in values.items()
            }


def test_twenty_thousand_steps_are_typed_as_the_locale_writes_them(locale: str, qtbot: QtBot) -> None:
    form = SettingsForm(
        [Setting("total_steps", {"type": "integer", "default": 1000})], {"total_steps": 20_000}
    )
    qtbot.addWidget(form)
    form.show()
    line = form.control("total_steps").findChild(QLineEdit)
    assert line is not None
    group = "." if locale == "de_DE" else ","
    assert line.text() == f"20{group}000"
    line.setCursorPosition(6)
    qtbot.keyClicks(line, "0")
    assert line.text() == f"200{group}000" and form.values() == {"total_steps": 200_000}
    line.setCursorPosition(1)
    qtbot.keyClicks(line, "5")
    assert line.text() == f"2{group}500{group}000" and line.cursorPosition() == 3
    qtbot.keyClick(line, Qt.Key.Key_Backspace)
    assert form.values() == {"total_steps": 200_000}
    line.setCursorPosition(4)
    qtbot.keyClick(line, Qt.Key.Key_Backspace)  # the mark
    qtbot.keyClick(line, Qt.Key.Key_Backspace)  # the digit before it
    assert line.text() == "20000" and form.values() == {"total_steps": 20_000}
    line.clear()
    qtbot.keyClicks(line, "20000")
    assert form.values() == {"total_steps": 20_000}


def test_a_comma_that_is_no_mark_here_is_refused_and_not_left_out(qtbot: QtBot) -> None:
    before = QLocale()
    QLocale.setDefault(QLocale("en_US"))
    try:
        form = SettingsForm([Setting("rate", {"type": "number", "default": 0.1, "maximum": 10})])
        qtbot.addWidget(form)
        line = form.control("rate").findChild(QLineEdit)
        assert line is not None
        line.clear()
        qtbot.keyClicks(line, "0,5")
        assert "rate" in form.problems
        QLocale.setDefault(QLocale("de_DE"))
        assert form.values() == {"rate": 0.5}
        numbers = {"type": "array", "items": {"type": "number"}}
        assert read("0,5 0,25", numbers) == "0,5 0,25"  # and not four numbers
    finally:
        QLocale.setDefault(before)


def set_and_typed(field: IntegerField | NumberField, value: float, qtbot: QtBot) -> None:
    field.setValue(value)  # type: ignore[arg-type]
    assert field.value() == value
    field.interpretText()  # what losing the focus does
    assert field.value() == value
    line = field.lineEdit()
    assert line is not None
    line.selectAll()
    qtbot.keyClicks(line, written(round(value, 2)))
    field.interpretText()
    assert field.value() == round(value, 2)


def test_counting_fields_read_what_they_show_and_what_is_typed(locale: str, qtbot: QtBot) -> None:
    whole, parts = IntegerField(), NumberField()
    parts.setDecimals(3)
    for field, values in ((whole, INTEGERS[:8]), (parts, (0.5, 20_000.0, 1_234_567.5, 1 / 3, -1.25))):
        qtbot.addWidget(field)
        field.setRange(-(2**31), 2**31 - 1)
        field.setSuffix(" s")
        field.show()
        for value in values:
            set_and_typed(field, value, qtbot)


def test_forms_of_play_keep_what_they_were_given(locale: str, qtbot: QtBot) -> None:
    clock, time = ClockRows(), TimeRows()
    for widget in (clock, time):
        qtbot.addWidget(widget)
    for rate in (0.5, 12.3456, 60.0):
        clock.set_clock(Clock(True, rate))
        assert clock.clock == Clock(True, rate)
    for control in (TimeControl(100, 3), TimeControl(60 * 600, 600), TimeControl(7)):
        time.set_value(control)
        assert time.value is not None
        assert (round(time.value.seconds, 9), time.value.increment_s) == (
            control.seconds,
            control.increment_s,
        )


def test_seeds_and_counts_of_runs(locale: str, qtbot: QtBot) -> None:
    numbers, box = RunNumbers(), SeedBox(20_000)
    for widget in (numbers, box):
        qtbot.addWidget(widget)
    assert box.seed == 20_000
    seed = named(numbers, QLineEdit, "train-seed")
    for text in (written(20_000), "20000"):
        seed.clear()
        qtbot.keyClicks(seed, text)
        assert numbers.first_seed == 20_000 and not numbers.problems()


def test_numbers_of_the_settings_page_read_back(locale: str, qtbot: QtBot) -> None:
    numeric = [name for name in declared.names() if type(declared.default(name)) in (int, float)]
    assert numeric
    for name in numeric:
        says, default = declared.about(name), declared.default(name)
        field = IntegerField() if isinstance(default, int) else NumberField()
        qtbot.addWidget(field)
        field.setRange(type(default)(says.low), type(default)(says.high))  # type: ignore[call-overload]
        for value in (says.low, says.high, default):
            field.setValue(type(default)(value))  # type: ignore[call-overload]
            field.interpretText()
            assert field.value() == value, name


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in Path(gym_gui.ui.__file__).parent.rglob("*.py"):
        yield path, ast.parse(path.read_text())


def test_numbers_have_one_writer_and_one_reader() -> None:
    """No form has a field of Qt's own, which reads numbers by rules of its own."""
    own = {"QSpinBox", "QDoubleSpinBox", "QIntValidator", "QDoubleValidator", "value_of_text"}
    found = {
        f"{path.name}: {alias.name}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and path.name not in ("number_fields.py", "numbers.py")
        for alias in node.names
        if alias.name in own
    }
    assert not found, found
