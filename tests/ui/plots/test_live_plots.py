"""Plots that are fed while operators play."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from PyQt6.QtCore import QLocale
from PyQt6.QtGui import QColor, QImage
from PyQt6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.ui import theme as themes
from gym_gui.ui.plots import ActionPlot, ReturnPlot, RewardPlot, Series
from gym_gui.ui.plots.line_plots import MOST_POINTS, thinned
from gym_gui.ui.plots.live_plot import EndLabels, Legend
from gym_gui.ui.plots.series import series_styles
from gym_gui.ui.theme import Theme

Show = Callable[..., None]
PPO = Series("a", "PPO", "rl")
OTHER_PPO = Series("b", "PPO, 1M", "rl")
RANDOM = Series("c", "Random", "baseline")


def has_color(widget: QWidget, wanted: QColor) -> bool:
    image: QImage = widget.grab().toImage()
    return any(
        abs(image.pixelColor(x, y).hslHue() - wanted.hslHue()) <= 4
        and image.pixelColor(x, y).hslSaturation() > 120
        for x in range(image.width())
        for y in range(image.height())
    )


def test_the_legend_of_eight_tells_them_apart_in_a_small_window(theme: Theme, qtbot: QtBot) -> None:
    series = [Series(str(n), f"Random number {n}", "baseline") for n in range(8)]
    legend = Legend(theme, lines=True)
    qtbot.addWidget(legend)
    legend.show_names(
        [(each.name, look) for each, look in zip(series, series_styles(series).values(), strict=True)]
    )
    legend.resize(540, legend.height())
    assert [text for text, _ in legend.places] == [each.name for each in series]
    assert all(legend.rect().contains(place) for _, place in legend.places)


def test_an_empty_plot_says_what_will_be_here(theme: Theme, shown: Show) -> None:
    plot = ReturnPlot(theme)
    plot.set_series([PPO])
    shown(plot)
    hint = plot.findChild(QLabel)
    assert hint is not None and hint.isVisible()
    assert "first finished episode" in hint.text()
    assert not plot.drawn


def test_a_return_appears_as_a_line_in_its_color(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    plot = ReturnPlot(theme)
    plot.set_series([PPO])
    shown(plot)
    for episode in range(1, 6):
        plot.add("a", episode, episode * 10)
    qtbot.waitUntil(lambda: plot.drawn)
    assert has_color(plot, themes.kind_color("rl"))
    assert "PPO: return 50.00 at episode 5." in plot.accessibleDescription()
    assert plot.text_at(2.2) == "Episode 2\nPPO  20.00"
    plot.clear()
    qtbot.waitUntil(lambda: not plot.drawn)


def test_nothing_is_drawn_while_hidden(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    plot = ReturnPlot(theme)
    plot.set_series([PPO])
    shown(plot)
    plot.add("a", 1, 1.0)
    qtbot.waitUntil(lambda: plot.drawn)
    plot.hide()
    plot.add("a", 2, 7.0)
    assert "episode 1." in plot.accessibleDescription()
    plot.show()
    qtbot.waitUntil(lambda: "7.00 at episode 2." in plot.accessibleDescription())


def test_a_new_episode_starts_a_new_line_of_rewards(theme: Theme, qtbot: QtBot) -> None:
    plot = RewardPlot(theme)
    qtbot.addWidget(plot)
    plot.set_series([PPO])
    for step in range(5000):
        plot.add("a", step, 1.0)
    assert len(plot.values("a")) == 2000
    plot.add("a", 0, 0.5)
    assert plot.values("a") == [(0, 0.5)]


def test_numbers_beside_an_axis_have_the_readers_marks(qapp: QApplication) -> None:
    from gym_gui.ui.plots.reader_axis import ReaderAxis  # pyqtgraph takes its time

    before = QLocale()
    QLocale.setDefault(QLocale("de_DE"))
    try:
        said = ReaderAxis("left").tickStrings([-0.5, 0.0, 0.5], 1.0, 0.5)
    finally:
        QLocale.setDefault(before)
    assert said == ["\N{MINUS SIGN}0,5", "0", "0,5"]


def test_lines_of_one_kind_differ_in_more_than_color() -> None:
    look = series_styles([PPO, OTHER_PPO, RANDOM])
    assert look["a"].dash != look["b"].dash
    assert look["a"].color != look["b"].color
    assert look["a"].dash == look["c"].dash


def test_two_lines_carry_their_names(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    plot = ReturnPlot(theme)
    plot.set_series([PPO, RANDOM])
    shown(plot)
    for episode in range(1, 4):
        plot.add("a", episode, 5)
        plot.add("c", episode, 5.001)  # Their ends meet, their names may not.
    qtbot.waitUntil(lambda: plot.drawn)
    names = plot.findChild(EndLabels)
    assert names is not None
    qtbot.waitUntil(names.isVisible)
    tops = names.tops()
    assert len(tops) == 2
    assert tops[1] - tops[0] >= names.fontMetrics().height() * 0.7
    assert all(0 <= top < names.height() for top in tops)
    plot.set_series([PPO])
    qtbot.waitUntil(lambda: not names.isVisible())


def test_thinning_keeps_ends_and_extremes() -> None:
    rng = random.Random(1)
    values = [(float(i), rng.random()) for i in range(10_000)]
    values[5_003] = (5_003.0, 9.0)
    values[7_777] = (7_777.0, -9.0)
    kept = thinned(values)
    assert len(kept) <= MOST_POINTS
    assert kept == sorted(kept)
    assert {(5_003.0, 9.0), (7_777.0, -9.0)} <= set(kept)
    assert set(kept) <= set(values)
    assert thinned(values[:MOST_POINTS]) == values[:MOST_POINTS]


def test_a_long_noisy_line_is_painted_quickly(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    """Qt needs seconds for the same line unthinned and wide."""
    plot = RewardPlot(theme)
    plot.set_series([PPO, OTHER_PPO, RANDOM])
    shown(plot, 800, 400)
    for one in plot.series:
        plot.set_values(one.id, [(float(i), random.random()) for i in range(2000)])
    qtbot.waitUntil(lambda: plot.drawn)
    plot.grab()
    begun = time.process_time()
    for _ in range(3):
        plot.grab()
    assert time.process_time() - begun < 1.0


def test_actions_have_their_share(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    plot = ActionPlot(theme)
    plot.set_series([PPO, RANDOM])
    plot.set_actions(["left", "right", "forward"])
    shown(plot)
    for word in ("left", "forward", "forward", "forward"):
        plot.add("a", word)
    plot.add("c", "right")
    qtbot.waitUntil(lambda: plot.drawn)
    assert plot.shares("a") == {"left": 0.25, "right": 0.0, "forward": 0.75}
    assert plot.shares("c")["right"] == 1.0
    assert plot.accessibleDescription().startswith("PPO: forward 75%, left 25%.")
    assert has_color(plot, themes.kind_color("rl"))
    assert [text.toPlainText() for text in plot.figures("a")] == ["25 %", "0 %", "75 %"]
    plot.add("a", "jump", 4)
    qtbot.waitUntil(lambda: [t.toPlainText() for t in plot.figures("a")][-1] == "50 %")


def test_a_low_compact_plot_leaves_out_what_would_overlap(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    plot = ActionPlot(theme)
    plot.set_compact()
    plot.set_series([PPO, RANDOM])
    shown(plot, 280, 120)
    for one in plot.series:
        plot.set_counts(one.id, {f"action {i}": i + 1 for i in range(12)})
    qtbot.waitUntil(lambda: plot.drawn)
    assert len(plot.shares("a")) == 8 and not any(text.isVisible() for text in plot.figures("a"))
    assert plot.text_at(0.2).splitlines()[1:] == ["PPO  8 %", "Random  8 %"]
    assert plot.text_at(99) == ""
    plot.resize(280, 600)
    qtbot.waitUntil(lambda: len(plot.figures("a")) == 12 and plot.figures("a")[0].isVisible())


def test_many_actions_are_gathered(theme: Theme, qtbot: QtBot) -> None:
    plot = ActionPlot(theme)
    qtbot.addWidget(plot)
    plot.set_series([PPO])
    plot.set_counts("a", {f"action {i}": i + 1 for i in range(40)})
    shares = plot.shares("a")
    assert len(shares) == 12
    assert list(shares)[-1] == "all others"
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["action 39"] == pytest.approx(40 / 820)


def test_the_theme_reaches_a_plot_that_is_there(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    plot = ReturnPlot(theme)
    plot.set_series([PPO])
    shown(plot)
    plot.add("a", 1, 1.0)
    qtbot.waitUntil(lambda: plot.drawn)
    for mode in ("dark", "light"):
        theme.set_mode(mode)
        image = plot.grab().toImage()
        assert image.pixelColor(image.width() - 3, 3).name() == theme.tokens.panel


def test_pyqtgraph_is_imported_with_the_first_values_only() -> None:
    """A page with plots opens without it; unhandled errors stay the window's business."""
    script = (
        "import sys\n"
        "from PyQt6.QtWidgets import QApplication\n"
        "app = QApplication([])\n"
        "from gym_gui.ui.plots import ReturnPlot, Series\n"
        "from gym_gui.ui.theme import Theme\n"
        "hook = sys.excepthook\n"
        "plot = ReturnPlot(Theme('light'))\n"
        "plot.set_series([Series('a', 'A', 'rl')])\n"
        "plot.show()\n"
        "app.processEvents()\n"
        "print('pyqtgraph' in sys.modules)\n"
        "plot.add('a', 1, 1.0)\n"
        "while not plot.drawn:\n"
        "    app.processEvents()\n"
        "print('pyqtgraph' in sys.modules, plot.drawn, sys.excepthook is hook)\n"
    )
    environment = {"QT_QPA_PLATFORM": "offscreen", "HOME": "/nonexistent"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split("\n")[:2] == ["False", "True True True"], done.stderr
