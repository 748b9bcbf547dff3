"""Whatever puts operators in place of others: what is played is on record, what is gone has ended."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QPushButton, QToolButton

from gym_gui.analysis import open_run
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.services.runs.recorder import Recorder
from gym_gui.services.store import Store
from gym_gui.ui.config_panels.player_panel import PlayerPicker
from gym_gui.ui.config_panels.single_agent_panel import SingleAgentPanel
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.operators.examples import bundled_policies
from gym_gui.ui.operators.manual import ManualOperators
from gym_gui.ui.pages.agents import AgentsPage
from gym_gui.ui.pages.home import StarterCard
from gym_gui.ui.pages.operators import OperatorsTab
from gym_gui.ui.policies.use_policy_menu import operator_of, use_policy
from gym_gui.ui.widgets.message_panels import InlineMessage
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.support.seldom import some_of
from tests.ui.conftest import PATIENCE_MS

WAIT = PATIENCE_MS
LEFT = Qt.MouseButton.LeftButton
PACE = 60.0
"""Steps a second: some episodes while others come, and not thousands, each of which is read again."""

pytestmark = pytest.mark.usefixtures("looks_here")


def baseline(name: str, behavior: str = "random", task: str = "CartPole-v1") -> OperatorConfig:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})
    return OperatorConfig(name, "", "", task, {"agent_0": player}, max_steps=4)


Played = tuple[str, str]
"""Operator, and when an episode began."""


class Witness:
    """Notes every episode that operators of the page play to its end: when it began, and whose it is."""

    def __init__(self, page: OperatorsTab) -> None:
        self.played: Counter[Played] = Counter()
        self._seen: set[LiveOperator] = set()
        page.deck.added.connect(self._on_added)

    def _on_added(self, operator: LiveOperator, _place: int) -> None:
        if operator not in self._seen:
            self._seen.add(operator)
            operator.episode_over.connect(lambda row, who=operator: self._note(who, row))

    def _note(self, _operator: LiveOperator, row: dict[str, Any]) -> None:
        self.played[str(row["operator_id"]), str(row["started_at"])] += 1

    def of(self, operator_id: str) -> int:
        return sum(times for (name, _), times in self.played.items() if name == operator_id)

    @property
    def in_all(self) -> int:
        return self.played.total()


def recorded(runs: Path) -> Counter[Played]:
    """All episodes in the run folders, each of which is whole and names those who have played."""
    found: Counter[Played] = Counter()
    for folder in runs.iterdir():
        run = open_run(folder)
        assert run.record.status == "completed", folder
        for name, operator in run.operators.items():
            (config,) = [o for o in run.record.experiment["operators"] if o["id"] == name]
            behaviors = {agent: w["settings"].get("behavior") for agent, w in config["workers"].items()}
            for episode in operator.episodes():
                found[name, str(episode.started_at)] += 1
                for agent, about in episode.agents.items():
                    behavior = behaviors[agent]
                    here = f"{str(behavior).title()}Actor"  # of this process
                    assert behavior is None or about.policy in (behavior, here), (folder, name)
    return found


@pytest.fixture
def page(window: MainWindow) -> OperatorsTab:
    window.context.go("operators")
    page = window.findChild(OperatorsTab)
    assert page is not None
    page.deck.play.set_pace(PACE, lock_step=False)
    return page


@pytest.fixture
def witness(page: OperatorsTab) -> Witness:
    return Witness(page)


def click_card(window: MainWindow, name: str, qtbot: Any) -> None:
    window.context.go("home")
    card = next(c for c in window.findChildren(StarterCard) if c.starter.name == name)
    qtbot.mouseClick(card, LEFT)


def stop(page: OperatorsTab, qtbot: Any) -> None:
    qtbot.mouseClick(named(page, QPushButton, "operators-stop"), LEFT)
    qtbot.waitUntil(lambda: not page.deck.operators.active and not page.context.busy, timeout=WAIT)


def processes(page: OperatorsTab) -> list[psutil.Process]:
    hosts = [psutil.Process(operator.player.link.pid) for operator in page.deck.operators]
    return [*hosts, *(child for host in hosts for child in host.children(recursive=True))]


def ended(them: list[psutil.Process]) -> bool:
    return not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in them)


def test_home_cards_one_after_the_other(
    window: MainWindow,
    page: OperatorsTab,
    witness: Witness,
    store: Store,
    qtbot: Any,
    caplog: pytest.LogCaptureFixture,
):
    """Over real session processes."""
    page.deck.play.set_pace(None, lock_step=False)
    click_card(window, "duel", qtbot)
    qtbot.waitUntil(lambda: witness.of("random") > 1, timeout=WAIT)
    before = processes(page)
    assert len(before) >= 4  # two hosts, a worker each
    click_card(window, "soccer", qtbot)
    qtbot.waitUntil(lambda: witness.of("soccer") > 0 and ended(before), timeout=WAIT)
    before = processes(page)
    qtbot.mouseClick(named(page, QPushButton, "operator-remove"), LEFT)
    assert not page.deck.operators
    page.deck.operators.forget_removed()  # as after the time in which the user can undo the removal
    qtbot.waitUntil(lambda: ended(before) and not page.context.busy, timeout=WAIT)
    assert witness.played <= recorded(store.runs)
    assert len(list(store.runs.iterdir())) == 2
    assert not [r for r in caplog.records if r.levelname == "ERROR"]


# -- the ways in which others come in their place -----------------------------------------------


def card(window: MainWindow, page: OperatorsTab, qtbot: Any) -> str:
    click_card(window, "soccer", qtbot)
    return "soccer"


def apply(window: MainWindow, page: OperatorsTab, qtbot: Any) -> str:
    """Agents → Apply of an operator that is not on the table."""
    window.context.go("agents", operator=baseline("other", "cycle"))
    agents = window.findChild(AgentsPage)
    assert agents is not None
    apply_button = named(agents, QPushButton, "apply")
    qtbot.waitUntil(apply_button.isEnabled, timeout=WAIT)
    qtbot.mouseClick(apply_button, LEFT)
    return "other"


def apply_in_place(window: MainWindow, page: OperatorsTab, qtbot: Any) -> str:
    """Agents → Apply of one that is there."""
    named(page, ManualOperators, "manual-operators").select(page.deck.operators[0])
    window.context.go("agents", operator=baseline("a", "noop"))
    agents = window.findChild(AgentsPage)
    assert agents is not None
    apply_button = named(agents, QPushButton, "apply")
    qtbot.waitUntil(apply_button.isEnabled, timeout=WAIT)
    qtbot.mouseClick(apply_button, LEFT)
    return "a"


def watch(window: MainWindow, page: OperatorsTab, qtbot: Any) -> str:
    """Train → Watch in Operators."""
    (place,) = bundled_policies()
    policy = place / "ppo_cartpole"
    operator = operator_of(policy, worker_id="cleanrl_worker", env_id="CartPole-v1", title="PPO")
    use_policy(window.context, "operators", replace(operator, max_steps=4))
    return "ppo"


def one_by_one(window: MainWindow, page: OperatorsTab, qtbot: Any) -> str:
    """All are removed by hand, then another is added."""
    for name in ("a", "b"):
        named(page, ManualOperators, "manual-operators").remove(name)
    qtbot.mouseClick(named(page, QToolButton, "operators-add"), LEFT)
    return "random"


def edited(window: MainWindow, page: OperatorsTab, qtbot: Any) -> str:
    """Another policy, chosen in the inspector."""
    named(page, ManualOperators, "manual-operators").select(page.deck.operators[0])
    qtbot.waitUntil(lambda: page.findChild(SingleAgentPanel, "single-agent-panel") is not None, timeout=WAIT)
    named(page, PlayerPicker, "player-agent_0").chosen.emit("noop")
    qtbot.waitUntil(
        lambda: page.deck.operators[0].player.config.workers["agent_0"].settings["behavior"] == "noop",
        timeout=WAIT,
    )
    return page.deck.operators[0].player.config.operator_id


def back_after_reset(window: MainWindow, page: OperatorsTab, qtbot: Any) -> str:
    """One is removed, the other reset, and the first comes back."""
    named(page, ManualOperators, "manual-operators").remove("b")
    qtbot.mouseClick(named(page, QPushButton, "operators-reset"), LEFT)
    page.deck.undo_stack.undo()
    return "b"


def undone(window: MainWindow, page: OperatorsTab, qtbot: Any) -> str:
    """A card's operators, and those before them by undo."""
    click_card(window, "duel", qtbot)
    named(named(page, InlineMessage, "message-info"), QPushButton, "message-action").click()
    assert page.deck.table.ids == ("a", "b")
    return "b"


