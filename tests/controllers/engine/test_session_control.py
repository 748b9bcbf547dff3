"""Pause, step, resume, stop; rebinding while it plays; no slot waits for another's slow policy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from gym_gui.controllers.engine.session import SessionController
from gym_gui.core.experiment.assignment import OnInvalid
from gym_gui.core.policy_source import PolicySource
from gym_gui.core.types import Answer, Decision, EpisodeSummary, StepOutcome
from gym_gui.services.policy_mapping import AgentPolicyBinding
from gym_gui.workers.team_context import JoinedAgent
from tests.support.engine import arena, bind_operator, plans, player
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time

CORRIDOR = arena("Corridor")
LONG = {"length": 10_000}


@asynccontextmanager
async def session(
    policies: Any, seeds: Any = (1,), task: str = CORRIDOR, **options: Any
) -> AsyncIterator[tuple[SessionController, SessionLog, asyncio.Task[None]]]:
    """A session at play; stopped at the end, whatever happened."""
    env_kwargs = options.pop("env_kwargs", LONG)
    bound = options.pop("bound", None) or await bind_operator(task, policies, env_kwargs=env_kwargs)
    sheet = SessionLog()
    controller = SessionController(bound, sheet, **options)
    controller.add(plans(seeds))
    task = asyncio.create_task(controller.run())
    try:
        yield controller, sheet, task
    finally:
        controller.stop()
        await asyncio.wait_for(task, 10)


async def settled(controller: SessionController) -> int:
    """Steps taken once no more are taken."""
    before = -1
    while before != controller.total_steps:
        before = controller.total_steps
        for _ in range(20):
            await asyncio.sleep(0)
    return before


async def test_pause_holds_every_episode_and_step_takes_one_each() -> None:
    async with session({"agent_0": player()}, range(3), concurrency=3) as (controller, sheet, _):
        await in_time(lambda: controller.total_steps > 10, "it plays")
        controller.pause()
        taken = await settled(controller)
        for more in (1, 2, 3):
            controller.step()
            await in_time(lambda more=more: controller.total_steps == taken + 3 * more, "one step each")
            assert await settled(controller) == taken + 3 * more
        controller.resume()
        await in_time(lambda: controller.total_steps > taken + 100, "it goes on")
        assert not sheet.order and controller.live == 3


async def test_steps_asked_for_at_once_are_all_taken() -> None:
    async with session({"agent_0": player()}) as (controller, _, _task):
        controller.pause()
        await in_time(lambda: controller.live == 1, "it began")
        taken = await settled(controller)
        for _ in range(4):
            controller.step()
        await in_time(lambda: controller.total_steps == taken + 4, "four steps")
        assert await settled(controller) == taken + 4


async def test_paused_before_it_began_it_steps_from_the_start() -> None:
    made = player()
    bound = await bind_operator(CORRIDOR, {"agent_0": made})
    sheet = SessionLog()
    controller = SessionController(bound, sheet)
    controller.pause()
    controller.add(plans((1,)))
    controller.close()
    task = asyncio.create_task(controller.run())
    await in_time(lambda: controller.live == 1, "the episode is open")
    assert await settled(controller) == 0
    for k in range(5):
        controller.step()
        await in_time(lambda k=k: controller.total_steps == k + 1, "a step")
    await asyncio.wait_for(task, 10)
    assert sheet.episodes[0]["status"] == "completed"


async def test_a_step_asked_for_before_the_episode_has_begun_is_taken_and_no_other() -> None:
    bound = await bind_operator(CORRIDOR, {"agent_0": player()}, env_kwargs=LONG)
    controller = SessionController(bound, SessionLog())
    controller.pause()
    controller.step()  # nothing has been given to play: there is nothing to step
    controller.add(plans((1, 2)))
    controller.step()
    task = asyncio.create_task(controller.run())
    await in_time(lambda: controller.total_steps == 1, "the step")
    assert await settled(controller) == 1
    controller.abort()  # and what begins after it owes nothing
    controller.add(plans((3,)))
    await in_time(lambda: controller.live == 1, "the next has begun")
    assert await settled(controller) == 1
    controller.stop()
    await asyncio.wait_for(task, 10)


async def test_while_paused_nobody_is_asked_for_a_step_that_was_not_asked_for() -> None:
    asked: list[int] = []
    made = player(lambda snapshot: asked.append(snapshot.step_index) or 0)
    bound = await bind_operator(CORRIDOR, {"agent_0": made})
    controller = SessionController(bound, SessionLog())
    controller.pause()
    controller.add(plans((1,)))
    task = asyncio.create_task(controller.run())
    await in_time(lambda: controller.live == 1, "the episode is open")
    assert await settled(controller) == 0 and asked == []
    assert controller.asked_in("agent_0") is not None  # what it will be asked can be looked at
    for k in range(3):
        controller.step()
        await in_time(lambda k=k: controller.total_steps == k + 1, "a step")
        await settled(controller)
        assert asked == list(range(k + 1))
    controller.stop()
    await asyncio.wait_for(task, 10)


async def test_a_paused_episode_is_the_same_in_the_end() -> None:
    from tests.support.engine import play_task

    made = player(lambda s: s.step_index % 3)
    plain = await play_task(CORRIDOR, {"agent_0": made}, range(4), options={"concurrency": 4})
    async with session({"agent_0": made}, range(4), concurrency=4, env_kwargs={}) as (
        controller,
        sheet,
        task,
    ):
        controller.pause()
        await settled(controller)
        controller.step()
        await settled(controller)
        controller.resume()
        controller.close()
        await asyncio.wait_for(task, 10)
        assert sheet.essence() == plain.essence()


async def test_stop_leaves_no_trace_of_what_is_unfinished() -> None:
    made = player()
    async with session({"agent_0": made}, range(4), concurrency=2) as (controller, sheet, task):
        await in_time(lambda: controller.total_steps > 10, "it plays")
        controller.stop()
        await asyncio.wait_for(task, 10)
        assert not sheet.order and controller.live == 0 and controller.waiting == 2
    assert [s.status for p in made.made for s in p.summaries] == ["aborted"] * 2


async def test_stop_can_record_what_was_played() -> None:
    async with session({"agent_0": player()}, range(3), concurrency=2) as (controller, sheet, task):
        await in_time(lambda: controller.total_steps > 10, "it plays")
        controller.stop(record=True)
        await asyncio.wait_for(task, 10)
        assert {sheet.episodes[i]["status"] for i in (0, 1)} == {"aborted"} and 2 not in sheet.episodes
        for index in (0, 1):
            assert len(sheet.rows[index]) == sheet.episodes[index]["length"] > 0
            assert sheet.episodes[index]["error"] == "stopped before its end"


async def test_stop_ends_a_session_that_is_paused_or_has_nothing_to_do() -> None:
    async with session({"agent_0": player()}) as (controller, _, task):
        controller.pause()
        await settled(controller)
        controller.stop()
        await asyncio.wait_for(task, 10)
    async with session({"agent_0": player()}, ()) as (controller, _, task):
        await settled(controller)
        assert not task.done()
        controller.stop()
        await asyncio.wait_for(task, 10)


async def test_rebinding_takes_effect_at_the_next_decision() -> None:
    first, second = player(lambda s: 0), player(lambda s: 2)
    bound = await bind_operator(CORRIDOR, {"agent_0": first}, env_kwargs={"length": 8})
    async with session({}, (1, 2), bound=bound) as (controller, sheet, task):
        controller.pause()
        await in_time(lambda: controller.live == 1, "the episode is open")
        await settled(controller)
        for _ in range(3):
            controller.step()
        await in_time(lambda: controller.total_steps == 3, "three steps")
        await settled(controller)
        bound.policies.actor_service.register_policy("second", PolicySource.of(second))
        bound.policies.bind_agent_policy("agent_0", "second")
        controller.close()
        controller.resume()
        await asyncio.wait_for(task, 10)
        actions = sheet.column(0, "action")
    # The session had not asked for the fourth action when the new policy came.
    assert actions == [0, 0, 0, 2, 2, 2, 2, 2] and sheet.column(1, "action") == [2] * 8
    assert sheet.episodes[0]["agents"]["agent_0"]["policy"] != "second"
    assert sheet.episodes[0]["rebound"] == [
        {
            "step_index": 3,
            "agent_id": "agent_0",
            "worker_id": "in_process",
            "worker_type": "baseline",
            "policy": "second",
        }
    ]
    assert sheet.episodes[1]["agents"]["agent_0"]["policy"] == "second"
    assert "rebound" not in sheet.episodes[1]
    assert [p.context.episode_index for p in second.made] == [0, 1]
    assert second.made[0].context.seed == first.made[0].context.seed


@dataclass
class Patient:
    """A policy outside: answers when the test says so."""

    sink: Callable[[list[Answer]], None]
    carrier = None
    exclusive: bool = False
    wants_results: bool = False
    open: list[Decision] = field(default_factory=list)
    settles: int = 0
    ended: list[EpisodeSummary] = field(default_factory=list)

    def begin(
        self, episode: int, seed: int, agent_id: str = "", joined: JoinedAgent | None = None
    ) -> None: ...

    def ask(self, decisions: Sequence[Decision]) -> None:
        self.open += decisions

    def result(self, outcome: StepOutcome) -> None: ...

    def end(self, summary: EpisodeSummary) -> None:
        self.ended.append(summary)

    def settle(self) -> None:
        self.settles += 1

    def answer(self, *episodes: int) -> None:
        chosen = [d for d in self.open if d.episode in episodes]
        self.open = [d for d in self.open if d.episode not in episodes]
        self.sink([Answer(d, 1) for d in chosen])


async def patient() -> tuple[Any, Patient]:
    bound = await bind_operator(CORRIDOR, {"agent_0": player()})
    backend = Patient(bound.policies.collect)
    bound.policies.attach(AgentPolicyBinding("agent_0", "patient"), backend)
    return bound, backend


async def test_nobody_waits_for_another_episodes_slow_policy() -> None:
    bound, slow = await patient()
    async with session({}, range(4), bound=bound, concurrency=4) as (_, sheet, _task):
        await in_time(lambda: len(slow.open) == 4, "all are asked")
        for step in range(5):
            assert {d.step for d in slow.open if d.episode != 2} == {step}
            slow.answer(0, 1, 3)
            await in_time(lambda: len(slow.open) == 4 or len(sheet.order) == 3, "the others go on")
        assert sorted(sheet.order) == [0, 1, 3] and [d.step for d in slow.open] == [0]
        for _ in range(5):
            await in_time(lambda: slow.open, "it is asked")
            slow.answer(2)
        await in_time(lambda: len(sheet.order) == 4, "the last is over")
        assert sheet.episodes[2]["length"] == 5


async def test_answers_that_come_after_the_end_are_dropped() -> None:
    bound, slow = await patient()
    bound.make_environment()
    async with session({}, range(2), bound=bound, concurrency=1) as (controller, sheet, task):
        await in_time(lambda: slow.open, "it is asked")
        (late,) = slow.open
        slow.sink([Answer(late, failure="broken")])
        await in_time(lambda: 0 in sheet.episodes, "it has failed")
        slow.sink([Answer(late, 1), Answer(late, 2)])
        await in_time(lambda: len(slow.open) == 2, "the next is asked")
        slow.open = slow.open[1:]
        for _ in range(5):
            await in_time(lambda: slow.open, "it is asked")
            slow.answer(1)
        controller.close()
        await asyncio.wait_for(task, 10)
        assert sheet.episodes[0]["status"] == "failed" and sheet.episodes[1]["status"] == "completed"
        assert sheet.column(1, "action") == [1] * 5


async def test_what_is_pending_is_delivered_when_nothing_will_be_asked() -> None:
    bound, slow = await patient()
    async with session({}, (1,), bound=bound) as (controller, sheet, task):
        for _ in range(5):
            await in_time(lambda: slow.open, "it is asked")
            slow.answer(0)
        await in_time(lambda: slow.settles == 1, "it was told that nothing follows")
        assert sheet.order == [0] and [s.total_reward for s in slow.ended] == [10.5]
        controller.close()
        await asyncio.wait_for(task, 10)
        assert slow.settles == 2


async def test_the_loop_stays_free_for_others_while_policies_answer_at_once() -> None:
    """A million quick steps must not keep a timer, or Ctrl-C, from being served."""
    async with session({"agent_0": player()}, (1,), env_kwargs={"length": 10**9}) as (controller, _, _task):
        await in_time(lambda: controller.total_steps > 0, "it plays")
        ticks = 0
        while controller.total_steps < 5000:
            await asyncio.sleep(0)
            ticks += 1
        assert ticks < 5000  # and it is not asked to yield at every step


async def test_rows_stand_in_the_environments_order_whoever_answers_first() -> None:
    agents = ["z", "a", "m"]
    script: list[dict[str, Any]] = [{}, {}, {"terminated": agents}]
    bound = await bind_operator(
        arena("Crowd"),
        {agent: player() for agent in agents},
        env_kwargs={"agents": agents, "script": script},
    )
    slow = Patient(bound.policies.collect)
    for agent in agents:
        bound.policies.attach(AgentPolicyBinding(agent, "patient"), slow)
    async with session({}, (1,), bound=bound) as (_, sheet, _task):
        for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
            await in_time(lambda: len(slow.open) == 3, "all are asked")
            asked, slow.open = slow.open, []
            for k in order:
                slow.sink([Answer(asked[k], k)])
        await in_time(lambda: 0 in sheet.episodes, "it is over")
        assert sheet.column(0, "agent_id") == agents * 3
        assert sheet.column(0, "action") == [0, 1, 2] * 3


async def test_while_paused_no_further_episode_begins() -> None:
    async with session({"agent_0": player()}, (1,), concurrency=4) as (controller, _, _task):
        await in_time(lambda: controller.total_steps > 0, "it plays")
        controller.pause()
        controller.add(plans(range(3))[1:])
        await settled(controller)
        assert (controller.live, controller.waiting) == (1, 2)
        controller.resume()
        await in_time(lambda: controller.live == 3, "the others begin")


async def test_an_answer_to_a_question_that_was_asked_again_is_dropped() -> None:
    bound, slow = await patient()
    bound.rules = {"agent_0": OnInvalid(1, "error")}
    async with session({}, (1,), bound=bound) as (_, sheet, _task):
        await in_time(lambda: slow.open, "it is asked")
        (first,) = slow.open
        slow.open = []
        slow.sink([Answer(first, invalid="too late to be good"), Answer(first, 2)])
        await in_time(lambda: slow.open, "it is asked again")
        (again,) = slow.open
        assert (again.step, again.attempt, again.reason) == (0, 1, "too late to be good")
        for _ in range(5):
            await in_time(lambda: slow.open, "it is asked")
            slow.answer(0)
        await in_time(lambda: 0 in sheet.episodes, "it is over")
        assert sheet.column(0, "action") == [1] * 5
        assert sheet.column(0, "action_source") == ["retry"] + ["policy"] * 4
