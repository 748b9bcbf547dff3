"""The smallest window says all it has to say, in any of the fonts that machines have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PyQt6.QtGui import QFontDatabase
from PyQt6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.ui import theme
from gym_gui.ui.page import Page
from gym_gui.ui.pages import places
from gym_gui.ui.widgets import PageBar, PrimaryButton, QuietButton
from gym_gui.ui.window.main_window import SMALLEST, MainWindow
from tests.support.named import named
from tests.support.no_processes import looks_here

__all__ = ["looks_here"]

FAMILIES = ("Inter", "Noto Sans", "Liberation Sans", "DejaVu Sans")
"""The last one is the widest of those that are common."""


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    if request.param not in QFontDatabase.families():
        pytest.skip(f"{request.param} is not installed")
    theme.use_fonts(qapp, request.param)
    yield request.param
    theme.use_fonts(qapp)


def cut_words(widget: QWidget) -> list[str]:
    """What is shown with less room than its words need; what ends in "…" by itself needs little."""
    return [
        f"{type(shown).__name__} {shown.text()!r}: {shown.width()} of {shown.minimumSizeHint().width()} px"
        for kind in (QAbstractButton, QLabel)
        for shown in widget.findChildren(kind)
        if shown.isVisible() and shown.text() and shown.width() < shown.minimumSizeHint().width()
    ]


@pytest.mark.usefixtures("looks_here", "family")
def test_no_word_is_cut(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(SMALLEST)
    for place in places():
        window.go(place.name)
        qtbot.waitUntil(lambda name=place.name: named(window, Page, f"page-{name}").isVisible())
        QApplication.processEvents()
        assert not cut_words(named(window, Page, f"page-{place.name}")), place.title


@pytest.mark.usefixtures("family")
def test_actions_give_up_their_words_and_take_them_back(qtbot: QtBot) -> None:
    narrow = QWidget()  # as a window is that is smaller than what stands in it
    qtbot.addWidget(narrow)
    bar = PageBar("Operators", narrow)
    quiet = QuietButton("Reset everything", icon_name="restart")
    bare = QuietButton("Without an icon", key="Space")
    main = PrimaryButton("Run", icon_name="run")
    for button in (quiet, bare, main):
        bar.add_action(button)
    narrow.show()
    roomy = bar.sizeHint().width()
    bar.resize(roomy, bar.height())
    assert not quiet.compact and quiet.width() >= quiet.sizeHint().width()
    bar.resize(roomy - bare.sizeHint().width() + bare.minimumSizeHint().width() - 20, bar.height())
    qtbot.waitUntil(lambda: quiet.compact)
    assert not main.compact, "the main action is the last that does"
    assert quiet.accessibleName() == "Reset everything" and quiet.toolTip()
    qtbot.waitUntil(lambda: not cut_words(bar))
    bar.resize(roomy, bar.height())
    qtbot.waitUntil(lambda: not quiet.compact)
