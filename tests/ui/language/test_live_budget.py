"""A slot's budget holds for the run that the window plays, whichever process asks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gym_gui.analysis import open_run
from gym_gui.controllers.live_run import LiveRun
from gym_gui.core.spending import Amount
from gym_gui.services.budget_ledger import NAME, BudgetLedger
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.operator import LiveOperator, OperatorState
from tests.support.fake_model_server import FakeModelServer, Reply
from tests.support.no_processes import local_session

from .conftest import WAIT, lake

TOKENS = 1000, 50
BUDGET = 20_000

pytestmark = pytest.mark.usefixtures("plays_here")


def test_a_budget_holds_for_the_run_and_whoever_it_leaves_waiting_says_so(
    context: AppContext, qtbot: Any, finish: Any
) -> None:
    with FakeModelServer(lambda request: Reply("<action>right</action>", tokens=TOKENS)) as server:
        config = replace(lake(server, token_budget=BUDGET, max_tokens=100), max_steps=2)
        run = LiveRun(context.store.runs_dir(), [config], 3)
        operator = LiveOperator(context, config, run=run, open_session=local_session)
        try:
            operator.start(3)
            qtbot.waitUntil(lambda: operator.state is OperatorState.SPENT, timeout=WAIT)
            name = config.operator_id
            assert f"token budget of slot {name}/agent_0 carries no further episode" in operator.words
            assert operator.alive and not operator.trouble and not operator.stepping
            asked, played = len(server.requests), len(operator.episodes_done)
            assert played >= 2 and asked * sum(TOKENS) <= BUDGET
            operator.step()
            assert not operator.stepping, "nobody waits for it"

            # Another process of the same run has no budget of its own.
            operator.stop()
            qtbot.waitUntil(lambda: not operator.is_running(), timeout=WAIT)
            operator.start(3)
            qtbot.waitUntil(lambda: operator.state is OperatorState.SPENT, timeout=WAIT)
            assert len(server.requests) == asked
        finally:
            finish(operator.close())
            finish(run.close())
            operator.deleteLater()
    assert run.folder is not None
    recorded = open_run(run.folder).operators[name].episodes()
    assert [row.status for row in recorded] == ["completed"] * played, "nothing has failed"
    ledger = BudgetLedger(run.folder / NAME, {f"{name}/agent_0": Amount(BUDGET)})
    assert ledger.spent(f"{name}/agent_0").tokens == asked * sum(TOKENS) and not ledger.reserved()