def stopped(window: MainWindow, page: OperatorsTab, qtbot: Any) -> str:
    """All stopped, one changed, and run again."""
    stop(page, qtbot)
    page.deck.change(baseline("a", "cycle"))
    return "a"


@pytest.mark.usefixtures("plays_here")
@pytest.mark.parametrize(
    "way",
    some_of(
        [card, apply, apply_in_place, watch, one_by_one, edited, back_after_reset, undone, stopped],
        *(card, apply_in_place, undone),
    ),
)
def test_whoever_comes_in_their_place_is_on_record(
    way: Callable[[MainWindow, OperatorsTab, Any], str],
    window: MainWindow,
    page: OperatorsTab,
    witness: Witness,
    store: Store,
    qtbot: Any,
    caplog: pytest.LogCaptureFixture,
):
    window.context.go("operators", operators=[baseline("a"), baseline("b", "cycle")], seed=9, run=True)
    qtbot.waitUntil(lambda: witness.of("a") > 1 and witness.of("b") > 1, timeout=WAIT)
    who = way(window, page, qtbot)
    if way is card:  # episodes of hundreds of steps
        page.deck.play.set_pace(None, lock_step=False)
    if not page.deck.play.running:
        qtbot.mouseClick(named(page, QPushButton, "operators-run"), LEFT)
    # One that was being played may be theirs who were there before.
    already = witness.of(who) + (who in ("a", "b"))
    qtbot.waitUntil(lambda: witness.of(who) > already, timeout=WAIT)
    run = page.deck.recording
    qtbot.waitUntil(lambda: run is not None and run.folder is not None and not run.problem, timeout=WAIT)
    stop(page, qtbot)
    assert witness.played <= recorded(store.runs)
    assert not [r for r in caplog.records if r.levelname == "ERROR"]


