"""Sends requests to a child process that describes or renders environments, or checks operators."""

from __future__ import annotations

import asyncio
import json
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui import envs
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.inherited_environment import inherited
from gym_gui.core.trusted.subjects import Subject
from gym_gui.core.trusted.trust import TYPED, Origin, require
from gym_gui.processes.child import ManagedChild
from gym_gui.processes.outcome import ChildOutcome, ChildStatus

IDLE_S = 60.0
"""Seconds without a request after which the child process is ended, because it takes 100 MB or more."""
_LARGEST = 256 * 2**20
_STOPPED = "was cancelled"
_CLOSED = "the window is being closed"


@dataclass(frozen=True)
class EnvironmentRequest:
    """Environment to describe or render, with the arguments for making it.

    Attributes:
        task: Environment id, or ``module:factory``.
        env_name: Family, or ``""``.
        api: Interface, or ``None`` for the native one.
        env_kwargs: Arguments of the environment's factory.
        managed: Agents that have a manager.
        teams: Agents of each team, or ``None`` for the family's own teams.
        origin: The file that names the environment, or the user who typed it.
        slots: Slots to describe if agents may appear that cannot be named beforehand; if empty, each kind
            of agents is a slot.
    """

    task: str
    env_name: str = ""
    api: str | None = None
    env_kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    managed: tuple[str, ...] = ()
    teams: Mapping[str, tuple[str, ...]] | None = None
    origin: Origin = TYPED
    slots: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: OperatorConfig) -> EnvironmentRequest:
        """Return the request for an operator's environment, with the family's own teams."""
        made = (config.task, config.env_name, config.api, config.env_kwargs, tuple(config.manager))
        return cls(*made, origin=config.origin)

    def to_json(self) -> dict[str, Any]:
        """Return the request as plain data for the child process."""
        teams = None if self.teams is None else {team: list(agents) for team, agents in self.teams.items()}
        plain = {"task": self.task, "env_name": self.env_name, "api": self.api}
        return {
            **plain,
            "env_kwargs": dict(self.env_kwargs),
            "managed": list(self.managed),
            "slots": list(self.slots),
            "teams": teams,
            "origin": asdict(self.origin),
        }

    def allowed_code(self) -> list[Subject]:
        """Return the code that the user has allowed and the child needs to make the environment.

        Raises:
            NotAllowedError: A file names code that the user has not allowed.
            UsageError: The environment is unknown or not installed.
        """
        try:
            spec = envs.resolve(self.task, env_name=self.env_name or None, api=self.api, origin=self.origin)
        except UsageError:
            if self.origin.file:
                raise
            return [Subject("name", self.task)]  # the child reports the error, or finds it
        needs = envs.needs_of(spec, self.env_kwargs)
        require(needs, self.origin)
        return [need.subject for need in needs]


@dataclass(frozen=True)
class Preview:
    """First frame of an episode, as a picture or as text.

    Attributes:
        picture: RGB array of shape ``(height, width, 3)``, or ``None`` if the environment renders none.
        text: Text that the environment renders instead, or ``""``.
    """

    picture: NDArray[np.uint8] | None = None
    text: str = ""


