"""The window by click and key: places, menus, palette, messages, log, layout, its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from PyQt6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PyQt6.QtGui import QDropEvent, QKeySequence
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QStackedWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.store import Store
from gym_gui.ui import pages
from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.page import Page
from gym_gui.ui.widgets import InlineMessage
from gym_gui.ui.widgets.badges import StatusDot
from gym_gui.ui.window.log_dock import LogDock
from gym_gui.ui.window.main_window import MainWindow
from gym_gui.ui.window.navigation import Logo, NavigationRail, RailButton
from gym_gui.ui.window.notices import NoticeArea
from gym_gui.ui.window.palette import CommandPalette
from gym_gui.ui.window.shortcuts import ShortcutSheet
from tests.support.named import named

LEFT = Qt.MouseButton.LeftButton


class NotePage(Page):
    """Writes down what happens to it."""

    name: ClassVar[str] = "play"
    title: ClassVar[str] = "Play"
    said: ClassVar[list[object]] = []

    def opened(self, **request: object) -> None:
        self.said.append(("opened", request))
        if "fail" in request:
            raise ValueError("no such thing")

    def left(self) -> None:
        self.said.append("left")

    async def closed(self) -> None:
        await asyncio.sleep(0.01)
        self.said.append("closed")

    def commands(self) -> list[Command]:
        return [Command("play.shout", "Shout", self._shout, "F5", "Run")]

    def _shout(self) -> None:
        self.said.append("shout")


class SlowPage(NotePage):
    name: ClassVar[str] = "operators"
    title: ClassVar[str] = "Operators"

    async def closed(self) -> None:
        await asyncio.sleep(0.8)


class BrokenPage(Page):
    def __init__(self, context: AppContext) -> None:
        raise RuntimeError("the roof leaks")


@pytest.fixture(autouse=True)
def own_pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The window with pages of these tests; the real ones have tests of their own."""
    classes: dict[str, type[Page]] = {
        "play": NotePage,
        "operators": SlowPage,
        "results": BrokenPage,
    }
    load = pages.PageEntry.load

    def loaded(place: pages.PageEntry) -> type[Page]:
        return classes.get(place.name) or load(place)

    monkeypatch.setattr(pages.PageEntry, "load", loaded)
    NotePage.said.clear()
    yield


def button(window: MainWindow, name: str) -> RailButton:
    found = window.findChild(RailButton, f"go-{name}")
    assert found is not None
    return found


class TestPlaces:
    def test_home_is_first(self, window: MainWindow) -> None:
        assert window.current == "home"
        assert button(window, "home").isChecked()

    def test_a_page_is_made_on_its_first_visit(self, window: MainWindow, qtbot: QtBot) -> None:
        assert window.findChild(Page, "page-play") is None
        qtbot.mouseClick(button(window, "play"), LEFT)
        assert window.current == "play"
        first = named(window, Page, "page-play")
        window.go("home")
        window.go("play")
        assert named(window, Page, "page-play") is first and first.isVisible()
        assert NotePage.said == [("opened", {}), "left", ("opened", {})]

    def test_control_and_a_number_go_there(self, window: MainWindow, qtbot: QtBot) -> None:
        qtbot.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
        assert window.current == "play"
        qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
        assert window.current == "settings"

    def test_a_request_reaches_the_page(self, window: MainWindow, context: AppContext) -> None:
        context.go("play", task="CartPole-v1")
        assert NotePage.said == [("opened", {"task": "CartPole-v1"})]

    def test_a_pages_commands_work_while_it_is_shown(self, window: MainWindow, qtbot: QtBot) -> None:
        window.go("play")
        qtbot.waitUntil(lambda: any(a.objectName() == "action-play.shout" for a in window.actions()))
        qtbot.keyClick(window, Qt.Key.Key_F5)
        assert "shout" in NotePage.said
        window.go("home")
        assert window.context.commands.get("play.shout") is None

    def test_a_page_that_fails_takes_nothing_with_it(self, window: MainWindow) -> None:
        window.go("results")
        assert window.current == "home"
        assert button(window, "home").isChecked()
        notices = named(window, NoticeArea, "notices")
        assert "the roof leaks" in notices.texts[0]
        window.go("play", {"fail": True})
        assert window.current == "play"
        assert "no such thing" in notices.texts[1]

    def test_an_unknown_page_is_told(self, window: MainWindow, context: AppContext) -> None:
        context.go("nowhere")
        assert "no page 'nowhere'" in named(window, NoticeArea, "notices").texts[0]

    def test_every_control_has_a_name(self, window: MainWindow) -> None:
        for widget in named(window, NavigationRail, "rail").findChildren(RailButton):
            assert widget.objectName()
            assert widget.accessibleName()
            assert widget.toolTip()


