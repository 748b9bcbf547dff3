"""The engine as the window uses it: imported in a thread, opened without touching an environment."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gym_gui.core.config import GOAL_SUFFIX, OperatorConfig, WorkerAssignment
from gym_gui.core.enums import WorkerKind

if TYPE_CHECKING:
    from gym_gui.controllers.session_events import OnSessionEvent
    from gym_gui.controllers.sessions import Session, SessionSettings
    from gym_gui.services.store import Store

    OpenLiveSession = Callable[[OperatorConfig, SessionSettings, OnSessionEvent, Store], Session]
    """Makes a session for an operator that nobody has checked yet; it is not started."""


_MODELS = frozenset({WorkerKind.LLM.value, WorkerKind.VLM.value})


def _import_all() -> None:
    for name in (
        "gym_gui.host.client",
        "gym_gui.controllers.resolved_operator",
        "gym_gui.controllers.live_run",
    ):
        importlib.import_module(name)


async def load_engine() -> None:
    """Import what sessions need, in a thread: gRPC and NumPy take half a second."""
    await asyncio.to_thread(_import_all)


def seated_as_written(config: OperatorConfig) -> OperatorConfig:
    """The operator with its seats fixed: in live play everybody stays where they sit."""
    return config if config.seats == "fixed" else replace(config, seats="fixed")


def asks_models(config: OperatorConfig) -> bool:
    """Whether a language model plays some slot: each of its decisions may cost money."""
    return any(player.worker_type in _MODELS for player in config.resolved_slots().values())


def with_player(config: OperatorConfig, agent: str, player: WorkerAssignment) -> OperatorConfig:
    """The operator with somebody else in one slot; a link group that the slot was in goes on without it."""
    if agent.endswith(GOAL_SUFFIX) and agent.removesuffix(GOAL_SUFFIX) in config.manager:
        return replace(config, manager={**config.manager, agent.removesuffix(GOAL_SUFFIX): player})
    workers, groups = {**config.workers, agent: player}, []
    for group in config.link_groups:
        rest = tuple(other for other in group.linked_agents if other != agent)
        if agent != group.primary_agent and rest:
            groups.append(replace(group, linked_agents=rest))
        elif agent in group.agents:  # whoever is left plays by itself what the group played
            slots = config.resolved_slots()
            workers |= {other: slots[other] for other in group.agents if other != agent}
    return replace(config, workers=workers, link_groups=groups)


def open_host_session(
    config: OperatorConfig, settings: SessionSettings, on_event: OnSessionEvent, store: Store
) -> Session:
    """A session in a host process of its own."""
    from gym_gui.controllers.resolved_operator import unchecked_operator
    from gym_gui.host.client import HostSession

    return HostSession(unchecked_operator(config), settings, on_event, store=store)
