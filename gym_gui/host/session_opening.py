"""Opens sessions in host processes, and imports gRPC only when a session is needed."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from gym_gui.core.config import OperatorConfig

if TYPE_CHECKING:
    from gym_gui.controllers.engine.session_events import OnSessionEvent
    from gym_gui.controllers.engine.session_interface import Session, SessionSettings
    from gym_gui.host.host_program import TakeProgram
    from gym_gui.host.remote_session import RemoteMachine
    from gym_gui.services.store import Store


async def open_host_session(
    config: OperatorConfig,
    settings: SessionSettings,
    on_event: OnSessionEvent,
    store: Store,
    take: TakeProgram | None = None,
) -> Session:
    """Return a session in its own process for an unchecked operator; the session is not started.

    The process runs on the machine that the operator names. The modules that the session needs are imported
    in a thread, because this takes half a second.

    Args:
        config: The operator.
        settings: Concurrency, step limit and live view of the session.
        on_event: Receives the session's events.
        store: Store whose runtime folder contains the process's socket.
        take: Returns a host process on this machine that is already started, or ``None``.

    Raises:
        UsageError: The user's hosts file has no such host.
    """
    await asyncio.to_thread(importlib.import_module, "gym_gui.host.host_client")
    elsewhere = await asyncio.to_thread(_elsewhere, config) if config.host else None
    from gym_gui.controllers.engine.resolved_operator import unchecked_operator
    from gym_gui.host.host_client import HostSession

    return HostSession(
        unchecked_operator(config),
        settings,
        on_event,
        store=store,
        take=take,
        elsewhere=elsewhere and elsewhere(),
    )


def _elsewhere(config: OperatorConfig) -> Callable[[], RemoteMachine]:
    from gym_gui.host.remote_session import RemoteMachine
    from gym_gui.services.submissions.hosts_file import HostsFile

    profile = HostsFile().load()
    return partial(RemoteMachine, profile.find(config.host), config, profile.ssh_config)
