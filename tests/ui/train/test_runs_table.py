"""The table of runs is read whole in the narrowest window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt

from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.ui.context import AppContext
from gym_gui.ui.train.link import TrainerLink
from gym_gui.ui.train.run_colors import RunColors
from gym_gui.ui.train.runs_model import (
    ENVIRONMENT,
    RETURN,
    RUN,
    STEPS,
    TRAINING_COLUMNS,
    RunRow,
    id_of_run,
)
from gym_gui.ui.train.runs_table import RunsTable
from gym_gui.ui.train.runs_view import RunsView
from gym_gui.ui.widgets.tables import RowsModel
from gym_gui.ui.window.main_window import SMALLEST

TRAINED = TrainingRecord(
    "a",
    "cleanrl_worker",
    "ppo",
    "CartPole-v1",
    1,
    Path("/runs/a"),
    0.0,
    state="completed",
    step=20_000,
    total_steps=20_000,
    mean_return=434.0,
    evaluated=True,
)


@pytest.mark.parametrize("share", [0.58, 0.95])
def test_names_and_returns_are_read_whole(share: float, context: AppContext, qtbot: Any) -> None:
    model = RowsModel(TRAINING_COLUMNS, id_of_run)
    model.set_rows([RunRow(TRAINED, "PPO, lr 2.5e-4", drawn=True)])
    table = RunsTable(model, RunColors())
    qtbot.addWidget(table)
    table.resize(round(SMALLEST.width() * share), 120)
    table.show()
    qtbot.waitExposed(table)
    for section in range(model.columnCount()):
        words = str(model.index(0, section).data(Qt.ItemDataRole.DisplayRole) or "")
        if not table.isColumnHidden(section):
            assert table.columnWidth(section) > table.fontMetrics().horizontalAdvance(words)
    for column in (RUN, STEPS, RETURN):
        assert not table.isColumnHidden(model.section(column))
    assert table.isColumnHidden(model.section(ENVIRONMENT)) == (share < 0.9)


def test_rows_that_do_not_fit_above_the_charts_are_scrolled_to(
    context: AppContext, qtbot: Any, finish: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [replace(TRAINED, run_id=f"run-{n}", state="queued", step=0) for n in range(8)]
    monkeypatch.setattr(TrainerLink, "runs", runs)
    view = RunsView(context, TrainerLink(context))
    qtbot.addWidget(view)
    view.refresh()
    for height in (SMALLEST.height() - 72, 1000, SMALLEST.height() - 72):  # less what is above and below
        view.resize(round(SMALLEST.width() * 0.63), height)
        view.show()
        qtbot.waitExposed(view)
        table = view.table
        card = table.parentWidget()
        assert card is not None
        qtbot.waitUntil(lambda: view.content.geometry().bottom() <= view.height())
        qtbot.waitUntil(lambda table=table, card=card: table.geometry().bottom() < card.height())
        assert table.height() < table.height_for(len(runs)), "the others are scrolled to"
        assert (table.height() - table.height_for(0)) % (table.height_for(1) - table.height_for(0)) == 0
    finish(view.closed())
