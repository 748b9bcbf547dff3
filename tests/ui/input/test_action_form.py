"""Actions of every kind of space, put together by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from PyQt6.QtWidgets import QDoubleSpinBox, QLineEdit, QPushButton, QSpinBox
from pytestqt.qtbot import QtBot

from gym_gui.core.plain_data import action_from_plain
from gym_gui.core.spaces import to_space
from gym_gui.ui.input.action_form import ActionForm
from gym_gui.ui.widgets.message_panels import InlineMessage
from tests.support.named import named


@pytest.fixture
def form(qtbot: QtBot, context: object) -> Any:
    result = ActionForm()
    yield result
    result.close()
    result.deleteLater()


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(9, start=3),
        spaces.Box(-2.0, 2.0, (3,)),
        spaces.Box(np.array([-1.0, 0.0], np.float32), np.array([1.0, np.inf], np.float32)),
        spaces.Box(0.5, 2.0, (2, 2)),
        spaces.MultiDiscrete([2, 3, 4]),
        spaces.MultiDiscrete([2, 3], start=[5, 1]),
        spaces.MultiBinary(4),
        spaces.Dict(a=spaces.Discrete(2), b=spaces.Box(-1, 1, (2,))),
        spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(2))),
    ],
    ids=str,
)
def test_what_it_gives_is_in_the_space(form: ActionForm, space: Any) -> None:
    described = to_space(space)
    form.set_space(described.to_json())
    value = action_from_plain(described, form.value())
    assert space.contains(value), value


def test_fields_are_read(form: ActionForm, qtbot: QtBot) -> None:
    form.set_space(to_space(spaces.Box(-2.0, 2.0, (2,))).to_json())
    first, second = form.findChildren(QDoubleSpinBox)
    first.setValue(1.5)
    second.setValue(-9)
    with qtbot.waitSignal(form.submitted) as sent:
        named(form, QPushButton, "play-action").click()
    assert sent.args == [[1.5, -2.0]]


def test_a_text(form: ActionForm) -> None:
    form.set_space(to_space(spaces.Text(20)).to_json())
    form.findChildren(QLineEdit)[0].setText("open door")
    assert form.value() == "open door"


def test_what_is_no_json_is_said(form: ActionForm, qtbot: QtBot) -> None:
    form.set_space(to_space(spaces.Box(-1, 1, (40,))).to_json())
    line = form.findChildren(QLineEdit)[0]
    line.setText("[0, 1")
    sent: list[Any] = []
    form.submitted.connect(sent.append)
    play = named(form, QPushButton, "play-action")
    play.click()
    message = named(form, InlineMessage, "message-warning")
    assert not sent and "as JSON" in message.text
    line.setText(str([0.5] * 40))
    play.click()
    assert sent == [[0.5] * 40] and message.isHidden()


def test_another_space_takes_the_place(form: ActionForm, qtbot: QtBot) -> None:
    form.set_space(to_space(spaces.Discrete(4)).to_json())
    form.set_space(to_space(spaces.Discrete(7, start=1)).to_json())
    qtbot.waitUntil(lambda: len(form.findChildren(QSpinBox)) == 1)
    assert form.value() == 1


def test_nothing_can_be_played_unasked(form: ActionForm) -> None:
    form.set_asked(False)
    assert not named(form, QPushButton, "play-action").isEnabled()
