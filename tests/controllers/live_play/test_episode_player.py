"""A live operator without a window: asked directly, heard through one callback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.engine.session_events import (
    ConfigChanged,
    EpisodePlayed,
    PlayerEvent,
    QuestionWithdrawn,
    StateChanged,
    StepTaken,
)
from gym_gui.controllers.live_play.episode_player import EpisodePlayer
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.live import HumanQuestion, LiveView
from tests.support.no_processes import local_session

_WAIT_S = 30.0
_T = TypeVar("_T")


def _spawn(work: Coroutine[Any, Any, _T], _what: str) -> asyncio.Task[_T]:
    return asyncio.get_running_loop().create_task(work)


def _operator(worker: str, kind: str, task: str, **settings: Any) -> OperatorConfig:
    return OperatorConfig("one", "One", "", task, {"agent_0": WorkerAssignment(worker, kind, settings)})


RANDOM = _operator("operators_worker", "baseline", "CartPole-v1", behavior="random")
PERSON = _operator("human_worker", "human", "FrozenLake-v1")


class Heard:
    """A player, and all that it has told."""

    def __init__(self, config: OperatorConfig) -> None:
        self.events: list[PlayerEvent] = []
        self._more = asyncio.Event()
        self.player = EpisodePlayer(config, self._on_event, local_session, _spawn)

    def _on_event(self, event: PlayerEvent) -> None:
        self.events.append(event)
        self._more.set()

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait for what happens until this is so."""
        async with asyncio.timeout(_WAIT_S):
            while not holds():
                self._more.clear()
                await self._more.wait()

    def of(self, kind: type[_T]) -> list[_T]:
        """What it has told of this kind."""
        return [event for event in self.events if isinstance(event, kind)]


def _play(config: OperatorConfig, scene: Callable[[Heard], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        heard = Heard(config)
        try:
            await scene(heard)
        finally:
            await heard.player.close()
        assert heard.of(StateChanged)[-1] == StateChanged(OperatorState.CLOSED)

    asyncio.run(run())


def test_its_episodes_are_told_in_the_order_of_their_seeds() -> None:
    async def scene(heard: Heard) -> None:
        heard.player.start(42, episodes=3)
        await heard.until(lambda: len(heard.of(EpisodePlayed)) == 3)
        rows = [event.row for event in heard.of(EpisodePlayed)]
        assert [(row["episode_index"], row["seed"]) for row in rows] == [(0, 42), (1, 43), (2, 44)]
        assert heard.player.tally.episodes_done == rows and heard.player.done

    _play(RANDOM, scene)


def test_a_step_that_was_asked_for_is_told_after_its_look() -> None:
    async def scene(heard: Heard) -> None:
        heard.player.start(7, paused=True)
        await heard.until(lambda: heard.player.state is OperatorState.READY)
        for step in (1, 2):
            heard.player.step()
            await heard.until(lambda step=step: len(heard.of(StepTaken)) == step)
            assert heard.of(LiveView)[-1].step == step
        assert heard.player.state is OperatorState.PAUSED

    _play(RANDOM, scene)


def test_a_question_is_told_and_withdrawn_when_somebody_else_takes_over() -> None:
    async def scene(heard: Heard) -> None:
        heard.player.start(0)
        await heard.until(lambda: heard.of(HumanQuestion))
        assert heard.player.state is OperatorState.YOUR_MOVE
        await heard.player.rebind("agent_0", RANDOM.workers["agent_0"])
        (question,) = heard.of(HumanQuestion)
        await heard.until(lambda: heard.of(QuestionWithdrawn))
        assert heard.of(QuestionWithdrawn) == [QuestionWithdrawn(question.id)]
        changed = heard.of(ConfigChanged)[-1].config
        assert changed.workers["agent_0"].worker_id == "operators_worker" and changed == heard.player.config

    _play(PERSON, scene)


def test_a_person_who_manages_points_at_what_is_wanted() -> None:
    skills = WorkerAssignment("operators_worker", "baseline", {"behavior": "minigrid_skills"})
    person = WorkerAssignment("human_worker", "human")
    task = "MiniGrid-DoorKey-6x6-v0"

    async def scene(heard: Heard) -> None:
        player = heard.player
        player.start(0)
        await heard.until(lambda: heard.of(HumanQuestion) and player.last_view and player.last_view.pointing)
        view, question = player.last_view, heard.of(HumanQuestion)[0]
        assert view is not None and view.pointing is not None
        move = next(each for each in view.pointing.moves if each.label == "pick up(yellow key)")
        assert question.agent == "agent_0/goal" and move.action in (question.legal or ())
        player.answer(question, move.action)
        await heard.until(lambda: heard.of(LiveView)[-1].agents[0].option == "pick up(yellow key)")
        assert heard.of(LiveView)[-1].agents[0].option_since == 0

    _play(OperatorConfig("one", "One", "", task, {"agent_0": skills}, manager={"agent_0": person}), scene)
