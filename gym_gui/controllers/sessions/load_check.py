"""Checks that the workers of an operator can load their slots, and ends the workers afterwards.

Only a worker itself can check whether its program parses, its checkpoint's weights are intact, and its
settings fit together.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.runs.model_slots import DRY_RUN, dry, has_setting
from gym_gui.controllers.sessions.bind_workers import process_groups, slot_requests
from gym_gui.core.config import ExecutionConfig, Experiment
from gym_gui.core.errors import SlotRefusedError, WorkerLaunchError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.secret_refs import references
from gym_gui.core.types import AgentID
from gym_gui.workers.slot import WorkerSlot
from gym_gui.workers.supervisor import SessionEvents, SlotRequest, Supervisor

T = TypeVar("T")

LIMIT_S: Final = 20.0
"""Seconds to wait for a worker. A large network, or a game that is solved during loading, takes longer."""
_AT_ONCE: Final = 16
"""Largest number of groups of slots that one process loads for the check, because each group takes memory."""
_MOST_FILES: Final = 500
_GRACE_S: Final = 1.0


@dataclass(frozen=True)
class _Group:
    """Slots of an operator that one worker process loads.

    Attributes:
        resolved: The operator.
        agents: The slots.
        requests: Load requests of the slots.
        key: Digest of the load requests and their files.
    """

    resolved: ResolvedOperator
    agents: Sequence[AgentID]
    requests: Sequence[SlotRequest]
    key: str


class LoadCheck:
    """Test that loads slots in their workers. A loaded slot is not loaded again until its files change.

    Args:
        limit_s: Longest wait for one worker, in seconds.
    """

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._loaded: set[str] = set()

    async def check(self, *operators: ResolvedOperator) -> tuple[tuple[str, AgentID], ...]:
        """Load every slot of some operators, without a model request, and without secrets for workers.

        Slots of one worker share a process, so that it starts only once. If that process refuses a slot or
        takes too long, each group is loaded by a process of its own, as for play, and only that result
        counts.

        Args:
            operators: The operators; those that play on another host are skipped.

        Returns:
            Operator and name of each slot whose worker had not finished loading within the limit.

        Raises:
            SlotRefusedError: A worker cannot play its slot.
            WorkerLaunchError: A worker could not be started.
        """
        slow: list[tuple[str, AgentID]] = []
        by_worker: dict[str, dict[str, _Group]] = {}
        for resolved in map(_without_models, (each for each in operators if not each.config.host)):
            for agents in process_groups(resolved):
                if any(_is_not_loaded_here(resolved.assignments[agent]) for agent in agents):
                    continue
                group = await self._group(resolved, agents)
                if group is None:
                    slow += _named(resolved, agents)
                elif group.key not in self._loaded:
                    by_worker.setdefault(resolved.workers[agents[0]].type_id, {})[group.key] = group
        for found in by_worker.values():
            groups = list(found.values())
            for first in range(0, len(groups), _AT_ONCE):
                slow += await self._check_batch(groups[first : first + _AT_ONCE])
        return tuple(slow)

    async def _group(self, resolved: ResolvedOperator, agents: Sequence[AgentID]) -> _Group | None:
        """Return a group of slots and load requests; ``None`` if reading the environment takes too long."""
        try:
            async with asyncio.timeout(self._limit_s):
                requests = await _in_thread(partial(slot_requests, resolved, agents, {}))
        except TimeoutError:
            return None
        return _Group(resolved, agents, requests, _digest(resolved.workers[agents[0]].type_id, requests))

    async def _check_batch(self, batch: Sequence[_Group]) -> list[tuple[str, AgentID]]:
        """Load groups of one worker, if possible in one process. Return the slots that took too long."""
        if len(batch) > 1:
            together = [request for group in batch for request in group.requests]
            with contextlib.suppress(TimeoutError, SlotRefusedError, WorkerLaunchError):
                await self._load(batch[0].resolved, together)
                self._loaded.update(group.key for group in batch)
                return []
        slow: list[tuple[str, AgentID]] = []
        for group in batch:
            try:
                await self._load(group.resolved, group.requests)
            except TimeoutError:
                slow += _named(group.resolved, group.agents)
            except (SlotRefusedError, WorkerLaunchError) as error:
                where = f"operator {group.resolved.config.operator_id!r}"
                raise type(error)(f"{where}: {error.message}", fix=error.fix) from error
            else:
                self._loaded.add(group.key)
        return slow

    async def _load(self, resolved: ResolvedOperator, requests: Sequence[SlotRequest]) -> None:
        """Load slots in one worker process, then end the process."""
        events = SessionEvents(_ignore_log, _ignore, _ignore_human)
        supervisor = Supervisor(resolved.config.operator_id, events)
        definition = resolved.workers[requests[0].agent_id]
        try:
            async with asyncio.timeout(self._limit_s):
                await supervisor.start_worker(definition, requests, _ignore)
        finally:
            await supervisor.close(_GRACE_S)


def _named(resolved: ResolvedOperator, agents: Sequence[AgentID]) -> list[tuple[str, AgentID]]:
    return [(resolved.config.operator_id, agent) for agent in agents]


async def _in_thread(work: Callable[[], T]) -> T:
    """Return the result of ``work``, run in a daemon thread that does not delay the end of the program."""
    done: Future[T] = Future()

    def run() -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:  # raised in the caller that awaits the future
            done.set_exception(error)
        else:
            done.set_result(result)

    threading.Thread(target=run, name="what slots are told", daemon=True).start()
    return await asyncio.wrap_future(done)


def _without_models(resolved: ResolvedOperator) -> ResolvedOperator:
    """Return the operator in dry-run mode, so that no model is asked and no secret is needed."""
    if not any(has_setting(player, DRY_RUN) for player in resolved.assignments.values()):
        return resolved
    alone = Experiment([resolved.config], ExecutionConfig(1))
    return resolve_operator(dry(alone).operators[0])


def _is_not_loaded_here(player: WorkerAssignment) -> bool:
    """Return whether a player runs on another machine, or its settings refer to secrets."""
    return "address" in player.settings or any(references(player.settings))


def _digest(worker: str, requests: Sequence[SlotRequest]) -> str:
    """Return a digest of load requests and of the files that they name."""
    told = hashlib.sha256(worker.encode())
    for index, request in enumerate(requests):
        told.update(request.message(index).SerializeToString(deterministic=True))
        told.update(repr(list(_files_of(request))).encode())
    return told.hexdigest()


def _files_of(request: SlotRequest) -> Iterator[tuple[str, int, int]]:
    """Yield path, modification time and size of files named in settings, and of files in their folders."""
    named = (value for value in request.settings.values() if isinstance(value, str) and 0 < len(value) < 4096)
    for value in named:
        path = Path(value).expanduser()
        try:
            if not path.exists():
                continue
            folder = path if path.is_dir() else path.parent
            for file, _ in zip(sorted(folder.iterdir()), range(_MOST_FILES), strict=False):
                state = file.stat()
                yield str(file), state.st_mtime_ns, state.st_size
        except (OSError, ValueError):
            continue  # not a path, or a file that has just disappeared


def _ignore_log(_level: int, _logger: str, _text: str) -> None:
    """Ignore log lines of workers, because their errors are raised."""


def _ignore(_calls_or_answers: object) -> None:
    """Ignore calls and answers, because the check asks no model and no slot."""


def _ignore_human(_slot: WorkerSlot, _request: object) -> None:
    """Ignore questions to people, because the check asks no person."""