class TestPalette:
    def open(self, window: MainWindow, qtbot: QtBot) -> None:
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        qtbot.keyClick(window, Qt.Key.Key_P, both)
        assert named(window, CommandPalette, "palette").isVisible()

    def test_a_page_by_keyboard_alone(self, window: MainWindow, qtbot: QtBot) -> None:
        self.open(window, qtbot)
        search = named(window, QLineEdit, "palette-search")
        assert search.hasFocus()
        qtbot.keyClicks(search, "play")
        qtbot.keyClick(search, Qt.Key.Key_Return)
        assert window.current == "play"
        assert not named(window, CommandPalette, "palette").isVisible()

    @pytest.mark.parametrize("page", ["home", "train"])
    def test_a_tournament_is_found_on_every_page(self, window: MainWindow, qtbot: QtBot, page: str) -> None:
        window.go(page)
        self.open(window, qtbot)
        box = named(window, CommandPalette, "palette")
        qtbot.keyClicks(named(box, QLineEdit, "palette-search"), "tournament")
        found = [box.model.data(box.model.index(row)) for row in range(box.model.rowCount())]
        assert "Hold a tournament…" in found
        window.context.commands.run("operators.tournament")
        assert window.current == "operators"

    def test_an_environment_by_keyboard_alone(self, window: MainWindow, qtbot: QtBot) -> None:
        self.open(window, qtbot)
        box = named(window, CommandPalette, "palette")
        search = named(box, QLineEdit, "palette-search")
        qtbot.keyClicks(search, "cartpole")
        qtbot.waitUntil(lambda: box.model.rowCount() > 0)
        assert "CartPole-v1" in {box.model.data(box.model.index(row)) for row in range(box.model.rowCount())}
        list_widget = named(box, QListView, "palette-list")
        while box.model.data(list_widget.currentIndex()) != "CartPole-v1":
            before = list_widget.currentIndex().row()
            qtbot.keyClick(search, Qt.Key.Key_Down)
            assert list_widget.currentIndex().row() > before
        qtbot.keyClick(search, Qt.Key.Key_Return)
        assert NotePage.said == [("opened", {"task": "CartPole-v1"})]

    def test_escape_gives_the_focus_back(self, window: MainWindow, qtbot: QtBot) -> None:
        button(window, "home").setFocus()
        self.open(window, qtbot)
        qtbot.keyClick(named(window, QLineEdit, "palette-search"), Qt.Key.Key_Escape)
        assert not named(window, CommandPalette, "palette").isVisible()
        assert button(window, "home").hasFocus()

    def test_a_click_beside_it_closes_it(self, window: MainWindow, qtbot: QtBot) -> None:
        self.open(window, qtbot)
        palette_box = named(window, CommandPalette, "palette")
        qtbot.mouseClick(palette_box, LEFT, pos=QPoint(5, 5))
        assert not palette_box.isVisible()

    def test_a_command_that_is_not_possible_is_not_run(
        self, window: MainWindow, context: AppContext, qtbot: QtBot
    ) -> None:
        done: list[int] = []
        context.commands.add(Command("x.y", "Frobnicate", lambda: done.append(1), enabled=lambda: False))
        self.open(window, qtbot)
        search = named(window, QLineEdit, "palette-search")
        qtbot.keyClicks(search, "frobnicate")
        qtbot.keyClick(search, Qt.Key.Key_Return)
        assert done == []

    def test_nothing_found_is_said(self, window: MainWindow, qtbot: QtBot) -> None:
        self.open(window, qtbot)
        qtbot.keyClicks(named(window, QLineEdit, "palette-search"), "qqqqqq")
        assert named(window, QLabel, "palette-nothing").isVisible()


