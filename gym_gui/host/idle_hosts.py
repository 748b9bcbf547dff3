"""Host processes whose sessions have ended, for later sessions of the same command.

A host takes half a second of processor time to import the engine and an environment's package. A tournament
has a session for each pairing, an experiment one for each operator. So a host serves one session after the
other, as long as they play the same environment. Nothing passes from one session to the next that would not
pass from one episode to the next; the workers are new.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # a command imports gRPC and the engine beside its first host
    from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
    from gym_gui.host.session_process import HostProcess

_LONGEST_WAIT_S: Final = 0.5
"""Longest wait in seconds for a host whose session is about to end; a new host takes as long."""
_MOST_SESSIONS: Final = 100
"""Sessions after which a host ends, so that what an environment leaves in memory does not add up."""


@dataclass(eq=False)
class _IdleHost:
    """A host that waits for a session, or is ending one.

    Attributes:
        host: The host.
        task: What it has played: see :func:`_task_of`.
        settled: Event that is set when the session has ended.
        idle: Whether the host waits for a session.
        claimed: Whether a session waits for the host, which no other session can take then.
    """

    host: HostProcess
    task: str
    settled: asyncio.Event
    idle: bool = False
    claimed: bool = False


class IdleHosts:
    """Host processes that wait for a session, or that end one and will wait then."""

    def __init__(self) -> None:
        self._hosts: list[_IdleHost] = []
        self._closed = False

    async def take(self, resolved: ResolvedOperator, environment: Mapping[str, str]) -> HostProcess | None:
        """Return a host for a session, and give it up; ``None`` if there is none.

        Args:
            resolved: The session's operator.
            environment: Environment variables that the host must have, which name what it may use.
        """
        task = _task_of(resolved)
        unclaimed = [each for each in self._hosts if not each.claimed]
        fitting = [each for each in unclaimed if each.task == task and each.host.environment == environment]
        if not fitting:
            await self._end_others(task)
            return None
        found = next((each for each in fitting if each.idle), fitting[0])
        # It stays among the hosts while this waits, so that close() and give() still know it.
        found.claimed = True
        try:
            await asyncio.wait_for(found.settled.wait(), _LONGEST_WAIT_S)
        except TimeoutError:
            return None
        finally:
            found.claimed = False
        if found not in self._hosts:
            return None
        self._hosts.remove(found)
        return found.host

    async def give(
        self, resolved: ResolvedOperator, host: HostProcess, settle: Callable[[], Awaitable[bool]]
    ) -> bool:
        """End a session and keep its host.

        Args:
            resolved: The session's operator.
            host: The session's host.
            settle: Ends the session, and returns whether the host then waits for another one.

        Returns:
            Whether the host is kept. If not, the caller must close it.
        """
        full = sum(not each.claimed for each in self._hosts) >= (os.cpu_count() or 1)
        # Operators that share one simulation hand it on by ending their processes.
        if self._closed or full or resolved.world or host.served >= _MOST_SESSIONS:
            return False
        entry = _IdleHost(host, _task_of(resolved), asyncio.Event())
        self._hosts.append(entry)
        try:
            entry.idle = await settle()
        finally:
            entry.settled.set()
            if not entry.idle and entry in self._hosts:
                self._hosts.remove(entry)
        if entry.idle and self._closed and entry in self._hosts:  # the last session was over too late
            self._hosts.remove(entry)
            return False
        return entry.idle

    async def _end_others(self, task: str) -> None:
        """End a waiting host of another environment, whose operators are likely to be over."""
        for each in self._hosts:
            if each.idle and not each.claimed and each.task != task:
                self._hosts.remove(each)
                await each.host.end()
                return

    async def close(self) -> None:
        """End all hosts that wait."""
        self._closed = True
        waiting = [each for each in self._hosts if each.idle]
        for each in waiting:
            self._hosts.remove(each)
        await asyncio.gather(*(each.host.end() for each in waiting))


def _task_of(resolved: ResolvedOperator) -> str:
    """Return an operator's environment, its options and the folder of its modules, as one text."""
    record, origin = resolved.config.to_record(), resolved.config.origin
    task = [record.get(key) for key in ("env_name", "task", "env_kwargs", "api")]
    return json.dumps([*task, origin.file, origin.folder], sort_keys=True)
