"""What the window says of algorithms whose trainings have played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PyQt6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.charts.bands import algorithm_charts
from gym_gui.ui import theme as themes
from gym_gui.ui.plots import ChartView
from gym_gui.ui.results.comparison_view import ComparisonView
from gym_gui.ui.theme import Theme
from tests.analysis import conftest as runs
from tests.support.named import named


@pytest.fixture
def view(qtbot: QtBot) -> ComparisonView:
    view = ComparisonView(Theme("light"))
    qtbot.addWidget(view)
    view.task.setParent(view)  # Which belongs into the bar of a page.
    view.resize(1000, 900)
    view.show()
    qtbot.waitExposed(view)
    return view


def _summary(folder: Path, groups: bool) -> Any:
    rng = np.random.default_rng(2)
    episodes, of = {}, {}
    for name, mean in (("ppo", 400.0), ("dqn", 100.0)):
        for seed in range(1, 6):
            key = f"{name}_seed{seed}"
            episodes[key] = [runs.single(key, i, mean + 10 * seed + rng.normal()) for i in range(2)]
            of[key] = {"name": name.upper(), "seed": seed}
    return summarize(open_run(runs.write_run(folder, runs.Plan(episodes, groups=of if groups else {}))))


def test_algorithms_are_shown_where_groups_have_played(view: ComparisonView, tmp_path: Path) -> None:
    summary = _summary(tmp_path / "with", groups=True)
    view.show_analysis(summary)
    assert "PPO is better than DQN</span>" in named(view, QLabel, "results-verdict").text()
    profile, scores = (view.findChild(ChartView, f"training{name}Plot") for name in ("Profile", "Scores"))
    assert profile is not None and profile.isVisible() and scores is not None
    assert "PPO" in profile.accessibleDescription() and "DQN" in scores.accessibleDescription()
    assert [profile.chart, scores.chart] == [*reversed(algorithm_charts(summary.trainings[0]))]
    # The line is painted in the color of who is first, and its band is the ground with a touch of it.
    image, below = profile.grab().toImage(), round(profile.spot_rect(1).bottom()) + 1
    seen = [image.pixelColor(x, y) for x in range(image.width()) for y in range(below, image.height())]
    rl = themes.kind_color("rl")
    assert any(color.name() == rl.name() for color in seen)
    assert sum(10 < color.blue() - color.green() < 60 for color in seen) > len(seen) / 20
    view.show_analysis(_summary(tmp_path / "without", groups=False))
    assert not profile.isVisible()