@pytest.mark.usefixtures("plays_here")
def test_a_record_that_fails_stops_the_play_and_says_why(
    page: OperatorsTab,
    witness: Witness,
    context: AppContext,
    qtbot: Any,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    told: list[str] = []
    context.noticed.connect(lambda notice: told.append(notice.text))

    def fail(*_: object) -> None:
        raise KeyError("a mistake of ours")

    monkeypatch.setattr(Recorder, "episode", fail)
    context.go("operators", operators=[baseline("a")], seed=9, run=True)
    qtbot.waitUntil(lambda: not page.deck.play.running, timeout=WAIT)
    qtbot.waitUntil(lambda: len(told) > 1, timeout=WAIT)
    assert any("Recording the run failed" in text and "log has the details" in text for text in told)
    (error,) = [r for r in caplog.records if r.levelname == "ERROR" and r.exc_info]
    assert "a mistake of ours" in str(error.exc_info[1])
    played = witness.in_all
    monkeypatch.undo()
    qtbot.mouseClick(named(page, QPushButton, "operators-run"), LEFT)  # in another run, which is written
    qtbot.waitUntil(lambda: witness.in_all > played + 1, timeout=WAIT)
    assert page.deck.recording is not None and not page.deck.recording.problem
    stop(page, qtbot)


def test_a_task_that_fails_and_that_somebody_still_holds_is_told(
    context: AppContext, loop: asyncio.AbstractEventLoop, qtbot: Any, caplog: pytest.LogCaptureFixture
):
    async def work() -> None:
        raise ZeroDivisionError("by zero")

    with qtbot.waitSignal(context.noticed, timeout=WAIT) as told:
        held = loop.create_task(work(), name="Dividing")
    assert held.done() and told.args is not None
    assert told.args[0].text == "Dividing failed: by zero. The log has the details"
    assert told.args[0].kind == "error" and "ZeroDivisionError" in caplog.text


def test_a_failure_that_somebody_waits_for_is_theirs_alone(
    context: AppContext, loop: asyncio.AbstractEventLoop, qtbot: Any, caplog: pytest.LogCaptureFixture
):
    async def work() -> None:
        raise ZeroDivisionError("by zero")

    async def wait() -> str:
        done = loop.create_task(work())
        await asyncio.wait([done])
        return str(done.exception())

    waiting, told = loop.create_task(wait()), list[Any]()
    context.noticed.connect(told.append)
    later = loop.create_task(work(), name="Later")
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT)  # of the later task, which no code awaits
    assert later.done() and waiting.result() == "by zero"
    assert [notice.text for notice in told] == ["Later failed: by zero. The log has the details"]