class EnvironmentProbe:
    """Child process that makes environments; it starts with the first request and handles one at a time.

    An environment that crashes or hangs affects only the child process: :meth:`cancel` ends the process, and
    the next request starts another one.

    Args:
        idle_s: Seconds without a request after which the child is ended.
        longest_s: Seconds after which a request counts as hanging; by default, requests have no limit.
    """

    def __init__(self, idle_s: float = IDLE_S, *, longest_s: float | None = None) -> None:
        self._child: ManagedChild | None = None
        self._turn = asyncio.Lock()
        self._idle_s, self._longest_s = idle_s, longest_s
        self._idle: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[ChildOutcome | None] | None = None
        self._closed = False

    @property
    def running(self) -> bool:
        """Whether the child process exists."""
        return self._child is not None

    async def describe(self, request: EnvironmentRequest) -> EnvironmentInfo:
        """Return the description of an environment, which the child process makes.

        Raises:
            UsageError: The environment is unknown, not installed, or cannot be made with these settings.
        """
        header, _ = await self._ask_child({"do": "describe", **request.to_json()}, request.allowed_code)
        return EnvironmentInfo.from_json(header["sheet"])

    async def preview(self, request: EnvironmentRequest, seed: int) -> Preview:
        """Return the first frame of the episode with this seed, rendered in the child process.

        Raises:
            UsageError: As for :meth:`describe`, or the environment cannot be rendered.
        """
        header, body = await self._ask_child(
            {"do": "picture", "seed": seed, **request.to_json()}, request.allowed_code
        )
        if "shape" not in header:
            return Preview(text=header.get("text", ""))
        return Preview(np.frombuffer(body, np.uint8).reshape(header["shape"]))

    async def cast(self, config: OperatorConfig) -> int:
        """Check an operator with the engine's own check in the child process; no worker is started.

        Returns:
            Number of seatings, which is the number of episodes per seed.

        Raises:
            UsageError: The operator has an error; the message is the engine's.
        """
        header, _ = await self._ask_child(_operator_request("cast", config), partial(_vouch, config))
        return int(header["seatings"])

    async def load(self, config: OperatorConfig) -> tuple[str, ...]:
        """Load an operator's slots as a test in the child process (see ``sessions.load_check``).

        Returns:
            Slots whose worker was still loading when the time limit was reached.

        Raises:
            UsageError: The operator has an error or a slot cannot be loaded; the message is the engine's or
                the worker's.
        """
        header, _ = await self._ask_child(_operator_request("load", config), partial(_vouch, config))
        return tuple(header["slow"])

    def cancel(self) -> None:
        """End the child process; a caller that waits for an answer gets a :class:`UsageError`."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._child is not None:
            self._child.kill(_STOPPED)

    def refuse(self) -> None:
        """Start no child process from now on."""
        self._closed = True

    async def close(self) -> None:
        """End the child process and wait until it has exited; no other is started."""
        self.refuse()
        self.cancel()
        async with self._turn:
            await self._ready_child()
            await self._end_child()  # for a child that had just answered its last request

    async def _ask_child(
        self, request: Mapping[str, Any], vouch: Callable[[], list[Subject]]
    ) -> tuple[dict[str, Any], bytes]:
        allowed = await asyncio.to_thread(vouch)
        request = {**request, "allowed": [asdict(subject) for subject in allowed]}
        async with self._turn:
            if self._idle is not None:
                self._idle.cancel()
                self._idle = None
            child = await self._ready_child() or await self.start()
            try:
                async with asyncio.timeout(self._longest_s):
                    header, body = await self.exchange(child, request)
            except TimeoutError:
                child.kill(f"has not returned for {self._longest_s:g} s", ChildStatus.TIMED_OUT)
                raise self._lost_error(str(request.get("task", "")), await self._end_child()) from None
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                raise self._lost_error(str(request.get("task", "")), await self._end_child()) from error
            except asyncio.CancelledError:
                # A late answer would be taken for that of the next request.
                self.cancel()
                await self._end_child()
                raise
            self._idle = asyncio.get_running_loop().call_later(self._idle_s, self._on_idle)
        if "problem" in header:
            raise UsageError(header["problem"], fix=header["fix"])
        return header, body

    async def _ready_child(self) -> ManagedChild | None:
        """Return the running child process; clean up an ended one and return ``None``."""
        if self._ending is not None:
            await self._ending
            self._ending = None
        if self._child is not None and (self._child.doomed or not self._child.running):
            await self._end_child()
        return self._child

    async def exchange(self, child: ManagedChild, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Send a request to the child process and return its answer.

        The answer is a header, and the bytes of a picture or ``b""``.

        Raises:
            OSError, asyncio.IncompleteReadError, ValueError: The child has exited, or its answer is invalid.
        """
        assert child.stdin is not None and child.stdout is not None
        data = json.dumps(request).encode()
        child.stdin.write(struct.pack("<I", len(data)) + data)
        await child.stdin.drain()
        (size,) = struct.unpack("<I", await child.stdout.readexactly(4))
        header: dict[str, Any] = json.loads(await child.stdout.readexactly(size))
        length = int(header["bytes"])
        if length > _LARGEST:
            raise ValueError(f"a picture of {length} bytes")
        return header, await child.stdout.readexactly(length)

    async def start(self) -> ManagedChild:
        """Start the child process for :meth:`exchange`.

        Raises:
            UsageError: The probe is closed.
        """
        if self._closed:
            raise UsageError(_CLOSED)
        child = await ManagedChild.start(
            sys.executable,
            *("-P", "-m", "gym_gui.controllers.setup.environment_probe_child"),
            name="the process that describes environments",
            environment=inherited(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        if self._closed:  # closed during the start, when no child could be ended yet
            await child.end()
            raise UsageError(_CLOSED)
        self._child = child
        return child

    async def _end_child(self) -> ChildOutcome | None:
        child, self._child = self._child, None
        return None if child is None else await child.end()

    def _lost_error(self, task: str, outcome: ChildOutcome | None) -> UsageError:
        what = f"{task} could not be described" if task else "the operator could not be checked"
        fix = "Try again, or choose another environment"
        if outcome is not None and outcome.reason == _STOPPED:
            return UsageError(f"{what}: it was stopped", fix=fix)
        if outcome is not None and outcome.status is ChildStatus.TIMED_OUT:
            return UsageError(f"{what}: it {outcome.words}", fix=fix)
        return UsageError(f"{what}: its process {'ended' if outcome is None else outcome.words}", fix=fix)

    def _on_idle(self) -> None:
        self._idle = None
        if not self._turn.locked():
            self._ending = asyncio.get_running_loop().create_task(self._end_child())


def _operator_request(do: str, config: OperatorConfig) -> dict[str, Any]:
    return {"do": do, "operator": config.to_record(), "origin": asdict(config.origin)}


def _vouch(config: OperatorConfig) -> list[Subject]:
    from gym_gui.controllers.engine.resolved_operator import checked_permissions

    return checked_permissions(config)
