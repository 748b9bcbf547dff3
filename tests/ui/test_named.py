"""What the finder of widgets says where it finds none, or more than one."""

from __future__ import annotations

import pytest
from PyQt6.QtWidgets import QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.support.named import named


@pytest.fixture
def form(qtbot: QtBot) -> QWidget:
    result = QWidget()
    qtbot.addWidget(result)
    result.setObjectName("form")
    column = QVBoxLayout(result)
    for kind, name in ((QPushButton, "train-start"), (QLabel, "note"), (QLabel, "note")):
        widget = kind()
        widget.setObjectName(name)
        column.addWidget(widget)
    return result


def test_one_is_found(form: QWidget) -> None:
    assert named(form, QPushButton, "train-start") is form.children()[1]


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        (
            QPushButton,
            "train-strat",
            "no QPushButton in QWidget 'form' is called 'train-strat'; near names: train-start",
        ),
        (QLineEdit, "seed", "no QLineEdit in QWidget 'form' is called 'seed'; near names: none"),
        (QLineEdit, "train-start", "'train-start' in QWidget 'form' is a QPushButton, no QLineEdit"),
        (QLabel, "note", "2 in QWidget 'form' are called 'note': begin at what holds the one that is meant"),
    ],
)
def test_what_is_wrong_is_said(form: QWidget, kind: type[QWidget], name: str, said: str) -> None:
    with pytest.raises(AssertionError) as told:
        named(form, kind, name)
    assert str(told.value).partition("\n")[0] == said
