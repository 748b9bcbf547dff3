"""Curves of different environments do not share an axis."""

from __future__ import annotations

from collections.abc import Mapping

from pytestqt.qtbot import QtBot

from gym_gui.services.trainings.training_series import Curve, SeriesStore
from gym_gui.ui.context import AppContext
from gym_gui.ui.plots.series import Series
from gym_gui.ui.train.curve_board import CurveCard
from gym_gui.ui.train.run_colors import RunColors
from gym_gui.ui.train.run_data import RETURN


def curves_of(returns: Mapping[str, float]) -> dict[str, Curve]:
    found: dict[str, Curve] = {}
    for run, value in returns.items():
        store = SeriesStore()
        store.add(RETURN, [1, 2, 3], [value, value, value])
        curve = store.curve(RETURN, 0.0)
        assert curve is not None
        found[run] = curve
    return found


def test_each_environment_has_axes_of_its_own(context: AppContext, qtbot: QtBot) -> None:
    colors = RunColors()
    card = CurveCard(context, colors, "card", RETURN)
    qtbot.addWidget(card)
    card.resize(700, 500)
    card.show()
    environments = {"a": "CartPole-v1", "b": "Pendulum-v1", "c": "CartPole-v1", "d": "Acrobot-v1"}
    runs = [Series(run, run.upper(), "rl") for run in environments]
    colors.set_runs(list(environments))
    curves = curves_of({"a": 400.0, "b": -1200.0, "c": 450.0, "d": -90.0})
    card.show_curves(runs, curves, environments)
    drawn = [sorted(plot.curves) for plot in card.plots]
    assert drawn == [["a", "c"], ["b"], ["d"]]
    low, high = card.plots[0].heights()
    assert (low, high) == (400.0, 450.0), "Pendulum's returns are not on CartPole's axis"
    qtbot.waitUntil(lambda: all(plot.drawn for plot in card.plots))
    card.show_curves(runs[:1], curves, environments)
    assert [sorted(plot.curves) for plot in card.plots] == [["a"]]
