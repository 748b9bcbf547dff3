"""Contrast, following the system, and that every widget sees a change of theme."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor, QFontMetrics, QGuiApplication, QStyleHints
from PyQt6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from gym_gui.core.drawing.colors import FURTHER_COLORS
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.renderers import FrameView
from gym_gui.ui.style_sheet import ASSETS, MARKS, style_sheet

KINDS = ("llm", "rl", "human", "baseline", "bdi", "planner", "vlm")


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
class TestContrast:
    @pytest.mark.parametrize("background", ["window", "panel", "raised", "wash"])
    @pytest.mark.parametrize("text", ["text", "muted", "accent_text"])
    def test_text_meets_aa(self, tokens: theme.Tokens, text: str, background: str) -> None:
        assert theme.contrast(getattr(tokens, text), getattr(tokens, background)) >= 4.5

    def test_the_main_action_meets_aa(self, tokens: theme.Tokens) -> None:
        assert theme.contrast(tokens.on_accent, tokens.accent) >= 4.5
        assert theme.contrast(tokens.on_accent, tokens.accent_hover) >= 4.5

    @pytest.mark.parametrize("state", ["ok", "warning", "error", "accent"])
    def test_states_are_seen_on_panels(self, tokens: theme.Tokens, state: str) -> None:
        assert theme.contrast(getattr(tokens, state), tokens.panel) >= 3.0
        readable = theme.text_on(tokens.panel, QColor(getattr(tokens, state)))
        assert theme.contrast(readable, tokens.panel) >= 4.5


@pytest.mark.parametrize("kind", KINDS)
def test_a_badge_can_be_read(kind: str) -> None:
    assert theme.contrast("#ffffff", theme.fill_for_white(theme.kind_color(kind))) >= 4.5


def test_an_unknown_kind_looks_like_a_baseline() -> None:
    assert theme.kind_color("oracle") == theme.kind_color("baseline")
    assert theme.kind_word("oracle") == "Oracle"


def test_contrast_is_that_of_wcag() -> None:
    assert theme.contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert theme.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


_WEIGHTS = """
from PyQt6.QtGui import QFont, QFontInfo
from PyQt6.QtWidgets import QApplication
from gym_gui.ui import theme
app = QApplication([])
theme.use_fonts(app)
info = QFontInfo(theme.font(weight=QFont.Weight.DemiBold))
print(info.family(), info.weight())
"""


def test_the_window_brings_its_font(tmp_path: Path) -> None:
    """A machine without any font, or with others, shows the window as it was made, headings included."""
    nothing = tmp_path / "fonts.conf"
    nothing.write_text(f"<fontconfig><cachedir>{tmp_path}</cachedir></fontconfig>")
    environment = {**os.environ, "FONTCONFIG_FILE": str(nothing)}
    command = [sys.executable, "-c", _WEIGHTS]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["Inter", "600"]


def test_switching_restyles_what_is_there(context: AppContext, qtbot: QtBot) -> None:
    label = QLabel("seen")
    qtbot.addWidget(label)
    label.ensurePolished()
    assert label.palette().windowText().color() == QColor(theme.LIGHT.text)
    with qtbot.waitSignal(context.theme.changed):
        context.theme.set_mode("dark")
    label.ensurePolished()
    assert label.palette().windowText().color() == QColor(theme.DARK.text)
    context.theme.set_mode("light")
    assert not context.theme.dark


def test_the_system_is_followed_until_somebody_chooses(
    context: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    hints = QGuiApplication.styleHints()
    assert hints is not None
    context.theme.set_mode("system")
    # A platform without a screen has no color scheme of its own.
    monkeypatch.setattr(QStyleHints, "colorScheme", lambda _: Qt.ColorScheme.Dark)
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert context.theme.dark
    context.theme.set_mode("light")
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert not context.theme.dark


def test_setting_the_same_mode_does_nothing(context: AppContext, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(context.theme.changed):
        context.theme.set_mode("light")


@pytest.mark.parametrize(("scaling", "colors"), [("sharp", {"#000000", "#ffffff"}), ("smooth", None)])
def test_frames_are_scaled_as_the_setting_says(
    context: AppContext, qtbot: QtBot, scaling: str, colors: set[str] | None
) -> None:
    view = FrameView(context.theme)
    qtbot.addWidget(view)
    view.resize(200, 100)
    frame = np.zeros((10, 20, 3), np.uint8)
    frame[:, 10:] = 255
    view.show_frame(frame)
    view.grab()
    context.settings.set("frame_scaling", scaling)
    image = view.grab().toImage()
    seen = {image.pixelColor(x, 50).name() for x in range(20, 180)}
    assert seen == colors if colors else len(seen) > 2


def test_the_style_sheet_names_files_that_are_there() -> None:
    for dark in (False, True):
        sheet = style_sheet(dict.fromkeys(theme.token_names(), "#123456"), dark=dark)
        shade = "dark" if dark else "light"
        for mark in MARKS:
            assert (ASSETS / f"{mark}-{shade}.png").is_file()
            assert f"{mark}-{shade}.png" in sheet


def test_digits_have_one_width(context: AppContext) -> None:
    metrics = QFontMetrics(QApplication.font())
    assert metrics.horizontalAdvance("1111") == metrics.horizontalAdvance("8888")


def _rules(tokens: theme.Tokens) -> list[tuple[str, dict[str, str]]]:
    """Selectors of the style sheet, each with what it declares, colors as they are."""
    sheet = style_sheet(asdict(tokens), dark=tokens is theme.DARK)
    rules = []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        said = dict(re.findall(r"([\w-]+):\s*([^;]+);", body))
        rules += [(selector.strip(), said) for selector in selectors.split(",")]
    return rules


_GROUNDS = ("window", "panel", "raised", "wash")


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_whatever_the_style_sheet_writes_is_read_where_it_stands(tokens: theme.Tokens) -> None:
    """WCAG 1.4.3: on its own ground, or on each that it may stand on; disabled words are exempt."""
    everywhere = [getattr(tokens, ground) for ground in _GROUNDS]
    looked_at = 0
    for selector, said in _rules(tokens):
        ink = said.get("color", "")
        if not ink.startswith("#") or ":disabled" in selector:
            continue
        own = said.get("background", "")
        for ground in [own] if own.startswith("#") else everywhere:
            assert theme.contrast(ink, ground) >= 4.5, f"{selector}: {ink} on {ground}"
            looked_at += 1
    assert looked_at > 40


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_whoever_takes_the_keyboard_shows_it(tokens: theme.Tokens) -> None:
    """WCAG 1.4.11 and 2.4.7: a ring around whatever has the focus, seen on every ground."""
    rings: dict[str, dict[str, str]] = {}
    for selector, said in _rules(tokens):
        rings.setdefault(selector, {}).update(said)
    for kind in (
        "QPushButton",
        'QToolButton[role="button"]',
        'QToolButton[role="bare"]',
        'QPushButton[role="link"]',
        'QPushButton[role="row"]',
        'QPushButton[role="segment"]',
        "QLineEdit",
        "QAbstractSpinBox",
        "QComboBox",
        "QPlainTextEdit",
        "QTextEdit",
        "QTextBrowser",
        "QCheckBox::indicator",
        "QRadioButton::indicator",
        "QSlider::handle:horizontal",
        "QAbstractItemView",
        "QScrollArea",
        "QTabBar::tab",
        'QWidget[role="panel"][clickable="true"]',
    ):
        said = rings[f"{kind}:focus"]
        drawn = said.get("border") or said.get("border-color") or ""
        (color,) = re.findall(r"#[0-9a-f]{6}", drawn)
        for ground in _GROUNDS:
            assert theme.contrast(color, getattr(tokens, ground)) >= 3.0, f"{kind} on {ground}"


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", _GROUNDS)
def test_icons_marks_and_lines_of_plots_are_seen(tokens: theme.Tokens, ground: str) -> None:
    """WCAG 1.4.11: what is not text, on every ground."""
    seen = {name: getattr(tokens, name) for name in ("muted", "accent", "ok", "warning", "error", "scroll")}
    seen |= {kind: theme.kind_color(kind).name() for kind in KINDS}
    seen |= {f"further {color}": color for color in FURTHER_COLORS}
    for name, color in seen.items():
        assert theme.contrast(color, getattr(tokens, ground)) >= 3.0, name
