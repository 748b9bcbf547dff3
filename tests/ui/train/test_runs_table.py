"""The table of runs is read whole in the narrowest window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt

from gym_gui.services.trainer.records import TrainingRecord
from gym_gui.ui.context import AppContext
from gym_gui.ui.main_window import SMALLEST
from gym_gui.ui.train.run_colours import RunColours
from gym_gui.ui.train.runs_model import Column, RunsModel
from gym_gui.ui.train.runs_table import RunsTable

RUN = TrainingRecord(
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
    model = RunsModel()
    model.set_runs([RUN], {"a": "PPO, lr 2.5e-4"}, frozenset({"a"}))
    table = RunsTable(model, RunColours(context.theme))
    qtbot.addWidget(table)
    table.resize(round(SMALLEST.width() * share), 120)
    table.show()
    qtbot.waitExposed(table)
    for column in Column:
        index = model.index(0, column)
        words = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        if not table.isColumnHidden(column):
            assert table.columnWidth(column) > table.fontMetrics().horizontalAdvance(words)
    for column in (Column.RUN, Column.STEPS, Column.RETURN):
        assert not table.isColumnHidden(column)
    assert table.isColumnHidden(Column.ENVIRONMENT) == (share < 0.9)
