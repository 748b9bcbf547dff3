"""The engine with in-process policies, and what it records."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.bound_operator import BoundOperator
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session import SessionController
from gym_gui.controllers.engine.session_events import OnSessionEvent
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.controllers.sessions.bind_workers import bind_workers
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.experiment.assignment import OnInvalid, WorkerAssignment
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.policy_source import ActorContext
from gym_gui.core.types import EpisodeSummary, StepSnapshot
from gym_gui.workers.supervisor import SessionEvents, Supervisor
from tests.support.session_log import SessionLog

ARENAS = "tests.support.arenas"
"""Module of the environments below, for ``task``."""


def arena(name: str) -> str:
    """``task`` of a class of :mod:`tests.support.arenas`."""
    return f"{ARENAS}:{name}"


class Player:
    """A policy that plays ``f(snapshot)`` and remembers all it was told.

    Use it as a class (:func:`player`) to get one per episode.
    """

    made: list[Player]

    def __init__(self, context: ActorContext) -> None:
        self.context = context
        self.id = "player"
        self.asked: list[StepSnapshot] = []
        self.results: list[StepSnapshot] = []
        self.summaries: list[EpisodeSummary] = []
        type(self).made.append(self)

    def choose(self, snapshot: StepSnapshot) -> Any:
        """The action."""
        return 0

    def select_action(self, snapshot: StepSnapshot) -> Any:
        self.asked.append(snapshot)
        return self.choose(snapshot)

    def on_step(self, snapshot: StepSnapshot) -> None:
        self.results.append(snapshot)

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        self.summaries.append(summary)


def player(choose: Any = None) -> type[Player]:
    """A class of players of its own, made anew for each episode; ``made`` lists them."""

    class Made(Player):
        made: list[Player] = []  # noqa: RUF012  # a list per class is the point

        def choose(self, snapshot: StepSnapshot) -> Any:
            return choose(snapshot) if choose is not None else 0

    return Made


async def bind_operator(
    task: str,
    policies: Mapping[str, object],
    *,
    rules: Mapping[str, Any] | None = None,
    manager: Sequence[str] = (),
    **config: Any,
) -> BoundOperator:
    """A line-up of in-process policies.

    Args:
        task: The environment.
        policies: By slot.
        rules: ``on_invalid`` by slot.
        manager: Agents that get a manager.
        config: More for the :class:`OperatorConfig`.
    """
    # The given policy objects replace the workers that the configuration names for managers' slots.
    managers = {agent: WorkerAssignment(worker_type="random") for agent in manager}
    operator = OperatorConfig("op", "", "", task, {}, manager=managers, **config)
    resolved = resolve_operator(operator, policies)
    supervisor = Supervisor("op", SessionEvents(lambda *_: None, lambda *_: None, lambda *_: None))
    bound = await bind_workers(resolved, supervisor)
    bound.rules = {slot: OnInvalid.of(rule) for slot, rule in (rules or {}).items()}
    return bound


def plans(seeds: Iterable[int], seatings: int = 1) -> list[EpisodePlan]:
    """Episodes 0, 1, … with these seeds, each once per seating."""
    pairs = [(seed, seating) for seed in seeds for seating in range(seatings)]
    return [EpisodePlan(i, seed, seating) for i, (seed, seating) in enumerate(pairs)]


async def play(bound: BoundOperator, seeds: Iterable[int], **options: Any) -> SessionLog:
    """Play one episode per seed (and seating) to the end."""
    env_info = SessionLog()
    controller = SessionController(bound, env_info, **options)
    controller.add(plans(seeds, len(bound.seatings)))
    controller.close()
    async with asyncio.timeout(60):
        await controller.run()
    assert controller.live == 0 and controller.waiting == 0
    return env_info


async def play_task(
    task: str,
    policies: Mapping[str, object],
    seeds: Iterable[int] = (1,),
    *,
    options: Mapping[str, Any] | None = None,
    **config: Any,
) -> SessionLog:
    """:func:`lineup_of` and :func:`play` in one; ``options`` are the controller's."""
    return await play(await bind_operator(task, policies, **config), seeds, **(options or {}))


def _open_here(
    resolved: ResolvedOperator, settings: SessionSettings, on_event: OnSessionEvent
) -> LocalSession:
    return LocalSession(resolved, settings, on_event)


async def record_run(
    out: Path,
    *operators: tuple[OperatorConfig, Mapping[str, object]],
    seeds: Sequence[int] = (1, 2, 3),
    **execution: Any,
) -> Path:
    """Write a run folder with this process as the session of every operator.

    Args:
        out: Where the run folder is made.
        operators: Each with its in-process policies.
        seeds: One episode per seed, unless ``num_episodes`` says otherwise.
        execution: More for the :class:`ExecutionConfig`.
    """
    experiment = Experiment([o for o, _ in operators], ExecutionConfig(seeds=seeds, **execution))
    resolved_operators = [resolve_operator(operator, policies) for operator, policies in operators]
    manager = OperatorScriptExecutionManager(experiment, resolved_operators, _open_here, out)
    return (await manager.run()).folder
