"""Has the workers of a checked operator load their slots, as they would to play, and ends them.

What a configuration says can be read without a worker. Whether its program parses, its checkpoint's weights
are whole, and its settings mean anything together, only the worker knows: it is asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.runs.model_slots import DRY_RUN, dry, has_setting
from gym_gui.controllers.sessions.staffing import process_groups, slot_requests, start_group
from gym_gui.core.config import ExecutionConfig, Experiment
from gym_gui.core.errors import SlotRefusedError, WorkerLaunchError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.secret_refs import references
from gym_gui.core.types import AgentID
from gym_gui.workers.slot import WorkerSlot
from gym_gui.workers.supervisor import SessionEvents, SlotRequest, Supervisor

T = TypeVar("T")

LIMIT_S: Final = 20.0
"""So long a worker is waited for: a large network, or a game that is solved while it loads, takes longer."""
_MOST_FILES: Final = 500
_GRACE_S: Final = 1.0


class LoadCheck:
    """Loads slots; those that have been loaded once are not loaded again while their files stay as they are.

    Args:
        limit_s: Longest wait for one worker.
    """

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._loaded: set[str] = set()

    async def check(self, resolved: ResolvedOperator) -> tuple[AgentID, ...]:
        """Have every slot of an operator loaded; no model is asked, and no key leaves this process.

        Args:
            resolved: The operator. Nothing is loaded where it is played on another machine.

        Returns:
            The slots whose worker had not finished when it was no longer waited for.

        Raises:
            SlotRefusedError: A worker cannot play its slot.
            WorkerLaunchError: One could not be started.
        """
        if resolved.config.host:
            return ()
        unmodelled = _without_models(resolved)
        slow: list[AgentID] = []
        for group in process_groups(unmodelled):
            assignments = [unmodelled.assignments[agent] for agent in group]
            if any(map(_is_not_loaded_here, assignments)):
                continue
            slow += await self._load(unmodelled, group)
        return tuple(slow)

    async def _load(self, resolved: ResolvedOperator, group: Sequence[AgentID]) -> Sequence[AgentID]:
        """Load the slots of one process; returns them where that took too long."""
        until = asyncio.get_running_loop().time() + self._limit_s
        try:
            async with asyncio.timeout_at(until):
                # What a slot is told is learnt from its environment, which may take any time.
                requests = await _in_thread(partial(slot_requests, resolved, group, {}))
        except TimeoutError:
            return group
        key = _digest(resolved.workers[group[0]].type_id, requests)
        if key in self._loaded:
            return ()
        supervisor = Supervisor(
            resolved.config.operator_id, SessionEvents(_ignore_log, _ignore, _ignore_human)
        )
        try:
            async with asyncio.timeout_at(until):
                await start_group(resolved, supervisor, requests, _ignore)
        except TimeoutError:
            return group
        except (SlotRefusedError, WorkerLaunchError) as error:
            where = f"operator {resolved.config.operator_id!r}"
            raise type(error)(f"{where}: {error.message}", fix=error.fix) from error
        finally:
            await supervisor.close(_GRACE_S)
        self._loaded.add(key)
        return ()


async def _in_thread(work: Callable[[], T]) -> T:
    """What ``work`` returns, from a thread that the end of the program does not wait for."""
    done: Future[T] = Future()

    def run() -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:  # raised where it is waited for
            done.set_exception(error)
        else:
            done.set_result(result)

    threading.Thread(target=run, name="what slots are told", daemon=True).start()
    return await asyncio.wrap_future(done)


async def load_all(operators: Sequence[ResolvedOperator]) -> list[str]:
    """Have the workers of operators load their slots, each slot once.

    Returns:
        A sentence for each slot whose worker was not waited for to the end.

    Raises:
        SlotRefusedError: A worker cannot play its slot.
        WorkerLaunchError: One could not be started.
    """
    check, notes = LoadCheck(), list[str]()
    for resolved in operators:
        notes += [
            f"{agent} of operator {resolved.config.operator_id} took more than {LIMIT_S:g} s to load and was "
            "not waited for"
            for agent in await check.check(resolved)
        ]
    return notes


def _without_models(resolved: ResolvedOperator) -> ResolvedOperator:
    """The operator with models that are not asked, so that no key is needed."""
    if not any(has_setting(player, DRY_RUN) for player in resolved.assignments.values()):
        return resolved
    alone = Experiment([resolved.config], ExecutionConfig(1))
    return resolve_operator(dry(alone).operators[0])


def _is_not_loaded_here(player: WorkerAssignment) -> bool:
    """Whether a slot is played on another machine, or its settings name keys."""
    return "address" in player.settings or any(references(player.settings))


def _digest(worker: str, requests: Sequence[SlotRequest]) -> str:
    """Of all that loading depends on: what the worker is told, and the files that are named to it."""
    told = hashlib.sha256(worker.encode())
    for index, request in enumerate(requests):
        told.update(request.message(index).SerializeToString(deterministic=True))
        told.update(repr(list(_files_of(request))).encode())
    return told.hexdigest()


def _files_of(request: SlotRequest) -> Iterator[tuple[str, int, int]]:
    """Path, time and size of files that settings name, and of those beside them."""
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
            continue  # not a path, or a file that has just gone


def _ignore_log(_level: int, _logger: str, _text: str) -> None:
    """What workers say while they load is not kept: what is wrong is raised."""


def _ignore(_calls_or_answers: object) -> None:
    """No model and no slot is asked."""


def _ignore_human(_slot: WorkerSlot, _request: object) -> None:
    """No person is asked while slots are loaded."""
