"""The guide beside the window: F1, links, back, find, pictures, and that it is there again."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt, QUrl
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QDialog, QLabel, QLineEdit, QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.core.errors import UsageError
from gym_gui.ui.context import AppContext
from gym_gui.ui.guide.book import Book, slug
from gym_gui.ui.guide.dock import GuideDock
from gym_gui.ui.pages import places
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.ui.conftest import messages

KEY = Qt.Key


def test_every_link_and_picture_of_the_guide_leads_somewhere() -> None:
    book = Book()
    pages = [page for page, _ in book.contents()]
    assert len(pages) >= 10 and {place.guide for place in places()} <= set(pages)
    for page in pages:
        text = book.markdown(page, dark=True)
        assert "toctree" not in text
        assert "images/" in text or page == "guide/troubleshooting.md"
        assert "-light-" not in text, "the dark theme has its own pictures"
    with pytest.raises(UsageError, match=r"no page \.\./pyproject\.toml"):
        book.path("../pyproject.toml")
    assert slug("Settings and keys: F1, Ctrl+O") == "settings-and-keys-f1-ctrlo"


def test_the_field_of_words_is_as_wide_as_the_page_until_something_is_said(window: MainWindow) -> None:
    QTest.keyClick(window, KEY.Key_F1)
    dock = named(window, GuideDock, "guide-dock")
    search, found = named(dock, QLineEdit, "guide-search"), named(dock, QLabel, "guide-found")
    content = search.parentWidget()
    assert content is not None
    margins = search.geometry().left(), content.width() - search.geometry().right() - 1
    assert margins[0] == margins[1]
    search.setText("no such words")
    QTest.keyClick(search, KEY.Key_Return)
    assert found.isVisible() and found.text()
    search.setText("no")
    assert not found.isVisible()


def test_somebody_reads_beside_the_page(window: MainWindow, context: AppContext, qtbot: QtBot) -> None:
    assert window.findChild(GuideDock) is None, "made when it is wanted"
    QTest.keyClick(window, KEY.Key_F1)
    dock = named(window, GuideDock, "guide-dock")
    assert dock.isVisible() and dock.page == "guide/first_steps.md"
    assert dock.browser.hasFocus()

    # A link by keyboard: Tab to it, Enter.
    dock.follow(QUrl("play.md#boards"))
    assert dock.page == "guide/play.md"
    bar = dock.browser.verticalScrollBar()
    assert bar is not None
    qtbot.waitUntil(lambda: bar.value() > 200)
    down = bar.value()
    named(dock, QToolButton, "guide-back").click()
    assert dock.page == "guide/first_steps.md"
    dock.go_forward()
    assert (dock.page, bar.value()) == ("guide/play.md", down)

    # Words that are on another page only.
    search = named(dock, QLineEdit, "guide-search")
    search.setText("tensorboard")
    QTest.keyClick(search, KEY.Key_Return)
    assert dock.page == "guide/train.md"
    assert dock.browser.textCursor().selectedText().lower() == "tensorboard"
    search.setText("no such words anywhere")
    QTest.keyClick(search, KEY.Key_Return)
    assert named(dock, QLabel, "guide-found").text() == "No match"

    # A picture as wide as the dock, and large at a click; in the other theme the other one.
    dock.follow(QUrl("first_steps.md"))
    markdown = dock.browser.document()
    assert markdown is not None and 0 < markdown.size().width() <= dock.browser.width()
    picture = Book().markdown(dock.page, dark=False).partition("](")[2].partition(")")[0]
    dock.follow(QUrl(picture))
    shown = named(window, QDialog, "guide-picture")
    assert shown.width() > dock.width()
    shown.close()

    dock.follow(QUrl("../../pyproject.toml"))
    assert any("pyproject.toml is not part of the guide" in text for text in messages(window))

    # F1 elsewhere goes to that page; there, it puts the guide away.
    window.go("settings")
    QTest.keyClick(window, KEY.Key_F1)
    assert dock.page == "guide/settings_and_keys.md"
    QTest.keyClick(dock.browser, KEY.Key_Escape)
    assert not dock.browser.hasFocus() and dock.isVisible()
    QTest.keyClick(window, KEY.Key_F1)
    assert dock.isHidden()
    context.commands.run("help.contents")
    assert dock.isVisible() and dock.page == "guide/settings_and_keys.md"
    assert context.layout.value("guide/page") == "guide/settings_and_keys.md"


def test_where_the_window_becomes_too_narrow_it_leaves_the_page_its_room(
    window: MainWindow, context: AppContext, qtbot: QtBot
) -> None:
    window.resize(1600, 900)
    window.show_guide()
    dock = named(window, GuideDock, "guide-dock")
    assert dock.isVisible() and not dock.isFloating()
    window.resize(1024, 700)
    qtbot.waitUntil(dock.isFloating)
    assert window.width() == 1024
