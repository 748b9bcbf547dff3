"""Numbers are read and typed as the reader's country writes them; what is kept has a point."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PyQt6.QtCore import QLocale
from pytestqt.qtbot import QtBot

from gym_gui.ui.agents.setting_controls import NumberBox, NumberControl
from gym_gui.ui.numbers import count, local, read, screen, written
from gym_gui.ui.training_numbers import return_in_words, steps_in_words
from gym_gui.ui.widgets.number_fields import NumberField
from gym_gui.workers.settings.settings_schema import Setting


@pytest.fixture(params=["de_DE", "fr_FR", "en_US"])
def country(request: pytest.FixtureRequest) -> Iterator[str]:
    before = QLocale()
    QLocale.setDefault(QLocale(request.param))
    yield request.param
    QLocale.setDefault(before)


def test_what_is_read_has_the_countrys_marks(country: str) -> None:
    group, point = {"de_DE": ".,", "fr_FR": "\u202f,", "en_US": ",."}[country]
    assert f"{local(3512.5):,.1f} of {local(12_000):,}" == f"3{group}512{point}5 of 12{group}000"
    assert count(3512, "episode") == f"3{group}512 episodes"
    assert steps_in_words(1_250_000) == f"1{point}25M" and return_in_words(-0.001) == f"0{point}00"
    assert screen().none == "–"  # noqa: RUF001


def test_what_is_typed_is_kept_with_a_point(country: str, qtbot: QtBot) -> None:
    setting = Setting("rate", {"type": "number", "title": "Rate", "default": 0.5})
    control = NumberControl(setting)
    qtbot.addWidget(control)
    group, point = {"de_DE": ".,", "fr_FR": " ,", "en_US": ",."}[country]
    for words, value in (
        (f"0{point}25", 0.25),
        ("3e-4", 3e-4),
        ("0.5", 0.5),
        (f"3{group}512{point}5", 3512.5),
    ):
        control.line.setText(words)
        assert control.value() == value, words
    control.set_value(0.125)
    assert control.line.text() == f"0{point}125" and control.value() == 0.125
    box = control.findChild(NumberBox)
    assert box is not None
    box.stepBy(1)
    assert point in control.line.text() and control.value() > 0.125
    control.line.setText("none at all")
    assert control.value() == "none at all"


def test_a_counting_field_reads_back_what_it_shows(country: str, qtbot: QtBot) -> None:
    box = NumberField()
    qtbot.addWidget(box)
    box.setDecimals(3)
    box.setSuffix(" s")
    box.setMaximum(5000)
    box.setValue(12.5)
    point = "." if country == "en_US" else ","
    assert box.cleanText() == f"12{point}5"
    box.lineEdit().setText(f"0{point}25 s")  # type: ignore[union-attr]
    box.interpretText()
    assert box.value() == 0.25


def test_text_that_is_no_number_stays(country: str) -> None:
    for text in ("env:KEY", "1,2,3", "a.b", ""):
        assert read(text, {"type": "number"}) == text and written(text) == text
