"""Pickers, segments and seeds by click and key."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QLineEdit, QListView, QPushButton, QSpinBox
from pytestqt.qtbot import QtBot

from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.widgets import PickerButton, PickerItem, SeedBox, SegmentedControl
from gym_gui.ui.widgets.picker import PickerPopup
from tests.support.named import named

LEFT = Qt.MouseButton.LeftButton
ITEMS = [
    PickerItem("cart", "CartPole-v1", "2 actions", "Classic control"),
    PickerItem("acro", "Acrobot-v1", "3 actions", "Classic control"),
    PickerItem("breakout", "ALE/Breakout-v5", "", "Atari", reason="pip install ale-py"),
    PickerItem("chess", "classic/chess_v6", "two players", "Board games", keywords="knight"),
]


@pytest.fixture
def picker(context: AppContext, qtbot: QtBot) -> PickerButton:
    result = PickerButton(ITEMS, placeholder="Choose an environment", name="env")
    qtbot.addWidget(result)
    result.resize(220, 30)
    result.show()
    qtbot.waitExposed(result)
    return result


def opened(picker: PickerButton, qtbot: QtBot) -> PickerPopup:
    qtbot.mouseClick(picker, LEFT)
    assert named(picker, PickerPopup, "picker-popup").isVisible()
    return named(picker, PickerPopup, "picker-popup")


def shown(popup: PickerPopup) -> list[object]:
    model = popup.model
    return [model.data(model.index(row)) for row in range(model.rowCount())]


class TestPicker:
    def test_it_lists_by_group(self, picker: PickerButton, qtbot: QtBot) -> None:
        assert picker.text() == "Choose an environment"
        assert shown(opened(picker, qtbot)) == [
            "Classic control",
            "CartPole-v1",
            "Acrobot-v1",
            "Atari",
            "ALE/Breakout-v5",
            "Board games",
            "classic/chess_v6",
        ]

    def test_what_is_not_listed_yet_is_called_by_its_name(self, picker: PickerButton) -> None:
        picker.set_value("MiniGrid-DoorKey-8x8-v0", "DoorKey 8 by 8")
        assert (picker.value, picker.text()) == ("MiniGrid-DoorKey-8x8-v0", "DoorKey 8 by 8")
        picker.set_items([*ITEMS, PickerItem("MiniGrid-DoorKey-8x8-v0", "DoorKey, 8x8")])
        assert picker.text() == "DoorKey, 8x8"
        picker.set_value("another")
        assert picker.text() == "another"

    def test_typing_finds_and_enter_chooses(self, picker: PickerButton, qtbot: QtBot) -> None:
        popup = opened(picker, qtbot)
        qtbot.keyClicks(named(popup, QLineEdit, "picker-search"), "knight")
        assert shown(popup) == ["classic/chess_v6"]
        with qtbot.waitSignal(picker.chosen) as told:
            qtbot.keyClick(named(popup, QLineEdit, "picker-search"), Qt.Key.Key_Return)
        assert told.args == ["chess"]
        assert picker.value == "chess"
        assert picker.text() == "classic/chess_v6"
        assert not popup.isVisible()

    def test_arrows_pass_over_headings_and_what_is_not_offered(
        self, picker: PickerButton, qtbot: QtBot
    ) -> None:
        popup = opened(picker, qtbot)
        list_widget = named(popup, QListView, "picker-list")
        seen = [popup.model.data(list_widget.currentIndex())]
        for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageUp):
            qtbot.keyClick(named(popup, QLineEdit, "picker-search"), key)
            seen.append(popup.model.data(list_widget.currentIndex()))
        chess = "classic/chess_v6"
        assert seen == ["CartPole-v1", "Acrobot-v1", chess, chess, "Acrobot-v1", "CartPole-v1"]

    def test_what_is_not_offered_says_why(self, picker: PickerButton, qtbot: QtBot) -> None:
        popup = opened(picker, qtbot)
        qtbot.keyClicks(named(popup, QLineEdit, "picker-search"), "breakout")
        index = popup.model.index(0)
        assert "pip install ale-py" in popup.model.data(index, Qt.ItemDataRole.ToolTipRole)
        with qtbot.assertNotEmitted(picker.chosen):
            qtbot.keyClick(named(popup, QLineEdit, "picker-search"), Qt.Key.Key_Return)
            named(popup, QListView, "picker-list").clicked.emit(index)

    def test_a_click_chooses(self, picker: PickerButton, qtbot: QtBot) -> None:
        popup = opened(picker, qtbot)
        list_widget = named(popup, QListView, "picker-list")
        viewport = list_widget.viewport()
        place = list_widget.visualRect(popup.model.index(2)).center()
        with qtbot.waitSignal(picker.chosen) as told:
            qtbot.mouseClick(viewport, LEFT, pos=place)
        assert told.args == ["acro"]

    def test_escape_changes_nothing(self, picker: PickerButton, qtbot: QtBot) -> None:
        picker.set_value("cart")
        popup = opened(picker, qtbot)
        assert popup.model.data(named(popup, QListView, "picker-list").currentIndex()) == "CartPole-v1"
        qtbot.keyClick(named(popup, QLineEdit, "picker-search"), Qt.Key.Key_Escape)
        assert not popup.isVisible()
        assert picker.value == "cart"

    def test_items_that_arrive_leave_the_search_and_the_current_row(
        self, picker: PickerButton, qtbot: QtBot
    ) -> None:
        popup = opened(picker, qtbot)
        search, rows = named(popup, QLineEdit, "picker-search"), named(popup, QListView, "picker-list")
        qtbot.keyClicks(search, "v")
        first = popup.model.data(rows.currentIndex())
        qtbot.keyClick(search, Qt.Key.Key_Down)
        current = popup.model.data(rows.currentIndex())
        assert current != first
        picker.set_items([PickerItem("cliff", "CliffWalking-v1", "", "Toy text"), *ITEMS])
        assert search.text() == "v" and "CliffWalking-v1" in shown(popup)
        assert popup.model.data(rows.currentIndex()) == current
        picker.set_items([item for item in ITEMS if item.label != current])
        assert popup.model.data(rows.currentIndex()) == first, "the one before is gone"

    def test_items_that_are_awaited_are_said_to_be(self, context: AppContext, qtbot: QtBot) -> None:
        picker = EnvironmentPicker(context)
        qtbot.addWidget(picker)
        picker.show()
        picker.set_value("acro")
        popup = opened(picker, qtbot)
        nothing = named(popup, QLabel, "picker-nothing")
        assert nothing.isVisible() and nothing.text() == "Listing the environments…"
        picker.set_items(ITEMS)
        assert not nothing.isVisible()
        rows = named(popup, QListView, "picker-list")
        assert popup.model.data(rows.currentIndex()) == "Acrobot-v1", "the chosen one"
        qtbot.keyClicks(named(popup, QLineEdit, "picker-search"), "qqq")
        assert nothing.isVisible() and nothing.text().startswith("No matches")

    def test_nothing_found_is_said(self, picker: PickerButton, qtbot: QtBot) -> None:
        popup = opened(picker, qtbot)
        qtbot.keyClicks(named(popup, QLineEdit, "picker-search"), "qqq")
        assert named(popup, QLabel, "picker-nothing").isVisible()
        assert not named(popup, QListView, "picker-list").isVisible()
        qtbot.keyClick(named(popup, QLineEdit, "picker-search"), Qt.Key.Key_Return)
        assert picker.value is None

    def test_other_items_keep_the_choice(self, picker: PickerButton) -> None:
        picker.set_value("cart")
        picker.set_items(ITEMS[:1])
        assert picker.text() == "CartPole-v1"
        picker.set_items(ITEMS[1:2])
        assert picker.text() == "cart"

    def test_the_down_key_opens_it(self, picker: PickerButton, qtbot: QtBot) -> None:
        qtbot.keyClick(picker, Qt.Key.Key_Down)
        assert named(picker, PickerPopup, "picker-popup").isVisible()


class TestSegments:
    @pytest.fixture
    def segments(self, context: AppContext, qtbot: QtBot) -> SegmentedControl:
        result = SegmentedControl([("manual", "Manual"), ("script", "Script"), ("off", "Off")], name="mode")
        qtbot.addWidget(result)
        result.findChild(QPushButton, "mode-off").setEnabled(False)
        result.show()
        return result

    def test_a_click_chooses_and_tells(self, segments: SegmentedControl, qtbot: QtBot) -> None:
        assert segments.value == "manual"
        with qtbot.waitSignal(segments.chosen) as told:
            qtbot.mouseClick(segments.findChild(QPushButton, "mode-script"), LEFT)
        assert told.args == ["script"]
        assert segments.value == "script"

    def test_arrows_move_along_and_stop_at_the_end(self, segments: SegmentedControl, qtbot: QtBot) -> None:
        for key, value in (
            (Qt.Key.Key_Right, "script"),
            (Qt.Key.Key_Right, "script"),
            (Qt.Key.Key_Left, "manual"),
        ):
            qtbot.keyClick(segments, key)
            assert segments.value == value

    def test_setting_it_says_nothing(self, segments: SegmentedControl, qtbot: QtBot) -> None:
        with qtbot.assertNotEmitted(segments.chosen):
            segments.set_value("script")
        assert segments.value == "script"


class TestSeed:
    @pytest.fixture
    def box(self, context: AppContext, qtbot: QtBot) -> SeedBox:
        result = SeedBox(42)
        qtbot.addWidget(result)
        result.show()
        return result

    def test_typing_tells_once_when_it_is_done(self, box: SeedBox, qtbot: QtBot) -> None:
        told: list[int] = []
        box.seed_changed.connect(told.append)
        spin = named(box, QSpinBox, "seed")
        spin.selectAll()
        qtbot.keyClicks(spin, "1234")
        assert told == []
        qtbot.keyClick(spin, Qt.Key.Key_Return)
        assert told == [1234]
        assert box.seed == 1234

    def test_setting_it_says_nothing(self, box: SeedBox, qtbot: QtBot) -> None:
        with qtbot.assertNotEmitted(box.seed_changed):
            box.set_seed(7)
        assert box.seed == 7

    def test_another_one_is_drawn(self, box: SeedBox, qtbot: QtBot) -> None:
        seen = set()
        for _ in range(5):
            box.draw()
            seen.add(box.seed)
        assert len(seen) > 1
        assert all(0 <= seed < 10_000 for seed in seen)

    def test_a_long_seed_is_not_cut(self, box: SeedBox) -> None:
        box.set_seed(2_147_483_647)
        spin = named(box, QSpinBox, "seed")
        assert spin.width() >= spin.fontMetrics().horizontalAdvance("2147483647")
