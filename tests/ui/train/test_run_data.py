"""The curves of a run follow the files in its folder, whatever becomes of the trainer."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from pytestqt.qtbot import QtBot

from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import find
from gym_gui.services.trainer.training_folder import METRICS
from gym_gui.ui.pages.train import TrainPage
from gym_gui.ui.train.curve_plot import CurvePlot
from gym_gui.ui.train.runs_view import RunsView
from tests.support.named import named
from tests.ui.train.conftest import PATIENCE_MS


def test_curves_grow_while_the_trainer_hangs_and_wrong_lines_hide_no_others(
    page: TrainPage, started: Callable[..., str], trainer: Store, qtbot: QtBot
) -> None:
    run_id = started()
    plot = named(page, CurvePlot, "train-first-chart-plot")
    qtbot.waitUntil(lambda: run_id in plot.curves, timeout=PATIENCE_MS)
    record, address = page.link.run(run_id), find(trainer)
    assert record is not None and address is not None
    os.kill(address.pid, signal.SIGSTOP)
    try:
        known = plot.curves[run_id].count
        qtbot.waitUntil(lambda: plot.curves[run_id].count > known + 5)
        with (record.folder / METRICS).open("a") as file:
            file.write('rubbish\n[]\n{"step": 2}\n{"step": 1, "m": {"losses/own": 0.5, "losses/bad": "x"}}\n')
        runs = named(page, RunsView, "train-runs-view")
        qtbot.waitUntil(lambda: "losses/own" in runs.data.names([run_id]))
        assert "losses/bad" not in runs.data.names([run_id])
    finally:
        os.kill(address.pid, signal.SIGCONT)
