"""A slot's budget holds for the run that the window plays, whichever process asks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PyQt6.QtWidgets import QLabel, QPushButton

from gym_gui.analysis import open_run
from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.live_play.live_run import LiveRun
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.spending import Amount
from gym_gui.services.runs.budget_ledger import NAME, BudgetLedger
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.live.state_words import words_of
from gym_gui.ui.operators.render_container import OperatorRenderContainer
from gym_gui.ui.widgets.badges import StatusDot
from tests.support.fake_model_server import FakeModelServer, Reply
from tests.support.named import named
from tests.support.no_processes import local_session
from tests.support.seldom import some_of

from .conftest import WAIT, lake, player

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
            operator.player.start(3)
            qtbot.waitUntil(lambda: operator.player.state is OperatorState.SPENT, timeout=WAIT)
            name = config.operator_id
            words = words_of(operator.player)
            assert f"token budget of slot {name}/agent_0 does not suffice for another episode" in words
            assert operator.player.alive and not operator.player.trouble and not operator.player.stepping
            asked, played = len(server.requests), len(operator.player.tally.episodes_done)
            assert played >= 2 and asked * sum(TOKENS) <= BUDGET
            operator.player.step()
            assert not operator.player.stepping, "no caller waits for it"

            # Another process of the same run has no budget of its own.
            operator.player.stop()
            qtbot.waitUntil(lambda: not operator.player.is_running(), timeout=WAIT)
            operator.player.start(3)
            qtbot.waitUntil(lambda: operator.player.state is OperatorState.SPENT, timeout=WAIT)
            assert len(server.requests) == asked
        finally:
            finish(operator.player.close())
            finish(run.close())
            operator.deleteLater()
    assert run.folder is not None
    recorded = open_run(run.folder).operators[name].episodes()
    assert [row.status for row in recorded] == ["completed"] * played, "nothing has failed"
    ledger = BudgetLedger(run.folder / NAME, {f"{name}/agent_0": Amount(BUDGET)})
    assert ledger.spent(f"{name}/agent_0").tokens == asked * sum(TOKENS) and not ledger.reserved()


RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})


@pytest.mark.parametrize(
    ("between", "session"),
    [
        *(pytest.param(who, local_session, marks=pytest.mark.full) for who in (None, RANDOM)),
        (None, None),
    ],
    ids=["another model", "a model after a random player", "another model in a host"],
)
def test_who_takes_a_slot_in_mid_episode_has_what_is_left_of_its_budget(
    between: WorkerAssignment | None, session: Any, context: AppContext, qtbot: Any, finish: Any
) -> None:
    with FakeModelServer(lambda request: Reply("<action>left</action>", tokens=TOKENS)) as server:
        budget = 10 * sum(TOKENS)
        config = replace(lake(server, token_budget=budget, max_tokens=100), max_steps=60)
        run = LiveRun(context.store.runs_dir(), [config], 3)
        operator = LiveOperator(context, config, run=run, open_session=session)
        name = config.operator_id

        def rebound(to: WorkerAssignment) -> None:
            task = operator.player.rebind("agent_0", to)
            qtbot.waitUntil(task.done, timeout=WAIT)
            assert task.exception() is None

        try:
            operator.player.start(3, paused=True)
            for asked in range(1, 5):
                operator.player.step()
                qtbot.waitUntil(lambda n=asked: len(server.requests) == n, timeout=WAIT)
                qtbot.waitUntil(lambda: not operator.player.stepping, timeout=WAIT)
            if between is not None:
                rebound(between)
                operator.player.step()
                qtbot.waitUntil(lambda: not operator.player.stepping, timeout=WAIT)
            rebound(player(server, token_budget=budget, max_tokens=100, model_id="tiny-2"))
            operator.player.resume()
            qtbot.waitUntil(
                lambda: operator.player.state is OperatorState.SPENT or bool(operator.player.trouble),
                timeout=WAIT,
            )
            assert operator.player.state is OperatorState.SPENT, words_of(operator.player)
            assert len(server.requests) * sum(TOKENS) <= budget, "no process begins with a budget of its own"
            assert len(server.requests) >= 6, "and what was left is not taken away"
        finally:
            finish(operator.player.close())
            finish(run.close())
            operator.deleteLater()
    assert run.folder is not None
    ledger = BudgetLedger(run.folder / NAME, {f"{name}/agent_0": Amount(budget)})
    assert ledger.spent(f"{name}/agent_0").tokens >= len(server.requests) * sum(TOKENS)
    assert not ledger.reserved()


def it_says_what_is_spent(card: OperatorRenderContainer, operator: LiveOperator, name: str) -> None:
    trouble = named(card, QLabel, "operator-trouble")
    assert named(card, StatusDot, "operator-status").text == "Budget used up"
    assert trouble.isVisible() and words_of(operator.player) == trouble.text()
    assert f"slot {name}/agent_0 does not suffice for another episode" in trouble.text()
    assert not named(card, QPushButton, "operator-restart").isVisible()


@pytest.mark.parametrize("lock_step", some_of([True, False], False))
def test_several_play_side_by_side_until_each_has_spent_its_own_and_their_cards_say_so(
    lock_step: bool, context: AppContext, qtbot: Any, finish: Any
) -> None:
    budgets = {"small": 8_000, "middle": 14_000, "large": 20_000}
    with FakeModelServer(lambda request: Reply("<action>left</action>", tokens=TOKENS)) as server:
        deck = OperatorDeck(context, open_session=local_session)
        operators: list[LiveOperator] = []
        for name, budget in budgets.items():
            config = lake(server, token_budget=budget, max_tokens=100)
            config = replace(config, operator_id=name, display_name=name.title(), max_steps=2)
            operators.append(deck.add(config))
        cards = [OperatorRenderContainer(context.theme, operator) for operator in operators]
        for card in cards:
            qtbot.addWidget(card)
            card.resize(400, 380)
            card.show()
        try:
            qtbot.waitUntil(
                lambda: all(o.player.alive and not o.player.busy for o in operators), timeout=WAIT
            )
            assert not server.requests, "no model is asked before Run"
            deck.play.set_pace(None, lock_step=lock_step)
            deck.play.run()
            spent = OperatorState.SPENT
            qtbot.waitUntil(lambda: all(o.player.state is spent for o in operators), timeout=WAIT)
            for card, operator, name in zip(cards, operators, budgets, strict=True):
                it_says_what_is_spent(card, operator, name)
            run = deck.recording
            assert run is not None
        finally:
            finish(deck.close())
    assert run.folder is not None
    ledger = BudgetLedger(run.folder / NAME, {f"{name}/agent_0": Amount(b) for name, b in budgets.items()})
    spent_by = {name: ledger.spent(f"{name}/agent_0").tokens for name in budgets}
    assert sum(spent_by.values()) == len(server.requests) * sum(TOKENS)
    assert all(spent_by[name] <= budget for name, budget in budgets.items())
    assert spent_by["small"] < spent_by["middle"] < spent_by["large"], "who has more plays on"
    recorded = {name: open_run(run.folder).operators[name].episodes() for name in budgets}
    assert {row.status for rows in recorded.values() for row in rows} == {"completed"}