class TestMenus:
    def test_alt_shows_and_hides_them(self, window: MainWindow, qtbot: QtBot) -> None:
        bar = window.menuBar()
        assert bar is not None
        assert not bar.isVisible()
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        for visible in (True, False):
            QTest.keyClick(window.windowHandle(), Qt.Key.Key_Alt)
            assert bar.isVisible() is visible
        QTest.keyPress(window.windowHandle(), Qt.Key.Key_Alt)
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_Q)
        QTest.keyRelease(window.windowHandle(), Qt.Key.Key_Alt)
        assert not bar.isVisible()

    def test_alt_and_a_letter_open_one(self, window: MainWindow, qtbot: QtBot) -> None:
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        qtbot.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
        menu = window.findChild(QMenu, "menu-view")
        assert menu is not None
        qtbot.waitUntil(menu.isVisible)
        assert [a.text() for a in menu.actions()][:3] == ["Search everything…", "Home", "Play"]
        menu.close()
        bar = window.menuBar()
        assert bar is not None
        bar.setActiveAction(None)
        qtbot.waitUntil(lambda: not bar.isVisible())

    def test_the_setting_keeps_them(self, window: MainWindow, context: AppContext) -> None:
        bar = window.menuBar()
        assert bar is not None
        context.settings.set("menu_bar", True)
        assert bar.isVisible()
        context.settings.set("menu_bar", False)
        assert not bar.isVisible()

    def test_the_logo_offers_all(self, window: MainWindow, qtbot: QtBot) -> None:
        qtbot.mouseClick(named(window, Logo, "main-menu"), LEFT)
        popup = QApplication.activePopupWidget()
        assert isinstance(popup, QMenu)
        assert [a.text() for a in popup.actions()] == ["&File", "&View", "&Help"]
        popup.close()

    def test_the_pages_shortcut_goes_before_the_windows(
        self, window: MainWindow, context: AppContext, qtbot: QtBot
    ) -> None:
        done: list[str] = []
        context.commands.add(Command("play.new", "New game", lambda: done.append("new"), "Ctrl+N"))
        window.menus.fill()
        qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        assert done == ["new"]
        assert window.current == "home"
        context.commands.remove(["play.new"])
        window.menus.fill()
        qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        assert window.current == "operators"

    def test_space_presses_the_button_that_has_the_focus(
        self, window: MainWindow, context: AppContext, qtbot: QtBot
    ) -> None:
        done: list[str] = []
        context.commands.add(Command("play.step", "Step", lambda: done.append("step"), "Space"))
        window.menus.fill()
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        named(window, QStackedWidget, "pages").setFocus()
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_Space)
        assert done == ["step"]
        button(window, "play").setFocus()
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_Space)
        assert done == ["step"]
        assert window.current == "play"

    def test_no_shortcut_stands_twice(self, window: MainWindow) -> None:
        window.go("play")
        window.menus.fill()
        keys = [QKeySequence(c.shortcut).toString() for c in window.context.commands.all() if c.shortcut]
        assert len(keys) == len(set(keys))
        assert not {f"Alt+{letter}" for letter in "FVRH"} & set(keys)

    def test_the_sheet_lists_the_shortcuts(self, window: MainWindow, qtbot: QtBot) -> None:
        qtbot.keyClick(window, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
        sheet = window.findChild(ShortcutSheet)
        assert sheet is not None
        texts = {child.property("text") for child in sheet.findChildren(QWidget)}
        assert {"New comparison", "Search everything…", "Quit"} <= texts
        qtbot.keyClick(sheet, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
        assert not sheet.isVisible()


class TestMessages:
    def test_what_is_said_goes_when_it_is_closed(self, window: MainWindow, context: AppContext) -> None:
        context.notify("One", "error")
        context.notify("Two", "warning")
        notices = named(window, NoticeArea, "notices")
        assert notices.texts == ["One", "Two"]
        messages = notices.findChildren(InlineMessage)
        messages[0].dismissed.emit()
        assert notices.texts == ["Two"]
        notices.clear()
        assert not notices.isVisible()

    def test_on_play_a_message_moves_nothing(
        self, window: MainWindow, context: AppContext, qtbot: QtBot
    ) -> None:
        pages, notices = named(window, QStackedWidget, "pages"), named(window, NoticeArea, "notices")
        window.go("play")
        steady = window.page
        assert steady is not None
        steady.steady = True  # type: ignore[misc]  # as the page itself says, which is not that of these tests
        window.go("home")
        window.go("play")
        QApplication.processEvents()
        before = pages.geometry()
        context.notify("The recording could not be written: the disk is full. Free some space", "error")
        context.notify("Two", "warning")
        QApplication.processEvents()
        assert pages.geometry() == before and notices.isVisible()
        over = notices.geometry()
        assert (
            before.contains(over.translated(-pages.mapTo(notices.parentWidget(), QPoint())))
            and over.height() > 60
        )
        notices.findChildren(InlineMessage)[0].dismissed.emit()
        QApplication.processEvents()
        assert notices.geometry().bottom() == over.bottom() and notices.height() < over.height()
        window.go("home")
        QApplication.processEvents()
        assert notices.y() > pages.mapTo(notices.parentWidget(), pages.rect().bottomLeft()).y()
        notices.clear()

    def test_an_action_is_done_once(self, window: MainWindow, context: AppContext, qtbot: QtBot) -> None:
        done: list[str] = []
        context.notify("Removed", action=("Undo", lambda: done.append("undone")))
        notices = named(window, NoticeArea, "notices")
        message = notices.findChild(InlineMessage)
        assert message is not None
        qtbot.mouseClick(named(message, QPushButton, "message-action"), LEFT)
        assert done == ["undone"]
        assert notices.texts == []

    def test_the_newest_three_are_kept(self, window: MainWindow, context: AppContext) -> None:
        for number in range(5):
            context.notify(f"Message {number}", "error")
        context.notify("Message 3", "error")
        assert named(window, NoticeArea, "notices").texts == ["Message 2", "Message 4", "Message 3"]


class TestStatusLine:
    def test_the_run_is_named(self, window: MainWindow, context: AppContext) -> None:
        context.set_run("01KXABCDEFGHJKMNPQRSTV9F")
        run = named(window, QLabel, "status-run")
        assert run.text() == "run 01KX…9F · every step recorded"
        context.set_run("")
        assert run.text() == ""

    def test_processor_and_memory_are_sampled(self, window: MainWindow, qtbot: QtBot) -> None:
        memory = named(window, QLabel, "status-memory")
        qtbot.waitUntil(lambda: memory.text().startswith("Memory"))
        assert named(window, StatusDot, "status-workers").text == "No worker running"
        window.context.settings.set("sample_processes", False)
        assert not memory.isVisible()

    def test_the_log_opens_and_closes(self, window: MainWindow, qtbot: QtBot) -> None:
        log_dock = named(window, LogDock, "log-dock")
        assert not log_dock.isVisible()
        qtbot.mouseClick(named(window, QPushButton, "toggle-log"), LEFT)
        assert log_dock.isVisible()
        qtbot.keyClick(window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
        assert not log_dock.isVisible()


class TestFiles:
    def drop(self, window: MainWindow, path: Path) -> None:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        none = Qt.KeyboardModifier.NoModifier
        event = QDropEvent(QPointF(300, 300), Qt.DropAction.CopyAction, data, LEFT, none)
        window.dropEvent(event)

    def test_an_experiment_file_opens_in_script_mode(self, window: MainWindow, tmp_path: Path) -> None:
        file = tmp_path / "experiment.yaml"
        file.write_text("operators: []")
        self.drop(window, file)
        assert window.current == "operators"
        assert NotePage.said == [("opened", {"script": file})]

    def test_anything_else_is_told(self, window: MainWindow, tmp_path: Path) -> None:
        picture = tmp_path / "picture.png"
        picture.write_bytes(b"")
        self.drop(window, picture)
        self.drop(window, tmp_path)
        notices = named(window, NoticeArea, "notices")
        assert "picture.png is not an experiment file" in notices.texts[0]
        assert "it has no run.json" in notices.texts[1]
        assert window.current == "home"


def test_the_theme_is_switched_and_kept(window: MainWindow, context: AppContext, qtbot: QtBot) -> None:
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(window, Qt.Key.Key_D, both)
    assert context.theme.dark
    assert context.settings.values.theme == "dark"
    qtbot.keyClick(window, Qt.Key.Key_D, both)
    assert not context.theme.dark


def test_the_layout_is_remembered(
    context: AppContext, store: Store, qtbot: QtBot, finish: Callable[[object], object]
) -> None:
    first = MainWindow(context)
    first.resize(1100, 700)  # the screen that is not there is 800 high
    first.show()
    first.go("play")
    named(first, QPushButton, "toggle-log").setChecked(True)
    finish(first.shut_down())
    first.close()
    again = AppContext(bootstrap_default_services(store=store), context.theme)
    second = MainWindow(again)
    second.show()
    assert second.current == "play"
    assert second.height() == 700
    assert named(second, LogDock, "log-dock").isVisible()
    finish(second.shut_down())
    second.close()
    for window in (first, second):
        window.deleteLater()
    again.deleteLater()


class TestEnd:
    def test_closing_ends_pages_and_work(self, context: AppContext, qtbot: QtBot) -> None:
        window = MainWindow(context)
        window.show()
        window.go("play")
        ended: list[str] = []

        async def work() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                ended.append("work")

        context.spawn(work(), "Working")
        qtbot.wait(10)
        with qtbot.waitSignal(window.ended):
            window.close()
        assert NotePage.said[-1] == "closed"
        assert ended == ["work"]
        assert not window.isVisible()
        window.deleteLater()

    def test_a_slow_end_says_so(self, context: AppContext, qtbot: QtBot) -> None:
        window = MainWindow(context)
        window.show()
        window.go("operators")
        note = window.findChild(QWidget, "closing")
        assert note is not None
        with qtbot.waitSignal(window.ended):
            window.close()
            window.close()  # a second click changes nothing
            assert not note.isVisible()
            qtbot.waitUntil(note.isVisible)
        assert not window.isVisible()
        window.deleteLater()


def test_the_first_window_is_not_larger_than_the_screen(
    context: AppContext, finish: Callable[[object], object]
) -> None:
    window = MainWindow(context)
    screen = window.screen()
    assert screen is not None
    room = screen.availableSize().expandedTo(window.minimumSize())
    assert window.width() <= room.width() and window.height() <= room.height()
    finish(window.shut_down())
    window.deleteLater()
