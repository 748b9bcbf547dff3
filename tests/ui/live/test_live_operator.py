"""A live operator plays, waits, is asked, breaks and goes on, and writes down what it did."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import open_run
from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session_events import OnSessionEvent, SessionEvent
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.live_play.live_run import LiveRun
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.state_words import words_of
from tests.ui.conftest import PATIENCE_MS

from .conftest import baseline, person

WAIT = PATIENCE_MS
_LATE_S = 1.0
Live = Callable[..., LiveOperator]


def test_plays_episodes_from_its_seed_on_and_is_done(live: Live, qtbot: Any):
    operator = live()
    over: list[dict[str, Any]] = []
    states: list[OperatorState] = []
    operator.episode_over.connect(over.append)
    operator.state_changed.connect(states.append)
    operator.player.start(42, episodes=3)
    assert operator.player.state is OperatorState.STARTING
    qtbot.waitUntil(lambda: len(over) == 3, timeout=WAIT)
    assert [(row["episode_index"], row["seed"], row["status"]) for row in over] == [
        (0, 42, "completed"),
        (1, 43, "completed"),
        (2, 44, "completed"),
    ]
    assert operator.player.tally.episodes_done == over
    assert (
        operator.player.done
        and operator.player.state is OperatorState.READY
        and words_of(operator.player) == "Done"
    )
    assert OperatorState.RUNNING in states


def test_starts_paused_with_its_first_frame_and_steps_one_by_one(live: Live, qtbot: Any):
    operator = live()
    operator.player.start(7, paused=True)
    qtbot.waitUntil(
        lambda: operator.player.last_frame is not None and operator.player.last_view is not None, timeout=WAIT
    )
    assert operator.player.last_view.step == 0 and operator.player.last_view.seed == 7
    qtbot.waitUntil(lambda: operator.player.state is OperatorState.READY, timeout=WAIT)
    assert operator.player.last_frame.shape[2] == 3
    for step in (1, 2, 3):
        with qtbot.waitSignal(operator.stepped, timeout=WAIT):
            operator.player.step()
        assert operator.player.last_view.step == step
    assert operator.player.state is OperatorState.PAUSED


def test_a_step_that_is_asked_for_while_it_starts_is_taken(live: Live, qtbot: Any):
    operator = live()
    operator.player.start(7, paused=True)
    assert operator.player.state is OperatorState.STARTING
    operator.player.step()
    operator.player.step()  # asked for twice before there is anything to step: one step, like a double click
    with qtbot.waitSignal(operator.stepped, timeout=WAIT):
        pass
    assert operator.player.last_view.step == 1 and operator.player.paused


def test_how_the_first_episode_begins_is_seen_before_anybody_sits(live: Live, qtbot: Any):
    operator = live()
    seen: list[tuple[OperatorState, int, int]] = []
    operator.viewed.connect(lambda view: seen.append((operator.player.state, view.seed, view.step)))
    operator.player.start(11, paused=True)
    qtbot.waitUntil(lambda: operator.player.state is OperatorState.READY, timeout=WAIT)
    assert seen[0] == (OperatorState.STARTING, 11, 0)


def test_steps_lead_over_the_end_of_an_episode_into_the_next_one(live: Live, qtbot: Any):
    operator = live(baseline(max_steps=2))
    operator.player.start(5, paused=True)
    qtbot.waitUntil(lambda: operator.player.state is OperatorState.READY, timeout=WAIT)
    seen: list[tuple[int, int, str]] = []
    for _ in range(5):
        with qtbot.waitSignal(operator.stepped, timeout=WAIT):
            operator.player.step()
        view = operator.player.last_view
        seen.append((view.seed, view.step, view.over))
    # The end stays on show until another step is asked for.
    assert seen == [(5, 1, ""), (5, 2, "completed"), (6, 0, ""), (6, 1, ""), (6, 2, "completed")]


def test_runs_pauses_and_resets(live: Live, qtbot: Any):
    operator = live(baseline(behavior="cycle", task="MiniGrid-Empty-5x5-v0"))
    operator.player.set_rate(200)
    operator.player.start(1)
    qtbot.waitUntil(
        lambda: operator.player.last_view is not None and operator.player.last_view.step > 5, timeout=WAIT
    )
    operator.player.pause()
    assert operator.player.paused
    operator.player.reset(90)
    qtbot.waitUntil(lambda: operator.player.last_view.seed == 90, timeout=WAIT)
    assert (
        operator.player.last_view.step == 0
        and operator.player.paused
        and operator.player.tally.episodes_done == []
    )
    operator.player.resume()
    qtbot.waitUntil(lambda: operator.player.last_view.step > 3, timeout=WAIT)
    assert operator.player.state is OperatorState.RUNNING


def test_plays_the_seeds_it_is_given(live: Live, qtbot: Any):
    operator = live(seeds=[11, 5, 99])
    operator.player.start(0)
    qtbot.waitUntil(
        lambda: operator.player.done and len(operator.player.tally.episodes_done) == 3, timeout=WAIT
    )
    assert [row["seed"] for row in operator.player.tally.episodes_done] == [11, 5, 99]


def test_what_cannot_be_played_is_said_corrected_stopped_and_begun_again(live: Live, qtbot: Any):
    operator = live(baseline(task="CartPoll-v1"), host=True)
    with qtbot.waitSignal(operator.broke, timeout=WAIT) as broke:
        operator.player.start(0)
    assert "CartPole" in broke.args[0]
    assert operator.player.state is OperatorState.BROKEN and words_of(operator.player) == broke.args[0]

    operator.player.configure(baseline())
    operator.player.start(0, paused=True)
    qtbot.waitUntil(lambda: operator.player.state is OperatorState.READY, timeout=WAIT)
    assert operator.player.trouble == ""

    pid = operator.player.link.pid
    operator.player.stop()
    qtbot.waitUntil(
        lambda: operator.player.state is OperatorState.IDLE and not operator.player.is_running(), timeout=WAIT
    )
    qtbot.waitUntil(lambda: not Path(f"/proc/{pid}").exists(), timeout=WAIT)
    assert operator.player.last_view is not None  # what was played stays on show
    operator.player.start(1, paused=True)
    qtbot.waitUntil(lambda: operator.player.alive and operator.player.last_view.seed == 1, timeout=WAIT)


def test_a_killed_host_is_told_and_restart_goes_on_with_the_lost_episode(
    live: Live, qtbot: Any, context: AppContext, finish: Any
):
    run = LiveRun(context.store.runs_dir(), [baseline(max_steps=60)], 3)
    operator = live(baseline(behavior="cycle", max_steps=60), host=True, run=run)
    operator.player.set_rate(100)
    operator.player.start(3, episodes=2)
    qtbot.waitUntil(lambda: len(operator.player.tally.episodes_done) == 1, timeout=WAIT)
    qtbot.waitUntil(lambda: operator.player.last_view.episode == 1, timeout=WAIT)
    with qtbot.waitSignal(operator.broke, timeout=WAIT) as broke:
        os.kill(operator.player.link.pid, signal.SIGKILL)
    assert broke.args[0] == "Session ended: killed (signal 9)"
    assert operator.player.state is OperatorState.BROKEN
    operator.player.restart()
    qtbot.waitUntil(lambda: operator.player.done, timeout=WAIT)
    assert [row["seed"] for row in operator.player.tally.episodes_done] == [3, 4]
    finish(run.close())
    assert run.folder is not None
    episodes = list(open_run(run.folder).operators["random"].episodes())
    assert [(e.episode_index, e.seed, e.status) for e in episodes] == [
        (0, 3, "completed"),
        (1, 4, "completed"),
    ]


def test_a_failed_episode_stops_it_with_the_reason(live: Live, qtbot: Any):
    failing = OperatorConfig(
        "bad",
        "",
        "",
        "CartPole-v1",
        {"agent_0": WorkerAssignment("human_worker", "human", {"script": [0, 1], "script_end": "error"})},
    )
    operator = live(failing)
    with qtbot.waitSignal(operator.broke, timeout=WAIT) as broke:
        operator.player.start(0)
    assert "script" in broke.args[0] and operator.player.state is OperatorState.BROKEN
    assert operator.player.tally.episodes_done[0]["status"] == "failed"
    assert not operator.player.is_running()


def test_a_person_is_asked_and_answers(live: Live, qtbot: Any):
    operator = live(person())
    operator.player.start(0, paused=True)
    qtbot.waitUntil(lambda: operator.player.alive, timeout=WAIT)
    assert operator.player.questions == ()  # the person is not asked before a step
    with qtbot.waitSignal(operator.asked, timeout=WAIT) as asked:
        operator.player.step()
    question = asked.args[0]
    assert operator.player.state is OperatorState.YOUR_MOVE and operator.player.questions == (question,)
    with qtbot.waitSignal(operator.stepped, timeout=WAIT):
        operator.player.answer(question, 1)
    assert (
        operator.player.last_view.agents[0].number == 1
        and operator.player.last_view.agents[0].source == "human"
    )
    operator.player.answer(question, 2)  # too late: nothing happens
    assert operator.player.last_view.step == 1


def test_questions_are_withdrawn_when_play_begins_anew(live: Live, qtbot: Any):
    operator = live(person())
    operator.player.start(0)
    qtbot.waitUntil(lambda: operator.player.questions != (), timeout=WAIT)
    first = operator.player.questions[0]
    with qtbot.waitSignal(operator.withdrawn, timeout=WAIT) as withdrawn:
        operator.player.reset(1)
    assert withdrawn.args == [first.id]
    qtbot.waitUntil(
        lambda: operator.player.questions != () and operator.player.questions[0].id != first.id, timeout=WAIT
    )


def test_a_slot_is_bound_anew_while_it_plays(live: Live, qtbot: Any):
    operator = live(person())
    operator.player.start(0)
    qtbot.waitUntil(lambda: operator.player.questions != (), timeout=WAIT)
    random = baseline().workers["agent_0"]
    qtbot.waitUntil(operator.player.rebind("agent_0", random).done, timeout=WAIT)
    assert operator.player.config.workers["agent_0"] == random
    qtbot.waitUntil(
        lambda: len(operator.player.tally.episodes_done) > 0 or operator.player.last_view.step > 2,
        timeout=WAIT,
    )


def test_a_binding_that_does_not_fit_changes_nothing(live: Live, qtbot: Any):
    operator = live()
    operator.player.start(0, paused=True)
    qtbot.waitUntil(lambda: operator.player.alive, timeout=WAIT)
    before = operator.player.config
    task = operator.player.rebind(
        "agent_0", WorkerAssignment("operators_worker", "baseline", {"behavior": "?"})
    )
    qtbot.waitUntil(task.done, timeout=WAIT)
    with pytest.raises(UsageError):
        task.result()
    assert operator.player.config == before and operator.player.alive


def test_indices_stand_once_in_a_run_however_often_play_begins(
    live: Live, qtbot: Any, context: AppContext, finish: Any
):
    run = LiveRun(context.store.runs_dir(), [baseline()], 8)
    operator = live(run=run)
    for seed in (8, 8, 20):
        operator.player.start(seed, episodes=1)
        qtbot.waitUntil(lambda: operator.player.done and not operator.player.busy, timeout=WAIT)
    finish(run.close())
    assert run.folder is not None
    episodes = list(open_run(run.folder).operators["random"].episodes())
    assert [(e.episode_index, e.seed) for e in episodes] == [(0, 8), (1, 8), (2, 20)]


def test_closing_while_it_starts_leaves_nothing(live: Live, qtbot: Any, finish: Any):
    operator = live(host=True)
    operator.player.start(0)
    qtbot.waitUntil(lambda: operator.player.link.pid != 0, timeout=WAIT)
    pid = operator.player.link.pid
    finish(operator.player.close())
    assert operator.player.state is OperatorState.CLOSED
    assert not Path(f"/proc/{pid}").exists()
    operator.player.start(0)  # closed for good
    assert operator.player.state is OperatorState.CLOSED and not operator.player.is_running()


class Late(LocalSession):
    """A session whose host is busy: what it says is heard a second later."""

    def __init__(
        self, resolved: ResolvedOperator, settings: SessionSettings, on_event: OnSessionEvent
    ) -> None:
        def later(event: SessionEvent) -> None:
            asyncio.get_running_loop().call_later(_LATE_S, on_event, event)

        super().__init__(resolved, settings, later)

    async def settled(self) -> None:
        await asyncio.sleep(_LATE_S)
        await super().settled()


def test_what_a_busy_session_played_before_a_reset_is_on_record(
    live: Live, qtbot: Any, context: AppContext, finish: Any
):
    sessions: list[Late] = []

    async def busy(config: OperatorConfig, settings: Any, on_event: OnSessionEvent) -> Late:
        sessions.append(Late(resolve_operator(config), settings, on_event))
        return sessions[-1]

    config = baseline(behavior="cycle", max_steps=500)
    run = LiveRun(context.store.runs_dir(), [config], 7)
    operator = live(config, run=run, open_session=busy)
    operator.player.set_rate(10)
    operator.player.start(7)
    qtbot.waitUntil(lambda: bool(sessions) and operator.player.alive, timeout=WAIT)
    qtbot.waitUntil(lambda: sessions[0].controller.total_steps > 2, timeout=WAIT)
    operator.player.set_rate(None)
    operator.player.start(50, episodes=1)  # before anything of seed 7 was heard
    states: list[OperatorState] = []
    operator.state_changed.connect(states.append)
    qtbot.waitUntil(lambda: operator.player.done and bool(operator.player.tally.episodes_done), timeout=WAIT)
    assert len(sessions) == 1 and OperatorState.STOPPING in states
    finish(operator.player.close())
    finish(run.close())
    assert run.folder is not None
    episodes = list(open_run(run.folder).operators["random"].episodes())
    assert [(e.seed, e.status, e.length > 0) for e in episodes] == [
        (7, "aborted", True),
        (50, "completed", True),
    ]
